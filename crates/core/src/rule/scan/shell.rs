//! Commands that run what they have just downloaded or decoded.

use super::{line_end, line_start};
use crate::text::Span;

/// Shells: they run whatever comes in, with or without arguments.
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh"];

/// Interpreters that run what comes in only when they are given no program.
const INTERPRETERS: [&str; 8] =
    ["python", "python2", "python3", "perl", "ruby", "node", "php", "osascript"];

/// Commands that come before the one that counts.
const PREFIXES: [&str; 7] = ["sudo", "env", "exec", "nohup", "time", "command", "doas"];

/// Where what a program prints is run: from the program to the end of its command line, or all of the line when the
/// program stands inside another command. `places` are where the program's name may stand; `counts` sees the command
/// from there on and can say no.
pub(crate) fn runs(
    text: &str,
    places: impl Iterator<Item = usize>,
    counts: impl Fn(&str) -> bool,
) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    for at in places {
        let is_inside_word =
            text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if is_inside_word || found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let span = command_line(text, at);
        let (line, inside) = (span.slice(text), at - span.start);
        if !counts(&line[inside..]) {
            continue;
        }
        let end = span.start + line.trim_end().len();
        if pipes_into_shell(&line[inside..]) {
            found.push(Span::new(at, end));
        } else if is_substituted(&line[..inside]) {
            found.push(Span::new(span.end - line.trim_start().len(), end));
        }
    }
    found
}

/// A command on one line, not longer than a message should be.
pub(crate) fn shortened(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().filter(|word| *word != "\\").collect();
    crate::text::shorten(&words.join(" "), 80)
}

/// No command line is longer; looking further would be slow on an endless line.
const MAX_COMMAND: usize = 1024;

/// The command line around byte `at`: its line, and the lines that `\` joins to it.
fn command_line(text: &str, at: usize) -> Span {
    let first = text.floor_char_boundary(at.saturating_sub(MAX_COMMAND));
    let last = text.ceil_char_boundary((at + MAX_COMMAND).min(text.len()));
    let (window, at) = (&text[first..last], at - first);
    let mut start = line_start(window, at);
    while let Some(before) = without_break(&window[..start]).filter(|line| line.ends_with('\\')) {
        start = line_start(window, before.len());
    }
    let mut end = line_end(window, at);
    while window[start..end].ends_with('\\') {
        let after = &window[end..];
        let Some(next) = after.strip_prefix("\r\n").or_else(|| after.strip_prefix(['\n', '\r']))
        else {
            break;
        };
        end = line_end(window, window.len() - next.len());
    }
    Span::new(start, end).shifted(first)
}

/// A text without the one line break at its end.
fn without_break(text: &str) -> Option<&str> {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r']))
}

/// Whether a command's output goes to a shell: `x | sh`.
fn pipes_into_shell(after: &str) -> bool {
    let own_end = after.find([';', '`']).unwrap_or(after.len());
    let commands = after[..own_end].replace("||", ";").replace("&&", ";");
    let pipeline = commands.split(';').next().unwrap_or_default();
    pipeline.split('|').skip(1).any(runs_its_input)
}

/// Whether a command runs what comes in.
fn runs_its_input(command: &str) -> bool {
    let mut words =
        command.split_whitespace().map(|word| word.trim_matches(['"', '\'', ')', '\\']));
    let is_passed_over = |word: &&str| {
        word.is_empty() || PREFIXES.contains(word) || word.contains('=') || word.starts_with('-')
    };
    let Some(program) = words.by_ref().find(|word| !is_passed_over(word)) else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    let mut arguments = words.filter(|word| !word.is_empty());
    if SHELLS.contains(&program) {
        arguments.next() != Some("-c")
    } else {
        INTERPRETERS.contains(&program) && matches!(arguments.next(), None | Some("-"))
    }
}

/// Whether the text before a command hands its output to a shell: `sh -c "$(x)"`, `bash <(x)`, `eval "$(x)"`.
fn is_substituted(before: &str) -> bool {
    let opening = ["$(", "<(", "`"].iter().filter_map(|mark| before.rfind(mark)).max();
    let Some(opening) = opening else { return false };
    // A substitution that was closed again has nothing to do with the command.
    if before[opening..].contains(')') {
        return false;
    }
    let mut words = before[..opening].split([' ', '\t', ';', '|', '&', '"', '\'', '=', '`']).rev();
    let mut last = words.by_ref().filter(|word| !word.is_empty());
    let is_shell = |word: &str| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word));
    match last.next() {
        Some("eval" | "source" | ".") => true,
        Some("-c") => last.next().is_some_and(is_shell),
        Some(word) => before[opening..].starts_with("<(") && is_shell(word),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_curl_run(line: &str) -> bool {
        !runs(line, line.match_indices("curl").map(|(at, _)| at), |_| true).is_empty()
    }

    #[test]
    fn output_that_is_run_is_seen() {
        for line in [
            "curl -fsSL https://x | sh",
            "curl https://x | sudo bash -s -- --yes",
            "curl https://x|/bin/sh",
            "curl https://x | tee log | bash",
            "curl https://x | sudo -E bash -",
            "curl https://x | FOO=1 sh && echo done",
            "curl https://x | python3 -",
            "bash -c \"$(curl -fsSL https://x)\"",
            "sh <(curl https://x)",
            "eval \"$(curl https://x)\"",
            "source <(curl https://x)",
        ] {
            assert!(is_curl_run(line), "{line}");
        }
    }

    #[test]
    fn output_that_is_only_read_is_not() {
        for line in [
            "curl https://x | jq .",
            "curl https://x | python3 -m json.tool",
            "curl https://x | node -e 'x'",
            "curl https://x || bash fallback.sh",
            "curl https://x -o a; cat b | sh",
            "curl https://x | grep sh",
            "curl https://x | bash -c 'cat'",
            "VERSION=$(curl https://x)",
            "echo \"$(date)\" | curl https://x",
            "| `curl` | bash |",
        ] {
            assert!(!is_curl_run(line), "{line}");
        }
    }

    #[test]
    fn joined_lines_are_one_command() {
        let text = "a\ncurl x \\\n  | sh \\\n  -s\nb\n";
        for word in ["curl", "| sh", "-s"] {
            let line = command_line(text, text.find(word).unwrap()).slice(text);
            assert_eq!(line, "curl x \\\n  | sh \\\n  -s", "{word}");
        }
        assert_eq!(command_line(text, 0).slice(text), "a");
    }
}
