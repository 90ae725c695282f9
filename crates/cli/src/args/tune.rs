//! Arguments of `tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::trigger::threshold;
use super::{OutputArgs, PageFormat, ProbeArgs};

/// Improve the description of a skill until it triggers for the right queries
///
/// Measures the description, has a model improve it from the training queries that failed, and measures again. The model
/// never sees the held-out queries. The description that does best on the training queries is then proven: original and
/// candidate are asked again, in turn, on the held-out queries, and the candidate replaces the original only when a
/// one-sided permutation test on these fresh runs gives p <= 0.05. SKILL.md is changed only with `--apply`.
///
/// Exit code 0 when the loop came to its end, 2 for bad input, 3 when it was stopped by a limit or an error, 130 when it was
/// interrupted: what was measured is kept; run the same command again to resume.
#[derive(Args, Debug)]
pub struct TuneArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// The trigger set [default: evals/triggers.json of the skill]
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,

    /// How many descriptions are measured, at most, the original included; 2 is a single step
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,

    /// The share of the queries that is held out; 0 holds out nothing
    #[arg(long, value_name = "SHARE", default_value_t = 0.4, value_parser = holdout)]
    pub holdout: f64,

    /// Stop when this share of the training queries passes
    #[arg(long, value_name = "RATE", default_value_t = 1.0, value_parser = threshold)]
    pub target: f64,

    /// The seed of the split [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How many descriptions are tried in each round; from 4 on by successive halving, which takes about half of the probes for 4 and a third for 16
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub candidates: u32,

    /// How often the proof asks each held-out query with each description [default: 5, or `--runs` when that is more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub proof_runs: Option<u32>,

    /// The model that improves: anthropic:NAME, openai:NAME, claude:NAME, codex:NAME, command:PROGRAM
    #[arg(long, value_name = "MODEL")]
    pub improver: Option<String>,

    /// The improvement history to go on with [default: history.json in the output folder]
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Where the results go [default: tune/ in the workspace beside the skill]
    #[arg(long, alias = "output-dir", value_name = "DIR")]
    pub out_dir: Option<PathBuf>,

    /// The name that `--out FILE.html` had.
    #[arg(long, value_name = "FILE", hide = true)]
    pub page: Option<PathBuf>,

    /// Skills that are installed beside it: skills, or folders of them
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub neighbours: Vec<PathBuf>,

    /// Stop asking a query when its verdict cannot change any more
    #[arg(long)]
    pub early_stop: bool,

    /// Write the description into SKILL.md when it's proven to be better; `--apply=anyway` writes the candidate even if not
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "proven")]
    pub apply: Option<ApplyArg>,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<PageFormat>,

    /// How to probe.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// Which description may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyArg {
    /// One that is proven to be better
    Proven,
    /// The candidate, proven or not
    Anyway,
}

fn holdout(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "write a share as 0.4")?;
    if (0.0..=0.9).contains(&number) {
        Ok(number)
    } else {
        Err("a share lies between 0 and 0.9: something must be left to learn from".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::holdout;

    #[test]
    fn something_is_left_to_learn_from() {
        assert_eq!((holdout("0.4"), holdout("0")), (Ok(0.4), Ok(0.0)));
        for bad in ["1", "-0.1", "NaN", "x"] {
            assert!(holdout(bad).is_err(), "{bad}");
        }
    }
}
