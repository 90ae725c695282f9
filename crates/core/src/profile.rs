//! Whom a skill is checked for: what the specification and each agent accept differs.
//!
//! A profile is data: the keys it knows, and the level of the rules it sees differently from the default.
//! Facts and their sources are in the rules' own documentation.

use crate::finding::Level;
use crate::rule::{DefaultLevel, Rule};

/// What a skill is checked for.
#[derive(Debug)]
pub struct Profile {
    /// The name on the command line.
    pub name: &'static str,
    /// One sentence for `--help` and the documentation.
    pub summary: &'static str,
    /// The front matter keys that it knows.
    pub keys: &'static [&'static str],
    /// Who reads the keys, for messages.
    pub reader: &'static str,
    /// Rules that it sees differently: another level, or none at all.
    pub levels: &'static [(&'static str, Option<Level>)],
    /// Whether names may use letters of any script.
    pub names: Names,
}

/// Which letters a name may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `a-z`, `0-9` and hyphens.
    Ascii,
    /// Lower-case letters and digits of any script, and hyphens.
    Unicode,
}

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

/// The table of profiles; the first is the default.
pub static PROFILES: &[Profile] = &[Profile {
    name: "default",
    summary: "Portable: the rules of the validation contract, and extra rules that are certain",
    keys: CLAUDE_CODE_KEYS,
    reader: "the specification or Claude Code",
    levels: &[],
    names: Names::Ascii,
}];

impl Profile {
    /// The profile that is used when none is named.
    pub fn default_profile() -> &'static Self {
        &PROFILES[0]
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

/// How the levels of the rules are decided for one call.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The profiles in force; the most serious level of any of them counts.
    pub profiles: Vec<&'static Profile>,
    /// Whether warnings that the contract marks so become errors.
    pub strictness: Strictness,
    /// Codes that are not reported.
    pub ignored: Vec<&'static str>,
    /// Whether names may use letters of any script, whatever the profile says.
    pub names: Option<Names>,
}

/// Whether the `warning/error` rules are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// They are warnings.
    #[default]
    Normal,
    /// They are errors.
    Strict,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            profiles: vec![Profile::default_profile()],
            strictness: Strictness::default(),
            ignored: Vec::new(),
            names: None,
        }
    }
}

impl Policy {
    /// The level at which a rule reports; none when it is off.
    pub fn level(&self, rule: &Rule) -> Option<Level> {
        if self.ignored.contains(&rule.code) {
            return None;
        }
        self.profiles.iter().filter_map(|profile| self.level_in(profile, rule)).max()
    }

    fn level_in(&self, profile: &Profile, rule: &Rule) -> Option<Level> {
        if let Some((_, level)) = profile.levels.iter().find(|(code, _)| *code == rule.code) {
            return *level;
        }
        match (rule.level, self.strictness) {
            (DefaultLevel::Off, _) => None,
            (DefaultLevel::Error, _) | (DefaultLevel::WarningOrStrictError, Strictness::Strict) => {
                Some(Level::Error)
            }
            (DefaultLevel::Warning, _) | (DefaultLevel::WarningOrStrictError, _) => {
                Some(Level::Warning)
            }
        }
    }

    /// The letters that a name may have: the strictest profile decides, unless the caller did.
    pub fn names(&self) -> Names {
        let strictest = || {
            let all = self.profiles.iter().all(|profile| profile.names == Names::Unicode);
            if all { Names::Unicode } else { Names::Ascii }
        };
        self.names.unwrap_or_else(strictest)
    }
}
