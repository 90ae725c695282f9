//! What decides: the primary outcome and the margin.

use skillgauge_format::evals::PrimaryOutcome;

/// What decides.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OutcomeArgs {
    /// The outcome that decides: pass_rate, rubric_normalized, overall_efficiency, overall_score, required_score or
    /// preference; the suite's own if absent
    #[arg(long, value_name = "OUTCOME")]
    pub primary: Option<PrimaryOutcome>,
    /// A difference below this share of the outcome's scale doesn't matter; 0.1, which is 10 points, if absent
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    pub margin: Option<f64>,
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if margin > 0.0 && margin <= 1.0 => Ok(margin),
        _ => Err("write a share above 0 and at most 1, such as 0.1 for 10 points".to_owned()),
    }
}
