//! A path below the work folder, in a form that any name survives.

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A path relative to the work folder, and so to `outputs/`.
///
/// In files it is the path itself; only a backslash (as `\\`) and bytes that are no text (as `\xff`) are written in
/// another way, so that it can be read back exactly.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputPath(PathBuf);

impl OutputPath {
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Whether the name is UTF-8.
    pub fn is_text(&self) -> bool {
        self.0.to_str().is_some()
    }

    /// The form that is written to files.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            text.push_str(&chunk.valid().replace('\\', "\\\\"));
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text
    }

    /// Reads [`OutputPath::text`] back.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\\') {
            bytes.extend_from_slice(before.as_bytes());
            if let Some(after) = after.strip_prefix('\\') {
                bytes.push(b'\\');
                rest = after;
            } else {
                let digits = after.strip_prefix('x')?.get(..2)?;
                // The parser of numbers takes a sign, too.
                if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return None;
                }
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &after[3..];
            }
        }
        bytes.extend_from_slice(rest.as_bytes());
        Some(Self(PathBuf::from(OsString::from_vec(bytes))))
    }
}

/// On one line, whatever the name holds.
impl fmt::Display for OutputPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.text().chars() {
            match character {
                // Bidirectional marks turn the rest of a line around.
                '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    write!(formatter, "{}", character.escape_unicode())?;
                }
                _ if character.is_control() => write!(formatter, "{}", character.escape_debug())?,
                _ => write!(formatter, "{character}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for OutputPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

impl Serialize for OutputPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for OutputPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text).ok_or_else(|| de::Error::custom("a path with a bad escape"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::OutputPath;

    #[test]
    fn an_ordinary_name_is_written_as_it_is() {
        let path = OutputPath::new("a folder/naïve.md");
        assert_eq!((path.text().as_str(), path.is_text()), ("a folder/naïve.md", true));
    }

    #[test]
    fn a_name_that_is_no_text_or_has_lines_is_shown_on_one_line() {
        let path = OutputPath::new(OsString::from_vec(b"a\nb\xff\\\x1b[31m".to_vec()));
        assert_eq!(path.to_string(), "a\\nb\\xff\\\\\\u{1b}[31m");
        assert!(!path.is_text());
    }

    #[test]
    fn a_bad_escape_is_refused() {
        for text in ["\\", "\\x", "\\xg0", "\\x+f", "\\xé", "a\\n"] {
            assert_eq!(OutputPath::from_text(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_name_survives(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let path = OutputPath::new(OsString::from_vec(bytes));
            prop_assert_eq!(OutputPath::from_text(&path.text()), Some(path.clone()));
            let json = serde_json::to_string(&path).unwrap();
            prop_assert_eq!(serde_json::from_str::<OutputPath>(&json).unwrap(), path);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = OutputPath::from_text(&text);
        }
    }
}
