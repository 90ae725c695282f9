//! Paths into JSON: the part of RFC 9535 that needs no filters.

use std::fmt;

use skillgauge_format::json::{Node, Value};

/// A path is refused when it has more parts.
const MOST_PARTS: usize = 64;
/// More values are not selected.
pub(super) const MOST_VALUES: usize = 100_000;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at position {at} of the path; {HINT}")]
pub struct PathProblem {
    pub reason: &'static str,
    /// The character, from 0.
    pub at: usize,
}

const HINT: &str = "a path looks like $.name[0][*]..other";

/// A path that is ready to be followed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    reach: Reach,
    selectors: Vec<Selector>,
}

/// Whether a part looks at the children only, or at everything below.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reach {
    Children,
    Descendants,
}

#[derive(Clone, Debug, PartialEq)]
enum Selector {
    Name(String),
    Index(i64),
    All,
    Slice { start: Option<i64>, end: Option<i64> },
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Path {
    pub(super) fn new(source: &str) -> Result<Self, PathProblem> {
        let mut reader = Reader { chars: source.trim().chars().collect(), at: 0 };
        if !reader.take('$') {
            return Err(reader.problem("a path begins with `$`"));
        }
        let mut parts = Vec::new();
        while reader.at < reader.chars.len() {
            parts.push(reader.part()?);
            if parts.len() > MOST_PARTS {
                return Err(reader.problem("too many parts"));
            }
        }
        Ok(Self { source: source.trim().to_owned(), parts })
    }

    /// The values that the path leads to; nothing when they are too many.
    pub(super) fn select<'n, 't>(&self, root: &'n Node<'t>) -> Option<Vec<&'n Node<'t>>> {
        let mut nodes = vec![root];
        for part in &self.parts {
            let mut next = Vec::new();
            for node in nodes {
                part.apply(node, &mut next)?;
            }
            nodes = next;
        }
        Some(nodes)
    }
}

impl Part {
    fn apply<'n, 't>(&self, node: &'n Node<'t>, found: &mut Vec<&'n Node<'t>>) -> Option<()> {
        for selector in &self.selectors {
            selector.apply(node, found);
        }
        if found.len() > MOST_VALUES {
            return None;
        }
        if self.reach == Reach::Descendants {
            for child in children(node) {
                self.apply(child, found)?;
            }
        }
        Some(())
    }
}

fn children<'n, 't>(node: &'n Node<'t>) -> impl Iterator<Item = &'n Node<'t>> {
    node.items().iter().chain(node.members().iter().map(|member| &member.value))
}

impl Selector {
    fn apply<'n, 't>(&self, node: &'n Node<'t>, found: &mut Vec<&'n Node<'t>>) {
        match self {
            Self::Name(name) => found.extend(node.get(name)),
            Self::All => found.extend(children(node)),
            Self::Index(index) => {
                let Value::Array(items) = &node.value else { return };
                let place = position(*index, items.len());
                found.extend(place.and_then(|place| items.get(place)));
            }
            Self::Slice { start, end } => {
                let Value::Array(items) = &node.value else { return };
                let bound = |value: i64| {
                    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    let value = if value < 0 { value.saturating_add(length) } else { value };
                    usize::try_from(value.clamp(0, length)).unwrap_or(0)
                };
                let (start, end) = (start.map_or(0, bound), end.map_or(items.len(), bound));
                found.extend(items.get(start..end.max(start)).unwrap_or_default());
            }
        }
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    if index >= 0 {
        return usize::try_from(index).ok();
    }
    let back = usize::try_from(index.unsigned_abs()).ok()?;
    length.checked_sub(back)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn problem(&self, reason: &'static str) -> PathProblem {
        PathProblem { reason, at: self.at }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.at += 1;
        }
        is_next
    }

    fn part(&mut self) -> Result<Part, PathProblem> {
        if self.take('[') {
            return Ok(Part { reach: Reach::Children, selectors: self.bracket()? });
        }
        if !self.take('.') {
            return Err(self.problem("expected `.` or `[`"));
        }
        let reach = if self.take('.') { Reach::Descendants } else { Reach::Children };
        if reach == Reach::Descendants && self.take('[') {
            return Ok(Part { reach, selectors: self.bracket()? });
        }
        if self.take('*') {
            return Ok(Part { reach, selectors: vec![Selector::All] });
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c == '_' || c == '-' || c.is_alphanumeric()) {
            self.at += 1;
        }
        if start == self.at {
            return Err(self.problem("expected a name"));
        }
        let name = self.chars[start..self.at].iter().collect();
        Ok(Part { reach, selectors: vec![Selector::Name(name)] })
    }

