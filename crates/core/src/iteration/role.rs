//! Which configuration is looked at, and which ones it is compared with.
//!
//! The public script subtracts in alphabetical order, which turns the sign of with_skill against old_skill. Here the
//! roles follow from names, and without a name that says so there is no difference.

use skillgauge_format::part::Configuration;

/// Names of the configuration that is looked at, the first that is there.
const PRIMARY: [&str; 3] = ["with_skill", "new_skill", "skill"];

/// Names of baselines, in the order in which they are shown.
const BASELINES: [&str; 6] =
    ["without_skill", "old_skill", "same_skill", "baseline", "no_skill", "without"];

/// Whether a folder of this name holds a configuration, whatever is in it.
pub(super) fn is_known(name: &str) -> bool {
    PRIMARY.contains(&name) || BASELINES.contains(&name)
}

#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// The configuration that is looked at.
    pub primary: Option<Configuration>,
    /// The ones that it is compared with; the first gives the seed's `delta`.
    pub baselines: Vec<Configuration>,
}

impl Roles {
    /// Of the configurations that have runs.
    pub(super) fn of(configurations: &[Configuration]) -> Self {
        let find =
            |name: &&str| configurations.iter().find(|found| found.as_str() == *name).cloned();
        Self {
            primary: PRIMARY.iter().find_map(find),
            baselines: BASELINES.iter().filter_map(find).collect(),
        }
    }

    /// Whether it is one of the sides of a comparison.
    pub fn is_arm(&self, configuration: &Configuration) -> bool {
        self.primary.as_ref() == Some(configuration) || self.baselines.contains(configuration)
    }
}

/// The order in which configurations are shown: ours, then those of others by name.
pub(super) fn order(configuration: &Configuration) -> (usize, &str) {
    let names = PRIMARY.iter().chain(&BASELINES);
    let place = names.into_iter().position(|name| *name == configuration.as_str());
    (place.unwrap_or(usize::MAX), configuration.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &[&str]) -> (Option<String>, Vec<String>) {
        let configurations: Vec<Configuration> =
            names.iter().map(|name| Configuration::from(*name)).collect();
        let roles = Roles::of(&configurations);
        let name = |configuration: Configuration| configuration.as_str().to_owned();
        (roles.primary.map(name), roles.baselines.into_iter().map(name).collect())
    }

    #[test]
    fn the_skill_comes_first_whatever_the_alphabet_says() {
        let with = Some("with_skill".to_owned());
        assert_eq!(roles(&["old_skill", "with_skill"]), (with.clone(), vec!["old_skill".into()]));
        assert_eq!(
            roles(&["old_skill", "with_skill", "without_skill"]),
            (with, vec!["without_skill".into(), "old_skill".into()])
        );
        assert_eq!(
            roles(&["new_skill", "old_skill"]),
            (Some("new_skill".into()), vec!["old_skill".into()])
        );
        assert_eq!(roles(&["opus", "sonnet"]), (None, vec![]));
    }
}
