//! What rules and checks want to know of a Markdown text: links, headings, code fences that never close.
//!
//! Parsing follows CommonMark, so that a link in a code block is not a link.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::text::{Span, lines};

/// The parts of a Markdown text that rules look at. Spans count from the start of the file.
#[derive(Debug, Default)]
pub struct Markdown {
    /// Links, images and link definitions.
    pub links: Vec<Link>,
    pub headings: Vec<Heading>,
    /// Lines like `##Title`: no headings for want of a space, and meant as such.
    pub near_headings: Vec<Heading>,
    /// Where code is: blocks and inline.
    pub code: Vec<Span>,
    /// The opening line of a fence that is never closed.
    pub open_fence: Option<Span>,
}

/// A link, an image or a link definition.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    pub target: String,
    pub span: Span,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// Without markup, on one line.
    pub text: String,
    /// Its lines, without the last line break.
    pub span: Span,
}

impl Markdown {
    /// Parses a body that starts at byte `base` of its file.
    pub fn parse(body: &str, base: usize) -> Self {
        Self::read(body, base, Options::empty())
    }

    /// Parses a whole file, which may have front matter.
    pub fn parse_file(text: &str) -> Self {
        Self::read(text, 0, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS)
    }

    fn read(body: &str, base: usize, options: Options) -> Self {
        let options = options | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let parser = Parser::new_ext(body, options);
        let mut found = Self::default();
        for (_, definition) in parser.reference_definitions().iter() {
            let span = Span::from(definition.span.clone()).shifted(base);
            found.links.push(Link { target: definition.dest.to_string(), span });
        }
        let mut heading: Option<Heading> = None;
        for (event, range) in parser.into_offset_iter() {
            let lines = body[range.clone()].trim_end().len();
            let span = Span::from(range).shifted(base);
            match event {
                Event::Start(
                    Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
                ) if is_inline(link_type) => {
                    found.links.push(Link { target: dest_url.to_string(), span });
                }
                Event::Start(Tag::CodeBlock(_)) => found.code.push(span),
                Event::Start(Tag::Heading { level, .. }) => {
                    let span = Span::new(span.start, span.start + lines);
                    heading = Some(Heading { level: level as usize, text: String::new(), span });
                }
                Event::End(TagEnd::Heading(_)) => found.headings.extend(heading.take()),
                Event::Code(text) => {
                    found.code.push(span);
                    add(&mut heading, &text);
                }
                Event::Text(text) if heading.is_none() && text.starts_with('#') => {
                    let near = near_heading(body, span.start - base, base);
                    found.near_headings.extend(near.filter(|_| !found.is_code(span.start)));
                }
                Event::Text(text) => add(&mut heading, &text),
                Event::SoftBreak | Event::HardBreak => add(&mut heading, " "),
                _ => {}
            }
        }
        // The definitions come out of a hash map: order must not depend on it.
        found.links.sort_by_key(|link| (link.span.start, link.span.end));
        found.open_fence = open_fence(body, base, &found.code);
        found
    }

    /// The headings whose text is wanted, those included that were only meant as one.
    pub fn headings_where(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<&Heading> {
        let all = self.headings.iter().chain(&self.near_headings);
        let mut found: Vec<_> = all.filter(|heading| is_wanted(&heading.text)).collect();
        found.sort_by_key(|heading| heading.span.start);
        found
    }

    /// Whether byte `offset` of the file is inside code.
    pub fn is_code(&self, offset: usize) -> bool {
        // Code does not nest, so the spans are in order and the last one before decides.
        let before = self.code.partition_point(|span| span.start <= offset);
        self.code[..before].last().is_some_and(|span| offset < span.end)
    }
}

/// The line from byte `start` of a body on, when it is `##Title`, perhaps in a quote.
fn near_heading(body: &str, start: usize, base: usize) -> Option<Heading> {
    // Looking back further would be slow on an endless line.
    let before = &body[body.floor_char_boundary(start.saturating_sub(64))..start];
    if !before.trim_end_matches([' ', '\t', '>']).ends_with(['\n', '\r']) && start > 0 {
        return None;
    }
    let line = body[start..].lines().next().unwrap_or_default().trim_end();
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level <= 6 && !text.is_empty()).then(|| Heading {
        level,
        text: text.trim_matches(['*', '_', ' ']).to_owned(),
        span: Span::new(start, start + line.len()).shifted(base),
    })
}

