//! What structures a body: headings, code fences and links, found by a few quick searches.
//!
//! Parsing a body as Markdown costs more than everything else together, and nearly always nothing comes of it. So
//! rules first ask the outline. It knows no nesting: marks of quotes and list items before a fence are passed over,
//! whatever they nest.

use std::borrow::Cow;

use memchr::memmem;

use crate::text::Span;

/// The structure of a body. Spans count from the start of the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Headings outside of fences, in order: `# ATX`, also without the space, and underlined lines.
    pub headings: Vec<HeadingLine>,
    /// Fenced code blocks, in order.
    pub fences: Vec<Fence>,
    /// Where the target of a link or of a link definition may start: after each `](` and `]:`, in code too.
    pub targets: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadingLine {
    pub span: Span,
    /// Its text, without the marks of headings and emphasis around it.
    pub text: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The opening fence up to the end of its line.
    pub opening: Span,
    /// Where the closing line ends; none when nothing closes the fence.
    pub end: Option<usize>,
}

impl Outline {
    /// Looks at a body that starts at byte `base` of its file.
    pub fn of(body: &str, base: usize) -> Self {
        let body = with_line_feeds(body);
        let mut outline = Self { headings: Vec::new(), fences: fences(&body), targets: Vec::new() };
        let mut headings = headings(&body);
        headings.retain(|heading| !outline.is_fenced(heading.span.start));
        outline.headings = headings;
        for mark in ["](", "]:"] {
            let marks = memmem::find_iter(body.as_bytes(), mark);
            outline.targets.extend(marks.map(|at| base + at + mark.len()));
        }
        for fence in &mut outline.fences {
            fence.opening = fence.opening.shifted(base);
            fence.end = fence.end.map(|end| end + base);
        }
        for heading in &mut outline.headings {
            heading.span = heading.span.shifted(base);
            heading.text = heading.text.shifted(base);
        }
        outline
    }

    /// Whether byte `offset` of the file is inside a fence.
    pub fn is_fenced(&self, offset: usize) -> bool {
        let before = self.fences.partition_point(|fence| fence.opening.start <= offset);
        self.fences[..before].last().is_some_and(|fence| fence.end.is_none_or(|end| offset < end))
    }

    /// The headings whose text `wanted` accepts, those in HTML comments left out.
    pub fn headings_where(&self, text: &str, wanted: impl Fn(&str) -> bool) -> Vec<HeadingLine> {
        let is_wanted = |heading: &&HeadingLine| wanted(heading.text.slice(text));
        let mut found: Vec<_> = self.headings.iter().filter(is_wanted).copied().collect();
        if !found.is_empty() {
            let comments = comments(text);
            found.retain(|heading| !is_commented(&comments, heading.span.start));
        }
        found
    }
}

/// A body whose lines end with `\r` alone, with `\n` in its place; any other as it is.
fn with_line_feeds(body: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\n', body.as_bytes()).is_none() && body.contains('\r') {
        Cow::Owned(body.replace('\r', "\n"))
    } else {
        Cow::Borrowed(body)
    }
}

fn line_start(body: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &body.as_bytes()[..at]).map_or(0, |end| end + 1)
}

/// Where the line around byte `at` ends, its line break not included.
fn line_end(body: &str, at: usize) -> usize {
    let end = memchr::memchr(b'\n', &body.as_bytes()[at..]).map_or(body.len(), |end| at + end);
    end - usize::from(end > at && body.as_bytes()[end - 1] == b'\r')
}

