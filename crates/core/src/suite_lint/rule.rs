//! What a lint rule is: a code, a level and its documentation. The rules themselves stand in [`table`](super::table).
//!
//! The invariant: every code that `skillgauge lint-evals` can report has a row, whoever finds it. A test reports each of
//! them from a fixture.

use crate::rule::DefaultLevel;

/// One kind of problem that a suite or a trigger set can have.
#[derive(Debug)]
pub struct LintRule {
    /// The code in kebab-case: stable for ever.
    pub code: &'static str,
    /// The level, and whether `--strict` raises it.
    pub level: DefaultLevel,
    pub group: LintGroup,
    /// The version of skillgauge that brought it.
    pub since: &'static str,
    /// The documentation comment as written.
    pub docs: &'static str,
}

/// Who finds a problem, which is also how the documentation groups the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintGroup {
    /// The reader of the file: `skillgauge schema --check` and `run` report it, too.
    Reader,
    /// A look at the cases of a suite.
    Suite,
    /// A look at the queries of a trigger set.
    Triggers,
    /// A trial with reference answers and with an empty one.
    Reference,
}

impl LintGroup {
    /// All groups in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Suite, Self::Triggers, Self::Reference, Self::Reader];

    /// The heading of the group.
    pub fn title(self) -> &'static str {
        match self {
            Self::Reader => "What cannot be read or makes no sense",
            Self::Suite => "Suites",
            Self::Triggers => "Trigger sets",
            Self::Reference => "Reference answers",
        }
    }
}

impl LintRule {
    /// The first line of the documentation: what the rule is about.
    pub fn title(&self) -> &'static str {
        self.docs.lines().next().unwrap_or_default().trim()
    }

    /// The documentation after the title, ready to print or to put into a page.
    pub fn body(&self) -> String {
        let lines = self.docs.lines().skip(1).map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

/// Declares rules: documentation, name in the code, level, and code for users.
macro_rules! lint_rules {
    ($group:ident: $($(#[doc = $doc:literal])+ $name:ident, $level:ident, $code:literal;)+) => {
        $(
            $(#[doc = $doc])+
            pub(in crate::suite_lint) static $name: crate::suite_lint::LintRule = crate::suite_lint::LintRule {
                code: $code,
                level: crate::rule::DefaultLevel::$level,
                group: crate::suite_lint::LintGroup::$group,
                since: "0.1.0",
                docs: concat!($($doc, "\n"),+),
            };
        )+
        pub(super) static RULES: &[&crate::suite_lint::LintRule] = &[$(&$name),+];
    };
}
pub(super) use lint_rules;
