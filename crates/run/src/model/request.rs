//! What a model is asked.
//!
//! A [`Request`] says everything that decides the answer, independent of who answers; [`Request::recorded`] is the part of
//! it that a cassette keeps and makes its key of. The one invariant: nothing in that part depends on the machine, the
//! clock, or a secret.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::AnswerSchema;
use skillgauge_format::trigger::Turn;

use super::name::ModelName;
use super::tool::OfferedTool;
use crate::cassette::Places;

/// What a request is for: a stable label such as `grade` or `improve`, shown in journals and used in file names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Purpose(&'static str);

impl Purpose {
    /// A label; short, in kebab-case.
    pub const fn new(label: &'static str) -> Self {
        Self(label)
    }

    pub fn as_str(&self) -> &'static str {
        self.0
    }
}

/// The protocol of a request that somebody else made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    AnthropicMessages,
    OpenaiResponses,
}

/// A request that somebody else made, sent as it is: the rest of the question only says what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Verbatim {
    pub protocol: Protocol,
    pub body: Value,
    /// Headers that the body needs.
    pub headers: Vec<(String, String)>,
    /// What it is called in a recording, in place of the body.
    pub identity: String,
}

/// How a JSON answer must fit its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// It is checked, asked for once more, and then an error.
    #[default]
    Checked,
    /// The schema says what is wanted; what comes is given as text, also when it was cut, and the caller reads what it can.
    AsItComes,
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub purpose: Purpose,
    /// The system text; none when blank.
    pub system: String,
    /// What the user says. Each part is a content block of its own where the protocol has such; blank ones are left out.
    pub user: Vec<String>,
    /// What was said after that, by both sides in turn; the last message is the user's. Programs don't take it.
    pub later: Vec<Turn>,
    /// Which run of a plan it is for: a recording keeps each apart.
    pub run: Option<String>,
    /// What a JSON answer must fit; absent when text is wanted.
    schema: Option<AnswerSchema>,
    /// How the answer must fit it.
    pub fit: Fit,
    /// Tools that the model may call; an answer may then consist of calls alone, and is not an error when it is cut.
    pub tools: Vec<OfferedTool>,
    /// The body to send in place of one that is made from the other fields; an answer counts as with tools.
    pub verbatim: Option<Arc<Verbatim>>,
    /// The most that the model may write. The CLIs have no flag for it: there it is a wish.
    pub max_output_tokens: u32,
    /// How free the choice of words is; the model's own default when absent.
    pub temperature: Option<f64>,
    /// How long one attempt may take from its start to the last byte. Not part of what is recorded.
    pub timeout: Duration,
    /// Paths in the texts that are different on every machine or in every run. A cassette replaces them by names.
    pub places: Places,
}

/// The part of a request that a cassette keeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedRequest<'r> {
    model: &'r ModelName,
    purpose: &'r Purpose,
    #[serde(skip_serializing_if = "str::is_empty")]
    system: &'r str,
    user: &'r [String],
    #[serde(skip_serializing_if = "<[Turn]>::is_empty")]
    later: &'r [Turn],
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<RecordedSchema<'r>>,
    #[serde(skip_serializing_if = "<[OfferedTool]>::is_empty")]
    tools: &'r [OfferedTool],
    #[serde(skip_serializing_if = "Option::is_none")]
    verbatim: Option<&'r str>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RecordedSchema<'r> {
    name: &'r str,
    schema: &'r Value,
}

impl Request {
    /// A question with a text as its answer, and limits that suit a judge.
    pub fn text(purpose: Purpose, user: impl Into<String>) -> Self {
        Self {
            purpose,
            system: String::new(),
            user: vec![user.into()],
            later: Vec::new(),
            run: None,
            schema: None,
            fit: Fit::Checked,
            tools: Vec::new(),
            verbatim: None,
            max_output_tokens: 8192,
            temperature: None,
            timeout: Duration::from_mins(5),
            places: Places::default(),
        }
    }

    /// The same question with JSON as its answer.
    #[must_use]
    pub fn json(mut self, schema: AnswerSchema) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The same question, whose answer is taken as it comes.
    #[must_use]
    pub fn as_it_comes(mut self) -> Self {
        self.fit = Fit::AsItComes;
        self
    }

    /// The same question with a system text.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = text.into();
        self
    }

    /// The same question with one more part.
    #[must_use]
    pub fn and(mut self, part: impl Into<String>) -> Self {
        self.user.push(part.into());
        self
    }

    /// The same question after a conversation.
    #[must_use]
    pub fn then(mut self, later: Vec<Turn>) -> Self {
        self.later = later;
        self
    }

    /// The same question with tools that may be called.
    #[must_use]
    pub fn tools(mut self, tools: Vec<OfferedTool>) -> Self {
        self.tools = tools;
        self
    }

    /// The same question in the words of somebody else.
    #[must_use]
    pub fn verbatim(mut self, verbatim: Verbatim) -> Self {
        self.verbatim = Some(Arc::new(verbatim));
        self
    }

    /// The same question with another limit on each attempt.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The schema of the answer, if it is to be JSON.
    pub fn schema(&self) -> Option<&AnswerSchema> {
        self.schema.as_ref()
    }

    /// The first line of what the user says: how people recognise a request.
    pub fn first_line(&self) -> &str {
        let mut lines = self.user.iter().flat_map(|part| part.lines()).map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or_default()
    }

    /// What a cassette keeps of the request when it is put to this model.
    pub fn recorded<'r>(&'r self, model: &'r ModelName) -> RecordedRequest<'r> {
        let schema = self.schema();
        RecordedRequest {
            model,
            purpose: &self.purpose,
            system: &self.system,
            user: &self.user,
            later: &self.later,
            run: self.run.as_deref(),
            schema: schema
                .map(|schema| RecordedSchema { name: schema.name(), schema: schema.value() }),
            tools: &self.tools,
            verbatim: self.verbatim.as_deref().map(|verbatim| verbatim.identity.as_str()),
            max_output_tokens: self.max_output_tokens,
            temperature: self.temperature,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_recorded_has_no_times_and_no_places() {
        let mut request = Request::text(Purpose::new("grade"), "\n  Grade this.\nIt is good.")
            .system("You are a judge.")
            .and("More.")
            .timeout(Duration::from_secs(1));
        request.places = Places::new([("/tmp/x", "work")]);
        let name: ModelName = "anthropic:m".parse().unwrap();
        assert_eq!(
            serde_json::to_value(request.recorded(&name)).unwrap(),
            json!({
                "model": "anthropic:m", "purpose": "grade", "system": "You are a judge.",
                "user": ["\n  Grade this.\nIt is good.", "More."], "max_output_tokens": 8192,
            })
        );
        assert_eq!(request.first_line(), "Grade this.");
    }
}
