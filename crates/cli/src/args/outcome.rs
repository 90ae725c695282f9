//! What decides: the primary outcome, the margin, and which judges may.

use skillgauge_format::evals::PrimaryOutcome;

/// What decides.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OutcomeArgs {
    /// The outcome that decides: pass_rate, rubric_normalized, overall_efficiency, overall_score, required_score or
    /// preference; the suite's own if absent
    #[arg(long, value_name = "OUTCOME")]
    pub primary: Option<PrimaryOutcome>,
    /// A difference below this share of the outcome's scale doesn't matter; 0.1, which is 10 points, if absent
    #[arg(long, value_name = "SHARE", value_parser = margin, allow_negative_numbers = true)]
    pub margin: Option<f64>,
    /// Which judges may decide about the exit code: any, or only one that was measured on this suite (`skillgauge calibrate`)
    #[arg(long, value_enum, value_name = "WHICH")]
    pub judge_gate: Option<JudgeGateArg>,
}

/// Which judges may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeGateArg {
    /// Every judge
    Any,
    /// One that at least 20 verdicts of people show to know more than a coin, with this prompt and on this suite
    Calibrated,
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if margin > 0.0 && margin <= 1.0 => Ok(margin),
        _ => Err("write a share above 0 and at most 1, such as 0.1 for 10 points".to_owned()),
    }
}
