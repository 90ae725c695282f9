//! Cuts a SKILL.md into front matter and body, and parses the front matter.
//!
//! The delimiters are whole lines `---` at column 0; spaces after them are tolerated. An indented `---` is
//! text: it can stand inside a block scalar, and closing there would cut a description in two.

use crate::text::{Span, lines};
use crate::yaml::{self, Mapping, Node, ScalarType, Value, YamlError};

/// What the top of a SKILL.md turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum FrontMatter {
    /// A YAML mapping; an empty front matter is an empty one.
    Mapping(Mapping),
    /// The first line is not `---`.
    NotOpened(FirstLine),
    /// No line `---` after the first.
    NotClosed {
        /// The last line that looks as if it was meant to close it, if there is one.
        near: Option<Span>,
    },
    /// Delimited, but not YAML.
    Invalid(YamlError),
    /// YAML, but a list or a scalar.
    NotMapping(Node),
}

/// What stands where the opening `---` belongs; the message says how to put it right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLine {
    Empty,
    /// Blank lines come before a `---`.
    BlankLines,
    /// The front matter is wrapped in a code fence.
    Fence,
    /// The `---` is indented.
    Indented,
    /// Ordinary text, such as a heading.
    Text,
}

/// The parts of a SKILL.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    pub front_matter: FrontMatter,
    /// The YAML between the delimiters; empty when there is none.
    pub yaml: Span,
    /// Everything after the closing delimiter, or the whole text when there is no front matter.
    pub body: Span,
}

/// Cuts and parses. `text` has no byte order mark.
pub fn split(text: &str) -> Parts {
    let whole = Span::new(0, text.len());
    let none = Span::at(0);
    let mut all_lines = lines(text);
    let Some((first_span, first)) = all_lines.next() else {
        let front_matter = FrontMatter::NotOpened(FirstLine::Empty);
        return Parts { front_matter, yaml: none, body: whole };
    };
    if !is_delimiter(first) {
        let front_matter = FrontMatter::NotOpened(first_line(text));
        return Parts { front_matter, yaml: none, body: whole };
    }
    let yaml_start = after_break(text, first_span.end);
    let Some((closing, _)) = all_lines.find(|(_, line)| is_delimiter(line)) else {
        let near = lines(text).skip(1).filter(|(_, line)| is_near_delimiter(line)).last();
        let front_matter = FrontMatter::NotClosed { near: near.map(|(span, _)| span) };
        return Parts { front_matter, yaml: Span::new(yaml_start, text.len()), body: whole };
    };
    let yaml = Span::new(yaml_start, closing.start);
    let body = Span::new(after_break(text, closing.end), text.len());
    Parts { front_matter: parse(yaml.slice(text), yaml.start), yaml, body }
}

/// Parses the YAML of a front matter that stands at byte `base` of its file.
pub fn parse(yaml: &str, base: usize) -> FrontMatter {
    match yaml::parse(yaml, base) {
        Err(error) => FrontMatter::Invalid(error),
        Ok(None) => FrontMatter::Mapping(Mapping::default()),
        Ok(Some(node)) => match node.value {
            Value::Mapping(mapping) => FrontMatter::Mapping(mapping),
            Value::Scalar(ref scalar) if scalar.kind() == ScalarType::Null => {
                FrontMatter::Mapping(Mapping::default())
            }
            Value::Scalar(_) | Value::Sequence(_) => FrontMatter::NotMapping(node),
        },
    }
}

fn is_delimiter(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|b| matches!(b, b' ' | b'\t')))
}

/// `...`, `----`, an indented `---`: what people write when they mean the closing delimiter.
fn is_near_delimiter(line: &str) -> bool {
    let line = line.trim();
    line == "..." || (line.len() >= 3 && line.bytes().all(|b| b == b'-')) || line == "—"
}

fn first_line(text: &str) -> FirstLine {
    let first = text.lines().next().unwrap_or_default();
    if first.trim() == "---" {
        return FirstLine::Indented;
    }
    let trimmed = text.trim_start();
    if first.trim().is_empty() && trimmed.starts_with("---") {
        FirstLine::BlankLines
    } else if trimmed.is_empty() {
        FirstLine::Empty
    } else if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
        FirstLine::Fence
    } else {
        FirstLine::Text
    }
}

