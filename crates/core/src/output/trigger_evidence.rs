//! Why queries of a trigger report went wrong, as text for people: what the agent did instead, the list of skills that the
//! model chose from, and what a limit on turns would miss and save.
//!
//! What an agent did is untrusted: control characters are replaced, and everything is short already.

use std::fmt::Write as _;

use skillgauge_format::trigger::{ListingBasis, QueryResult, TriggerListing, TurnUse, WrongRun};

use crate::text::{counted, grouped, plural, printable, shorten};

/// Characters of one line about a wrong run.
const LINE: usize = 110;
/// Characters of the line of the skill under test in the list.
const ENTRY: usize = 160;

/// What was done in the runs that went wrong, a line for each different thing, with how often.
pub fn wrong_lines(result: &QueryResult) -> Vec<String> {
    let runs = result.wrong_runs.iter().flatten();
    lines(runs, |run| told(run, result.should_trigger), result.runs)
}

/// The same where any skill may be loaded.
pub fn route_lines(runs: Option<&Vec<WrongRun>>, all: u64) -> Vec<String> {
    lines(runs.into_iter().flatten(), |run| told(run, run.loaded.is_empty()), all)
}

fn lines<'r>(
    runs: impl Iterator<Item = &'r WrongRun>,
    told: impl Fn(&WrongRun) -> String,
    all: u64,
) -> Vec<String> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for run in runs {
        let line = told(run);
        match counts.iter_mut().find(|(other, _)| *other == line) {
            Some((_, count)) => *count += 1,
            None => counts.push((line, 1)),
        }
    }
    let shown = counts.into_iter().map(|(line, count)| match (count, all) {
        (_, 1) => line,
        (count, all) => format!("{line} ({count} of {all})"),
    });
    shown.collect()
}

/// What one run did; `is_missing` when it should have loaded a skill.
fn told(run: &WrongRun, is_missing: bool) -> String {
    let did = if run.did.is_empty() {
        "no tool".to_owned()
    } else {
        let more =
            if run.did_more > 0 { format!(" and {} more", run.did_more) } else { String::new() };
        format!("{}{more}", run.did.join(", "))
    };
    let said = run.said.as_deref().filter(|_| run.did.is_empty());
    let said = said.map(|said| format!("; said \"{}\"", shorten(said, 60))).unwrap_or_default();
    let line = if run.outcome != "completed" {
        let why = run.said.as_deref().unwrap_or("no reason was given");
        format!("{}: {}", run.outcome, shorten(why, LINE))
    } else if run.turn_limit {
        format!("the turn limit ended it after: {did}")
    } else if is_missing {
        format!("did instead: {did}{said}")
    } else {
        format!("did: {did}")
    };
    shorten(&printable(&line), LINE)
}

/// The list of skills that the model chose from: the line of the skill under test, and how many others.
pub fn seen(listing: &TriggerListing, version: Option<&str>) -> Option<String> {
    let seen = listing.seen.as_ref()?;
    let first = seen.lines.first()?;
    let agent = listing.agent.as_deref().unwrap_or("the agent");
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let from = match seen.basis {
        ListingBasis::Captured => {
            format!("captured from {}{}", printable(agent), printable(&version))
        }
        ListingBasis::Sent => "as it was sent".to_owned(),
        ListingBasis::Modelled => format!("modelled, not captured, for {}", printable(agent)),
    };
    let others = (seen.lines.len() as u64 - 1).saturating_add(seen.more);
    let others = match others {
        0 => String::new(),
        others => format!(" and {}", counted(others, "other skill", "other skills")),
    };
    Some(format!("the model chose from ({from}): {}{others}", shorten(first, ENTRY)))
}

/// What a limit on turns would miss and save.
pub fn turns(found: &TurnUse) -> Vec<String> {
    let loads: Vec<String> = found
        .loads
        .iter()
        .map(|it| format!("{} at turn {}", plural(it.runs, "run"), it.turn))
        .collect();
    let loads = if loads.is_empty() { "no run".to_owned() } else { loads.join(", ") };
    let mut lines = vec![format!(
        "turns: loaded in {loads}; {} without a load took {}{}",
        plural(found.quiet_runs, "run"),
        plural(found.quiet_turns, "turn"),
        tokens(found.quiet_tokens, ", ")
    )];
    let all: u64 = found.loads.iter().map(|it| it.runs).sum();
    for limit in &found.limits {
        let mut line = format!(
            "  --max-turns {} would miss {} of {}",
            limit.max_turns,
            limit.missed,
            plural(all, "load"),
        );
        let _ = write!(line, " and save {}", plural(limit.turns_saved, "turn"));
        line.push_str(&tokens(limit.tokens_saved, ", "));
        if !limit.queries.is_empty() {
            let queries: Vec<String> = limit.queries.iter().map(|it| shorten(it, 40)).collect();
            let _ = write!(line, " (missed: {})", queries.join("; "));
        }
        lines.push(line);
    }
    if found.limits.is_empty() {
        lines.push("  no limit would change anything".to_owned());
    }
    lines
}

fn tokens(count: Option<u64>, before: &str) -> String {
    match count.and_then(|count| usize::try_from(count).ok()) {
        Some(count) => format!("{before}{} tokens", grouped(count)),
        None => format!("{before}tokens unknown"),
    }
}
