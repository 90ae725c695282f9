//! An estimate as text, for people: what would go wrong first, and which words did it.

use std::fmt::Write as _;

use skillgauge_format::trigger::{QueryEstimate, TriggerEstimate};

use crate::text::one_line;

/// How many words are shown of a query.
const SHOWN: usize = 5;

pub fn render_text(estimate: &TriggerEstimate) -> String {
    let mut text = String::new();
    let summary = &estimate.summary;
    // Writing to a string does not fail.
    let _ = writeln!(text, "ESTIMATE for {}: {}", estimate.skill_name, estimate.note);
    if !estimate.neighbours.is_empty() {
        let _ = writeln!(text, "beside {}", estimate.neighbours.join(", "));
    }
    for (title, right) in [("Likely wrong", false), ("Likely right", true)] {
        let of_kind: Vec<&QueryEstimate> =
            estimate.results.iter().filter(|result| result.likely_right == right).collect();
        if of_kind.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{title}:");
        for result in of_kind {
            write_result(&mut text, result);
        }
    }
    let _ = write!(text, "\n{} of {} likely right", summary.likely_right, summary.total);
    if let Some(auc) = summary.ranking_auc {
        let _ = write!(text, ", ranking {:.2} (1 is perfect, 0.5 is chance)", auc.as_f64());
    }
    text.push_str("; this is an estimate, not a measurement\n");
    text
}

fn write_result(text: &mut String, result: &QueryEstimate) {
    let wanted = if result.should_trigger { "should" } else { "should not" };
    let would = if result.likely_trigger { "likely triggers" } else { "likely does not" };
    let _ = writeln!(text, "  {:5.2}  {}", result.score.as_f64(), one_line(&result.query));
    let _ = write!(text, "         {would}, {wanted}");
    if !result.caught_by.is_empty() {
        let _ = write!(text, "; caught by: {}", some(&result.caught_by));
    }
    if result.should_trigger && !result.missing.is_empty() {
        let _ = write!(text, "; not in the description: {}", some(&result.missing));
    }
    if let Some(taker) = &result.taken_by {
        let _ = write!(text, "; {taker} fits better");
    }
    text.push('\n');
}

fn some(words: &[String]) -> String {
    let mut shown = words.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN {
        let _ = write!(shown, " and {} more", words.len() - SHOWN);
    }
    shown
}
