//! Flags of the commands that probe: `trigger`, `tune` and `route`.

use clap::Args;

use super::trigger::threshold;
use super::{AgentArgs, ApiRequestArg, BudgetArgs, TapeArgs, ViaArg};

/// How it is found out which skill an agent loads.
#[derive(Args, Clone, Debug)]
pub struct ProbeArgs {
    /// How to find out what triggers
    #[arg(long, value_enum, value_name = "WAY", default_value_t, help_heading = "Probes")]
    pub via: ViaArg,

    /// How often each query is asked [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Probes")]
    pub runs: Option<u64>,

    /// The rate that separates the two sides
    #[arg(long, value_name = "RATE", default_value_t = 0.5, value_parser = threshold, help_heading = "Probes")]
    pub threshold: f64,

    /// The model for `--via api` and `--calibrate`: anthropic:NAME or openai:NAME [default: from --model]
    #[arg(long, value_name = "MODEL", help_heading = "Probes")]
    pub api_model: Option<String>,

    /// Where the request of `--via api` comes from
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t, help_heading = "Probes")]
    pub api_request: ApiRequestArg,

    /// How often a probe that measured nothing is tried again
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=20), help_heading = "Probes")]
    pub retries: u32,

    /// End a probe after so many answers of the model [default: no limit]
    ///
    /// A run that the limit ends did not trigger within so many turns. Agents without such a limit are refused before
    /// anything is paid. `skillgauge trigger --calibrate` measures what a limit would miss and save.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Probes")]
    pub max_turns: Option<u32>,

    /// Measure everything again, also what an earlier call measured
    #[arg(long, help_heading = "Probes")]
    pub fresh: bool,

    /// Ask probes again that failed in 3 earlier calls; without it they are left alone
    #[arg(long, conflicts_with = "fresh", help_heading = "Probes")]
    pub retry_failed: bool,

    /// Agent.
    #[command(flatten)]
    pub agent: AgentArgs,

    /// Budget.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}
