//! Arguments of `grade`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use skillgauge_run::agent::adapter::ADAPTERS;

use super::{BudgetArgs, PlainFormat, TapeArgs};

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

    /// How many tokens the judge can read and write in all; it's shown less of each run to fit [default: 60 kB of transcript and 60 kB of outputs]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1024..))]
    pub judge_context: Option<u32>,

    /// The suite; if absent, the one that the iteration kept
    #[arg(long, value_name = "FILE", conflicts_with = "transcript")]
    pub evals: Option<PathBuf>,

    /// The skill; if absent, the one that the iteration names
    #[arg(long, value_name = "DIR", conflicts_with = "transcript")]
    pub skill: Option<PathBuf>,

    /// Show whether the judge can tell at all, without labels: it judges the reference answers of the skill's suite, empty
    /// answers, and answers of other cases. A reference answer is what --reference has for the
    /// case, or else its `expected_output`. Exits with 1 when the judge can't tell a right answer from an empty one
    #[arg(long, conflicts_with_all = ["transcript", "force"], help_heading = "Self-test")]
    pub self_test: bool,

    /// Reference answers: `DIR/<case id>/` holds the files of a right answer, as for `lint-evals` [default: evals/reference of
    /// the skill]
    #[arg(long, value_name = "DIR", requires = "self_test", help_heading = "Self-test")]
    pub reference: Option<PathBuf>,

    /// How the result of --self-test is written
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        requires = "self_test",
        help_heading = "Self-test"
    )]
    pub format: PlainFormat,

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
