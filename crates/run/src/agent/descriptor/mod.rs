//! Agents as data: how to start one, where it looks for skills, how to switch off everything else.
//!
//! A [`Descriptor`] comes from TOML: built in, or written by the user and loaded by
//! [`super::registry`], which lays it over the one that it extends; `read` finds mistakes with their lines.
//!
//! Invariant: a descriptor that exists can be filled. Placeholders that may have no value stand only where something can
//! vanish, and a variable that holds a login stands nowhere: no key ever reaches a command line or a file of ours.

mod key;
mod read;
mod template;
mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillgauge_core::skill::Skill;
use skillgauge_core::trigger::listing::ListingRule;

use super::TaskSkill;
use super::adapter::AdapterKind;
pub use key::{KEYS, Key, LOGIN_KEYS};
pub(super) use read::{Draft, contradictions, problem};
pub use read::{Place, Problem};
pub use template::{Presence, SLOTS, Slot, Template, UnknownSlot, Values};
pub use version::Version;

/// The name of an agent: `claude`, or what the user calls one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(String);

impl AgentName {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Everything there is to know about an agent before it is started. Its keys are those of [`KEYS`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Descriptor {
    #[serde(deserialize_with = "read::agent_name")]
    pub name: AgentName,
    /// Resolved before it is read.
    #[serde(default, rename = "extends")]
    _extends: Option<String>,
    #[serde(default)]
    pub about: String,
    #[serde(deserialize_with = "read::adapter_kind")]
    pub adapter: &'static AdapterKind,
    /// The program; absent for one that only others extend.
    #[serde(default, deserialize_with = "read::program")]
    pub program: Option<Program>,
    /// Where the real program is, relative to the folder of a launcher: patterns with `*`.
    #[serde(default)]
    pub native: Vec<String>,
    /// Other programs that it needs on the `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    #[serde(default)]
    pub arguments: Vec<Argument>,
    /// What stands for `{extra-arguments}`.
    #[serde(default)]
    pub extra_arguments: Vec<Argument>,
    pub prompt: PromptVia,
    /// Where it looks for skills, relative to the work folder.
    #[serde(deserialize_with = "read::relative_path")]
    pub skills: String,
    /// The file in the work folder that it reads project instructions from; absent when there is none.
    #[serde(default, deserialize_with = "read::some_relative_path")]
    pub instructions: Option<String>,
    /// What is known of how it lists skills for its model; absent when nothing is.
    #[serde(default)]
    pub listing: Option<ListingRule>,
    /// What a skill must have for the agent to list it.
    #[serde(default)]
    pub skill_needs: Vec<SkillNeed>,
    /// How the skills are listed where a placeholder asks for it.
    #[serde(default)]
    pub skill_list: Option<SkillList>,
    /// Variables that it gets from us: the first template that can be filled.
    #[serde(default, deserialize_with = "read::variables")]
    pub environment: Variables,
    /// Variables that it gets from the user, beside those that every agent gets.
    #[serde(default, deserialize_with = "read::variable_names")]
    pub pass: Vec<String>,
    /// Ways to log in, the one that counts first.
    #[serde(default)]
    pub login: Vec<Login>,
    #[serde(default)]
    pub login_rule: LoginRule,
    pub login_help: Option<String>,
    /// Logins that are there and cannot be used.
    #[serde(default, rename = "login-hint")]
    pub login_hints: Vec<LoginHint>,
    /// How its own skills are switched.
    #[serde(default)]
    bundled_skills: Switches,
    /// Files that are written before it starts, by path.
    #[serde(default, deserialize_with = "read::files")]
    pub files: Files,
    #[serde(default)]
    pub version: VersionCheck,
    /// How to install it, for people.
    pub install: Option<String>,
    /// Files that it reads from the folders above its work folder: there must be none.
    #[serde(default)]
    pub parent_files: Vec<String>,
    #[serde(skip)]
    pub source: Source,
}

/// Variables by name, each with the templates that may be its value; the first that can be filled is.
pub type Variables = BTreeMap<String, Vec<Template>>;

/// Files by path, with their texts.
pub type Files = BTreeMap<Template, Template>;

/// The program of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// To be looked for on the `PATH`.
    Named(String),
    At(PathBuf),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::At(path) => write!(f, "{}", path.display()),
        }
    }
}

