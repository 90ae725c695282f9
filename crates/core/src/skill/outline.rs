//! The lines that structure a body: headings and code fences, found in one quick pass.
//!
//! Parsing a body as Markdown costs more than everything else together, and nearly always nothing comes of it. So
//! rules first ask the outline. It goes line by line and knows no nesting: marks of quotes and list items before a
//! fence are passed over, whatever they nest.

use crate::text::Span;

/// The structure of a body. Spans count from the start of the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Headings outside of fences, in order: `# ATX`, also without the space, and underlined lines.
    pub headings: Vec<HeadingLine>,
    /// Fenced code blocks, in order.
    pub fences: Vec<Fence>,
}

/// A line that is a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadingLine {
    /// The line.
    pub span: Span,
    /// Its text, without the marks of headings and emphasis around it.
    pub text: Span,
}

/// A fenced code block.
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
        let mut scan = Scan { body, base, found: Self::default(), open: None, before: Span::at(0) };
        let mut start = 0;
        for end in memchr::memchr2_iter(b'\n', b'\r', body.as_bytes()) {
            scan.line(Span::new(start, end));
            start = end + 1;
        }
        scan.line(Span::new(start, body.len()));
        scan.finish()
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

struct Scan<'a> {
    body: &'a str,
    base: usize,
    found: Outline,
    /// The fence that is open, and its mark.
    open: Option<(Span, Mark)>,
    /// The line before, when it can be a heading that this one underlines.
    before: Span,
}

impl Scan<'_> {
    fn line(&mut self, line: Span) {
        let bytes = &self.body.as_bytes()[line.range()];
        // A line break of two bytes makes an empty line that is none.
        let Some(&first) = bytes.first() else {
            if !self.body[..line.start].ends_with('\r') || !self.body[line.end..].starts_with('\n')
            {
                self.before = Span::at(line.start);
            }
            return;
        };
        match (&self.open, first) {
            (Some(_), b'`' | b'~' | b' ' | b'\t' | b'>') => self.close(line),
            (Some(_), _) => {}
            (None, b'#') => self.atx(line, line.start),
            (None, b'=') => self.setext(line),
            (None, b'-') if bytes.get(1) == Some(&b'-') => self.setext(line),
            (None, b' ' | b'\t' | b'`' | b'~' | b'>' | b'-' | b'*' | b'+' | b'0'..=b'9') => {
                self.indented(line);
            }
            (None, _) => {}
        }
        self.before = line;
    }

    /// A line that starts with white space or with the mark of a container.
    fn indented(&mut self, line: Span) {
        let text = line.slice(self.body);
        let inner = text.trim_start_matches(' ');
        let indent = text.len() - inner.len();
        if inner.starts_with('#') && indent <= 3 {
            return self.atx(line, line.start + indent);
        }
        let at = line.start + after_containers(text);
        let rest = &self.body[at..line.end];
        if let Some(mark) = Mark::of(rest).filter(|mark| mark.opens(rest)) {
            self.open = Some((Span::new(at, line.end), mark));
        }
    }

    fn close(&mut self, line: Span) {
        let Some((opening, opened)) = self.open else { return };
        let rest = line.slice(self.body).trim_start_matches([' ', '\t', '>']);
        if Mark::of(rest).is_some_and(|mark| opened.is_closed_by(mark, rest)) {
            self.open = None;
            let (opening, end) = (opening.shifted(self.base), Some(line.end + self.base));
            self.found.fences.push(Fence { opening, end });
        }
    }

    fn atx(&mut self, line: Span, start: usize) {
        let marked = &self.body[start..line.end];
        let text = marked.trim_start_matches('#');
        if marked.len() - text.len() <= 6 {
            self.heading(Span::new(start, line.end), line.end - text.len());
        }
    }

    /// A line of `===` or `---` makes a heading of the line before it.
    fn setext(&mut self, line: Span) {
        let underline = line.slice(self.body).trim_end();
        let is_underline = underline.bytes().all(|b| b == underline.as_bytes()[0]);
        if is_underline && !self.before.slice(self.body).trim().is_empty() {
            self.heading(self.before, self.before.start);
        }
    }

    fn heading(&mut self, span: Span, text: usize) {
        const MARKS: [char; 5] = [' ', '\t', '*', '_', '`'];
        let raw = self.body[text..span.end].trim_end().trim_end_matches('#');
        let inner = raw.trim_start_matches(MARKS);
        let start = text + raw.len() - inner.len();
        let text = Span::new(start, start + inner.trim_end_matches(MARKS).len());
        let (span, text) = (span.shifted(self.base), text.shifted(self.base));
        self.found.headings.push(HeadingLine { span, text });
    }

    fn finish(mut self) -> Outline {
        let base = self.base;
        let open =
            self.open.map(|(opening, _)| Fence { opening: opening.shifted(base), end: None });
        self.found.fences.extend(open);
        self.found
    }
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
    use memchr::memmem::find;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find(&text.as_bytes()[at..], b"<!--").map(|start| at + start) {
        let end = find(&text.as_bytes()[start..], b"-->").map_or(text.len(), |end| start + end);
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
        let body = "Title\n===\n\n## Two ##\n\nThree\r\n-----\r\n\n#Four\n   ### **Five**\r# Six\r";
        assert_eq!(texts(body), ["Title", "Two", "Three", "Four", "Five", "Six"]);
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
