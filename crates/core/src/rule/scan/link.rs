//! Where link targets lead.

/// A link target that names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A path that leads out of the folder, an absolute one included.
    Outside,
    /// A path inside the folder: no `.`, no `..`, percent signs decoded.
    Inside(String),
}

/// Where a link target leads, if it names a file at all: not a web address, not only an anchor.
pub(crate) fn destination(target: &str) -> Option<Destination> {
    let target = decode(target.trim()).replace('\\', "/");
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() || path.starts_with("//") {
        return None;
    }
    match scheme(path) {
        Some("file") => return Some(Destination::Outside),
        // A drive letter is an absolute path, any other scheme is not a file.
        Some(scheme) => return (scheme.len() == 1).then_some(Destination::Outside),
        None => {}
    }
    if path.starts_with('/') || path == "~" || path.starts_with("~/") {
        return Some(Destination::Outside);
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Some(Destination::Outside);
                }
            }
            part => parts.push(part),
        }
    }
    Some(Destination::Inside(parts.join("/")))
}

fn scheme(path: &str) -> Option<&str> {
    let (scheme, _) = path.split_once(':')?;
    let mut chars = scheme.chars();
    let is_scheme = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

/// Undoes percent encoding; what is not valid stays as it is.
fn decode(target: &str) -> String {
    if !target.contains('%') {
        return target.to_owned();
    }
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let decoded = hex_pair(after).filter(|_| first == b'%');
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| target.to_owned())
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(target: &str) -> String {
        match destination(target) {
            Some(Destination::Inside(path)) => path,
            other => panic!("{target}: {other:?}"),
        }
    }

    #[test]
    fn only_paths_that_end_up_outside_leave() {
        for target in [
            "..",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "~/.ssh/id",
            "file:///etc",
            "%2e%2e/x",
            "..\\x",
            "./../x",
            "../x#part",
            "C:\\x",
            "a/%2e%2e/../x",
        ] {
            assert_eq!(destination(target), Some(Destination::Outside), "{target}");
        }
        for target in ["#part", "https://x/../y", "mailto:a@b", "//host/x", ""] {
            assert_eq!(destination(target), None, "{target}");
        }
    }

    #[test]
    fn paths_inside_are_normalised() {
        assert_eq!(inside("a/../b"), "b");
        assert_eq!(inside("./a/b.md#x?y"), "a/b.md");
        assert_eq!(inside("..."), "...");
        assert_eq!(inside("..x/y"), "..x/y");
        assert_eq!(inside("a/b/../../c/"), "c");
        assert_eq!(inside("my%20file.md?v=1"), "my file.md");
        assert_eq!(inside("100%.md"), "100%.md");
        assert_eq!(inside("%ff"), "%ff");
    }
}