/// One entry of a list of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    One(Template),
    /// Several, which are all there or none: they vanish when one of their placeholders has no value.
    Group(Vec<Template>),
    /// The arguments that switch bundled skills off or on.
    BundledSkills,
    /// The descriptor's extra arguments.
    Extra,
}

impl Argument {
    fn templates(&self) -> &[Template] {
        match self {
            Self::One(template) => std::slice::from_ref(template),
            Self::Group(templates) => templates,
            Self::BundledSkills | Self::Extra => &[],
        }
    }
}

/// How an agent gets the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// As an argument; standard input is closed.
    Argument,
    Stdin,
}

/// Something that a skill must have for an agent to list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkillNeed {
    /// A front matter that can be read, with a description.
    Description,
}

/// How the installed skills are listed for `{skill-list}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillList {
    #[serde(deserialize_with = "read::skill_entry")]
    pub each: Template,
    #[serde(default)]
    pub separator: String,
}

/// One way to log in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "read::LoginTable")]
pub struct Login {
    pub source: LoginSource,
    /// What it is, for people.
    pub about: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginSource {
    /// In a variable of the user's environment.
    Variable {
        name: String,
        /// The name under which the agent gets it.
        given_as: String,
    },
    /// In a file of the agent, which is linked into the private folders.
    File {
        /// Where it may be; the first that can be filled and is there.
        paths: Vec<Template>,
        link: Template,
    },
}

/// How many of its logins an agent gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginRule {
    /// The first that is there: what we say is what it uses.
    #[default]
    First,
    /// All: which one counts depends on the model.
    All,
}

/// A login that is there and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginHint {
    #[serde(rename = "file", deserialize_with = "read::user_paths")]
    pub paths: Vec<Template>,
    /// Why it cannot be used, for people.
    #[serde(default)]
    pub about: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Switches {
    off: Switch,
    on: Switch,
}

/// One position of the switch for bundled skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    pub arguments: Vec<Argument>,
    #[serde(deserialize_with = "read::variables")]
    pub environment: Variables,
    /// Files; they take the place of the descriptor's own.
    #[serde(deserialize_with = "read::files")]
    pub files: Files,
    /// What it does not do, for people.
    pub note: Option<String>,
}

/// How an agent tells its version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VersionCheck {
    /// The arguments that make it tell; without any it is not asked.
    pub arguments: Vec<String>,
    /// Older ones were seen not to be measured correctly, and are refused.
    #[serde(deserialize_with = "read::minimum")]
    pub minimum: Option<Version>,
    /// The oldest and the newest version that this was tested with; others are measured with a warning.
    #[serde(deserialize_with = "read::tested")]
    pub tested: Option<[Version; 2]>,
    /// The Node.js that its package asks for. With an older one npm installs an older version and says nothing.
    pub node: Option<String>,
}

/// Where a descriptor comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// It is part of skillgauge.
    #[default]
    Builtin,
    /// A file of the user.
    File(String),
    /// A command line: `command:PROGRAM`.
    CommandLine,
}

/// Whether bundled skills are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BundledSkills {
    /// Only the skills of the task are there: controlled.
    #[default]
    Off,
    /// The agent's own skills compete: realistic.
    On,
}

impl Descriptor {
    /// The position of the switch for bundled skills.
    pub fn switch(&self, bundled: BundledSkills) -> &Switch {
        match bundled {
            BundledSkills::Off => &self.bundled_skills.off,
            BundledSkills::On => &self.bundled_skills.on,
        }
    }

    /// Its arguments with everything filled in.
    pub fn command_line(&self, bundled: BundledSkills, values: &Values) -> Vec<String> {
        let mut line = Vec::new();
        self.expand(&self.arguments, self.switch(bundled), values, &mut line);
        line
    }

    fn expand(
        &self,
        arguments: &[Argument],
        switch: &Switch,
        values: &Values,
        line: &mut Vec<String>,
    ) {
        for argument in arguments {
            match argument {
                Argument::One(template) => line.extend(template.fill(values)),
                Argument::Group(templates) => {
                    let filled: Option<Vec<String>> =
                        templates.iter().map(|template| template.fill(values)).collect();
                    line.extend(filled.unwrap_or_default());
                }
                Argument::BundledSkills => self.expand(&switch.arguments, switch, values, line),
                Argument::Extra => self.expand(&self.extra_arguments, switch, values, line),
            }
        }
    }

