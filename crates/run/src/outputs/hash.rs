//! The content of a file in a few bytes.

use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use skillgauge_core::files::open_quietly;

/// A SHA-256 of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentHash([u8; 32]);

impl ContentHash {
    /// Reads a file; one that has grown beyond `limit` is an error.
    pub(super) fn of(path: &Path, limit: u64) -> io::Result<Self> {
        let mut file = open_quietly(path)?.take(limit + 1);
        let mut hasher = Sha256::new();
        let mut buffer = [0; 16 << 10];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if file.limit() == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Self(hasher.finalize().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::ContentHash;

    #[test]
    fn the_content_decides_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name));
        fs_err::write(&a, "same").unwrap();
        fs_err::write(&b, "same").unwrap();
        fs_err::write(&c, "else").unwrap();
        let hash = |path| ContentHash::of(path, 4).unwrap();
        assert_eq!(hash(&a), hash(&b));
        assert_ne!(hash(&a), hash(&c));
        assert!(ContentHash::of(&a, 3).is_err());
    }
}
