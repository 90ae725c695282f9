//! `skillgauge demo`: the commands that a user would type, one after the other, on the bundled example.

use clap::Parser as _;

use super::Outcome;
use crate::args::{Cli, DemoArgs};
use crate::demo::{self, AGENT, JUDGE, SKILL};
use crate::error::Explain as _;
use crate::{ExitCode, Printer, dispatch};

pub(crate) fn run(args: &DemoArgs, printer: &Printer) -> Outcome {
    let skill = args.dir.join(SKILL);
    let kept = demo::write_example(&skill).or_hint("--dir names another folder")?;
    printer.say(&format!("a small skill with its evals is in {}", skill.display()));
    for file in kept {
        printer.say(&format!("{file} was changed by you and stays as it is"));
    }
    printer.say("agent and judge of this demo are scripted: no model, no key, no network");
    let program = std::env::current_exe()?;
    let quoted = format!("'{}'", program.display());
    let agent = format!("command:{quoted} {AGENT}");
    let judge = format!("command:{quoted} {JUDGE}");
    let skill = skill.display().to_string();
    let workspace = format!("{skill}-workspace");
    let cases = format!("{skill}/evals/cases.json");
    let report = args.dir.join("report.html").display().to_string();
    let by = ["--agent", &agent, "--judge", &judge];
    let steps: [(&str, Vec<&str>); 5] = [
        ("Is it well formed?", vec!["validate", &skill]),
        (
            "Would its description catch the right queries? An estimate, without a model.",
            vec!["trigger", &skill, "--via", "estimate"],
        ),
        (
            "One kind of suite: criteria that a judge scores from 1 to 5.",
            [&["run", &skill, "--evals", &cases, "--runs", "1", "--baseline", "none"], &by[..]]
                .concat(),
        ),
        (
            "The other kind: does it help? Six cases, three runs each, with and without the skill.",
            [&["run", &skill], &by[..]].concat(),
        ),
        ("All of it as a page.", vec!["report", &workspace, "-o", &report]),
    ];
    for (question, words) in steps {
        let code = step(question, &words, printer)?;
        if !matches!(code, ExitCode::Success | ExitCode::Failure) {
            return Ok(code);
        }
    }
    printer.say(&format!(
        "\nOpen {report} in a browser. With a real agent and a real judge:\n  \
         skillgauge doctor                     what can be used here\n  \
         skillgauge trigger {skill}   does it trigger?\n  \
         skillgauge run {skill}       does it help?"
    ));
    Ok(ExitCode::Success)
}

/// Shows a command as a user would type it, and carries it out.
fn step(question: &str, words: &[&str], printer: &Printer) -> Outcome {
    let shown: Vec<String> = words.iter().map(|word| shown(word)).collect();
    printer.say(&format!("\n--- {question}\n$ skillgauge {}", shown.join(" ")));
    let typed = std::iter::once("skillgauge").chain(words.iter().copied());
    let cli = Cli::try_parse_from(typed).or_bug()?;
    dispatch(cli.command, printer)
}

/// The scripted ones by what they are, everything else as it is.
fn shown(word: &str) -> String {
    match word {
        word if word.ends_with(AGENT) => "SCRIPTED-AGENT".to_owned(),
        word if word.ends_with(JUDGE) => "SCRIPTED-JUDGE".to_owned(),
        word => word.to_owned(),
    }
}
