//! From the checks of a suite to checks that can be carried out, with everything that is wrong with them at once.

use skillgauge_format::evals::{CheckType, Operator, Presence, StructuralExpectation};
use skillgauge_format::{Case, Suite};

use super::glob::{Glob, NameGlob};
use super::json::Wanted;
use super::json_path;
use super::json_schema::JsonSchema;
use super::needle::Needle;
use super::problem::{CheckProblem, CheckProblemKind};
use super::trace::ToolPattern;

/// The checks of one case, ready to be carried out.
#[derive(Debug)]
pub struct CompiledChecks {
    pub(super) checks: Vec<Check>,
}

impl CompiledChecks {
    /// How many checks there are.
    pub fn len(&self) -> usize {
        self.checks.len()
    }

    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// Whether a check runs a script.
    pub fn run_scripts(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.test, Test::Script(_)))
    }

    /// Whether a check looks at the files of a run.
    pub(super) fn look_at_files(&self) -> bool {
        let without_files = |check: &Check| {
            matches!(
                check.test,
                Test::NoErrors
                    | Test::Script(_)
                    | Test::ToolCalled(..)
                    | Test::ToolNotCalled(_)
                    | Test::SkillLoaded(_)
                    | Test::MaxTokens(_)
                    | Test::MaxSeconds(_)
                    | Test::OutputContains(_)
                    | Test::TranscriptRegex(..)
            )
        };
        !self.checks.iter().all(without_files)
    }
}

/// One check that is ready.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the field is called so in the suite")]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) check_type: CheckType,
    pub(super) critical: bool,
    pub(super) negated: bool,
    pub(super) test: Test,
}

/// What is tested.
#[derive(Debug)]
pub(super) enum Test {
    Exists(Glob),
    Absent(Glob),
    Count(Glob, Operator, u64),
    Contains(Glob, Needle),
    NotContains(Glob, Needle, Vec<String>),
    NoErrors,
    Script(String),
    JsonSchema(Glob, JsonSchema),
    JsonPath(Glob, json_path::Path, Wanted),
    YamlValid(Glob),
    MarkdownSection(Glob, String, Option<Needle>),
    ToolCalled(ToolPattern, (Operator, u64)),
    ToolNotCalled(ToolPattern),
    SkillLoaded(Option<String>),
    MaxTokens(f64),
    MaxSeconds(f64),
    OutputContains(Needle),
    DiffScope(Vec<Glob>),
    ResultContains(Needle),
    TranscriptRegex(Needle, Presence),
}

/// Makes the checks of a case ready, or says everything that is wrong with them.
pub fn compile(case: &Case<'_>) -> Result<CompiledChecks, Vec<CheckProblem>> {
    let mut checks = Vec::new();
    let mut problems = Vec::new();
    for expectation in case.checks() {
        let mut compiler = Compiler { expectation, problems: Vec::new() };
        let test = compiler.test();
        let found = compiler.problems;
        if let Some(test) = test.filter(|_| found.is_empty()) {
            checks.push(Check {
                id: expectation.id.clone(),
                description: expectation.description.clone(),
                check_type: expectation.check_type,
                critical: expectation.is_critical(),
                negated: expectation.is_negated(),
                test,
            });
        }
        problems.extend(found.into_iter().map(|kind| CheckProblem {
            case: case.id().into_owned(),
            check: expectation.id.clone(),
            kind,
        }));
    }
    if problems.is_empty() { Ok(CompiledChecks { checks }) } else { Err(problems) }
}

/// Makes the checks of every case ready, in the order of the suite, or says everything that is wrong with them.
pub fn compile_suite(suite: &Suite) -> Result<Vec<CompiledChecks>, Vec<CheckProblem>> {
    let mut compiled = Vec::new();
    let mut problems = Vec::new();
    for case in suite.cases() {
        match compile(&case) {
            Ok(checks) => compiled.push(checks),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(compiled) } else { Err(problems) }
}

struct Compiler<'e> {
    expectation: &'e StructuralExpectation,
    problems: Vec<CheckProblemKind>,
}