fn add(heading: &mut Option<Heading>, text: &str) {
    if let Some(heading) = heading {
        heading.text.push_str(text);
    }
}

/// A reference link takes its destination from a definition, which is reported itself.
fn is_inline(link_type: LinkType) -> bool {
    matches!(link_type, LinkType::Inline | LinkType::Autolink)
}

/// A fence that runs to the end of the text without a closing line is the last code block, and its last
/// line is not a fence.
fn open_fence(body: &str, base: usize, code: &[Span]) -> Option<Span> {
    let last = code.iter().max_by_key(|span| span.end)?;
    let block = body.get(last.start.checked_sub(base)?..last.end.checked_sub(base)?)?;
    let mut block_lines = lines(block);
    let (first_span, first) = block_lines.next()?;
    let marker = fence_marker(first)?;
    let rest_is_blank = body.get(last.end - base..).is_none_or(|rest| rest.trim().is_empty());
    let last_line = block_lines.filter(|(_, line)| !line.trim().is_empty()).last();
    let is_closed = last_line.is_some_and(|(_, line)| closes(line, marker));
    (rest_is_blank && !is_closed).then(|| first_span.shifted(last.start))
}

/// The fence character and how many of it open the block.
fn fence_marker(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let marker = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == marker).count();
    (length >= 3).then_some((marker, length))
}

fn closes(line: &str, (marker, length): (char, usize)) -> bool {
    // A fence inside a quote or a list item is prefixed by that container's own marks.
    let line = line.trim_matches([' ', '\t', '>']);
    line.len() >= length && line.chars().all(|c| c == marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(body: &str) -> Vec<String> {
        Markdown::parse(body, 0).links.into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn links_images_and_definitions_are_found_but_not_in_code() {
        assert_eq!(targets("[a](x.md) ![b](<y z.png>)"), ["x.md", "y z.png"]);
        assert_eq!(targets("[a][r] and [r]\n\n[r]: ../z.md"), ["../z.md"]);
        assert!(targets("`[a](x.md)`\n\n```\n[a](x.md)\n```\n\n    [a](x.md)\n").is_empty());
    }

    #[test]
    fn headings_are_text_without_markup() {
        let markdown = Markdown::parse("# When to *use*\n\nx\n\nSetext `a`\n---\n", 10);
        let texts: Vec<_> = markdown.headings.iter().map(|h| h.text.as_str()).collect();
        assert_eq!(texts, ["When to use", "Setext a"]);
        assert_eq!(markdown.headings[0].span, Span::new(10, 25));
        let near = Markdown::parse("a\n##**When** to\n\n`x`#y\n\n    ##code\n", 0);
        assert!(near.headings.is_empty());
        let meant: Vec<_> = near.headings_where(|_| true).iter().map(|h| h.span).collect();
        assert_eq!(meant, [Span::new(2, 15)]);
    }

    #[test]
    fn only_a_fence_that_never_closes_is_open() {
        for body in [
            "```\na\n```\n",
            "~~~~\n```\n~~~~",
            "- x\n  ```sh\n  a\n  ```\n",
            "> ```\n> a\n> ```\n",
            "text",
            "    indented code\n",
            "`inline`",
            "```\na\n```\n\nmore text `x`\n",
        ] {
            assert_eq!(Markdown::parse(body, 0).open_fence, None, "{body:?}");
        }
        for body in ["a\n\n```\nb\n", "````\na\n```\n", "```\na\n``` x\n", "```"] {
            let fence = Markdown::parse(body, 0).open_fence.map(|span| span.slice(body).to_owned());
            assert!(fence.is_some_and(|fence| fence.starts_with("```")), "{body:?}");
        }
    }
}
