//! From granit-parser's events to a [`Node`] tree.
//!
//! Bounded on purpose: a few hundred bytes of aliases can describe terabytes, so copies made for aliases
//! count against a budget, and depth is limited by the parser itself.

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::{Entry, Mapping, Node, Scalar, ScalarType, Style, Value};
use crate::text::Span;

/// How many nodes a text may describe, aliases written out.
const MAX_NODES: usize = 10_000;

/// Why a text is not a usable YAML document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The text is not YAML.
    #[error("{reason}")]
    Syntax {
        /// What the parser says, without a position.
        reason: String,
        /// Byte offset where it gave up.
        offset: usize,
    },
    #[error("a second YAML document starts here")]
    SecondDocument { offset: usize },
    /// Aliases that describe too many nodes.
    #[error("its aliases describe more than {MAX_NODES} values")]
    TooLarge {
        /// The alias that went over the limit.
        offset: usize,
    },
    /// A tag that only a program with its own types could read.
    #[error("the tag `{tag}` is not known to YAML readers")]
    UnknownTag {
        tag: String,
        /// Where the tagged value stands.
        offset: usize,
    },
}

impl YamlError {
    /// Byte offset in the parsed text.
    pub fn offset(&self) -> usize {
        match self {
            Self::Syntax { offset, .. }
            | Self::SecondDocument { offset }
            | Self::TooLarge { offset }
            | Self::UnknownTag { offset, .. } => *offset,
        }
    }
}

/// Parses one YAML document. An empty text is `None`. Offsets and spans count from `base` bytes before the
/// text, so that they are right in the file that the text was cut from.
pub fn parse(text: &str, base: usize) -> Result<Option<Node>, YamlError> {
    let mut builder = Builder::new(text, base);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| builder.syntax(&error))?;
        let start = builder.byte(span.start.byte_offset(), span.start.index());
        let end = builder.byte(span.end.byte_offset(), span.end.index());
        builder.event(event, Span::new(start, end))?;
    }
    Ok(builder.root)
}

/// A collection that is still open.
enum Open {
    Sequence { start: usize, anchor: usize, items: Vec<Node> },
    Mapping { start: usize, anchor: usize, mapping: Mapping, key: Option<Node> },
}

struct Builder<'a> {
    text: &'a str,
    base: usize,
    root: Option<Node>,
    open: Vec<Open>,
    anchors: Vec<(usize, Node)>,
    nodes: usize,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, base: usize) -> Self {
        Self { text, base, root: None, open: Vec::new(), anchors: Vec::new(), nodes: 0 }
    }

    /// The parser counts bytes for most events and characters for all.
    fn byte(&self, bytes: Option<usize>, chars: usize) -> usize {
        let offset = match bytes {
            Some(bytes) if bytes <= self.text.len() => bytes,
            _ => self.text.char_indices().nth(chars).map_or(self.text.len(), |(at, _)| at),
        };
        self.base + offset
    }

    fn syntax(&self, error: &ScanError) -> YamlError {
        let offset = self.byte(error.marker().byte_offset(), error.marker().index());
        YamlError::Syntax { reason: error.info(), offset }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return Err(YamlError::SecondDocument { offset: span.start });
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| scalar_tag(&tag, span)).transpose()?;
                let scalar = Scalar { text: text.into_owned(), style: style_of(style), tag };
                self.add(anchor, Node { span, value: Value::Scalar(scalar) })?;
            }
            Event::Alias(id) => {
                let target = self.anchors.iter().rev().find(|(anchor, _)| *anchor == id);
                let mut node = target.map_or_else(|| null_at(span), |(_, node)| node.clone());
                node.span = span;
                self.nodes += count(&node);
                self.add(0, node)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "seq", span)?;
                self.open.push(Open::Sequence { start: span.start, anchor, items: Vec::new() });
            }
            Event::MappingStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "map", span)?;
                let mapping = Mapping::default();
                self.open.push(Open::Mapping { start: span.start, anchor, mapping, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, span: Span) -> Result<(), YamlError> {
        let (start, anchor, value) = match self.open.pop() {
            Some(Open::Sequence { start, anchor, items }) => {
                (start, anchor, Value::Sequence(items))
            }
            Some(Open::Mapping { start, anchor, mapping, .. }) => {
                (start, anchor, Value::Mapping(mapping))
            }
            None => return Ok(()),
        };
        self.add(anchor, Node { span: Span::new(start, span.end), value })
    }

    fn add(&mut self, anchor: usize, node: Node) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(YamlError::TooLarge { offset: node.span.start });
        }
        if anchor != 0 {
            self.nodes += count(&node);
            self.anchors.push((anchor, node.clone()));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { mapping, key, .. }) => match key.take() {
                None => *key = Some(node),
                Some(name) => mapping.insert(name, node),
            },
        }
        Ok(())
    }
}

impl Mapping {
    fn insert(&mut self, key: Node, value: Node) {
        if self.entries.iter().any(|entry| entry.key.value == key.value) {
            self.duplicates.push(key);
        } else {
            self.entries.push(Entry { key, value });
        }
    }
}

fn null_at(span: Span) -> Node {
    let scalar = Scalar { text: String::new(), style: Style::Plain, tag: None };
    Node { span, value: Value::Scalar(scalar) }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 1,
        Value::Sequence(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Mapping(mapping) => {
            1 + mapping.entries.iter().map(|e| count(&e.key) + count(&e.value)).sum::<usize>()
        }
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    }
}

fn scalar_tag(tag: &Tag, span: Span) -> Result<ScalarType, YamlError> {
    let name = tag.to_string();
    let suffix = name.strip_prefix("tag:yaml.org,2002:").or_else(|| name.strip_prefix("!!"));
    match suffix.unwrap_or(&name) {
        "str" | "!" | "" | "binary" => Ok(ScalarType::String),
        "int" => Ok(ScalarType::Integer),
        "float" => Ok(ScalarType::Float),
        "bool" => Ok(ScalarType::Bool),
        "null" => Ok(ScalarType::Null),
        _ => Err(YamlError::UnknownTag { tag: name, offset: span.start }),
    }
}

fn collection_tag(tag: Option<&Tag>, expected: &str, span: Span) -> Result<(), YamlError> {
    match tag.map(ToString::to_string) {
        Some(name) if !name.ends_with(expected) && name != "!" => {
            Err(YamlError::UnknownTag { tag: name, offset: span.start })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused_without_a_panic(text in "\\PC{0,200}|[ -~\n\t\r]{0,200}") {
            let _ = parse(&text, 0);
        }
    }

    #[test]
    fn aliases_cannot_describe_more_than_the_limit() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..30 {
            let row = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&[&format!("a{n}: &a{n} ["), row.as_str(), "]\n"].concat());
        }
        assert!(matches!(parse(&text, 0), Err(YamlError::TooLarge { .. })));
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
            assert!(parse(&text, 0).is_err());
        }
    }

    #[test]
    fn repeated_keys_are_kept_apart() {
        let Ok(Some(node)) = parse("a: 1\nb: 2\na: 3\n", 0) else { panic!() };
        let mapping = node.as_mapping().unwrap();
        assert_eq!(mapping.entries.len(), 2);
        assert_eq!(mapping.duplicates.len(), 1);
        assert_eq!(mapping.get("a").unwrap().scalar_text(), Some("1"));
    }
}
