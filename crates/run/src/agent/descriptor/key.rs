//! The table of keys that a descriptor may have.

/// A key of a descriptor, for checks and for the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    pub takes: &'static str,
    pub about: &'static str,
}

const fn key(name: &'static str, takes: &'static str, about: &'static str) -> Key {
    Key { name, takes, about }
}

const TEXT: &str = "a text";
const TEXTS: &str = "a list of texts";
const ARGUMENTS: &str =
    "a list of texts, and of lists that vanish as a whole when a placeholder has no value";
const VARIABLES: &str =
    "a table of texts; of a list of texts the first that can be filled is taken";

/// The keys of a descriptor.
pub static KEYS: [Key; 26] = [
    key(
        "name",
        TEXT,
        "the agent's name; in `skillgauge.toml` the table has it, in `agents/` the file may",
    ),
    key(
        "extends",
        TEXT,
        "the agent that gives everything that is not said here; tables are laid over each other",
    ),
    key("about", TEXT, "what it is, for people"),
    key("adapter", TEXT, "what reads its events"),
    key("program", TEXT, "a name to look for on the PATH, or a path relative to this file"),
    key(
        "native",
        TEXTS,
        "where the program behind a launcher is, relative to the launcher's real folder",
    ),
    key("needs", TEXTS, "other programs that it needs on the PATH"),
    key("arguments", ARGUMENTS, "its arguments"),
    key("extra-arguments", ARGUMENTS, "arguments to add where `{extra-arguments}` stands"),
    key("prompt", "`argument` or `stdin`", "how it gets the prompt"),
    key("skills", TEXT, "where it looks for skills, relative to the work folder"),
    key(
        "instructions",
        TEXT,
        "the file in the work folder that it reads project instructions from; `context` of a query goes there",
    ),
    key(
        "listing",
        "a table with `total`, `each`, `keeps`, `mark` and `when-to-use`",
        "what is known of its list of skills: characters of the list, of a description that stays whole and of one that is cut",
    ),
    key(
        "skill-needs",
        TEXTS,
        "what a skill must have for the agent to list it: `description`; one without it is refused before the first call",
    ),
    key(
        "skill-list",
        "a table with `each` and `separator`",
        "how `{skill-list}` names the installed skills",
    ),
    key("environment", VARIABLES, "variables to set"),
    key("pass", TEXTS, "variables of yours that it gets"),
    key("login", "a list of tables", "ways to log in, the one that counts first"),
    key("login-rule", "`first` or `all`", "whether it gets the first login that is there, or all"),
    key("login-help", TEXT, "how to get a login, for people"),
    key(
        "login-hint",
        "a list of tables with `file` and `about`",
        "logins that are there and cannot be used",
    ),
    key(
        "bundled-skills",
        "tables `off` and `on` with `arguments`, `environment`, `files` and `note`",
        "how its own skills are switched",
    ),
    key(
        "files",
        "a table of texts by path",
        "files to write before it starts; paths begin with `{home}`, `{config}` or `{work}`",
    ),
    key(
        "version",
        "a table with `arguments`, `minimum`, `tested` and `node`",
        "how it tells its version; older ones than `minimum` are refused, those outside of `tested` (`[\"1.2.0\", \"1.4.3\"]`) are \
         warned about; the Node.js that its package asks for",
    ),
    key("install", TEXT, "how to install it, for people"),
    key(
        "parent-files",
        TEXTS,
        "files that it reads from the folders above its work folder; there must be none",
    ),
];

/// The keys of one way to log in.
pub static LOGIN_KEYS: [Key; 5] = [
    key("variable", TEXT, "the variable of yours that holds it"),
    key("as", TEXT, "the name under which the agent gets that variable"),
    key(
        "file",
        "a text, or a list of which the first that is there is taken",
        "the file of yours that holds it",
    ),
    key("link", TEXT, "the link to that file; it begins with `{home}` or `{config}`"),
    key("about", TEXT, "what it is, for people"),
];
