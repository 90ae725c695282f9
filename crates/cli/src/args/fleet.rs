//! Arguments of `fleet`, and the flags with which `run` uses one.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use skillgauge_cluster::{Class, PlanId};

use super::measure::duration;
use super::{OutputArgs, PlainFormat, RunArgs, RunFormat};

/// Carry out runs on many machines, over a NATS server
///
/// A run may be executed more than once when machines fail; it counts once. docs/fleet.md has the way from one server
/// and two workers to a cluster with roles and TLS.
#[derive(Debug, clap::Args)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: FleetAction,
}

/// The commands of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetAction {
    /// Make what the fleet needs on its server, and check what the server really stored
    Init(FleetInitArgs),
    /// Hand the runs of a suite to the fleet; `collect` brings the results home
    Submit(Box<FleetSubmitArgs>),
    /// Take jobs and carry them out, until stopped
    Worker(FleetWorkerArgs),
    /// Show workers, queues, what is done, how fast, and how long it still takes
    Status(FleetStatusArgs),
    /// Stop a plan: what is queued is removed, what runs is ended
    Cancel(FleetCancelArgs),
    /// Bring results home, have them graded, and aggregate them
    Collect(FleetCollectArgs),
}

/// The fleet's server.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerArgs {
    /// The server, such as nats://host:4222 or tls://host:4222; several with commas between them
    pub url: String,
    /// How to log in.
    #[command(flatten)]
    pub login: LoginArgs,
}

/// How to log in at the fleet's server; environment variables are another way, see docs/settings.md.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LoginArgs {
    /// A file with the fleet's credentials: a JWT and a seed, or the seed of an nkey alone
    #[arg(long, value_name = "FILE", help_heading = "Fleet")]
    pub creds: Option<PathBuf>,
    /// The certificate of whoever signed the fleet's server
    #[arg(long, value_name = "FILE", help_heading = "Fleet")]
    pub ca: Option<PathBuf>,
}

/// Arguments of `fleet init`.
#[derive(Debug, clap::Args)]
pub struct FleetInitArgs {
    /// The server, such as nats://host:4222 or tls://host:4222
    #[arg(required_unless_present = "server_config")]
    pub url: Option<String>,
    /// How many servers have a copy of everything: 1, or 3 in a cluster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub replicas: u8,
    /// How many bytes the archives of runs may have together, such as 20G, and their results as many; workers wait when it is full
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_bytes: Option<u64>,
    /// Print an example of a server's configuration with roles and TLS, and do nothing
    #[arg(long)]
    pub server_config: bool,
    /// How to log in.
    #[command(flatten)]
    pub login: LoginArgs,
}

/// Arguments of `fleet submit`: those of `run`. What cannot be kept there is refused, and so it is not shown.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("shard", |arg| arg.hide(true)),
    mut_arg("record", |arg| arg.hide(true)),
    mut_arg("replay", |arg| arg.hide(true)),
    mut_arg("fleet", |arg| arg.hide(true)),
    mut_arg("jobs", |arg| arg.hide(true)),
    mut_arg("max_calls", |arg| arg.hide(true)),
    mut_arg("max_cost", |arg| arg.hide(true)),
    mut_arg("format", |arg| arg.hide(true)),
    mut_arg("files", |arg| arg.hide(true)),
)]
pub struct FleetSubmitArgs {
    /// The server, such as nats://host:4222 or tls://host:4222
    pub url: String,
    /// What to run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// With which flags runs are handed to a fleet.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FleetRunArgs {
    /// Carry out the runs on the fleet of this server; `local` takes the same way on this machine alone
    #[arg(long, value_name = "URL", help_heading = "Fleet", conflicts_with_all = ["shard", "record", "replay"])]
    pub fleet: Option<String>,
    /// What a worker must have to get the runs: the class that it was started with
    #[arg(long, value_name = "NAME", help_heading = "Fleet")]
    pub class: Option<Class>,
    /// How many runs the fleet carries out at once, at most
    #[arg(long, value_name = "N", help_heading = "Fleet", value_parser = clap::value_parser!(u32).range(1..))]
    pub fleet_jobs: Option<u32>,
    /// How many runs the fleet grades at once, at most
    #[arg(long, value_name = "N", help_heading = "Fleet", value_parser = clap::value_parser!(u32).range(1..))]
    pub grade_jobs: Option<u32>,
    /// A run whose worker was silent for so long is given to another
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Fleet")]
    pub ack_wait: Option<Duration>,
    /// How often a worker says that it is at it; a third of --ack-wait if absent
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Fleet")]
    pub heartbeat: Option<Duration>,
    /// For tests of the fleet itself: workers never say that they are at it
    #[arg(long, hide = true, conflicts_with = "heartbeat")]
    pub no_heartbeat: bool,
    /// How often a run is given out before it counts as lost
    #[arg(long, value_name = "N", help_heading = "Fleet", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub deliveries: Option<u32>,
    /// How to log in.
    #[command(flatten)]
    pub login: LoginArgs,
    /// Where large archives are.
    #[command(flatten)]
    pub archive: ArchiveArgs,
    /// How results are collected.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// Where archives go that are too large for the fleet's server.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ArchiveArgs {
    /// A folder that all machines of the fleet have mounted: large archives go there instead of through the server
    #[arg(long, value_name = "DIR", help_heading = "Fleet")]
    pub archive_dir: Option<PathBuf>,
    /// Archives with more bytes are large, such as 500M; 64M if absent
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Fleet")]
    pub archive_limit: Option<u64>,
}