    /// The variables that it gets from us.
    pub fn variables(&self, bundled: BundledSkills, values: &Values) -> BTreeMap<String, String> {
        let own = self.environment.iter().chain(&self.switch(bundled).environment);
        let filled = own.filter_map(|(name, templates)| {
            let value = templates.iter().find_map(|template| template.fill(values))?;
            Some((name.clone(), value))
        });
        filled.collect()
    }

    /// The files that are written before it starts.
    pub fn files(&self, bundled: BundledSkills) -> Files {
        let mut files = self.files.clone();
        files.extend(self.switch(bundled).files.clone());
        files
    }

    /// Whether a limit or another value that may be absent reaches the agent at all.
    pub fn uses(&self, slot: &Slot) -> bool {
        self.templates().into_iter().flat_map(Template::slots).any(|used| used == slot)
    }

    /// Everything that is filled for a run, paths of logins aside.
    fn templates(&self) -> Vec<&Template> {
        let switches = [&self.bundled_skills.off, &self.bundled_skills.on];
        let files = self.files.iter().chain(switches.iter().flat_map(|switch| &switch.files));
        let mut templates: Vec<&Template> = files.map(|(_, text)| text).collect();
        let own = [&self.arguments, &self.extra_arguments].into_iter();
        let arguments = own.chain(switches.map(|switch| &switch.arguments)).flatten();
        templates.extend(arguments.flat_map(Argument::templates));
        for variables in
            [&self.environment].into_iter().chain(switches.map(|switch| &switch.environment))
        {
            templates.extend(variables.values().flatten());
        }
        templates
    }

    /// How to install it, with what that needs.
    pub fn install_advice(&self) -> Option<String> {
        let install = self.install.as_ref()?;
        let newest = self.version.tested.as_ref().map(|[_, newest]| newest);
        Some(match (&self.version.node, newest) {
            (Some(node), Some(newest)) => format!(
                "install it with `{install}`; it needs Node {node}, and with an older Node npm installs an older version \
                 unless you name one: `{install}@{newest}`"
            ),
            (Some(node), None) => format!("install it with `{install}`; it needs Node {node}"),
            (None, _) => format!("install it with `{install}`"),
        })
    }

    /// Why a version may be measured wrongly, and what to do; nothing for one that was tested.
    pub fn untested(&self, version: Option<&Version>) -> Option<String> {
        let [oldest, newest] = self.version.tested.as_ref()?;
        let name = &self.name;
        let range =
            if oldest == newest { oldest.to_string() } else { format!("{oldest} to {newest}") };
        let advice =
            || self.install_advice().map(|advice| format!(": {advice}")).unwrap_or_default();
        match version {
            None => {
                Some(format!("{name} did not tell its version; skillgauge was tested with {range}"))
            }
            Some(found) if found < oldest => Some(format!(
                "{name} {found} is older than what skillgauge was tested with ({range}), so results may be wrong; \
                 update it{}",
                advice()
            )),
            Some(found) if found > newest => Some(format!(
                "{name} {found} is newer than what skillgauge was tested with ({range}); if a result looks wrong, \
                 compare it with {name} {newest}"
            )),
            Some(_) => None,
        }
    }

    /// Why the agent would never list a skill, whatever is asked of it.
    pub fn unlisted(&self, skill: &TaskSkill) -> Option<String> {
        let is_described = || {
            skill.description.is_some()
                || Skill::read(&skill.folder)
                    .document()
                    .and_then(|document| document.entry("description")?.value.scalar_text())
                    .is_some_and(|text| !text.trim().is_empty())
        };
        let needs_description = self.skill_needs.contains(&SkillNeed::Description);
        (needs_description && !is_described()).then(|| {
            format!(
                "{} lists no skill without a description that can be read, and `{}` has none",
                self.name, skill.name
            )
        })
    }

    /// The variables of the user's environment that hold a login.
    pub fn login_variables(&self) -> impl Iterator<Item = &str> {
        self.login.iter().filter_map(|login| match &login.source {
            LoginSource::Variable { name, .. } => Some(name.as_str()),
            LoginSource::File { .. } => None,
        })
    }
}

/// The candidate that a text is most likely a misspelling of.
pub(crate) fn similar<'c>(
    text: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let allowed = (text.chars().count() / 3).clamp(1, 3);
    let text = text.replace('_', "-").to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&text, candidate);
    let near = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate)
}