    /// Selectors up to the closing bracket.
    fn bracket(&mut self) -> Result<Vec<Selector>, PathProblem> {
        let mut selectors = Vec::new();
        loop {
            self.spaces();
            selectors.push(self.selector()?);
            self.spaces();
            if self.take(']') {
                return Ok(selectors);
            }
            if !self.take(',') {
                return Err(self.problem("expected `]` or `,`"));
            }
        }
    }

    fn spaces(&mut self) {
        while self.take(' ') {}
    }

    fn selector(&mut self) -> Result<Selector, PathProblem> {
        match self.peek() {
            Some('*') => {
                self.at += 1;
                Ok(Selector::All)
            }
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Selector::Name),
            Some('?') => Err(self.problem("filters are not supported")),
            Some(c) if c == '-' || c == ':' || c.is_ascii_digit() => {
                let start = self.number()?;
                if !self.take(':') {
                    return start
                        .map(Selector::Index)
                        .ok_or_else(|| self.problem("expected a number"));
                }
                let end = self.number()?;
                if self.peek() == Some(':') {
                    return Err(self.problem("steps in slices are not supported"));
                }
                Ok(Selector::Slice { start, end })
            }
            _ => Err(self.problem("expected a name in quotes, a number or `*`")),
        }
    }

    fn number(&mut self) -> Result<Option<i64>, PathProblem> {
        let start = self.at;
        self.take('-');
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if start == self.at {
            return Ok(None);
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        digits.parse().map(Some).map_err(|_| PathProblem { reason: "not a number", at: start })
    }

    fn quoted(&mut self, quote: char) -> Result<String, PathProblem> {
        let start = self.at;
        self.at += 1;
        let mut name = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                c if c == quote => return Ok(name),
                '\\' => match self.peek() {
                    Some(c @ ('\\' | '"' | '\'' | '/')) => {
                        name.push(c);
                        self.at += 1;
                    }
                    _ => return Err(self.problem("only \\\\, \\' and \\\" may follow a backslash")),
                },
                c => name.push(c),
            }
        }
        Err(PathProblem { reason: "the quote is not closed", at: start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(path: &str, json: &str) -> Vec<String> {
        let document = skillgauge_format::json::parse(json.as_bytes()).unwrap();
        let nodes = Path::new(path).unwrap().select(&document.root).unwrap();
        nodes.iter().map(|node| json[node.span.start..node.span.end].to_owned()).collect()
    }

    #[test]
    fn paths_lead_to_values() {
        let json = r#"{"a": {"b": [1, 2, {"c": 3}]}, "x-y": 4, "k k": 5, "c": 6}"#;
        assert_eq!(select("$.a.b[0]", json), ["1"]);
        assert_eq!(select("$.a.b[-1].c", json), ["3"]);
        assert_eq!(select("$['k k']", json), ["5"]);
        assert_eq!(select("$.x-y", json), ["4"]);
        assert_eq!(select("$.a.b[*]", json).len(), 3);
        assert_eq!(select("$.a.b[0:2]", json), ["1", "2"]);
        assert_eq!(select("$.a.b[-2:]", json).len(), 2);
        assert_eq!(select("$.a.b[0,1]", json), ["1", "2"]);
        assert_eq!(select("$..c", json), ["6", "3"]);
        assert_eq!(select("$..[0]", json), ["1"]);
        assert_eq!(select("$.none.b", json), Vec::<String>::new());
        assert_eq!(select("$.a[0]", json), Vec::<String>::new());
        assert_eq!(select("$", "7"), ["7"]);
    }

    #[test]
    fn paths_that_cannot_be_followed_are_refused() {
        for path in ["a.b", "", "$.", "$[", "$['a", "$[?(@.a)]", "$.a[1:2:3]", "$a", "$[x]", "$[-]"]
        {
            assert!(Path::new(path).is_err(), "{path}");
        }
        assert_eq!(
            Path::new("$.a[?@.b]").unwrap_err().to_string(),
            "filters are not supported at position 4 of the path; a path looks like $.name[0][*]..other"
        );
    }
}
