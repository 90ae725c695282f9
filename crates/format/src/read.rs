//! Files to types.
//!
//! [`read`] is the one way in: parse, check against the schema of the kind, apply the rules of the kind, and only then
//! let serde make the type. All that is wrong comes back at once.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::check;
use crate::evals::{EvalsSuite, foreign};
use crate::json::{Document, Node, from_value, parse};
use crate::kind::Kind;
use crate::problem::{At, ExpectedKind, Issue, MeaningIssue, Problems, Report};

/// A type that is the content of a kind of file.
pub trait Format: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: Kind;
}

/// A file that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// Its content.
    pub value: T,
    /// What its author should look at all the same.
    pub warnings: Problems,
}

/// A file that could not be read, with everything that is wrong with it, warnings included.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problems}")]
pub struct ReadError {
    /// What is wrong; at least one of them is an error.
    pub problems: Problems,
}

/// Reads a file of a known kind.
pub fn read<T: Format>(bytes: &[u8]) -> Result<Read<T>, ReadError> {
    let mut report = Report::new(bytes);
    let value = match parse_into(bytes, &mut report) {
        Some(document) => read_document(&document, &mut report),
        None => None,
    };
    finish(value, report)
}

/// The result of a reading: the value, if nothing was wrong with it.
pub(crate) fn finish<T>(value: Option<T>, report: Report<'_>) -> Result<Read<T>, ReadError> {
    let problems = report.finish();
    match value {
        Some(value) if problems.errors() == 0 => Ok(Read { value, warnings: problems }),
        _ => Err(ReadError { problems }),
    }
}

/// Checks and reads a file that has been parsed; nothing when it has errors.
pub(crate) fn read_document<T: Format>(
    document: &Document<'_>,
    report: &mut Report<'_>,
) -> Option<T> {
    read_document_with(T::KIND, document, from_value, report)
}

/// The same for a kind that is known at run time, and whatever is to be made of it.
pub(crate) fn read_document_with<T>(
    kind: Kind,
    document: &Document<'_>,
    make: impl FnOnce(&Value) -> Result<T, serde_json::Error>,
    report: &mut Report<'_>,
) -> Option<T> {
    let make = |written: &Node<'_>, _: Option<&Node<'_>>| make(&written.to_value());
    read_trees(kind, document, make, report)
}

/// A suite of evals as it is written, and as it is graded when that is something else.
pub(crate) fn read_evals(
    document: &Document<'_>,
    report: &mut Report<'_>,
) -> Option<(EvalsSuite, Option<EvalsSuite>)> {
    let make = |written: &Node<'_>, graded: Option<&Node<'_>>| {
        let graded = graded.map(|graded| from_value(&graded.to_value())).transpose()?;
        Ok((from_value(&written.to_value())?, graded))
    };
    read_trees(Kind::EvalsSuite, document, make, report)
}

/// A suite of another tool is checked in our form, and so is the one that is graded. What is written back is its author's.
fn read_trees<T>(
    kind: Kind,
    document: &Document<'_>,
    make: impl FnOnce(&Node<'_>, Option<&Node<'_>>) -> Result<T, serde_json::Error>,
    report: &mut Report<'_>,
) -> Option<T> {
    let translated = translate(kind, &document.root);
    let graded = translated.as_ref().unwrap_or(&document.root);
    check_document(kind, &At::root(graded), report);
    if kind == Kind::EvalsSuite {
        foreign::check(&At::root(&document.root), report);
    }
    if translated.is_some() {
        report.relocate(&document.root);
    }
    if report.errors() > 0 {
        return None;
    }
    let wrapped = translated.as_ref().and_then(|_| foreign::wrapped(&document.root));
    match make(wrapped.as_ref().unwrap_or(&document.root), translated.as_ref()) {
        Ok(value) => Some(value),
        Err(error) => {
            report.add(&At::root(graded), Issue::Unreadable(error.to_string()));
            None
        }
    }
}

/// A suite of another tool in our form.
fn translate<'t>(kind: Kind, root: &Node<'t>) -> Option<Node<'t>> {
    (kind == Kind::EvalsSuite).then(|| foreign::translate(root)).flatten()
}

/// Parses a file, or reports why it cannot be parsed.
pub(crate) fn parse_into<'t>(bytes: &'t [u8], report: &mut Report<'_>) -> Option<Document<'t>> {
    match parse(bytes) {
        Ok(document) => {
            if document.repeated_keys > 0 {
                check::check_keys(&At::root(&document.root), report);
            }
            Some(document)
        }
        Err(error) => {
            report.add_syntax_error(error);
            None
        }
    }
}

/// Checks shape and meaning.
fn check_document(kind: Kind, root: &At<'_>, report: &mut Report<'_>) {
    let mut branch = report.branch();
    check::check(kind.compiled(), root, &mut branch);
    if branch.errors() > 0
        && let Some(other) = sound_other(kind, root, report)
    {
        let issue = MeaningIssue::OtherKind { found: other, expected: ExpectedKind::One(kind) };
        return report.add(root, issue);
    }
    report.absorb(branch);
    (kind.entry().meaning)(root, report);
}

/// The other kind that a file is, when it is one without any error: then it has been taken for the wrong one, and a
/// list of its differences would help nobody.
fn sound_other(kind: Kind, root: &At<'_>, report: &Report<'_>) -> Option<Kind> {
    let other = Kind::detect(root.node()).filter(|&other| other != kind)?;
    let mut branch = report.branch();
    let translated = translate(other, root.node());
    let root = translated.as_ref().map_or(*root, At::root);
    check::check(other.compiled(), &root, &mut branch);
    (branch.errors() == 0).then_some(other)
}
