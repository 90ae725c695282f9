//! Flags that mean the same in every command that measures. What is not typed comes from `skillgauge.toml`, then from
//! the defaults in [`crate::settings`].

use std::path::PathBuf;
use std::time::Duration;

/// Who carries out prompts, and how long that may take.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AgentArgs {
    /// The agent: claude, codex, gemini, opencode, one of skillgauge.toml, `command:PROGRAM`, or auto
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    pub agent: Option<String>,
    /// The model that the agent uses; its own choice if absent
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    pub model: Option<String>,
    /// The longest that one attempt may take: `90`, `90s`, `5m`
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Agent")]
    pub timeout: Option<Duration>,
}

/// How much may be spent and how fast.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BudgetArgs {
    /// How many agents or models work at once, at most
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Budget")]
    pub jobs: Option<u32>,
    /// Stop when this command has spent so many US dollars; what was measured is kept, and a resume counts from 0
    #[arg(
        long,
        visible_alias = "budget",
        value_name = "USD",
        value_parser = dollars,
        help_heading = "Budget"
    )]
    pub max_cost: Option<f64>,
    /// Stop after so many calls of agents and models; what was measured is kept, and a resume counts from 0
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub max_calls: Option<u64>,
    /// The longest that a judge, comparator, analyst or improver may take for an answer: `90`, `90s`, `5m` [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Budget")]
    pub judge_timeout: Option<Duration>,
}

/// Record and replay.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TapeArgs {
    /// Keep what agents and models say in this folder
    #[arg(long, value_name = "DIR", help_heading = "Record and replay")]
    pub record: Option<PathBuf>,
    /// Answer from this folder: no agent, no model, no network
    #[arg(long, value_name = "DIR", conflicts_with = "record", help_heading = "Record and replay")]
    pub replay: Option<PathBuf>,
}

/// `90`, `90s`, `5m`, `1h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is no unit of time; write 90s, 5m or 1h")),
    };
    let number: f64 = number.trim().parse().map_err(|_| "write a time as 90, 90s, 5m or 1h")?;
    let time = Duration::try_from_secs_f64(number * seconds);
    time.ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "the time must be more than nothing".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount: f64 = text.trim_start_matches('$').parse().map_err(|_| "write dollars as 2.50")?;
    if amount.is_finite() && amount >= 0.0 {
        Ok(amount)
    } else {
        Err("write dollars as 2.50".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_have_a_unit() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "m", "-1", "0", "5 weeks", "1e400", "NaN"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn dollars_are_an_amount() {
        assert_eq!(dollars("$2.50"), Ok(2.5));
        for bad in ["-1", "inf", "NaN", "two"] {
            assert!(dollars(bad).is_err(), "{bad}");
        }
    }
}