/// How often a coordinator looks after things. The defaults are right; tests of the fleet want others.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PaceArgs {
    /// How often it is computed what is missing and not queued
    #[arg(long, value_name = "TIME", value_parser = duration, hide = true)]
    pub reconcile_every: Option<Duration>,
    /// What nobody points at is removed when it is so old
    #[arg(long, value_name = "TIME", value_parser = duration, hide = true)]
    pub grace: Option<Duration>,
}

/// Arguments of `fleet worker`.
///
/// Needs the agent, and for gradings the judge's key, on this machine: neither travels. Ctrl-C or SIGTERM lets it finish
/// what it has for a while, give the rest back, and end.
#[derive(Debug, clap::Args)]
pub struct FleetWorkerArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// How many runs it carries out at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub slots: u32,
    /// How many runs it grades at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub grade_slots: u32,
    /// How often a minute it asks each service that judges; as often as there is something to grade if absent
    #[arg(long, value_name = "N")]
    pub judge_rate: Option<NonZeroU32>,
    /// What this machine has: it gets runs of these classes only; may be given more than once
    #[arg(long = "class", value_name = "NAME")]
    pub classes: Vec<Class>,
    /// Its name in `fleet status`; the machine's name and the process if absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How long runs may go on when it is stopped, before they are given back
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    pub drain: Duration,
    /// End when there was no job for so long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub idle: Option<Duration>,
    /// Where large archives go.
    #[command(flatten)]
    pub archive: ArchiveArgs,
}

/// Arguments of `fleet status`.
#[derive(Debug, clap::Args)]
pub struct FleetStatusArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Only this plan
    #[arg(long, value_name = "ID")]
    pub plan: Option<PlanId>,
    /// Plans that are over since more than a day, too
    #[arg(long, conflicts_with = "plan")]
    pub all: bool,
    /// Show it again every two seconds, until stopped
    #[arg(long)]
    pub watch: bool,
    /// How it is written; with --watch one JSON value on each line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: PlainFormat,
}

/// Arguments of `fleet cancel`.
#[derive(Debug, clap::Args)]
pub struct FleetCancelArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The plan, as `fleet status` shows it
    pub plan: PlanId,
}

/// Arguments of `fleet collect`.
#[derive(Debug, clap::Args)]
pub struct FleetCollectArgs {
    /// The server, such as nats://host:4222 or tls://host:4222
    pub url: String,
    /// The skill
    #[arg(default_value = ".")]
    pub skill: PathBuf,
    /// The workspace; `<skill>-workspace` beside the skill if absent
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The iteration; the newest one if absent
    #[arg(long, value_name = "N")]
    pub iteration: Option<u64>,
    /// The plan, wherever it was submitted: its iteration is made in this workspace if it is not there
    #[arg(long, value_name = "ID", conflicts_with = "iteration")]
    pub plan: Option<PlanId>,
    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<RunFormat>,
    /// How to log in.
    #[command(flatten)]
    pub login: LoginArgs,
    /// Where large archives are.
    #[command(flatten)]
    pub archive: ArchiveArgs,
    /// How results are collected.
    #[command(flatten)]
    pub pace: PaceArgs,
}

/// `500`, `20M`, `2G`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return Err("write bytes as 500M or 20G".to_owned()),
    };
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(factor)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "write bytes as 500M or 20G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("512"), Ok(512));
        for bad in ["", "G", "0", "2 G", "2X", "99999999999T", "-1"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
