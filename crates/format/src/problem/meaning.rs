//! What a schema cannot say: ids that clash, numbers that do not add up, criteria that nobody can judge.
//!
//! Errors are only what makes a file useless or dangerous to use. Reports that contradict themselves are warnings:
//! they were written by a program, and whoever reads them should know, but can still look.

use std::fmt;

use super::Level;
use crate::json::Place;
use crate::kind::Kind;

/// The kinds of names that must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    /// `id` of a case in the `cases` dialect.
    Case,
    /// `criterion` of an expectation within its case.
    Criterion,
    /// `id` of an eval.
    Eval,
    /// `id` of a structural expectation within its eval.
    Check,
    /// `id` of a rubric dimension.
    DimensionId,
    /// `name` of a rubric dimension.
    DimensionName,
    /// `version` in a history.
    Version,
    /// `round` of an improvement history or loop.
    Round,
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Case => "case id",
            Self::Criterion => "criterion",
            Self::Eval => "eval id",
            Self::Check => "check id",
            Self::DimensionId => "dimension id",
            Self::DimensionName => "dimension name",
            Self::Version => "version",
            Self::Round => "round",
        })
    }
}

/// What was asked for when a file of another kind was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedKind {
    /// One kind.
    One(Kind),
    /// A suite in either dialect.
    Suite,
}

impl fmt::Display for ExpectedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(kind) => write!(f, "`{kind}`"),
            Self::Suite => write!(f, "`{}` or `{}`", Kind::CasesSuite, Kind::EvalsSuite),
        }
    }
}

