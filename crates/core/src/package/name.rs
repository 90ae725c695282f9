//! Names in archives: what a path is called there, and which path a name may mean.
//!
//! Invariant: the path of a name is below the folder that is unpacked into, in every reading of the name.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

/// A path as an archive writes it; none when it is not text.
pub(super) fn entry_name(path: &Path) -> Option<String> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    };
    let parts: Option<Vec<String>> = path.components().map(part).collect();
    parts.map(|parts| parts.join("/"))
}

/// The name that an archive has for a path: bytes that are no text, or that other readers take for something else, are
/// written as `%5c`.
pub(super) fn escaped(path: &Path) -> String {
    let parts = path.components().map(|part| {
        let mut text = String::new();
        for chunk in part.as_os_str().as_encoded_bytes().utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_ascii_control() || matches!(character, '%' | '\\') {
                    let _ = write!(text, "%{:02x}", u32::from(character));
                } else {
                    text.push(character);
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(text, "%{byte:02x}");
            }
        }
        text
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Reads [`escaped`] back.
fn unescaped(name: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The path that a name in an archive means, if it is below the folder in every reading.
pub(super) fn safe_path(name: &str) -> Option<PathBuf> {
    let is_odd = name.is_empty() || name.contains('\\') || name.split('/').any(|part| part == ".");
    let path = unescaped(name).filter(|_| !is_odd)?;
    // A name may hold an escaped `/` or nothing but dots; so the parts are counted as they were written, too.
    let parts = name.trim_end_matches('/').split('/').count();
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
    (is_plain && !has_nul && path.components().count() == parts).then_some(path)
}

/// Whether a link at this path leads to a place below the folder, by its text.
pub(super) fn stays_inside(path: &Path, to: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    to.components().all(|part| match part {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => {
            let is_inside = depth > 0;
            depth = depth.saturating_sub(1);
            is_inside
        }
        Component::RootDir | Component::Prefix(_) => false,
    })
}
