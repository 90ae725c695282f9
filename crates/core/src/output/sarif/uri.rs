//! Paths as URIs: percent-encoded, and relative only where that leads to the right place.

/// The URI of a path relative to the working folder; none when the path leaves it.
pub(super) fn relative(path: &str) -> Option<String> {
    let leaves = path.starts_with('/')
        || path.split('/').any(|part| part == "..")
        || std::path::Path::new(path).is_absolute();
    if leaves {
        return None;
    }
    // An empty reference means the log itself; a dot means the folder.
    Some(if path.is_empty() { ".".to_owned() } else { encode(path) })
}

/// The URI of an absolute path.
pub(super) fn absolute(path: &str) -> String {
    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("file://{root}{}", encode(&path))
}

/// Everything but unreserved characters and slashes is percent-encoded, a colon included: in the first part of
/// a relative reference it would end a scheme.
fn encode(path: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digits = [byte >> 4, byte & 0xf].map(|half| DIGITS[usize::from(half)]);
            out.push('%');
            out.extend(digits.map(char::from));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_encoded() {
        let uri = relative("skills/a b/é:100%#?.md");
        assert_eq!(uri.as_deref(), Some("skills/a%20b/%C3%A9%3A100%25%23%3F.md"));
        assert_eq!(absolute("/a b/c"), "file:///a%20b/c");
    }

    #[test]
    fn paths_outside_of_the_working_folder_are_not_relative() {
        assert_eq!(relative("/else/a"), None);
        assert_eq!(relative("../a"), None);
        assert_eq!(relative("a/../../b"), None);
        assert_eq!(relative("..a/b..").as_deref(), Some("..a/b.."));
    }

    #[test]
    fn the_working_folder_itself_is_a_dot() {
        assert_eq!(relative("").as_deref(), Some("."));
    }
}
