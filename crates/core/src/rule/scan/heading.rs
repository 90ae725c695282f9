//! Headings, line by line: `# ATX`, also without the space, and lines underlined with `===` or `---`.

use memchr::memmem;

use super::fence::{fences, is_fenced};
use super::{line_end, line_start};
use crate::text::Span;

/// The headings of `body` whose text `wanted` accepts, not in code and not in a comment. The spans count from the
/// start of `body`.
///
/// `wanted` sees the text without marks around it and should be quick: it decides whether fences are looked for.
pub(crate) fn headings_where(body: &str, wanted: impl Fn(&str) -> bool) -> Vec<(Span, &str)> {
    let mut found: Vec<(Span, &str)> = Vec::new();
    for at in memchr::memchr_iter(b'#', body.as_bytes()) {
        if let Some(heading) = atx(body, at).filter(|(_, text)| wanted(text)) {
            found.push(heading);
        }
    }
    for underline in ["\n==", "\n--"] {
        for at in memmem::find_iter(body.as_bytes(), underline) {
            if let Some(heading) = setext(body, at).filter(|(_, text)| wanted(text)) {
                found.push(heading);
            }
        }
    }
    if !found.is_empty() {
        found.sort_unstable();
        let (fences, comments) = (fences(body), comments(body));
        found.retain(|(span, _)| {
            !is_fenced(&fences, span.start) && !is_commented(&comments, span.start)
        });
    }
    found
}

/// The heading whose first `#` is at byte `at`.
fn atx(body: &str, at: usize) -> Option<(Span, &str)> {
    let bytes = body.as_bytes();
    let indent = bytes[..at].iter().rev().take(4).take_while(|b| **b == b' ').count();
    if indent > 3 || !matches!(bytes[..at - indent].last(), None | Some(b'\n' | b'\r')) {
        return None;
    }
    let line = &body[at..line_end(body, at)];
    let text = line.trim_start_matches('#');
    (line.len() - text.len() <= 6).then(|| (Span::new(at, at + line.len()), unmarked(text)))
}

/// The heading above the underline that the line break at byte `at` starts.
fn setext(body: &str, at: usize) -> Option<(Span, &str)> {
    let underline = body[at + 1..line_end(body, at + 1)].trim_end();
    let mark = underline.as_bytes().first()?;
    if !underline.bytes().all(|b| b == *mark) {
        return None;
    }
    let end = at - usize::from(body.as_bytes()[..at].last() == Some(&b'\r'));
    let start = line_start(body, end);
    let text = unmarked(&body[start..end]);
    (!text.is_empty()).then_some((Span::new(start, end), text))
}

/// A heading's text without white space and the marks of emphasis around it.
fn unmarked(text: &str) -> &str {
    text.trim().trim_end_matches('#').trim_matches([' ', '\t', '*', '_', '`'])
}

/// The comments of a body, in order.
fn comments(body: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memmem::find(&body.as_bytes()[at..], b"<!--").map(|start| at + start) {
        let end = memmem::find(&body.as_bytes()[start..], b"-->").map_or(body.len(), |n| start + n);
        found.push(Span::new(start, end));
        at = end;
    }
    found
}

fn is_commented(comments: &[Span], offset: usize) -> bool {
    let before = comments.partition_point(|comment| comment.start <= offset);
    comments[..before].last().is_some_and(|comment| offset < comment.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<&str> {
        headings_where(body, |_| true).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn both_kinds_of_heading_are_found_in_order() {
        let body = "Title\n===\n\n## Two ##\n\nThree\r\n-----\r\n\n#Four\n   ### **Five**\n";
        assert_eq!(texts(body), ["Title", "Two", "Three", "Four", "Five"]);
    }

    #[test]
    fn code_comments_and_other_lines_are_no_headings() {
        for body in [
            "```sh\n# a\n```\n",
            "    # a\n",
            "a # b\n",
            "####### seven\n",
            "<!--\n# a\n-->\n",
            "\n---\n",
            "- a\n- b\n",
        ] {
            assert!(texts(body).is_empty(), "{body:?}");
        }
    }
}
