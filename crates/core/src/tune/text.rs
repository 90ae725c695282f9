//! A loop as text, for people: the rounds, the warnings, and the description that it stands by.

use std::fmt::Write as _;

use skillgauge_format::trigger::{LoopIteration, LoopSummary};

use super::conclusion::conclusion;

pub fn render_text(summary: &LoopSummary) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}: {}", summary.skill_name, rounds(summary.iterations.len()));
    text.push_str("\nround  train         test          errors\n");
    for iteration in &summary.iterations {
        let is_best =
            summary.iterations.len() > 1 && iteration.round == summary.best_iteration.round;
        write_round(&mut text, iteration, is_best);
    }
    if let Some(note) = &summary.best_iteration_note {
        let _ = writeln!(text, "\n* {note}");
    }
    for warning in summary.warnings.iter().flatten() {
        let _ = writeln!(text, "\nwarning: {warning}");
    }
    if let Some(reason) = &summary.stop_reason {
        let partial = if summary.partial == Some(true) { " (partial)" } else { "" };
        let _ = writeln!(text, "\nended because {reason}{partial}");
    }
    let _ = writeln!(text, "\n{}", conclusion(summary));
    if let Some(proof) = &summary.proof {
        let what = if proof.proven { "the proven description" } else { "the candidate" };
        let _ = writeln!(text, "\n{what}, of round {}:\n\n{}", proof.round, proof.candidate);
    }
    text
}

fn rounds(count: usize) -> String {
    match count {
        0 => "no description was measured".to_owned(),
        1 => "one description was measured".to_owned(),
        count => format!("{count} descriptions were measured"),
    }
}

fn write_round(out: &mut String, iteration: &LoopIteration, is_best: bool) {
    let share = |passed: u64, total: u64, rate: f64| {
        if total == 0 {
            "-".to_owned()
        } else {
            format!("{passed}/{total} ({:.0} %)", 100.0 * rate)
        }
    };
    let train =
        share(iteration.train_passed, iteration.train_total, iteration.train_pass_rate.as_f64());
    let test =
        share(iteration.test_passed, iteration.test_total, iteration.test_pass_rate.as_f64());
    let errors = iteration.errors.map_or("-".to_owned(), |errors| errors.to_string());
    let mark = match (is_best, iteration.adopted) {
        (true, _) => "  best*",
        (false, Some(true)) => "  went on from here",
        (false, _) => "",
    };
    let _ = writeln!(out, "{:>5}  {train:<12}  {test:<12}  {errors:>6}{mark}", iteration.round);
}
