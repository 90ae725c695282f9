//! The rules of `skillgauge validate`: one file for each, all registered in [`RULES`].
//!
//! A rule's documentation comment is its entry in docs/rules.md, the text of `skillgauge explain` and the help
//! in SARIF. Its headings are fixed; a test holds them.

mod context;
mod scan;
mod table;
mod value;

pub use context::Context;
pub use table::{RULES, rule_named, suggest};

#[derive(Debug)]
pub struct Rule {
    /// The code: stable for ever.
    pub code: &'static str,
    /// The level unless a profile or `--strict` says otherwise.
    pub level: DefaultLevel,
    /// Where the rule comes from.
    pub origin: Origin,
    /// The version of skillgauge that brought it.
    pub since: &'static str,
    /// Whether `--fix` can put it right.
    pub fixable: Fixable,
    /// The documentation comment as written.
    pub docs: &'static str,
    pub check: fn(&mut Context<'_>),
}

/// The level of a rule in the default profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultLevel {
    /// Not reported; a profile can turn it on.
    Off,
    Warning,
    /// A warning, and an error under `--strict`.
    WarningOrStrictError,
    Error,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The 30 codes of the validation contract.
    Contract,
    Extra,
}

/// Whether `--fix` can put a finding right without changing what the skill means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixable {
    /// In some or all cases.
    Yes,
    /// A person has to decide.
    No,
}

impl Rule {
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

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

/// Declares a rule. Its documentation comment becomes `docs`; see any file in `table/`.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])+
        $code:ident, level: $level:ident, origin: $origin:ident, since: $since:literal,
        fixable: $fixable:ident, check: $check:path $(,)?
    ) => {
        $(#[doc = $doc])+
        pub(crate) static RULE: crate::rule::Rule = crate::rule::Rule {
            code: stringify!($code),
            level: crate::rule::DefaultLevel::$level,
            origin: crate::rule::Origin::$origin,
            since: $since,
            fixable: crate::rule::Fixable::$fixable,
            docs: concat!($($doc, "\n"),+),
            check: $check,
        };
    };
}
pub(crate) use rule;

/// Declares the module of each rule and the table of all of them, in the order in which they report.
macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        /// Every rule, in the order in which findings are reported.
        pub static RULES: &[&Rule] = &[$(&$module::RULE),+];
    };
}
pub(crate) use rules;
