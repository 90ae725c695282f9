//! Holds a reply to its schema.
//!
//! The checker is that of our files ([`AnswerSchema`]), so the problems read the same: a path, what was found, what was
//! expected. They go to the model for the one repair, and to the user if that does not help.

use serde_json::Value;
use skillgauge_format::{AnswerSchema, Level};

use crate::model::ask::extract::extract;
use crate::model::ask::wire::{MAX_KEPT, Repair, Reply};
use crate::model::error::ModelError;
use crate::model::http::cut;

/// JSON that fits its schema.
pub(in crate::model) struct JsonAnswer {
    pub(in crate::model) text: String,
    pub(in crate::model) value: Value,
}

/// The JSON of a reply, if it fits; otherwise what to repair.
pub(in crate::model) fn check(reply: &Reply, schema: &AnswerSchema) -> Result<JsonAnswer, Repair> {
    let inputs: Vec<String> = reply.tool_inputs.iter().map(Value::to_string).collect();
    let (text, found) = match inputs.as_slice() {
        [] => (&reply.text, extract(&reply.text).map_err(|error| error.to_string())),
        [input] => (input, Ok(input.as_str())),
        [first, ..] => (first, Err("the tool was called more than once".to_owned())),
    };
    let repair = |problems| Repair { problems, text: cut(text, MAX_KEPT) };
    let found = found.map_err(|problem| repair(vec![problem]))?;
    let problems = schema.check(found);
    let errors = problems.iter().filter(|problem| problem.level() == Level::Error);
    let errors: Vec<String> =
        errors.map(|problem| format!("{}: {problem}", problem.path)).collect();
    if !errors.is_empty() {
        return Err(repair(errors));
    }
    let value = serde_json::from_str(found).map_err(|error| repair(vec![error.to_string()]))?;
    Ok(JsonAnswer { text: found.to_owned(), value })
}

impl Repair {
    /// The error that it is when it stays like this.
    pub(in crate::model) fn error(&self) -> ModelError {
        ModelError::Answer { problems: self.problems.clone(), text: self.text.clone() }
    }
}