impl Compiler<'_> {
    /// The test; nothing when something is wrong, which is then among the problems.
    fn test(&mut self) -> Option<Test> {
        let check = self.expectation;
        Some(match check.check_type {
            CheckType::FileExists => Test::Exists(self.glob()?),
            CheckType::FileAbsent => Test::Absent(self.glob()?),
            CheckType::YamlValid => Test::YamlValid(self.glob()?),
            CheckType::NoErrors => Test::NoErrors,
            CheckType::FileCount => {
                let (glob, count) = (self.glob(), self.need("count", check.count));
                Test::Count(glob?, check.operator.unwrap_or_default(), count?)
            }
            CheckType::FileContains => {
                let (glob, needle) = (self.glob(), self.needle());
                Test::Contains(glob?, needle?)
            }
            CheckType::FileNotContains => {
                let (glob, needle) = (self.glob(), self.needle());
                let contexts = check.except_context.clone().unwrap_or_default();
                Test::NotContains(glob?, needle?, contexts)
            }
            CheckType::CustomScript => Test::Script(self.need("script", check.script.clone())?),
            CheckType::JsonSchema => {
                let (glob, schema) = (self.glob(), self.schema());
                Test::JsonSchema(glob?, schema?)
            }
            CheckType::JsonPath => {
                let (glob, path, wanted) = (self.glob(), self.path(), self.wanted());
                Test::JsonPath(glob?, path?, wanted?)
            }
            CheckType::MarkdownSection => {
                let (glob, needle) = (self.glob(), self.perhaps_needle());
                let heading = self.need("heading", check.heading.clone());
                Test::MarkdownSection(glob?, heading?, needle?)
            }
            CheckType::ToolCalled => {
                let counts = match (check.count, check.operator) {
                    (None, None) => (Operator::AtLeast, 1),
                    (None, Some(operator)) => (operator, 1),
                    (Some(count), operator) => (operator.unwrap_or_default(), count),
                };
                Test::ToolCalled(self.tool()?, counts)
            }
            CheckType::ToolNotCalled => Test::ToolNotCalled(self.tool()?),
            CheckType::SkillLoaded => Test::SkillLoaded(check.skill.clone()),
            CheckType::MaxTokens => Test::MaxTokens(self.limit()?),
            CheckType::MaxSeconds => Test::MaxSeconds(self.limit()?),
            CheckType::OutputContains => Test::OutputContains(self.needle()?),
            CheckType::DiffScope => {
                let allow = self.need("allow", check.allow.as_ref())?;
                let globs: Vec<_> =
                    allow.iter().filter_map(|glob| self.glob_of("allow", glob)).collect();
                Test::DiffScope(globs)
            }
            CheckType::ResultContains => Test::ResultContains(self.needle()?),
            CheckType::TranscriptRegex => {
                let pattern = self.need("pattern", check.pattern.as_deref())?;
                match Needle::regex(pattern) {
                    Ok(needle) => Test::TranscriptRegex(needle, check.expect.unwrap_or_default()),
                    Err(problem) => {
                        let kind = CheckProblemKind::Pattern { field: "pattern", problem };
                        return self.refuse(kind);
                    }
                }
            }
        })
    }

    fn refuse<T>(&mut self, kind: CheckProblemKind) -> Option<T> {
        self.problems.push(kind);
        None
    }

    fn need<T>(&mut self, field: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            return self.missing(vec![field]);
        }
        value
    }

    fn missing<T>(&mut self, fields: Vec<&'static str>) -> Option<T> {
        let check_type = self.expectation.check_type.name();
        self.refuse(CheckProblemKind::Missing { check_type, fields })
    }

    fn glob(&mut self) -> Option<Glob> {
        let pattern = self.need("pattern", self.expectation.pattern.as_deref())?;
        self.glob_of("pattern", pattern)
    }

    fn glob_of(&mut self, field: &'static str, glob: &str) -> Option<Glob> {
        match Glob::new(glob) {
            Ok(glob) => Some(glob),
            Err(problem) => self.refuse(CheckProblemKind::Glob { field, problem }),
        }
    }

    /// What is looked for; one of three fields must be there.
    fn needle(&mut self) -> Option<Needle> {
        match self.perhaps_needle()? {
            Some(needle) => Some(needle),
            None => self.missing(vec!["match", "match_any", "match_regex"]),
        }
    }

    /// What is looked for, if anything is.
    #[expect(
        clippy::option_option,
        reason = "the outer one says that a problem was noted, as everywhere here"
    )]
    fn perhaps_needle(&mut self) -> Option<Option<Needle>> {
        let check = self.expectation;
        self.exclusive(&[
            ("match", check.match_text.is_some()),
            ("match_any", check.match_any.is_some()),
            ("match_regex", check.match_regex.is_some()),
        ])?;
        if let Some(pattern) = &check.match_regex {
            return match Needle::regex(pattern) {
                Ok(needle) => Some(Some(needle)),
                Err(problem) => {
                    self.refuse(CheckProblemKind::Pattern { field: "match_regex", problem })
                }
            };
        }
        let one = check.match_text.clone().map(|text| vec![text]);
        let Some(texts) = one.or_else(|| check.match_any.clone()) else { return Some(None) };
        match Needle::texts(&texts) {
            Some(needle) => Some(Some(needle)),
            None => self.refuse(CheckProblemKind::Texts),
        }
    }

    fn exclusive(&mut self, fields: &[(&'static str, bool)]) -> Option<()> {
        let there: Vec<_> = fields.iter().filter(|(_, is_there)| *is_there).collect();
        if there.len() > 1 {
            let fields = there.iter().map(|(field, _)| *field).collect();
            return self.refuse(CheckProblemKind::Exclusive { fields });
        }
        Some(())
    }

    fn schema(&mut self) -> Option<JsonSchema> {
        let schema = self.need("schema", self.expectation.schema.as_ref())?;
        match JsonSchema::new(schema) {
            Ok(schema) => Some(schema),
            Err(problems) => {
                self.problems.extend(problems.into_iter().map(CheckProblemKind::Schema));
                None
            }
        }
    }

    fn path(&mut self) -> Option<json_path::Path> {
        let path = self.need("path", self.expectation.path.as_deref())?;
        match json_path::Path::new(path) {
            Ok(path) => Some(path),
            Err(problem) => self.refuse(CheckProblemKind::Path(problem)),
        }
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let needle = self.perhaps_needle()?;
        match (&self.expectation.equals, needle) {
            (None, None) => Some(Wanted::Anything),
            (Some(value), None) => Some(Wanted::Equal(value.clone())),
            (None, Some(needle)) => Some(Wanted::Containing(Box::new(needle))),
            (Some(_), Some(_)) => {
                let fields = vec!["equals", "match", "match_any", "match_regex"];
                self.refuse(CheckProblemKind::Exclusive { fields })
            }
        }
    }

    fn tool(&mut self) -> Option<ToolPattern> {
        let input = self.perhaps_needle();
        let name = self.need("tool", self.expectation.tool.as_deref())?;
        match NameGlob::new(name) {
            Ok(tool) => Some(ToolPattern { tool, input: input? }),
            Err(problem) => self.refuse(CheckProblemKind::Glob { field: "tool", problem }),
        }
    }

    fn limit(&mut self) -> Option<f64> {
        let limit = self.need("limit", self.expectation.limit)?.as_f64();
        if limit.is_finite() && limit >= 0.0 {
            return Some(limit);
        }
        self.refuse(CheckProblemKind::Limit)
    }
}
