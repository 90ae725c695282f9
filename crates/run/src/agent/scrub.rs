//! Takes out of what an agent said what must not be kept: secrets, and the paths of private folders.
//!
//! A private folder is different in every run and gone afterwards. Its path is replaced by [`ROOT`] before anybody reads a
//! line, so that a recording, its replay and the run itself say the same.

use std::borrow::Cow;
use std::path::Path;

use memchr::memmem::Finder;
use serde_json::Value;
use skillgauge_format::transcript::Transcript;

use crate::model::{REDACTED, Secret};

/// What stands for the root of the private folders.
pub const ROOT: &str = "/skillgauge";

/// Shorter texts are not searched for: they occur by chance, and no real key is so short.
const SHORTEST: usize = 8;

#[derive(Debug)]
pub(super) struct Scrubber {
    secrets: Vec<Needle>,
    paths: Vec<Needle>,
}

#[derive(Debug)]
struct Needle {
    finder: Finder<'static>,
    by: &'static [u8],
}

impl Needle {
    fn new(text: &[u8], by: &'static str) -> Self {
        Self { finder: Finder::new(text).into_owned(), by: by.as_bytes() }
    }

    fn replace<'b>(&self, bytes: Cow<'b, [u8]>) -> Cow<'b, [u8]> {
        let Some(first) = self.finder.find(&bytes) else { return bytes };
        let mut clean = Vec::with_capacity(bytes.len());
        let (mut done, mut next) = (0, Some(first));
        while let Some(at) = next {
            clean.extend_from_slice(&bytes[done..at]);
            clean.extend_from_slice(self.by);
            done = at + self.finder.needle().len();
            next = self.finder.find(&bytes[done..]).map(|found| done + found);
        }
        clean.extend_from_slice(&bytes[done..]);
        Cow::Owned(clean)
    }
}

impl Scrubber {
    /// For these secrets and this private folder.
    pub(super) fn new<'s>(secrets: impl IntoIterator<Item = &'s Secret>, root: &str) -> Self {
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for secret in secrets {
            let text = secret.expose().trim();
            // Inside of JSON a quote or a backslash is written in another way.
            let quoted = Value::from(text).to_string();
            for form in [text, quoted.trim_matches('"')] {
                if form.len() >= SHORTEST {
                    texts.push(form.as_bytes().to_vec());
                }
            }
        }
        // A secret may be part of another.
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        Self {
            secrets: texts.iter().map(|text| Needle::new(text, REDACTED)).collect(),
            paths: vec![Needle::new(root.as_bytes(), ROOT)],
        }
    }

    /// The same bytes without secrets and private paths.
    pub(super) fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.paths.iter().fold(self.without_secrets(bytes), |bytes, needle| needle.replace(bytes))
    }

    /// The same text without secrets and private paths.
    pub(super) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    /// Takes secrets out of a transcript. Lines were searched one by one; this finds what was put together from several.
    pub(super) fn transcript(&self, transcript: Transcript) -> (Transcript, Held) {
        let Ok(text) = serde_json::to_vec(&transcript) else { return (transcript, Held::Nothing) };
        match self.without_secrets(&text) {
            Cow::Borrowed(_) => (transcript, Held::Nothing),
            Cow::Owned(clean) => match serde_json::from_slice(&clean) {
                Ok(clean) => (clean, Held::Secret),
                Err(_) => (transcript, Held::Secret),
            },
        }
    }

    fn without_secrets<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        self.secrets.iter().fold(Cow::Borrowed(bytes), |bytes, needle| needle.replace(bytes))
    }

    /// Takes secrets out of a file, if there are any in it; says whether there were.
    pub(super) fn file(&self, path: &Path) -> std::io::Result<Held> {
        if self.secrets.is_empty() {
            return Ok(Held::Nothing);
        }
        let bytes = fs_err::read(path)?;
        match self.without_secrets(&bytes) {
            Cow::Borrowed(_) => Ok(Held::Nothing),
            Cow::Owned(clean) => {
                fs_err::write(path, clean)?;
                Ok(Held::Secret)
            }
        }
    }
}

/// The same text without secrets.
pub(crate) fn without_secrets(text: &str, secrets: &[Secret]) -> String {
    let scrubber = Scrubber::new(secrets, ROOT);
    String::from_utf8_lossy(&scrubber.without_secrets(text.as_bytes())).into_owned()
}

/// What was in something that was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Nothing,
    /// A secret, which is not there any more.
    Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber() -> Scrubber {
        let secrets = [
            Secret::new("sk-0123456789"),
            Secret::new("sk-0123456789-long"),
            Secret::new("pass\"word1"),
            Secret::new("x"),
        ];
        Scrubber::new(&secrets, "/tmp/s/run-a1")
    }

    #[test]
    fn secrets_and_private_paths_are_replaced_everywhere() {
        for (text, clean) in [
            ("nothing to see", "nothing to see"),
            ("cat /tmp/s/run-a1/work/x", "cat /skillgauge/work/x"),
            ("sk-0123456789 sk-0123456789-long", "<secret> <secret>"),
            (r#"{"k":"pass\"word1"}"#, r#"{"k":"<secret>"}"#),
            ("a short x stays", "a short x stays"),
        ] {
            assert_eq!(scrubber().text(text), clean);
        }
        let line = b"\xff sk-0123456789 \xfe";
        assert_eq!(&*scrubber().bytes(line), b"\xff <secret> \xfe");
        assert!(matches!(scrubber().bytes(b"clean"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_file_is_changed_only_when_it_holds_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs_err::write(&path, "key=sk-0123456789\n").unwrap();
        assert_eq!(scrubber().file(&path).unwrap(), Held::Secret);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "key=<secret>\n");
        assert_eq!(scrubber().file(&path).unwrap(), Held::Nothing);
    }
}
