//! What can be wrong with a descriptor, and where.

use std::fmt;

/// A mistake in a file, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct Problem {
    pub place: Place,
    pub kind: ProblemKind,
}

/// A place in a file; both numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the caller calls it.
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// The file is not TOML.
    #[error("not TOML: {message}")]
    Syntax { message: String },
    /// A key that nobody reads.
    #[error("unknown key `{key}`{}", did_you_mean(meant.as_deref()))]
    UnknownKey {
        key: String,
        /// What may have been meant.
        meant: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, not {found}")]
    WrongType { key: String, expected: &'static str, found: &'static str },
    /// A value that is none of those that there are.
    #[error("`{key}` cannot be `{value}`{}; it is one of {}", did_you_mean(meant.as_deref()), known.join(", "))]
    UnknownValue {
        key: String,
        value: String,
        /// What may have been meant.
        meant: Option<String>,
        known: Vec<String>,
    },
    /// A placeholder that does not exist.
    #[error("unknown placeholder `{{{name}}}`{}", did_you_mean(*meant))]
    UnknownSlot {
        /// What stands between the braces.
        name: String,
        /// What may have been meant.
        meant: Option<&'static str>,
    },
    /// A placeholder where it cannot be filled.
    #[error("`{slot}` cannot stand here: {why}")]
    SlotNotHere { slot: String, why: &'static str },
    /// A key that must be there and is not.
    #[error("the agent `{agent}` needs `{key}`")]
    Missing { agent: String, key: &'static str },
    /// A way to log in without what it needs.
    #[error("a way to log in needs `{key}`")]
    LoginNeeds { key: &'static str },
    /// The prompt does not reach the agent, or twice.
    #[error(
        "`arguments` must contain `{{prompt}}` once when `prompt` is \"argument\", and never when it is \"stdin\""
    )]
    PromptNotPassed,
    /// A path that leaves its folder, or is none.
    #[error("`{path}` must be a path below its folder, without `..`")]
    BadPath { path: String },
    /// A name that cannot be one.
    #[error("`{name}` cannot be the name of an agent: use letters, digits, `-`, `_` and `.`")]
    BadName { name: String },
    /// A name of a variable that cannot be one.
    #[error("`{name}` cannot be the name of a variable")]
    BadVariable { name: String },
    /// A variable that belongs to isolation.
    #[error("`{name}` is set for every agent and cannot be changed")]
    ReservedVariable { name: String },
    /// A login among the variables that are simply passed.
    #[error(
        "`{name}` holds a login; it is passed when it is the one that counts, and does not belong into `pass`"
    )]
    LoginPassed { name: String },
    /// A version that is none.
    #[error("`{text}` is not a version such as 1.2.3")]
    BadVersion { text: String },
    /// Two descriptors with one name.
    #[error("the agent `{agent}` is described twice; the first time in {first}")]
    Twice {
        agent: String,
        /// Where it is described first.
        first: Place,
    },
    /// A descriptor that extends one that does not exist.
    #[error("there is no agent `{name}` to extend{}", did_you_mean(meant.as_deref()))]
    UnknownParent {
        name: String,
        /// What may have been meant.
        meant: Option<String>,
    },
    /// A descriptor that extends itself, directly or not.
    #[error("the agent `{agent}` extends itself")]
    Circle { agent: String },
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}
