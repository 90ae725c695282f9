//! Code fences, line by line: which parts of a body are code, and whether the last fence is closed.

use memchr::memmem;

use super::{line_end, line_start};
use crate::text::Span;

/// A fenced code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The opening fence up to the end of its line.
    pub(crate) opening: Span,
    /// Where the closing line ends; none when nothing closes the fence.
    pub(crate) end: Option<usize>,
}

/// Whether byte `offset` is inside one of the fences, which are in order.
pub(crate) fn is_fenced(fences: &[Fence], offset: usize) -> bool {
    let before = fences.partition_point(|fence| fence.opening.start <= offset);
    fences[..before].last().is_some_and(|fence| fence.end.is_none_or(|end| offset < end))
}

/// The fences of a body, in order. Quote marks and list marks before a fence are passed over, whatever they nest.
pub(crate) fn fences(body: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<(Span, Mark)> = None;
    let mut line_done = 0;
    for at in candidates(body) {
        // Only the first run of a line can be a fence, and looking at each would be slow on an endless line.
        if at < line_done {
            continue;
        }
        let start = line_start(body, at);
        line_done = line_end(body, at);
        let rest = &body[at..line_done];
        let Some(mark) = Mark::of(rest) else { continue };
        match open {
            None if mark.opens(rest) && may_precede(&body[start..at]) => {
                open = Some((Span::new(at, at + rest.len()), mark));
            }
            Some((opening, opened))
                if opened.is_closed_by(mark, rest) && is_quoted(&body[start..at]) =>
            {
                found.push(Fence { opening, end: Some(at + rest.len()) });
                open = None;
            }
            _ => {}
        }
    }
    found.extend(open.map(|(opening, _)| Fence { opening, end: None }));
    found
}

/// Where a run of three backticks or tildes starts.
fn candidates(body: &str) -> Vec<usize> {
    let mut found: Vec<usize> = memmem::find_iter(body.as_bytes(), "```").collect();
    let backticks = found.len();
    found.extend(memmem::find_iter(body.as_bytes(), "~~~"));
    if found.len() > backticks {
        found.sort_unstable();
    }
    found
}

/// The character of a fence and how many of it there are.
#[derive(Clone, Copy)]
struct Mark {
    byte: u8,
    length: usize,
}

impl Mark {
    fn of(rest: &str) -> Option<Self> {
        let byte = *rest.as_bytes().first()?;
        let length = rest.bytes().take_while(|b| *b == byte).count();
        Some(Self { byte, length })
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

/// Whether what stands before a closing fence is only white space and quote marks.
fn is_quoted(before: &str) -> bool {
    before.bytes().all(|b| matches!(b, b' ' | b'\t' | b'>'))
}

/// Whether what stands before an opening fence is white space, quote marks and marks of list items.
fn may_precede(before: &str) -> bool {
    is_quoted(before)
        || before.split([' ', '\t', '>']).all(|word| {
            matches!(word, "" | "-" | "*" | "+")
                || word
                    .strip_suffix(['.', ')'])
                    .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_fences_have_an_end() {
        for body in [
            "```\na\n```\n",
            "~~~~\n```\n~~~~",
            "1. x\n   ```sh\n   a\n   ```\n",
            "- ```sh\n  a\n  ```\n",
            "> ```\n> a\n> ```\n",
            "````md\n```\na\n```\n````\n",
        ] {
            let fences = fences(body);
            assert_eq!(fences.len(), 1, "{body:?}");
            assert!(fences[0].end.is_some(), "{body:?}");
        }
    }

    #[test]
    fn a_fence_without_a_closing_line_has_no_end() {
        for body in ["a\n\n```\nb\n", "````\na\n```\n", "```\na\n``` x\n", "```", "```\na\n~~~\n"] {
            assert_eq!(fences(body).last().map(|fence| fence.end), Some(None), "{body:?}");
        }
    }

    #[test]
    fn inline_code_and_text_are_no_fences() {
        for body in ["a ```b``` c", "```a``` b", "text", "~~struck~~"] {
            assert!(fences(body).is_empty(), "{body:?}");
        }
    }

    #[test]
    fn the_inside_of_a_fence_is_known() {
        let body = "a\n```\nb\n```\nc";
        let fences = fences(body);
        let inside = |what: &str| is_fenced(&fences, body.find(what).unwrap());
        assert!(!inside("a") && inside("b") && !inside("c"));
    }
}
