//! The table of profiles. Every difference from the default says why.

use super::{Difference, Names, Profile, Unlisted, Unquoted};
use crate::finding::Level;

/// The keys of the agentskills.io specification.
const SPECIFICATION_KEYS: &[&str] =
    &["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// The keys that Claude Code reads, the specification's among them.
const CLAUDE_CODE_KEYS: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
];

/// The keys that Codex reads.
const CODEX_KEYS: &[&str] = &["name", "description", "metadata"];

const fn off(code: &'static str, reason: &'static str) -> Difference {
    Difference { code, level: None, reason }
}

const fn warning(code: &'static str, reason: &'static str) -> Difference {
    Difference { code, level: Some(Level::Warning), reason }
}

const fn error(code: &'static str, reason: &'static str) -> Difference {
    Difference { code, level: Some(Level::Error), reason }
}

/// The table of profiles; the first is the default.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "default",
        summary: "Portable: the rules of the validation contract, and extra rules that are certain",
        keys: CLAUDE_CODE_KEYS,
        reader: "the specification or Claude Code",
        wanted: &["name", "description"],
        names: Names::Ascii,
        unquoted: Unquoted::Refused,
        unlisted: Unlisted::Off,
        differences: &[],
    },
    Profile {
        name: "spec",
        summary: "The agentskills.io specification and its reference validator, and nothing beyond",
        keys: SPECIFICATION_KEYS,
        reader: "the agentskills.io specification",
        wanted: &["name", "description"],
        names: Names::Unicode,
        unquoted: Unquoted::Refused,
        unlisted: Unlisted::Off,
        differences: SPEC,
    },
    Profile {
        name: "claude-code",
        summary: "What Claude Code loads, as its documentation says and as it was seen to behave",
        keys: CLAUDE_CODE_KEYS,
        reader: "Claude Code",
        wanted: &["description"],
        names: Names::Ascii,
        unquoted: Unquoted::Refused,
        unlisted: Unlisted::Off,
        differences: CLAUDE_CODE,
    },
    Profile {
        name: "claude-ai",
        summary: "What uploads to claude.ai and the Skills API accept",
        keys: SPECIFICATION_KEYS,
        reader: "claude.ai and the Skills API",
        wanted: &["name", "description"],
        names: Names::Ascii,
        unquoted: Unquoted::Refused,
        unlisted: Unlisted::Off,
        differences: CLAUDE_AI,
    },
    Profile {
        name: "codex",
        summary: "What Codex loads, as its source says and as it was seen to behave",
        keys: CODEX_KEYS,
        reader: "Codex",
        wanted: &["description"],
        names: Names::Unicode,
        unquoted: Unquoted::Repaired,
        unlisted: Unlisted::Off,
        differences: CODEX,
    },
    Profile {
        name: "pedantic",
        summary: "Every rule: what is off by default warns",
        keys: CLAUDE_CODE_KEYS,
        reader: "the specification or Claude Code",
        wanted: &["name", "description"],
        names: Names::Ascii,
        unquoted: Unquoted::Refused,
        unlisted: Unlisted::Warning,
        differences: &[],
    },
];

const NOT_IN_THE_SPECIFICATION: &str =
    "the specification has no such key; UNKNOWN_KEYS names it already";

const SPEC: &[Difference] = &[
    error(
        "UNKNOWN_KEYS",
        "the reference validator refuses every key but the six of the specification",
    ),
    error("MISSING_RECOMMENDED_KEY", "the specification requires both keys"),
    error("NAME_FOLDER_MISMATCH", "the specification requires the name to equal the folder's name"),
    error("ALLOWED_TOOLS_LIST", "the specification defines `allowed-tools` as one string"),
    error("METADATA_TYPE", "the specification defines `metadata` as a map from strings to strings"),
    error("COMPATIBILITY_EMPTY", "the specification asks for 1 to 500 characters"),
    warning("BODY_TOKENS", "the specification recommends fewer than 5,000 tokens"),
    off("NAME_RESERVED_PREFIX", "the specification reserves no words"),
    off("DESCRIPTION_ANGLE_BRACKETS", "the specification allows any character"),
    off("README_PRESENT", "the specification allows any other file in the folder"),
    off("WHEN_TO_USE_IN_BODY", "the specification leaves the body free"),
    off("DESCRIPTION_LISTING_CAP", "the cut is made by Claude Code"),
    off("MODEL_TYPE", NOT_IN_THE_SPECIFICATION),
    off("HOOKS_TYPE", NOT_IN_THE_SPECIFICATION),
    off("BOOL_TYPE", NOT_IN_THE_SPECIFICATION),
    off("EFFORT_VALUE", NOT_IN_THE_SPECIFICATION),
    off("SHELL_VALUE", NOT_IN_THE_SPECIFICATION),
    off("CONTEXT_VALUE", NOT_IN_THE_SPECIFICATION),
    off("CONTEXT_FORK_NO_AGENT", NOT_IN_THE_SPECIFICATION),
    off("AGENT_WITHOUT_FORK", NOT_IN_THE_SPECIFICATION),
];

