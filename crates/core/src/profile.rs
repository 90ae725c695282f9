//! Whom a skill is checked for: what the specification and each agent accept differs.
//!
//! A [`Profile`] is data: the keys it knows and wants, and the rules it sees differently from the default, each
//! with the reason. All of it stands in [`PROFILES`]; the documentation is generated from there. A [`Policy`] is
//! what one call asks for: one or more profiles and the flags.

mod table;

pub use table::PROFILES;

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
    /// The keys that a skill should have.
    pub wanted: &'static [&'static str],
    /// Which letters a name may have.
    pub names: Names,
    /// What becomes of front matter that is YAML only after its values are quoted.
    pub unquoted: Unquoted,
    /// What becomes of the rules that are off by default and that `differences` does not name.
    pub unlisted: Unlisted,
    /// Rules that it sees differently from the default.
    pub differences: &'static [Difference],
}

/// A rule that a profile sees differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub code: &'static str,
    /// The level in this profile; none when it is off.
    pub level: Option<Level>,
    /// Why, in one sentence without a period.
    pub reason: &'static str,
}

/// Which letters a name may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `a-z`, `0-9` and hyphens.
    Ascii,
    /// Lower-case letters and digits of any script, and hyphens.
    Unicode,
}

/// What a reader makes of front matter that is YAML only after its values are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unquoted {
    /// The front matter is lost.
    Refused,
    /// It quotes values with `: ` inside, or that start with `[`, `{`, `@` or a backtick, and reads on.
    Repaired,
}

/// What a profile does with rules that are off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    Off,
    Warning,
}

impl Profile {
    /// The profile that is used when none is named.
    pub fn default_profile() -> &'static Self {
        &PROFILES[0]
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// How this profile sees a rule, when it does so differently from the default.
    pub fn difference(&self, rule: &Rule) -> Option<&'static Difference> {
        self.differences.iter().find(|difference| difference.code == rule.code)
    }

    /// The level of a rule in this profile; none when it is off.
    pub fn level(&self, rule: &Rule, strictness: Strictness) -> Option<Level> {
        if let Some(difference) = self.difference(rule) {
            return difference.level;
        }
        match (rule.level, strictness) {
            (DefaultLevel::Off, _) => match self.unlisted {
                Unlisted::Off => None,
                Unlisted::Warning => Some(Level::Warning),
            },
            (DefaultLevel::Warning, _)
            | (DefaultLevel::WarningOrStrictError, Strictness::Normal) => Some(Level::Warning),
            (DefaultLevel::Error, _) | (DefaultLevel::WarningOrStrictError, Strictness::Strict) => {
                Some(Level::Error)
            }
        }
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
    #[default]
    Normal,
    Strict,
}

impl Default for Policy {
    fn default() -> Self {
        Self::of(Profile::default_profile())
    }
}

impl Policy {
    /// One profile, and no flags.
    pub fn of(profile: &'static Profile) -> Self {
        Self {
            profiles: vec![profile],
            strictness: Strictness::default(),
            ignored: Vec::new(),
            names: None,
        }
    }

    /// The level at which a rule reports; none when it is off.
    pub fn level(&self, rule: &Rule) -> Option<Level> {
        if self.ignored.contains(&rule.code) {
            return None;
        }
        self.profiles.iter().filter_map(|profile| profile.level(rule, self.strictness)).max()
    }

    /// The profiles in which a rule reports: what the others know or want does not matter to it.
    pub fn reporting(&self, rule: &Rule) -> impl Iterator<Item = &'static Profile> {
        let reports = |profile: &&&'static Profile| profile.level(rule, self.strictness).is_some();
        self.profiles.iter().filter(reports).copied()
    }

    /// The letters that a name may have: the strictest profile decides, unless the caller did.
    pub fn names(&self) -> Names {
        let strictest = || {
            let all = self.profiles.iter().all(|profile| profile.names == Names::Unicode);
            if all { Names::Unicode } else { Names::Ascii }
        };
        self.names.unwrap_or_else(strictest)
    }

    /// What becomes of front matter that is YAML only after its values are quoted: one reader that loses it
    /// decides.
    pub fn unquoted(&self) -> Unquoted {
        let all = self.profiles.iter().all(|profile| profile.unquoted == Unquoted::Repaired);
        if all { Unquoted::Repaired } else { Unquoted::Refused }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{RULES, rule_named};

    #[test]
    fn every_difference_names_a_rule_and_is_one() {
        for profile in PROFILES {
            for difference in profile.differences {
                let code = difference.code;
                let rule = rule_named(code).unwrap_or_else(|| panic!("{}: {code}", profile.name));
                let usual = Profile::default_profile().level(rule, Strictness::Normal);
                let is_strict = rule.level == DefaultLevel::WarningOrStrictError;
                assert!(
                    difference.level != usual || is_strict,
                    "{}: {code} is the default",
                    profile.name
                );
                assert!(!difference.reason.ends_with('.'), "{}: {code}", profile.name);
                let twice = profile.differences.iter().filter(|other| other.code == code).count();
                assert_eq!(twice, 1, "{}: {code}", profile.name);
            }
        }
    }

    #[test]
    fn every_rule_is_on_in_the_pedantic_profile() {
        let pedantic = Policy::of(Profile::named("pedantic").unwrap());
        for rule in RULES {
            assert!(pedantic.level(rule).is_some(), "{}", rule.code);
        }
    }

    #[test]
    fn every_rule_that_is_off_is_turned_on_by_some_profile() {
        for rule in RULES.iter().filter(|rule| rule.level == DefaultLevel::Off) {
            let turns_on = |profile: &&Profile| profile.level(rule, Strictness::Normal).is_some();
            assert!(PROFILES.iter().any(|profile| turns_on(&profile)), "{}", rule.code);
        }
    }

    #[test]
    fn the_most_serious_of_several_profiles_counts() {
        let mut policy = Policy::of(Profile::named("codex").unwrap());
        let rule = rule_named("UNKNOWN_KEYS").unwrap();
        assert_eq!(policy.level(rule), None);
        policy.profiles.push(Profile::named("spec").unwrap());
        assert_eq!(policy.level(rule), Some(Level::Error));
        let reporting: Vec<_> = policy.reporting(rule).map(|profile| profile.name).collect();
        assert_eq!(reporting, ["spec"]);
        policy.ignored.push("UNKNOWN_KEYS");
        assert_eq!(policy.level(rule), None);
    }

    #[test]
    fn strict_makes_the_marked_warnings_errors() {
        let mut policy = Policy::default();
        let rule = rule_named("UNKNOWN_KEYS").unwrap();
        assert_eq!(policy.level(rule), Some(Level::Warning));
        policy.strictness = Strictness::Strict;
        assert_eq!(policy.level(rule), Some(Level::Error));
        let hint = rule_named("DESCRIPTION_TRIGGER_HINT").unwrap();
        assert_eq!(policy.level(hint), Some(Level::Warning));
    }

    #[test]
    fn wanted_keys_are_known_keys() {
        for profile in PROFILES {
            assert!(
                profile.wanted.iter().all(|key| profile.keys.contains(key)),
                "{}",
                profile.name
            );
        }
    }
}