fn fences(body: &str) -> Vec<Fence> {
    let mut runs: Vec<usize> = memmem::find_iter(body.as_bytes(), "```").collect();
    let backticks = runs.len();
    runs.extend(memmem::find_iter(body.as_bytes(), "~~~"));
    if runs.len() > backticks {
        runs.sort_unstable();
    }
    let mut found = Vec::new();
    let mut open: Option<(Span, Mark)> = None;
    let mut line_done = 0;
    for at in runs {
        // Only the first run of a line can be a fence, and looking at each would be slow on an endless line.
        if at < line_done {
            continue;
        }
        let start = line_start(body, at);
        line_done = line_end(body, at);
        let rest = &body[at..line_done];
        let Some(mark) = Mark::of(rest) else { continue };
        match open {
            None if mark.opens(rest) && after_containers(&body[start..at]) == at - start => {
                open = Some((Span::new(at, line_done), mark));
            }
            Some((opening, opened))
                if opened.is_closed_by(mark, rest) && is_quoted(&body[start..at]) =>
            {
                found.push(Fence { opening, end: Some(line_done) });
                open = None;
            }
            _ => {}
        }
    }
    found.extend(open.map(|(opening, _)| Fence { opening, end: None }));
    found
}

/// Whether what stands before a closing fence is only white space and quote marks.
fn is_quoted(before: &str) -> bool {
    before.bytes().all(|b| matches!(b, b' ' | b'\t' | b'>'))
}

fn headings(body: &str) -> Vec<HeadingLine> {
    let bytes = body.as_bytes();
    let mut found: Vec<HeadingLine> = Vec::with_capacity(32);
    found.extend(body.starts_with('#').then(|| atx(body, 0)).flatten());
    found.extend(memmem::find_iter(bytes, "\n#").filter_map(|at| atx(body, at + 1)));
    let in_order = found.len();
    let indented = memmem::find_iter(bytes, " #").filter(|at| is_indent(&bytes[..=*at]));
    found.extend(indented.filter_map(|at| atx(body, at + 1)));
    for underline in ["\n==", "\n--"] {
        found.extend(memmem::find_iter(bytes, underline).filter_map(|at| setext(body, at)));
    }
    if found.len() > in_order {
        found.sort_unstable_by_key(|heading| heading.span.start);
    }
    found
}

/// Whether a text ends with a line that so far has one to three spaces.
fn is_indent(before: &[u8]) -> bool {
    let spaces = before.iter().rev().take(4).take_while(|b| **b == b' ').count();
    spaces <= 3 && matches!(before[..before.len() - spaces].last(), None | Some(b'\n'))
}

/// The heading whose first `#` is at byte `at`.
fn atx(body: &str, at: usize) -> Option<HeadingLine> {
    let marks = body.as_bytes()[at..].iter().take(7).take_while(|b| **b == b'#').count();
    let span = Span::new(at, line_end(body, at));
    let text = Span::new(at + marks, span.end);
    (marks <= 6).then(|| HeadingLine { span, text: unmarked(body, text) })
}

/// The heading above the underline that the line break at byte `at` starts.
fn setext(body: &str, at: usize) -> Option<HeadingLine> {
    let underline = body[at + 1..line_end(body, at + 1)].trim_end();
    let mark = underline.as_bytes().first()?;
    if !underline.bytes().all(|b| b == *mark) {
        return None;
    }
    let start = line_start(body, at);
    let span = Span::new(start, line_end(body, start));
    let text = unmarked(body, span);
    (text.start < text.end).then_some(HeadingLine { span, text })
}

/// The text of a heading without white space, closing marks and marks of emphasis around it.
fn unmarked(body: &str, text: Span) -> Span {
    // On bytes, because every heading of every skill comes through here; all marks are ASCII.
    let is_mark = |byte: &u8| matches!(byte, b' ' | b'\t' | b'*' | b'_' | b'`');
    let bytes = body.as_bytes();
    let Span { mut start, mut end } = text;
    while end > start && bytes[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    while end > start && bytes[end - 1] == b'#' {
        end -= 1;
    }
    while end > start && is_mark(&bytes[end - 1]) {
        end -= 1;
    }
    while start < end && is_mark(&bytes[start]) {
        start += 1;
    }
    Span::new(start, end)
}

/// How many bytes of white space, quote marks and list marks a line starts with.
fn after_containers(line: &str) -> usize {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '>']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match rest.as_bytes().get(digits) {
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
            _ => break,
        };
        if !matches!(rest.as_bytes().get(mark), Some(b' ' | b'\t')) {
            break;
        }
        rest = &rest[mark..];
    }
    line.len() - rest.len()
}

