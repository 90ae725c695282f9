//! Under which conditions a case was run.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The conditions of a run.
///
/// We write three of them. Files of other tools name more (`new_skill`, a model, a branch), and those are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Configuration {
    /// The skill is installed.
    #[default]
    WithSkill,
    /// The skill is absent.
    WithoutSkill,
    /// An earlier version of the skill is installed.
    OldSkill,
    /// A name that another tool uses.
    Other(String),
}

impl Configuration {
    /// The ones that we write, in the order in which they are shown.
    pub const OURS: [Self; 3] = [Self::WithSkill, Self::WithoutSkill, Self::OldSkill];

    /// The name in files and folders.
    pub fn as_str(&self) -> &str {
        match self {
            Self::WithSkill => "with_skill",
            Self::WithoutSkill => "without_skill",
            Self::OldSkill => "old_skill",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Configuration {
    fn from(name: &str) -> Self {
        Self::OURS
            .into_iter()
            .find(|ours| ours.as_str() == name)
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Configuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Configuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(Cow::<'de, str>::deserialize(deserializer)?.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_recognised_and_others_kept() {
        for name in ["with_skill", "without_skill", "old_skill", "new_skill"] {
            let text = format!("\"{name}\"");
            let configuration: Configuration = serde_json::from_str(&text).unwrap();
            assert_eq!(matches!(configuration, Configuration::Other(_)), name == "new_skill");
            assert_eq!(serde_json::to_string(&configuration).unwrap(), text);
        }
    }
}
