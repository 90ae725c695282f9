//! `USER_HOME_PATH`.

use crate::rule::value::and_more;
use crate::rule::{Context, rule};
use crate::skill::trace::{HOME_FOLDERS, Trace};
use crate::text::Span;

rule! {
    /// SKILL.md names a path in somebody's home folder
    ///
    /// ## What it does
    /// Reports the first path below `/Users/NAME`, `/home/NAME` or `C:\Users\NAME`, and how many more there are.
    /// Names that only stand for one (`user`, `you`, `username`, `$USER`) and the users of well-known images do not
    /// count.
    ///
    /// ## Why is this bad?
    /// The path exists on the author's machine only. It also says who the author is.
    ///
    /// ## Example
    /// ```markdown
    /// Run `python /Users/maria/skills/pdf-forms/fill.py`.
    /// ```
    ///
    /// ## Use instead
    /// ```markdown
    /// Run `python scripts/fill.py`.
    /// ```
    USER_HOME_PATH, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

/// Names that stand for any user, or for the user of a well-known image.
const ANYBODY: [&str; 61] = [
    "user", "users", "username", "user_name", "user-name", "yourname", "your-name", "your_name",
    "yourusername", "your-username", "your_username", "youruser", "your-user", "your_user", "you",
    "your", "me", "myuser", "myname", "name", "someone", "somebody", "anyone", "alice", "bob",
    "john", "jane", "johndoe", "john.doe", "janedoe", "foo", "bar", "test", "testuser", "example",
    "shared", "public", "default", "runner", "ubuntu", "vscode", "node", "app", "claude", "dev",
    "linuxbrew", "clawd", "openclaw", "pi", "ec2-user", "admin", "agent", "coder", "jovyan",
    "gitpod", "codespace", "vagrant", "docker", "deploy", "git", "sandbox",
];

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let text = document.text.as_str();
    let is_home = |trace: &&Trace| HOME_FOLDERS.contains(&trace.needle);
    let traces = document.traces().iter().filter(is_home);
    let found: Vec<Span> =
        traces.filter_map(|trace| path_at(text, trace.offset, trace.needle)).collect();
    let Some(first) = found.first() else { return };
    let more = and_more(found.len() - 1, "path");
    context
        .report_at(*first, format!("path in somebody's home folder: `{}`{more}", first.slice(text)))
        .hint("use a path relative to the skill, or `~`");
}

/// The path to a home folder whose `home` part is at byte `at`, if it belongs to somebody.
fn path_at(text: &str, at: usize, home: &str) -> Option<Span> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    // `https://x/home/y` and `src/home/y` are something else.
    let drive = text[..at].ends_with(|c: char| c.is_ascii_alphabetic());
    let start = match home.starts_with(':') {
        true if drive => at - 1,
        true => return None,
        false => at,
    };
    if text[..start].ends_with(|c: char| is_path(c) || matches!(c, '/' | '}' | '~')) {
        return None;
    }
    let rest = &text[at + home.len()..];
    let length = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
    let name = &rest[..length];
    let separator = if home.starts_with(':') { '\\' } else { '/' };
    // Without anything below it, it is a page about home folders.
    let goes_on = rest[length..].starts_with(separator);
    let is_somebody = !name.is_empty()
        && !name.chars().all(|c| matches!(c, '.' | 'x' | 'X' | '_'))
        && !ANYBODY.iter().any(|anybody| name.eq_ignore_ascii_case(anybody));
    (goes_on && is_somebody).then(|| Span::new(start, at + home.len() + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let home = HOME_FOLDERS.iter().find(|home| text.contains(**home))?;
        path_at(text, text.find(home)?, home).map(|span| span.slice(text))
    }

    #[test]
    fn only_paths_of_somebody_count() {
        assert_eq!(found("see /Users/maria/x"), Some("/Users/maria"));
        assert_eq!(found("`/home/jdoe7/y`"), Some("/home/jdoe7"));
        assert_eq!(found("C:\\Users\\maria\\x"), Some("C:\\Users\\maria"));
        for text in [
            "/Users/username/x",
            "/home/$USER/x",
            "/home/<you>/x",
            "/home/ubuntu/x",
            "https://x.y/home/maria/z",
            "/Users/maria",
            "src/home/page/x",
            "/Users/.../x",
            "é:\\Users\\maria\\x",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
