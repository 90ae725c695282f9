//! `DEEP_LINK_TARGET`.

use crate::rule::{Context, rule};

rule! {
    /// A link leaves the skill's folder
    ///
    /// ## What it does
    /// Reports Markdown links, images and link definitions whose path, once normalised, leads out of the folder:
    /// `../`, an absolute path, `~/`, a `file:` address, also when written with `%2e` or `\`. Links in code do not
    /// count, and `a/../b` stays inside.
    ///
    /// ## Why is this bad?
    /// The link breaks as soon as the skill is installed on its own, packaged or copied.
    ///
    /// ## Example
    /// ```markdown
    /// See [the shared rules](../shared/rules.md).
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// See [the rules](references/rules.md).
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DEEP_LINK_TARGET`
    DEEP_LINK_TARGET, level: Warning, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    if !may_leave(document.body()) {
        return;
    }
    for link in &document.markdown().links {
        if leaves(&link.target) {
            context
                .report_at(link.span, format!("link escapes the skill directory: `{}`", link.target))
                .hint("it breaks when the skill is installed alone; copy the file into the skill");
        }
    }
}

/// Whether parsing the body as Markdown could find such a link: nearly always the bytes say no.
fn may_leave(body: &str) -> bool {
    let bytes = body.as_bytes();
    let has_link = memchr::memmem::find(bytes, b"](").is_some()
        || memchr::memmem::find(bytes, b"]:").is_some()
        || memchr::memmem::find(bytes, b"<file:").is_some();
    has_link
        && ["..", "](/", "](~", "](<", "]: ", "]:\t", "](\\", "](\n", "file:", "%2e", "%2E", "]( "]
            .iter()
            .any(|mark| memchr::memmem::find(bytes, mark.as_bytes()).is_some())
}

/// Whether a link target leads out of the folder that holds the SKILL.md.
fn leaves(target: &str) -> bool {
    let target = decode(target.trim()).replace('\\', "/");
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if path.starts_with("//") {
        return false;
    }
    match scheme(path) {
        Some("file") => return true,
        // A drive letter is an absolute path, any other scheme is not a file.
        Some(scheme) => return scheme.len() == 1,
        None => {}
    }
    if path.starts_with('/') || path == "~" || path.starts_with("~/") {
        return true;
    }
    let mut depth = 0_i32;
    path.split('/').any(|part| {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

fn scheme(path: &str) -> Option<&str> {
    let (scheme, _) = path.split_once(':')?;
    let mut chars = scheme.chars();
    let is_scheme = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

/// Undoes `%2e`, `%2f` and `%5c`: enough to see where a path leads.
fn decode(target: &str) -> String {
    let mut decoded = target.to_owned();
    for (code, plain) in [("%2e", "."), ("%2E", "."), ("%2f", "/"), ("%2F", "/"), ("%5c", "/"), ("%5C", "/")] {
        if decoded.contains(code) {
            decoded = decoded.replace(code, plain);
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn only_paths_that_end_up_outside_leave() {
        for target in [
            "..", "../x", "a/../../x", "/etc/passwd", "~/.ssh/id", "file:///etc", "%2e%2e/x", "..\\x", "./../x",
            "../x#part", "C:\\x", "a/%2e%2e/../x",
        ] {
            assert!(leaves(target), "{target}");
        }
        for target in [
            "x.md", "a/../b", "./a", "#part", "https://x/../y", "mailto:a@b", "//host/x", "...", "..x/y", "",
            "a/b/../../c",
        ] {
            assert!(!leaves(target), "{target}");
        }
    }
}
