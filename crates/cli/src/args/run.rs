//! Arguments of `run`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use skillgauge_core::plan::Shard;
use skillgauge_run::iteration::BaselineChoice;

use super::fleet::FleetRunArgs;
use super::measure::{AgentArgs, BudgetArgs, TapeArgs};
use super::outcome::OutcomeArgs;
use super::output::OutputArgs;

/// Run a suite with and without a skill: execute, check, grade, aggregate
///
/// Takes `<skill>/evals/evals.json` in either dialect and writes everything below `<skill>-workspace/iteration-N`.
/// Interrupt it at any time and run the same command again to resume.
///
/// Exits with 1 when a case fails in most of its runs with the skill, or when the skill makes things worse; with 3 when
/// runs are missing or could not be graded.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag on the command line")]
pub struct RunArgs {
    /// The skill
    #[arg(default_value = ".")]
    pub skill: PathBuf,
    /// The suite; `<skill>/evals/evals.json` if absent
    #[arg(long, value_name = "FILE")]
    pub evals: Option<PathBuf>,
    /// The workspace; `<skill>-workspace` beside the skill if absent
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Only the cases whose id matches, such as `login-*`; may be given more than once
    #[arg(long = "case", value_name = "GLOB")]
    pub cases: Vec<String>,
    /// How often each case is run in each configuration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,
    /// When to stop.
    #[command(flatten)]
    pub until: UntilArgs,
    /// What the skill is compared with: none, without (the skill absent), old=VERSION, old (the version before the one
    /// that the skill is, or the current version when the skill was changed since it was stored), or same (the skill
    /// again, which shows the noise of suite, agent and judge)
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<BaselineChoice>,
    /// Take the baseline's runs over from an earlier iteration; refused when anything differs
    #[arg(long, value_name = "ITERATION")]
    pub baseline_from: Option<u64>,
    /// The model that judges, or none: only the structural checks
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,
    /// How often the judge is asked; the majority decides
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub judge_votes: Option<u32>,
    /// How many tokens the judge can read and write in all; it's shown less of each run to fit [default: 60 kB of transcript and 60 kB of outputs]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1024..))]
    pub judge_context: Option<u32>,
    /// How often a run is tried again that a service or this machine kept from its result
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub retries: u32,
    /// Only go on with an unfinished iteration; never begin a new one
    #[arg(long)]
    pub resume: bool,
    /// Begin a new iteration although the newest one is unfinished
    #[arg(long, conflicts_with = "resume")]
    pub fresh: bool,
    /// Run again what failed in 3 earlier calls of the iteration; without it such runs are left alone
    #[arg(long, conflicts_with = "fresh")]
    pub retry_failed: bool,
    /// Show what would be run, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Only a part of the plan, such as 3/16; `skillgauge merge` puts the parts together
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// The seed of everything that is drawn
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What decides.
    #[command(flatten)]
    pub outcome: OutcomeArgs,
    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<RunFormat>,
    /// Who runs.
    #[command(flatten)]
    pub agent: AgentArgs,
    /// What may be spent.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
    /// On which machines.
    #[command(flatten)]
    pub fleet: FleetRunArgs,
}

/// When to stop.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct UntilArgs {
    /// Stop as soon as the pairs of runs decide, or can't decide any more; with --shard every part runs its whole share
    #[arg(long, conflicts_with = "runs")]
    pub until_decided: bool,
    /// The most runs that --until-decided makes in all; 15 of each case in each configuration if absent
    #[arg(long, value_name = "N", requires = "until_decided", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub max_runs: Option<u64>,
}

/// What the measuring of one version takes over from a command that measures versions; the rest is as `run` has it.
#[derive(Debug)]
pub struct VersionRun<'a> {
    /// The skill's folder.
    pub skill: &'a Path,
    /// The suite.
    pub evals: Option<&'a Path>,
    /// Which cases.
    pub cases: &'a [String],
    /// How often each case is run.
    pub runs: Option<u64>,
    /// The model that judges.
    pub judge: Option<&'a str>,
    /// How often the judge is asked.
    pub judge_votes: Option<u32>,
    /// How often a run is tried again.
    pub retries: u32,
    /// The seed.
    pub seed: Option<u64>,
    /// Who runs.
    pub agent: &'a AgentArgs,
    /// What may be spent.
    pub budget: &'a BudgetArgs,
    /// Record and replay.
    pub tape: &'a TapeArgs,
}

impl RunArgs {
    /// One version is measured as `run` does it, with the skill alone.
    pub fn for_version(run: &VersionRun<'_>) -> Self {
        Self {
            skill: run.skill.to_owned(),
            evals: run.evals.map(Path::to_owned),
            workspace: None,
            cases: run.cases.to_vec(),
            runs: run.runs,
            until: UntilArgs::default(),
            outcome: OutcomeArgs::default(),
            baseline: Some(BaselineChoice::None),
            baseline_from: None,
            judge: run.judge.map(str::to_owned),
            judge_votes: run.judge_votes,
            judge_context: None,
            retries: run.retries,
            resume: false,
            fresh: false,
            // Commands that measure versions have no flag for it, and a version must be measured.
            retry_failed: true,
            dry_run: false,
            shard: None,
            seed: run.seed,
            output: OutputArgs::default(),
            agent: run.agent.clone(),
            budget: run.budget.clone(),
            tape: run.tape.clone(),
            fleet: FleetRunArgs::default(),
        }
    }
}

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// A table for people.
    #[default]
    Text,
    /// benchmark.json.
    Json,
    /// benchmark.md.
    Markdown,
    /// JUnit XML.
    Junit,
    /// Annotations for GitHub Actions.
    Github,
}