/// A file of the right shape that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeaningIssue {
    /// A trigger set without queries.
    #[error("the trigger set has no queries")]
    EmptySet,
    /// The same query should trigger in one place and should not in another.
    #[error("the query {query} should {} here and should {} at {first}", verb(*label), verb(!*label))]
    ConflictingLabels {
        /// The query, quoted.
        query: String,
        /// The label here.
        label: bool,
        /// Where the query stands for the first time.
        first: Place,
    },
    /// The same query with the same label.
    #[error("the query {query} is already at {first}; it counts once")]
    RepeatedQuery {
        /// The query, quoted.
        query: String,
        /// Where it stands for the first time.
        first: Place,
    },
    /// Only positive or only negative queries.
    #[error(
        "no query has `should_trigger: {missing}`, so nothing shows whether the skill {}",
        if *missing { "triggers when it should" } else { "stays quiet when it should" }
    )]
    OneClass {
        /// The label that no query has.
        missing: bool,
    },
    /// Earlier messages that don't take turns.
    #[error(
        "expected a message with `role: \"{expected}\"` here: earlier messages begin with the user's and take turns"
    )]
    TurnOrder {
        /// Whose turn it is.
        expected: &'static str,
    },
    /// Earlier messages that end with one of the user's.
    #[error(
        "the last of the earlier messages must be the assistant's: the query is the user's next one"
    )]
    TurnsEnd,
    /// A field that nobody looks at.
    #[error("unknown field `{field}`; it is ignored")]
    IgnoredField {
        /// The field.
        field: String,
    },
    /// Fewer queries than a rate can be trusted with.
    #[error(
        "{positive} positive and {negative} negative queries say little; at least 5 of each are recommended"
    )]
    FewQueries {
        /// Different queries that should trigger.
        positive: usize,
        /// Different queries that should not.
        negative: usize,
    },
    /// An item that belongs to another dialect than most of its neighbours.
    #[error(
        "this item {} `should_trigger`, but {others} of {total} items {}; \
         a file is either a trigger set or a suite of evals",
        if *labelled { "has" } else { "has no" },
        if *labelled { "have none" } else { "have it" }
    )]
    MixedItems {
        /// Whether this item has `should_trigger`.
        labelled: bool,
        /// How many items are of the other sort.
        others: usize,
        /// How many items there are.
        total: usize,
    },
    /// Neither a trigger set nor a suite.
    #[error(
        "expected an array of queries, or an object with a `cases` or an `evals` array, found {found}{remedy}"
    )]
    UnknownDialect {
        /// What the file is, with its keys.
        found: String,
        /// What to change, as the end of the sentence; empty when nobody knows.
        remedy: String,
    },
    /// A file of another kind than was asked for.
    #[error("this is a file of kind `{found}`, expected {expected}")]
    OtherKind {
        /// The kind that it is.
        found: Kind,
        /// What was asked for.
        expected: ExpectedKind,
    },
    /// A suite without cases.
    #[error("the suite has no cases")]
    EmptySuite,
    /// The same name twice where it must be unique.
    #[error("the {kind} {id} is already taken at {first}")]
    DuplicateId {
        /// What it names.
        kind: IdKind,
        /// The name.
        id: String,
        /// Where it stands for the first time.
        first: Place,
    },
    /// An id that would make a strange or dangerous folder name.
    #[error(
        "the id {id} names a folder; use letters, digits, `.`, `_` and `-`, and begin with a letter or digit"
    )]
    UnsafeId {
        /// The id, quoted.
        id: String,
    },
    /// A case whose expectations are all optional.
    #[error("no expectation has `required: true`, so this case can never fail")]
    NoRequired,
    /// A text that two people would judge differently.
    #[error(
        "\"{word}\" is vague; say what exactly must be there, so that two people would judge it alike"
    )]
    Vague {
        /// The word that gives it away.
        word: String,
    },
    /// Something that reads like an expectation and is none.
    #[error("`{field}` is not graded: {why}")]
    NotGraded {
        /// The field.
        field: String,
        /// Why not.
        why: &'static str,
    },
    /// An assertion that a program should decide and that only a judge can.
    #[error("{}", judged_as_text(fields, check_type, missing, similar.as_deref()))]
    JudgedAsText {
        /// The fields that the judge is given in words.
        fields: Vec<String>,
        /// The type that it has; empty without one.
        check_type: String,
        /// What a check of this type needs and it lacks.
        missing: Vec<String>,
        /// A type that it may be a misspelling of.
        similar: Option<String>,
    },
    /// An expectation without a text that could be judged.
    #[error("expected a `text` or a `description` that can be judged")]
    NoStatement,
    /// A path that leads out of the skill or workspace.
    #[error("{path} leads out of the folder; paths are relative and stay inside")]
    PathOutside {
        /// The path, quoted.
        path: String,
    },
    /// A rubric without the anchor of a score.
    #[error("no description for the score {score}; judges need anchors for 1, 3 and 5")]
    MissingAnchor {
        /// The score.
        score: u8,
    },
    /// An anchor for a score that does not exist.
    #[error("{score} is not a score; scores go from 1 to 5")]
    UnknownAnchor {
        /// The key, quoted.
        score: String,
    },
    /// A field that this type of check does not look at.
    #[error("a check of type \"{check_type}\" does not look at `{field}`")]
    UnusedField {
        /// The field.
        field: String,
        /// The type of the check.
        check_type: String,
    },
    /// A schema version that is not a version.
    #[error("expected a version such as \"1.0\", found {found}")]
    BadVersion {
        /// What stands there, quoted.
        found: String,
    },
    /// A file from the future.
    #[error(
        "the file has version {found}, this skillgauge reads versions {supported}.x; update skillgauge"
    )]
    NewerVersion {
        /// The version of the file.
        found: String,
        /// The major version that we read.
        supported: u64,
    },
    /// A version that the history does not list.
    #[error("version {version} is not in `versions`")]
    UnknownVersion {
        /// The version.
        version: String,
    },
    /// A value that contradicts the values that it is made of.
    #[error("{stated} contradicts the rest of the file: {rule} is {derived}")]
    Contradiction {
        /// What the file says.
        stated: String,
        /// What it should be made of.
        rule: &'static str,
        /// What that gives.
        derived: String,
    },
}

