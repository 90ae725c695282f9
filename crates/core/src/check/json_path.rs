//! Paths into JSON: RFC 9535 by `serde_json_path`, with bounds, and with the plain names that suites always could have.

use std::fmt;

use serde_json::Value as Json;
use serde_json_path::{JsonPath, PathElement};
use skillgauge_format::json::Node;

/// A longer path is refused, as is one with more brackets inside of each other: it is read recursively.
const LONGEST: usize = 2_000;
const MOST_BRACKETS: usize = 32;
/// More values are not selected.
pub(super) const MOST_VALUES: usize = 100_000;
/// How many values a path may look at, by an estimate from above.
const MOST_STEPS: f64 = 5e7;

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at position {at} of the path; {HINT}")]
pub struct PathProblem {
    pub reason: String,
    /// The character, from 1.
    pub at: usize,
}

const HINT: &str = "a path looks like $.name[0][*]..other or $.rows[?@.id == 3]";

/// A path that is ready to be followed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    source: String,
    path: JsonPath,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Path {
    pub(super) fn new(source: &str) -> Result<Self, PathProblem> {
        let source = source.trim();
        let mut open = 0_usize;
        for (at, c) in source.chars().enumerate() {
            match c {
                '[' | '(' => open += 1,
                ']' | ')' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > MOST_BRACKETS || at >= LONGEST {
                return Err(PathProblem { reason: "too long".to_owned(), at: at + 1 });
            }
        }
        let parsed = JsonPath::parse(source)
            .or_else(|error| JsonPath::parse(&with_quoted_names(source)).map_err(|_| error));
        match parsed {
            Ok(path) => Ok(Self { source: source.to_owned(), path }),
            Err(error) => {
                Err(PathProblem { reason: error.message().to_owned(), at: error.position() })
            }
        }
    }

    /// The values that the path leads to; nothing when they are too many.
    pub(super) fn select<'n, 't>(&self, root: &'n Node<'t>) -> Option<Vec<&'n Node<'t>>> {
        if self.steps(root) > MOST_STEPS {
            return None;
        }
        let value: Json = root.deserialize().ok()?;
        let found = self.path.query_located(&value);
        if found.len() > MOST_VALUES {
            return None;
        }
        let node = |place: &serde_json_path::NormalizedPath<'_>| {
            place.iter().try_fold(root, |node, element| match element {
                PathElement::Name(name) => node.get(name),
                PathElement::Index(index) => node.items().get(*index),
            })
        };
        Some(found.locations().filter_map(node).collect())
    }

    /// How many values the path looks at, at most: every further `..` looks at a value once for each that it lies in, one
    /// from the root inside of a filter at all values for each, and every further `*` between the same brackets doubles.
    fn steps(&self, root: &Node<'_>) -> f64 {
        let (values, depth) = extent(root);
        let path = &self.source[1..];
        let from_root = path.matches("$..").count();
        let descents = path.matches("..").count().saturating_sub(1 + from_root);
        let doubled = if path.contains(['*', ':']) { path.matches(',').count() } else { 0 };
        let power = |base: f64, times: usize| base.powi(i32::try_from(times).unwrap_or(i32::MAX));
        values * power(values, from_root) * power(depth, descents) * power(2.0, doubled)
    }
}

/// How many values there are, and how deep they lie.
fn extent(node: &Node<'_>) -> (f64, f64) {
    let children = node.items().iter().chain(node.members().iter().map(|member| &member.value));
    children.map(extent).fold((1.0, 1.0), |(values, depth), (more, deeper)| {
        (values + more, depth.max(deeper + 1.0))
    })
}

/// The path with names such as `.x-y` and `.2nd`, which the RFC wants in brackets, in brackets.
fn with_quoted_names(path: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match quote {
            Some(open) => {
                if c == '\\'
                    && let Some(escaped) = rest.chars().next()
                {
                    // A quote of the other kind needs no backslash, and may have none.
                    if escaped == open || !matches!(escaped, '"' | '\'') {
                        out.push(c);
                    }
                    out.push(escaped);
                    rest = &rest[escaped.len_utf8()..];
                    continue;
                }
                quote = quote.filter(|open| *open != c);
            }
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == '.' => {
                let is_part = |c: char| c == '_' || c == '-' || c.is_alphanumeric();
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                if end > 0 {
                    // What is left of `..` is one point too few.
                    out.push_str(if out.ends_with('.') { "." } else { "" });
                    out.extend(["['", &rest[..end], "']"]);
                    rest = &rest[end..];
                    continue;
                }
            }
            None => {}
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str =
        r#"{"a": {"b": [1, 2, {"c": 3}]}, "x-y": 4, "k k": 5, "c": 6, "2nd": 7, "it's \"x\"": 8}"#;

    fn select(path: &str) -> Vec<String> {
        let document = skillgauge_format::json::parse(JSON.as_bytes()).unwrap();
        let nodes = Path::new(path).unwrap().select(&document.root).unwrap();
        nodes.iter().map(|node| JSON[node.span.start..node.span.end].to_owned()).collect()
    }

    #[test]
    fn paths_that_were_always_understood_lead_to_values() {
        for (path, values) in [
            ("$.a.b[0]", &["1"][..]),
            ("$.a.b[-1].c", &["3"]),
            ("$['k k']", &["5"]),
            ("$.x-y", &["4"]),
            (" $.x-y ", &["4"]),
            ("$..x-y", &["4"]),
            ("$.2nd", &["7"]),
            (r#"$["it's \"x\""]"#, &["8"]),
            (r#"$["it\'s \"x\""]"#, &["8"]),
            ("$.a.b[0:2]", &["1", "2"]),
            ("$.a.b[ 0 , 1 ]", &["1", "2"]),
            ("$..c", &["6", "3"]),
            ("$..[0]", &["1"]),
            ("$.none.b", &[]),
            ("$.a[0]", &[]),
        ] {
            assert_eq!(select(path), values, "{path}");
        }
        assert_eq!(select("$.a.b[*]").len(), 3);
        assert_eq!(select("$.a.b[-2:]").len(), 2);
        assert_eq!(select("$"), [JSON]);
    }

    #[test]
    fn filters_and_steps_select_values() {
        assert_eq!(select("$.a.b[?@ > 1]"), ["2"]);
        assert_eq!(select("$.a.b[?@.c == 3].c"), ["3"]);
        assert_eq!(select("$.a.b[?length(@) == 1]"), [r#"{"c": 3}"#]);
        assert_eq!(select("$.a.b[::2]").len(), 2);
    }

    #[test]
    fn paths_that_cannot_be_followed_are_refused() {
        let nested = format!("$[?{}@", "(".repeat(10_000));
        let long = format!("${}", ".a".repeat(5_000));
        let paths = ["a.b", "", "$.", "$[", "$['a", "$a", "$[x]", "$[-]", &nested, &long];
        for path in paths {
            let message = Path::new(path).unwrap_err().to_string();
            assert!(message.contains("of the path; a path looks like"), "{message}");
        }
    }

    #[test]
    fn a_path_that_would_look_at_too_many_values_is_not_followed() {
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let wide = format!("[{}1]", "1,".repeat(20_000));
        for (path, json) in [
            (format!("${}", "..*".repeat(30)), &deep),
            (format!("${}", "[*,*]".repeat(90)), &deep),
            ("$[?$..[?$..a]]".to_owned(), &wide),
        ] {
            let document = skillgauge_format::json::parse(json.as_bytes()).unwrap();
            assert!(Path::new(&path).unwrap().select(&document.root).is_none(), "{path}");
        }
    }
}
