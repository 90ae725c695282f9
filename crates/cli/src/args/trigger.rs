//! Arguments of `trigger`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OutputArgs, ProbeArgs};

/// Measure whether a skill triggers for the right queries
///
/// Asks the agent every query of a trigger set several times, with the skill installed, and looks whether it loads the
/// skill. A query that must trigger is asked first: without it a rate of 0 would mean nothing. Your own files and settings
/// are never touched.
///
/// A query is undecided when runs that errored could turn its verdict: it is in no metric and listed apart.
///
/// Exit code 0 when all queries passed, 1 when some failed or `--against` is worse, 2 for bad input, 3 when none failed but
/// some are undecided or the measurement is broken, 130 when it was interrupted: run the same command again to resume. The
/// report is written in all cases but bad input.
#[derive(Args, Debug)]
pub struct TriggerArgs {
    /// The skill
    #[arg(value_name = "SKILL", default_value = ".")]
    pub skill: PathBuf,

    /// The trigger set [default: evals/triggers.json of the skill]
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,

    /// Measure this description instead of the skill's own
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,

    /// Also measure with these skills installed beside it: skills, or folders of them
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub neighbours: Vec<PathBuf>,

    /// Also measure with so many made-up skills installed beside it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub crowd: u32,

    /// Probe both ways and tell how well they agree, and what `--max-turns` would miss and save
    #[arg(long, conflicts_with = "max_turns")]
    pub calibrate: bool,

    /// Stop asking a query when its verdict cannot change any more
    #[arg(long)]
    pub early_stop: bool,

    /// Compare with an earlier report of the same skill: better, worse, no difference or undecided
    ///
    /// Compares the share of right runs, query by query, with a permutation test. Queries that only one of the reports has
    /// are listed and left out. Exit code 1 when it got worse.
    #[arg(long, value_name = "REPORT", conflicts_with = "early_stop")]
    pub against: Option<PathBuf>,

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<TriggerFormat>,

    /// How to probe.
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// How to probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ViaArg {
    /// Through the agent program.
    #[default]
    Agent,
    /// By one model request with the skills and tools that the agent offers: cheaper, and less true.
    Api,
    /// From the words alone, without any model: fast feedback, and no measurement.
    Estimate,
}

/// Where the request of a probe without an agent comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ApiRequestArg {
    /// Captured where the agent is installed, built in otherwise; the report says which.
    #[default]
    Auto,
    /// What the agent program really sends: it is run once, against a listener on this machine.
    Captured,
    /// The list of skills with tools in our own words: far fewer tokens, and less true.
    BuiltIn,
}

/// How to write a trigger report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TriggerFormat {
    /// For people.
    #[default]
    Text,
    /// The report of the contract, with our own fields beside it.
    Json,
    /// JUnit XML: a test case for each query.
    Junit,
    /// Annotations for a GitHub Actions log.
    Github,
}

pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "write a rate as 0.5")?;
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err("a rate lies between 0 and 1".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::threshold;

    #[test]
    fn a_threshold_is_a_rate() {
        assert_eq!(threshold("0.5"), Ok(0.5));
        for bad in ["-0.1", "1.1", "NaN", "half"] {
            assert!(threshold(bad).is_err(), "{bad}");
        }
    }
}
