//! Versions, as far as they can be compared: numbers between dots.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A version such as `2.1.325`. Missing parts count as zero; what follows the numbers is dropped.
#[derive(Clone, Debug)]
pub struct Version(Vec<u64>);

impl Version {
    /// The first version in a text: `codex-cli 0.166.0`, `2.1.325 (Claude Code)`, `v1.2`.
    pub fn find(text: &str) -> Option<Self> {
        let words = text.split(|c: char| c.is_whitespace() || "()[],;:\"'".contains(c));
        words.into_iter().find_map(|word| {
            let word = word.rsplit('@').next().unwrap_or(word);
            let version = Self::read(word.strip_prefix(['v', 'V']).unwrap_or(word))?;
            (version.0.len() > 1).then_some(version)
        })
    }

    /// The numbers at the start of a text.
    fn read(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for part in text.split('.') {
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match part[..digits].parse() {
                Ok(number) => parts.push(number),
                Err(_) => break,
            }
            if digits < part.len() {
                break;
            }
        }
        (!parts.is_empty()).then_some(Self(parts))
    }

    /// A text that is a version and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).filter(|version| version.to_string() == text)
    }

    fn part(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let length = self.0.len().max(other.0.len());
        (0..length).map(|index| self.part(index)).cmp((0..length).map(|index| other.part(index)))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.pad(&parts.join("."))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not a version"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Version;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for (text, expected) in [
            ("2.1.325 (Claude Code)", "2.1.325"),
            ("codex-cli 0.166.0\n", "0.166.0"),
            ("v20.1", "20.1"),
            ("agent version: 3.4.5-beta.1+x", "3.4.5"),
            ("pkg@1.2.3", "1.2.3"),
        ] {
            assert_eq!(Version::find(text).unwrap().to_string(), expected, "{text}");
        }
        for text in ["", "no version", "12 agents", "x.y.z"] {
            assert!(Version::find(text).is_none(), "{text}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |text| Version::parse(text).unwrap();
        assert!(version("2.1.325") > version("2.1.99"));
        assert!(version("0.166") < version("1.0.0"));
        assert_eq!(version("1.2"), version("1.2.0"));
        assert!(Version::parse("1.2-beta").is_none() && Version::parse("latest").is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}|[0-9. v@-]{0,40}") {
            let _ = (Version::find(&text), Version::parse(&text));
        }
    }
}
