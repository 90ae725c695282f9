//! The one model of a suite, for both dialects.
//!
//! Whatever plans, runs and judges cases works with [`Suite`] and [`Case`] and does not know how they were written
//! down. A suite keeps the file that it was read from and shows it through accessors, so that writing it back loses
//! nothing, by construction. One of another tool is shown in our form ([`crate::evals::translate`]).

use std::borrow::Cow;

use crate::cases::{CasesSuite, Criterion, SuiteCase};
use crate::dialect::{self, Dialect};
use crate::evals::{
    Eval, EvalConfig, EvalsSuite, PrimaryOutcome, QualityRubric, StructuralExpectation,
};
use crate::json::Number;
use crate::kind::Kind;
use crate::part::Statement;
use crate::problem::{At, ExpectedKind, MeaningIssue, Report};
use crate::read::{self, Read, ReadError};
use crate::write::{self, WriteError};

/// The cases of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    file: SuiteFile,
    /// The file as it was written, where it is graded in another form.
    written: Option<EvalsSuite>,
}

#[derive(Clone, Debug, PartialEq)]
enum SuiteFile {
    Cases(CasesSuite),
    Evals(EvalsSuite),
}

/// How a suite is run, defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiteConfig<'s> {
    /// How often each case is run in each configuration.
    pub runs_per_eval: u64,
    /// Whether the judge is skipped when a critical check failed.
    pub structural_gate: bool,
    /// The model that judges, if the suite names one.
    pub judge_model: Option<&'s str>,
    /// Whether each case is also run without the skill.
    pub baseline_comparison: bool,
    /// The outcome that decides, if the suite names one.
    pub primary_outcome: Option<PrimaryOutcome>,
    /// The margin below which a difference does not matter, if the suite names one.
    pub margin: Option<f64>,
}

impl Default for SuiteConfig<'_> {
    fn default() -> Self {
        Self {
            runs_per_eval: 3,
            structural_gate: true,
            judge_model: None,
            baseline_comparison: true,
            primary_outcome: None,
            margin: None,
        }
    }
}

impl Suite {
    /// Reads a suite in either dialect.
    pub fn read(bytes: &[u8]) -> Result<Read<Self>, ReadError> {
        let mut report = Report::new(bytes);
        let suite = read::parse_into(bytes, &mut report).and_then(|document| {
            let root = At::root(&document.root);
            // Items of both sorts are an error that its rules report, beside everything else.
            let dialect = match dialect::guess(root.node()) {
                Some(Dialect::Evals) => Dialect::Evals,
                _ => dialect::detect(&root, &mut report)?,
            };
            match dialect {
                Dialect::Cases => {
                    read::read_document::<CasesSuite>(&document, &mut report).map(Self::from)
                }
                Dialect::Evals => read::read_evals(&document, &mut report).map(|read| match read {
                    (written, Some(graded)) => {
                        Self { file: SuiteFile::Evals(graded), written: Some(written) }
                    }
                    (written, None) => Self::from(written),
                }),
                Dialect::Trigger => {
                    let (found, expected) = (Kind::TriggerSet, ExpectedKind::Suite);
                    report.add(&root, MeaningIssue::OtherKind { found, expected });
                    None
                }
            }
        });
        read::finish(suite, report)
    }

    /// The dialect that the suite is written in.
    pub fn dialect(&self) -> Dialect {
        match &self.file {
            SuiteFile::Cases(_) => Dialect::Cases,
            SuiteFile::Evals(_) => Dialect::Evals,
        }
    }

    /// The skill that the suite says it is for: its path in the `cases` dialect, its name in the `evals` dialect.
    pub fn skill(&self) -> Option<&str> {
        match &self.file {
            SuiteFile::Cases(suite) => suite.skill.as_deref(),
            SuiteFile::Evals(suite) => suite.skill_name.as_deref(),
        }
    }

    /// How the suite is run.
    pub fn config(&self) -> SuiteConfig<'_> {
        let default = SuiteConfig::default();
        let config = match &self.file {
            SuiteFile::Cases(suite) => &suite.eval_config,
            SuiteFile::Evals(suite) => &suite.eval_config,
        };
        let Some(config) = config else { return default };
        let EvalConfig { runs_per_eval, structural_gate, judge_model, baseline_comparison, .. } =
            config;
        SuiteConfig {
            runs_per_eval: runs_per_eval.unwrap_or(default.runs_per_eval),
            structural_gate: structural_gate.unwrap_or(default.structural_gate),
            judge_model: judge_model.as_deref(),
            baseline_comparison: baseline_comparison.unwrap_or(default.baseline_comparison),
            primary_outcome: config.primary_outcome,
            margin: config.margin.map(Number::as_f64),
        }
    }

    /// The outcomes that its runs have, the default first.
    pub fn outcomes(&self) -> &'static [PrimaryOutcome] {
        use PrimaryOutcome::{
            OverallEfficiency, OverallScore, PassRate, Preference, RequiredScore, RubricNormalized,
        };
        match &self.file {
            SuiteFile::Cases(_) => &[OverallScore, PassRate, RequiredScore, Preference],
            SuiteFile::Evals(suite) if suite.evals.iter().any(|it| it.quality_rubric.is_some()) => {
                &[OverallEfficiency, PassRate, RubricNormalized, Preference]
            }
            SuiteFile::Evals(_) => &[PassRate, Preference],
        }
    }

    /// The cases in the order of the file.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = Case<'_>> {
        let count = match &self.file {
            SuiteFile::Cases(suite) => suite.cases.len(),
            SuiteFile::Evals(suite) => suite.evals.len(),
        };
        (0..count).map(|index| match &self.file {
            SuiteFile::Cases(suite) => Case::Criteria(&suite.cases[index]),
            SuiteFile::Evals(suite) => Case::Eval(&suite.evals[index]),
        })
    }

    /// The same with nothing but what a judge decides.
    #[must_use]
    pub fn without_checks(&self) -> Self {
        let mut suite = self.clone();
        if let SuiteFile::Evals(suite) = &mut suite.file {
            suite.evals.iter_mut().for_each(|eval| eval.structural_expectations = None);
        }
        suite
    }

    /// The text of the suite in its own dialect, nothing lost.
    pub fn to_json(&self) -> Result<String, WriteError> {
        match (&self.written, &self.file) {
            (Some(suite), _) | (None, SuiteFile::Evals(suite)) => write::to_text(suite),
            (None, SuiteFile::Cases(suite)) => write::to_text(suite),
        }
    }
}