/// The character of a fence and how many of it there are.
#[derive(Clone, Copy)]
struct Mark {
    byte: u8,
    length: usize,
}

impl Mark {
    fn of(rest: &str) -> Option<Self> {
        let byte = *rest.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = rest.bytes().take_while(|b| *b == byte).count();
        (length >= 3).then_some(Self { byte, length })
    }

    /// Text after backticks that holds another backtick makes it inline code.
    fn opens(self, rest: &str) -> bool {
        self.byte == b'~' || memchr::memchr(b'`', &rest.as_bytes()[self.length..]).is_none()
    }

    fn is_closed_by(self, mark: Self, rest: &str) -> bool {
        mark.byte == self.byte
            && mark.length >= self.length
            && rest[mark.length..].bytes().all(|b| matches!(b, b' ' | b'\t'))
    }
}

/// The HTML comments of a text, in order.
fn comments(text: &str) -> Vec<Span> {
    let find = |from: usize, what| memmem::find(&text.as_bytes()[from..], what).map(|n| from + n);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find(at, b"<!--") {
        let end = find(start, b"-->").unwrap_or(text.len());
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
        let headings = Outline::of(body, 0).headings_where(body, |_| true);
        headings.into_iter().map(|heading| heading.text.slice(body)).collect()
    }

    #[test]
    fn both_kinds_of_heading_are_found_in_order() {
        let body = "Title\n===\n\n## Two ##\n\nThree\r\n-----\r\n\n#Four\n   ### **Five**\n# Six\n";
        assert_eq!(texts(body), ["Title", "Two", "Three", "Four", "Five", "Six"]);
        assert_eq!(texts("# One\rText\r## Two\r"), ["One", "Two"]);
        let outline = Outline::of("a\n\n## *b* #\n", 10);
        assert_eq!(outline.headings[0].span, Span::new(13, 21));
        assert_eq!(outline.headings[0].text, Span::new(17, 18));
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
            "a\n\n---\n",
            "a\r\n\r\n---\r\n",
            "- a\n- b\n",
        ] {
            assert!(texts(body).is_empty(), "{body:?}");
        }
    }

    #[test]
    fn closed_fences_have_an_end() {
        for body in [
            "```\na\n```\n",
            "~~~~\n```\n~~~~",
            "1. x\n   ```sh\n   a\n   ```\n",
            "- ```sh\n  a\n  ```\n",
            "> ```\n> a\n> ```\n",
            "````md\n```\na\n```\n````\n",
            "```\r\na\r\n```\r\n",
        ] {
            let fences = Outline::of(body, 0).fences;
            assert_eq!(fences.len(), 1, "{body:?}");
            assert!(fences[0].end.is_some(), "{body:?}");
        }
    }

    #[test]
    fn a_fence_without_a_closing_line_has_no_end() {
        for body in ["a\n\n```\nb\n", "````\na\n```\n", "```\na\n``` x\n", "```", "```\na\n~~~\n"] {
            let fences = Outline::of(body, 0).fences;
            assert_eq!(fences.last().map(|fence| fence.end), Some(None), "{body:?}");
        }
    }

    #[test]
    fn inline_code_and_text_are_no_fences() {
        for body in ["a ```b``` c", "```a``` b", "text", "~~struck~~", "-- a ```", "1990. ~~ x"] {
            assert!(Outline::of(body, 0).fences.is_empty(), "{body:?}");
        }
    }

    #[test]
    fn the_inside_of_a_fence_is_known() {
        let body = "a\n```\nb\n```\nc";
        let outline = Outline::of(body, 100);
        let inside = |what: &str| outline.is_fenced(body.find(what).unwrap() + 100);
        assert!(!inside("a") && inside("b") && !inside("c"));
    }
}
