//! Checks of JSON files: `json_schema` and `json_path`.

use std::path::Path;

use serde_json::Value as Json;
use skillgauge_format::json::{self, LineIndex, Node, Value};

use super::evidence::{self, Evidence, name};
use super::glob::Glob;
use super::json_path;
use super::json_schema::{JsonSchema, Mismatches};
use super::needle::Needle;
use super::outputs::Outputs;
use super::unseen::Unseen;
use super::verdict::{Finding, Verdict};

/// What must be at a path.
#[derive(Debug)]
pub(super) enum Wanted {
    Anything,
    Equal(Json),
    Containing(Box<Needle>),
}

/// Every matching file obeys the schema, and there is one.
pub(super) fn obeys(outputs: &Outputs, glob: &Glob, schema: &JsonSchema) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let mut sound = 0_usize;
    for path in outputs.matching(glob) {
        let Some(bytes) = bytes(outputs, path, &mut unseen) else { continue };
        let document = match json::parse(&bytes) {
            Ok(document) => document,
            Err(error) => {
                evidence.add(not_json(path, &error));
                continue;
            }
        };
        match schema.check(&document.root) {
            Mismatches::TooMuchWork => {
                return Finding::plain(
                    Verdict::Unknown,
                    format!("{} takes too many steps to be checked", name(path)),
                );
            }
            Mismatches::Found(mismatches) => {
                sound += usize::from(mismatches.is_empty());
                let lines = LineIndex::new(&bytes);
                for mismatch in mismatches {
                    let line = lines.place(mismatch.offset).line;
                    let shown = evidence::line(&mismatch.reason);
                    evidence.add(format!("{}:{line}: {shown}", name(path)));
                }
            }
        }
    }
    if !evidence.is_empty() {
        return Finding::new(Verdict::Fails, evidence);
    }
    if sound + unseen.files() == 0 {
        return outputs.none_matches(glob);
    }
    unseen.tell(&mut evidence);
    let files = if sound == 1 { "file obeys" } else { "files obey" };
    evidence.note(format!("{sound} {files} the schema"));
    Finding::new(unseen.unless(Verdict::Holds), evidence)
}

/// A matching file has a value at the path, and it is the wanted one.
pub(super) fn has(
    outputs: &Outputs,
    glob: &Glob,
    path: &json_path::Path,
    wanted: &Wanted,
) -> Finding {
    let mut evidence = Evidence::new();
    let mut unseen = Unseen::new(outputs, glob);
    let mut count = unseen.files();
    for file in outputs.matching(glob) {
        count += 1;
        let Some(bytes) = bytes(outputs, file, &mut unseen) else { continue };
        let document = match json::parse(&bytes) {
            Ok(document) => document,
            Err(error) => {
                evidence.add(not_json(file, &error));
                continue;
            }
        };
        let Some(nodes) = path.select(&document.root) else {
            let most = json_path::MOST_VALUES;
            let note = format!("{path} leads to more than {most} values in {}", name(file));
            return Finding::plain(Verdict::Unknown, note);
        };
        if nodes.is_empty() {
            evidence.add(format!("{} has nothing at {path}", name(file)));
            continue;
        }
        for node in nodes {
            let shown = shown(file, &bytes, node);
            match wanted.is_met(node, &bytes) {
                Ok(true) => {
                    let note = format!("Found at {path}");
                    let mut evidence = Evidence::new();
                    evidence.note(note);
                    evidence.add(shown);
                    return Finding::new(Verdict::Holds, evidence);
                }
                Ok(false) => evidence.add(shown),
                Err(reason) => return Finding::plain(Verdict::Unknown, reason),
            }
        }
    }
    if count == 0 {
        return outputs.none_matches(glob);
    }
    let mut head = Evidence::new();
    match wanted {
        Wanted::Anything => {}
        Wanted::Equal(value) => {
            head.note(format!("{path} is not {}", evidence::line(&value.to_string())));
        }
        Wanted::Containing(needle) => head.note(format!("{path} does not contain {needle}")),
    }
    unseen.tell(&mut head);
    head.take_places(evidence);
    Finding::new(unseen.unless(Verdict::Fails), head)
}

fn bytes(outputs: &Outputs, path: &Path, unseen: &mut Unseen) -> Option<Vec<u8>> {
    match outputs.read_bytes(path) {
        Ok(bytes) => Some(bytes),
        Err(content) => {
            unseen.add(path, &content);
            None
        }
    }
}

fn not_json(path: &Path, error: &json::SyntaxError) -> String {
    format!("{} is not JSON: {}", name(path), evidence::line(&error.to_string()))
}

fn shown(path: &Path, bytes: &[u8], node: &Node<'_>) -> String {
    let line = LineIndex::new(bytes).place(node.span.start).line;
    let text = String::from_utf8_lossy(&bytes[node.span.start..node.span.end]);
    evidence::place(&name(path), line, &text)
}

impl Wanted {
    fn is_met(&self, node: &Node<'_>, bytes: &[u8]) -> Result<bool, String> {
        match self {
            Self::Anything => Ok(true),
            Self::Equal(value) => Ok(same(node, value)),
            Self::Containing(needle) => {
                let written = String::from_utf8_lossy(&bytes[node.span.start..node.span.end]);
                let text = node.as_str().unwrap_or(&written);
                needle.find(text, 0).map(|hit| hit.is_some()).map_err(|error| error.to_string())
            }
        }
    }
}

/// Whether a value of a file is a JSON value; numbers are compared by amount, objects without regard to order.
pub(super) fn same(node: &Node<'_>, value: &Json) -> bool {
    match (&node.value, value) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(left), Json::Bool(right)) => left == right,
        (Value::Number(left), Json::Number(right)) => right.as_f64() == Some(left.as_f64()),
        (Value::String(left), Json::String(right)) => left == right,
        (Value::Array(left), Json::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(_), Json::Object(right)) => {
            let mut keys: Vec<&str> =
                node.members().iter().map(|member| member.key.as_ref()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.len() == right.len()
                && right
                    .iter()
                    .all(|(key, right)| node.get(key).is_some_and(|left| same(left, right)))
        }
        _ => false,
    }
}