impl From<CasesSuite> for Suite {
    fn from(suite: CasesSuite) -> Self {
        Self { file: SuiteFile::Cases(suite), written: None }
    }
}

impl From<EvalsSuite> for Suite {
    fn from(suite: EvalsSuite) -> Self {
        Self { file: SuiteFile::Evals(suite), written: None }
    }
}

/// One task and what its result is judged by, in either dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Case<'s> {
    /// A case of the `cases` dialect: criteria that are scored from 1 to 5.
    Criteria(&'s SuiteCase),
    /// A case of the `evals` dialect: checks, statements and a rubric.
    Eval(&'s Eval),
}

impl<'s> Case<'s> {
    /// The id as text, unique in the suite and fit to be part of a folder name.
    pub fn id(self) -> Cow<'s, str> {
        match self {
            Self::Criteria(case) => Cow::Borrowed(case.id.as_str()),
            Self::Eval(eval) => Cow::Owned(eval.id.to_string()),
        }
    }

    /// The name for people, if the case has one.
    pub fn name(self) -> Option<&'s str> {
        match self {
            Self::Criteria(_) => None,
            Self::Eval(eval) => eval.name.as_deref(),
        }
    }

    /// The name for people, or else the id.
    pub fn title(self) -> Cow<'s, str> {
        self.name().map_or_else(|| self.id(), Cow::Borrowed)
    }

    /// The task.
    pub fn prompt(self) -> &'s str {
        match self {
            Self::Criteria(case) => &case.prompt,
            Self::Eval(eval) => &eval.prompt,
        }
    }

    /// What success looks like, if the case says so.
    pub fn expected_output(self) -> Option<&'s str> {
        match self {
            Self::Criteria(_) => None,
            Self::Eval(eval) => eval.expected_output.as_deref(),
        }
    }

    /// Input files; relative to the workspace in the `cases` dialect, to the skill in the `evals` dialect.
    pub fn files(self) -> &'s [String] {
        match self {
            Self::Criteria(case) => case.files.as_deref(),
            Self::Eval(eval) => eval.files.as_deref(),
        }
        .unwrap_or_default()
    }

    /// What a judge decides, in the order of the file.
    pub fn expectations(self) -> Vec<Expectation<'s>> {
        match self {
            Self::Criteria(case) => case.expectations.iter().map(Expectation::Criterion).collect(),
            Self::Eval(eval) => eval.statements().map(Expectation::Statement).collect(),
        }
    }

    /// What a program decides.
    pub fn checks(self) -> &'s [StructuralExpectation] {
        match self {
            Self::Criteria(_) => &[],
            Self::Eval(eval) => eval.structural_expectations.as_deref().unwrap_or_default(),
        }
    }

    /// What a judge scores by dimension.
    pub fn rubric(self) -> Option<&'s QualityRubric> {
        match self {
            Self::Criteria(_) => None,
            Self::Eval(eval) => eval.quality_rubric.as_ref(),
        }
    }
}

/// Something that a judge decides about a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expectation<'s> {
    /// Scored from 1 to 5.
    Criterion(&'s Criterion),
    /// True or false.
    Statement(&'s Statement),
}

impl<'s> Expectation<'s> {
    /// The short label, if it has one.
    pub fn label(self) -> Option<&'s str> {
        match self {
            Self::Criterion(criterion) => Some(&criterion.criterion),
            Self::Statement(Statement::Object(object)) => object.id.as_deref(),
            Self::Statement(Statement::Text(_)) => None,
        }
    }

    /// What is to be judged.
    pub fn text(self) -> &'s str {
        match self {
            Self::Criterion(criterion) => &criterion.description,
            Self::Statement(statement) => statement.text(),
        }
    }

    /// Whether the case fails when this does; a statement is always required.
    pub fn is_required(self) -> bool {
        match self {
            Self::Criterion(criterion) => criterion.required,
            Self::Statement(_) => true,
        }
    }
}
