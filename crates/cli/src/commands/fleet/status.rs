//! `skillgauge fleet status`: two tables, or one JSON value. Watched on a terminal, they are drawn again in their place.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, SystemTime};

use skillgauge_cluster::{
    FleetStatus, NatsFleet, PlanFilter, PlanStatus, StatusReader, WorkerInfo, patiently,
};
use skillgauge_core::text::table;
use skillgauge_core::time::unix_millis;

use super::{login, unknown_plan};
use crate::args::{FleetStatusArgs, PlainFormat, TapeArgs};
use crate::commands::Outcome;
use crate::error::CommandError;
use crate::printer::terminal_size;
use crate::session::Session;
use crate::{ExitCode, Printer};

/// How often it is shown again.
const EVERY: Duration = Duration::from_secs(2);
/// What is not known.
const UNKNOWN: &str = "-";

pub(super) fn run(args: &FleetStatusArgs, printer: &Printer) -> Outcome {
    let session = Session::open(&TapeArgs::default())?;
    let connect = login::connect(&args.server.url, &args.server.login, &session, "status");
    let shown = match &args.plan {
        Some(plan) => PlanFilter::Only(plan.clone()),
        None if args.all => PlanFilter::All,
        None => PlanFilter::Current,
    };
    let watched = session.block_on(printer, async {
        let fleet = NatsFleet::connect(&connect).await?;
        let (reader, mut screen) = (StatusReader::default(), Screen::new(args));
        if !args.watch {
            let status = patiently(|| reader.read(&fleet, &shown)).await?;
            if let (PlanFilter::Only(plan), []) = (&shown, &status.plans[..]) {
                return Err(unknown_plan(plan));
            }
            return screen.show(&status, args.format, printer);
        }
        loop {
            match reader.read(&fleet, &shown).await {
                Ok(status) => screen.show(&status, args.format, printer)?,
                // A server that is away may come back while somebody watches.
                Err(error) if error.is_passing() => {
                    screen.warn(&format!("warning: {error}"), printer)?;
                }
                Err(error) => return Err(error.into()),
            }
            tokio::select! {
                () = session.cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    })?;
    watched?;
    Ok(ExitCode::Success)
}

struct Screen {
    /// The last text that was drawn, if the next one takes its place.
    drawn: Option<String>,
}

impl Screen {
    fn new(args: &FleetStatusArgs) -> Self {
        let is_redrawn =
            args.watch && args.format == PlainFormat::Text && std::io::stdout().is_terminal();
        Self { drawn: is_redrawn.then(String::new) }
    }

    fn show(
        &mut self,
        status: &FleetStatus,
        format: PlainFormat,
        printer: &Printer,
    ) -> Result<(), CommandError> {
        let text = match format {
            PlainFormat::Json => {
                let mut text = serde_json::to_string(status).map_err(std::io::Error::from)?;
                text.push('\n');
                text
            }
            PlainFormat::Text => text(status, unix_millis(SystemTime::now())),
        };
        self.draw(text, printer)
    }

    /// What is wrong comes below what was known before.
    fn warn(&mut self, warning: &str, printer: &Printer) -> Result<(), CommandError> {
        let Some(before) = &self.drawn else {
            printer.say(warning);
            return Ok(());
        };
        let known = before.lines().filter(|line| !line.starts_with("warning: "));
        let text = lines(known.chain([warning]));
        self.draw(text, printer)
    }

    fn draw(&mut self, text: String, printer: &Printer) -> Result<(), CommandError> {
        let shown = match &mut self.drawn {
            Some(before) => {
                let text = cut(&text, terminal_size(std::io::stdout()).map(|[_, rows]| rows));
                let shown = redrawn(before, &text);
                *before = text;
                shown
            }
            None => text,
        };
        printer.print(&shown)?;
        Ok(())
    }
}

fn lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A text in the place of the one before, in one go: nothing is cleared before the new text is there. Lines that are
/// too long for the terminal are cut by it, so that each takes one.
fn redrawn(before: &str, text: &str) -> String {
    let mut out = String::new();
    match before.lines().count() {
        0 => {}
        lines => {
            let _ = write!(out, "\r\x1b[{lines}A");
        }
    }
    out.push_str("\x1b[?7l");
    for line in text.lines() {
        let _ = writeln!(out, "{line}\x1b[K");
    }
    out.push_str("\x1b[J\x1b[?7h");
    out
}

/// What has room on a terminal with so many lines: nobody can draw where it has scrolled away.
fn cut(text: &str, height: Option<usize>) -> String {
    let (count, most) = (text.lines().count(), height.unwrap_or(usize::MAX).saturating_sub(1));
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let mut out = lines(text.lines().take(kept));
    let _ = writeln!(out, "... {} more lines; this terminal is too small", count - kept);
    out
}

fn text(status: &FleetStatus, now: u64) -> String {
    let mut text = String::new();
    if status.workers.is_empty() {
        text.push_str("no worker has reported in the last two minutes\n");
    } else {
        let header = ["worker", "running", "slots", "grading slots", "done", "given back", "seen"];
        let rows = status.workers.iter().map(|worker| worker_row(worker, now));
        text.push_str(&aligned(&header, &[0], rows));
        for worker in &status.workers {
            for left in &worker.left {
                let _ = writeln!(text, "{}: {left}", worker.name);
            }
        }
    }
    text.push('\n');
    if status.plans.is_empty() {
        text.push_str("no plan\n");
    } else {
        let header = [
            "plan", "skill", "agent", "state", "done", "running", "queued", "failed", "lost",
            "graded", "to grade", "runs/min", "left",
        ];
        text.push_str(&aligned(&header, &[0, 1, 2, 3], status.plans.iter().map(plan_row)));
    }
    if status.plans_over > 0 {
        let plans = if status.plans_over == 1 { "plan is" } else { "plans are" };
        let _ = writeln!(
            text,
            "{} more {plans} over since more than a day; --all shows them",
            status.plans_over
        );
    }
    text
}

fn worker_row(worker: &WorkerInfo, now: u64) -> Vec<String> {
    let running: u32 = worker.running.values().sum();
    let seen = worker.seen.map(|seen| Duration::from_millis(now.saturating_sub(seen)));
    vec![
        worker.name.clone(),
        running.to_string(),
        worker.slots.to_string(),
        worker.grade_slots.to_string(),
        worker.done.to_string(),
        worker.failed.to_string(),
        seen.map_or(UNKNOWN.to_owned(), |seen| format!("{} ago", time(seen.as_secs_f64()))),
    ]
}

fn plan_row(plan: &PlanStatus) -> Vec<String> {
    let rate = plan.runs_per_minute.map(|rate| format!("{rate:.1}"));
    vec![
        plan.id.to_string(),
        plan.skill.clone(),
        plan.agent.clone(),
        plan.state.to_owned(),
        format!("{}/{}", plan.done, plan.planned),
        plan.running.to_string(),
        plan.queued.to_string(),
        plan.failed.to_string(),
        plan.lost.to_string(),
        plan.graded.to_string(),
        plan.grades_queued.to_string(),
        rate.unwrap_or_else(|| UNKNOWN.to_owned()),
        plan.seconds_left.map_or(UNKNOWN.to_owned(), time),
    ]
}

fn aligned(header: &[&str], texts: &[usize], rows: impl Iterator<Item = Vec<String>>) -> String {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    table(&std::iter::once(header).chain(rows).collect::<Vec<_>>(), texts)
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(name: &str, seen: Option<u64>) -> WorkerInfo {
        WorkerInfo {
            name: name.to_owned(),
            tool_version: "0".to_owned(),
            slots: 4,
            grade_slots: 1,
            running: [("1".repeat(20).parse().unwrap(), 3)].into(),
            done: 120,
            failed: 0,
            left: Vec::new(),
            seen,
        }
    }

    fn plan(state: &'static str, seconds_left: Option<f64>) -> PlanStatus {
        PlanStatus {
            id: "1".repeat(20).parse().unwrap(),
            skill: "greeter".to_owned(),
            agent: "claude-code".to_owned(),
            state,
            submitted: 0,
            ended: None,
            planned: 240,
            queued: 100,
            running: 3,
            done: 120,
            failed: 2,
            lost: 0,
            grades_queued: 1,
            graded: 119,
            runs_per_minute: seconds_left.map(|_| 12.04),
            seconds_left,
        }
    }

    #[test]
    fn workers_and_plans_are_aligned_tables() {
        let workers = vec![worker("w1", Some(9000)), worker("a-long-name-17", None)];
        let plans = vec![plan("running", Some(600.0)), plan("finished", None)];
        let status = FleetStatus { workers, plans, plans_over: 2 };
        insta::assert_snapshot!(text(&status, 10_000));
        let none = FleetStatus { workers: Vec::new(), plans: Vec::new(), plans_over: 0 };
        assert_eq!(text(&none, 0), "no worker has reported in the last two minutes\n\nno plan\n");
    }

    #[test]
    fn a_text_takes_the_place_of_the_one_before() {
        assert_eq!(redrawn("", "a\nb\n"), "\x1b[?7la\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h");
        assert_eq!(redrawn("a\nb\n", "c\n"), "\r\x1b[2A\x1b[?7lc\x1b[K\n\x1b[J\x1b[?7h");
        assert_eq!(cut("a\nb\nc\n", None), "a\nb\nc\n");
        assert_eq!(cut("a\nb\nc\n", Some(4)), "a\nb\nc\n");
        assert_eq!(cut("a\nb\nc\n", Some(3)), "a\n... 2 more lines; this terminal is too small\n");
    }
}