const NOT_ACTED_ON: &str = "Claude Code accepts the key and does nothing with it";

const CLAUDE_CODE: &[Difference] = &[
    off("NAME_RESERVED_PREFIX", "Claude Code loads such skills; only hosted surfaces refuse them"),
    off("NAME_FOLDER_MISMATCH", "Claude Code goes by the folder; the name is a label"),
    warning(
        "NAME_FORMAT",
        "Claude Code loads any name; in a plugin it becomes part of the command",
    ),
    warning("NAME_TYPE", "Claude Code turns a number into text"),
    off("DESCRIPTION_ANGLE_BRACKETS", "Claude Code shows them as they are"),
    off("DESCRIPTION_TOO_LONG", "Claude Code has its own limit, see DESCRIPTION_LISTING_CAP"),
    off("CONTEXT_FORK_NO_AGENT", "the agent is `general-purpose` when none is set"),
    off("COMPATIBILITY_TYPE", NOT_ACTED_ON),
    off("COMPATIBILITY_EMPTY", NOT_ACTED_ON),
    off("COMPATIBILITY_TOO_LONG", NOT_ACTED_ON),
    warning("MODEL_VALUE", "`model` takes the names that `/model` takes, or `inherit`"),
];

const REFUSED_ANYWAY: &str = "the key is refused as such; UNKNOWN_KEYS names it already";

const CLAUDE_AI: &[Difference] = &[
    error("UNKNOWN_KEYS", "any key but the six of the specification is refused"),
    error("MISSING_RECOMMENDED_KEY", "both keys are required"),
    error("NAME_RESERVED_WORD", "a name may not contain `claude` or `anthropic` anywhere"),
    off("NAME_RESERVED_PREFIX", "NAME_RESERVED_WORD says the same and more"),
    off("DESCRIPTION_LISTING_CAP", "the cut is made by Claude Code"),
    off("MODEL_TYPE", REFUSED_ANYWAY),
    off("HOOKS_TYPE", REFUSED_ANYWAY),
    off("BOOL_TYPE", REFUSED_ANYWAY),
    off("EFFORT_VALUE", REFUSED_ANYWAY),
    off("SHELL_VALUE", REFUSED_ANYWAY),
    off("CONTEXT_VALUE", REFUSED_ANYWAY),
    off("CONTEXT_FORK_NO_AGENT", REFUSED_ANYWAY),
    off("AGENT_WITHOUT_FORK", REFUSED_ANYWAY),
];

const IGNORED_BY_CODEX: &str =
    "Codex reads `name`, `description` and `metadata`, and ignores the rest";

const CODEX: &[Difference] = &[
    error("MISSING_RECOMMENDED_KEY", "Codex does not list a skill without a description"),
    error("ENCODING_BOM", "Codex does not find front matter behind a byte order mark"),
    warning("FRONTMATTER_UNQUOTED_COLON", "Codex quotes most such values itself and reads on"),
    off("NAME_RESERVED_PREFIX", "Codex reserves no words"),
    off("NAME_FOLDER_MISMATCH", "Codex goes by the name"),
    warning("NAME_FORMAT", "Codex loads any name"),
    off("DESCRIPTION_ANGLE_BRACKETS", "Codex shows them as they are"),
    warning("DESCRIPTION_TOO_LONG", "Codex cuts the description in its listing"),
    off("DESCRIPTION_LISTING_CAP", "the cut is made by Claude Code"),
    off("UNKNOWN_KEYS", IGNORED_BY_CODEX),
    off("COMPATIBILITY_TYPE", IGNORED_BY_CODEX),
    off("COMPATIBILITY_EMPTY", IGNORED_BY_CODEX),
    off("COMPATIBILITY_TOO_LONG", IGNORED_BY_CODEX),
    off("ALLOWED_TOOLS_TYPE", IGNORED_BY_CODEX),
    off("ALLOWED_TOOLS_ITEM_TYPE", IGNORED_BY_CODEX),
    off("MODEL_TYPE", IGNORED_BY_CODEX),
    off("HOOKS_TYPE", IGNORED_BY_CODEX),
    off("BOOL_TYPE", IGNORED_BY_CODEX),
    off("EFFORT_VALUE", IGNORED_BY_CODEX),
    off("SHELL_VALUE", IGNORED_BY_CODEX),
    off("CONTEXT_VALUE", IGNORED_BY_CODEX),
    off("CONTEXT_FORK_NO_AGENT", IGNORED_BY_CODEX),
    off("AGENT_WITHOUT_FORK", IGNORED_BY_CODEX),
];