impl MeaningIssue {
    /// The stable name of this kind of problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptySet => "empty-set",
            Self::ConflictingLabels { .. } => "conflicting-labels",
            Self::RepeatedQuery { .. } => "repeated-query",
            Self::OneClass { .. } => "one-class",
            Self::TurnOrder { .. } | Self::TurnsEnd => "turn-order",
            Self::IgnoredField { .. } => "ignored-field",
            Self::FewQueries { .. } => "few-queries",
            Self::MixedItems { .. } => "mixed-items",
            Self::UnknownDialect { .. } => "unknown-dialect",
            Self::OtherKind { .. } => "other-kind",
            Self::EmptySuite => "empty-suite",
            Self::DuplicateId { .. } => "duplicate-id",
            Self::UnsafeId { .. } => "unsafe-id",
            Self::NoRequired => "no-required",
            Self::Vague { .. } => "vague",
            Self::NotGraded { .. } => "not-graded",
            Self::JudgedAsText { .. } => "judged-as-text",
            Self::NoStatement => "no-statement",
            Self::PathOutside { .. } => "path-outside",
            Self::MissingAnchor { .. } => "missing-anchor",
            Self::UnknownAnchor { .. } => "unknown-anchor",
            Self::UnusedField { .. } => "unused-field",
            Self::BadVersion { .. } => "bad-version",
            Self::NewerVersion { .. } => "newer-version",
            Self::UnknownVersion { .. } => "unknown-version",
            Self::Contradiction { .. } => "contradiction",
        }
    }

    /// How bad this is.
    pub fn level(&self) -> Level {
        match self {
            // Rounds are only shown; everything else is found by its name.
            Self::DuplicateId { kind: IdKind::Round, .. }
            | Self::RepeatedQuery { .. }
            | Self::OneClass { .. }
            | Self::FewQueries { .. }
            | Self::IgnoredField { .. }
            | Self::EmptySuite
            | Self::Vague { .. }
            | Self::NotGraded { .. }
            | Self::JudgedAsText { .. }
            | Self::MissingAnchor { .. }
            | Self::UnknownAnchor { .. }
            | Self::UnusedField { .. }
            | Self::Contradiction { .. } => Level::Warning,
            Self::EmptySet
            | Self::ConflictingLabels { .. }
            | Self::TurnOrder { .. }
            | Self::TurnsEnd
            | Self::MixedItems { .. }
            | Self::UnknownDialect { .. }
            | Self::OtherKind { .. }
            | Self::DuplicateId { .. }
            | Self::UnsafeId { .. }
            | Self::NoRequired
            | Self::NoStatement
            | Self::PathOutside { .. }
            | Self::BadVersion { .. }
            | Self::NewerVersion { .. }
            | Self::UnknownVersion { .. } => Level::Error,
        }
    }
}

fn verb(should_trigger: bool) -> &'static str {
    if should_trigger { "trigger" } else { "not trigger" }
}

fn judged_as_text(
    fields: &[String],
    check_type: &str,
    missing: &[String],
    similar: Option<&str>,
) -> String {
    let quoted = |fields: &[String]| {
        fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
    };
    let judged = match fields {
        [] => "the judge decides this by its text".to_owned(),
        _ => format!("the judge decides this by its text and {}", quoted(fields)),
    };
    match (check_type, missing, similar) {
        ("", ..) => format!("{judged}; with a `type` of docs/checks.md a program would"),
        (stated, [], Some(similar)) => {
            format!("{judged}: no check has the type \"{stated}\"; did you mean \"{similar}\"?")
        }
        (stated, [], None) => format!(
            "{judged}: no check has the type \"{stated}\"; docs/checks.md lists those that a program decides"
        ),
        (stated, missing, _) => {
            format!("{judged}: a check of type \"{stated}\" needs {}", quoted(missing))
        }
    }
}
