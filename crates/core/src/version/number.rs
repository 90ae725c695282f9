//! Numbers of versions, as people write them: `v3`.

use std::fmt;
use std::str::FromStr;

/// The number of a version, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionNumber(pub u64);

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("v{}", self.0))
    }
}

/// A text that is no number of a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no version; write it as in `v3`")]
pub struct NotVersion(pub String);

impl FromStr for VersionNumber {
    type Err = NotVersion;

    fn from_str(text: &str) -> Result<Self, NotVersion> {
        let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().ok()).flatten();
        number.map(Self).ok_or_else(|| NotVersion(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_written_with_or_without_its_letter() {
        for (text, number) in [("v0", 0), ("3", 3), ("V12", 12)] {
            assert_eq!(text.parse(), Ok(VersionNumber(number)));
        }
        for text in ["", "v", "v-1", "vv1", "1.0", "v+1", "99999999999999999999"] {
            assert_eq!(text.parse::<VersionNumber>(), Err(NotVersion(text.to_owned())));
        }
        assert_eq!(VersionNumber(7).to_string(), "v7");
    }
}