fn after_break(text: &str, end: usize) -> usize {
    match text.as_bytes().get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        Some([b'\r' | b'\n', ..]) => end + 1,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(text: &str) -> Vec<String> {
        match split(text).front_matter {
            FrontMatter::Mapping(mapping) => {
                mapping.entries.iter().filter_map(|e| e.key.as_str().map(str::to_owned)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn line_breaks_and_trailing_spaces_do_not_matter() {
        for text in [
            "---\nname: a\ndescription: b\n---\nbody",
            "---\r\nname: a\r\ndescription: b\r\n---\r\nbody",
            "---\rname: a\rdescription: b\r---\rbody",
            "--- \t\nname: a\ndescription: b\n---   \nbody",
        ] {
            assert_eq!(keys(text), ["name", "description"], "{text:?}");
            assert_eq!(split(text).body.slice(text), "body", "{text:?}");
        }
    }

    #[test]
    fn the_closing_delimiter_may_be_the_last_line_without_a_break() {
        assert_eq!(keys("---\nname: a\n---"), ["name"]);
    }

    #[test]
    fn an_indented_rule_inside_a_block_scalar_does_not_close() {
        let text = "---\nname: a\ndescription: |\n  one\n  ---\n  two\n---\nbody";
        assert_eq!(keys(text), ["name", "description"]);
        assert_eq!(split(text).body.slice(text), "body");
    }

    #[test]
    fn an_empty_front_matter_is_an_empty_mapping() {
        assert!(keys("---\n---\n").is_empty());
        assert!(keys("---\n# only a comment\n---\n").is_empty());
        assert!(keys("---\n~\n---\n").is_empty());
    }

    #[test]
    fn what_stands_in_place_of_the_opening_is_named() {
        for (text, expected) in [
            ("", FirstLine::Empty),
            ("  \n\n", FirstLine::Empty),
            ("\n---\nname: a\n---\n", FirstLine::BlankLines),
            ("```yaml\n---\nname: a\n---\n```\n", FirstLine::Fence),
            (" ---\nname: a\n---\n", FirstLine::Indented),
            ("# Title\n", FirstLine::Text),
            ("----\nname: a\n----\n", FirstLine::Text),
        ] {
            assert_eq!(split(text).front_matter, FrontMatter::NotOpened(expected), "{text:?}");
        }
    }

    #[test]
    fn a_missing_closing_delimiter_names_the_nearest_candidate() {
        let text = "---\nname: a\n...\nbody\n";
        let FrontMatter::NotClosed { near: Some(near) } = split(text).front_matter else {
            panic!("{:?}", split(text))
        };
        assert_eq!(near.slice(text), "...");
        assert_eq!(split("---\nname: a\n").front_matter, FrontMatter::NotClosed { near: None });
    }

    #[test]
    fn a_list_or_a_text_is_not_a_mapping() {
        for text in ["---\n- a\n- b\n---\n", "---\njust text\n---\n"] {
            assert!(matches!(split(text).front_matter, FrontMatter::NotMapping(_)), "{text:?}");
        }
    }

    #[test]
    fn spans_count_from_the_start_of_the_file() {
        let text = "---\nname: my-skill\n---\n";
        let FrontMatter::Mapping(mapping) = split(text).front_matter else { panic!() };
        assert_eq!(mapping.get("name").unwrap().span.slice(text), "my-skill");
    }

    /// A description as an author might write it, and the text that it means.
    fn written() -> impl Strategy<Value = (String, String)> {
        let text = "[a-zA-Z0-9]([a-zA-Z0-9 ,.:;#'\"é技-]{0,60}[a-zA-Z0-9.])?";
        (text, 0..4).prop_map(|(text, style)| {
            let written = match style {
                0 => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
                1 => format!("'{}'", text.replace('\'', "''")),
                2 => format!("|-\n  {text}"),
                _ => format!(">-\n    {text}"),
            };
            (written, text)
        })
    }

    proptest! {
        #[test]
        fn any_text_is_cut_into_parts_that_fit_it(text in "(---[ \t]?)?\\PC{0,80}|(---\r?\n|[a-z]+: [ -~é]{0,20}\r?\n|\n){0,8}") {
            let parts = split(&text);
            prop_assert!(text.get(parts.yaml.range()).is_some());
            prop_assert!(text.get(parts.body.range()).is_some());
            prop_assert_eq!(parts.body.end, text.len());
            if let FrontMatter::Mapping(mapping) = &parts.front_matter {
                for entry in &mapping.entries {
                    prop_assert!(parts.yaml.start <= entry.key.span.start && entry.key.span.end <= parts.yaml.end);
                    prop_assert!(text.get(entry.value.span.range()).is_some());
                }
            }
        }

        #[test]
        fn what_an_author_writes_is_what_is_read(
            (written, text) in written(),
            line_break in prop::sample::select(vec!["\n", "\r\n"]),
            body in "[a-z\n#-]{0,40}",
        ) {
            let source = format!("---\nname: a-skill\ndescription: {written}\nlicense: MIT\n---\n{body}")
                .replace('\n', line_break);
            let parts = split(&source);
            let FrontMatter::Mapping(mapping) = &parts.front_matter else {
                return Err(TestCaseError::fail(format!("{:?}", parts.front_matter)));
            };
            prop_assert_eq!(mapping.get("name").and_then(Node::as_str), Some("a-skill"));
            prop_assert_eq!(mapping.get("description").and_then(Node::as_str), Some(text.as_str()));
            prop_assert_eq!(parts.body.slice(&source), body.replace('\n', line_break));
        }
    }
}
