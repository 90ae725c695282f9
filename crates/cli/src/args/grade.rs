//! Arguments of `grade`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use skillgauge_run::agent::adapter::ADAPTERS;

use super::{BudgetArgs, TapeArgs};

/// Have stored runs graded by a judge, or any transcript
///
/// Grades runs from their files: no agent is started. Runs that have a grading without judge errors are left alone, unless
/// --force is given. Quotes that the judge gives as evidence are looked up, and one that is nowhere voids a pass.
///
/// With --transcript and --assertions it prints how an agent behaved, as JSON. The prompts can be replaced by the files
/// prompts/grade_evals.md, prompts/grade_cases.md and prompts/grade_behaviour.md of a project.
#[derive(Debug, clap::Args)]
pub struct GradeArgs {
    /// Folders of runs or of iterations; of a workspace or skill the newest iteration [default: .]
    #[arg(value_name = "RUN|ITERATION")]
    pub paths: Vec<PathBuf>,

    /// The model that judges, or none: only the structural checks; the suite's choice if absent, then auto
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,

    /// Ask the judge so often; the majority decides, scores by their median
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub judge_votes: Option<u32>,

    /// The suite; if absent, the one that the iteration kept
    #[arg(long, value_name = "FILE", conflicts_with = "transcript")]
    pub evals: Option<PathBuf>,

    /// The skill; if absent, the one that the iteration names
    #[arg(long, value_name = "DIR", conflicts_with = "transcript")]
    pub skill: Option<PathBuf>,

    /// Grade runs again that have a grading
    #[arg(long, conflicts_with = "transcript")]
    pub force: bool,

    /// Grade this transcript.jsonl, or an agent's raw event stream with --agent
    #[arg(
        long,
        value_name = "FILE",
        requires = "assertions",
        conflicts_with = "paths",
        help_heading = "Behaviour"
    )]
    pub transcript: Option<PathBuf>,

    /// What to look for in it: a JSON array of texts, or one text on each line
    #[arg(long, value_name = "FILE", requires = "transcript", help_heading = "Behaviour")]
    pub assertions: Option<PathBuf>,

    /// Which agent wrote the raw event stream
    #[arg(long, value_name = "NAME", requires = "transcript", value_parser = agents(), help_heading = "Behaviour")]
    pub agent: Option<String>,

    /// How much may be spent and how fast.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Record and replay.
    #[command(flatten)]
    pub tape: TapeArgs,
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ADAPTERS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about)),
    )
}
