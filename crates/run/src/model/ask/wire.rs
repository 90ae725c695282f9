//! The seam between the asking and the services: one call, one reply.
//!
//! [`crate::model::ask`] decides what to call and what to make of the reply; a [`Wire`] carries one call to one service and
//! knows nothing of retries, schemas or repairs. [`Call`] also holds the words that are added to a prompt when the
//! service has no better way to ask for JSON, or when the last answer did not fit.

use std::fmt;
use std::pin::Pin;

use serde_json::Value;
use skillgauge_format::AnswerSchema;
use skillgauge_format::transcript::Usage;

use crate::model::error::ModelError;
use crate::model::request::{Fit, Protocol, Request, Verbatim};
use crate::model::response::{AnswerFormat, TemperatureUse};
use crate::model::tool::CalledTool;

/// How much of an answer that did not fit is shown to the model again.
const MAX_SHOWN: usize = 16 * 1024;

/// How much of an answer that cannot be used is kept.
pub(in crate::model) const MAX_KEPT: usize = 64 * 1024;

/// How many problems of an answer are shown to the model.
const MAX_PROBLEMS: usize = 20;

/// Carries calls to a service.
pub(in crate::model) trait Wire: Send + Sync + fmt::Debug {
    /// The ways in which this service can be asked for JSON, the best one first.
    fn formats(&self) -> &'static [AnswerFormat];

    /// Makes one call.
    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c>;

    /// What the tokens cost, when the service does not say it and the price is known.
    fn cost(&self, usage: &Usage, model: Option<&str>) -> Option<f64>;
}

/// A call under way. Boxed by hand: one method does not pay for a macro that does the same.
pub(in crate::model) type Calling<'c> =
    Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send + 'c>>;

/// One call.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Call<'c> {
    pub(in crate::model) request: &'c Request,
    pub(in crate::model) manner: CallManner,
    /// What was wrong with the last answer.
    pub(in crate::model) repair: Option<&'c Repair>,
}

/// How a service is asked; what it rejects is changed, and remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) struct CallManner {
    /// The way in which JSON is asked for; meaningless for text.
    pub(in crate::model) format: AnswerFormat,
    pub(in crate::model) limit_name: LimitName,
    pub(in crate::model) temperature: TemperatureUse,
}

/// The name of the limit on the output, in the chat protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum LimitName {
    /// What all compatible servers know.
    MaxTokens,
    /// What OpenAI's newer models want.
    MaxCompletionTokens,
}

/// An answer that did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::model) struct Repair {
    pub(in crate::model) problems: Vec<String>,
    pub(in crate::model) text: String,
}

/// What a service replied.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Reply {
    pub(in crate::model) text: String,
    /// Calls of the tools that the model was offered.
    pub(in crate::model) tool_calls: Vec<CalledTool>,
    /// Inputs of the tool that the model was made to call, one for each call.
    pub(in crate::model) tool_inputs: Vec<Value>,
    pub(in crate::model) stop_reason: Option<String>,
    pub(in crate::model) model: Option<String>,
    pub(in crate::model) usage: Option<Usage>,
    /// What the service itself says that it cost.
    pub(in crate::model) cost_usd: Option<f64>,
    pub(in crate::model) status: Option<u16>,
    pub(in crate::model) request_id: Option<String>,
    /// Set when the reply cannot be used although it came: it was refused, or cut at the limit.
    pub(in crate::model) flaw: Option<ModelError>,
}

impl Reply {
    /// What makes the reply useless although it came.
    pub(in crate::model) fn flaw(&self) -> Option<ModelError> {
        let is_empty = self.text.trim().is_empty()
            && self.tool_inputs.is_empty()
            && self.tool_calls.is_empty();
        let empty = || ModelError::Malformed {
            detail: "an empty answer".to_owned(),
            excerpt: String::new(),
        };
        self.flaw.clone().or_else(|| is_empty.then(empty))
    }
}

/// A call that gave no reply.
#[derive(Clone, Debug)]
pub(in crate::model) struct Fault {
    pub(in crate::model) error: ModelError,
    pub(in crate::model) status: Option<u16>,
    pub(in crate::model) request_id: Option<String>,
    /// What to change before the next try, if the manner was the matter.
    pub(in crate::model) adaptation: Option<Adaptation>,
}

/// What to change in the manner of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Adaptation {
    /// Ask for a structured answer in a way that demands less of the service.
    PlainerFormat,
    /// Send the limit on the output under its other name.
    OtherLimitName,
    /// Leave out the temperature.
    NoTemperature,
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self { error, status: None, request_id: None, adaptation: None }
    }
}

impl Call<'_> {
    /// The schema, when JSON is wanted.
    pub(in crate::model) fn schema(&self) -> Option<&AnswerSchema> {
        self.request.schema()
    }

    /// The way in which JSON is asked for, when it is wanted.
    pub(in crate::model) fn format(&self) -> Option<AnswerFormat> {
        self.schema().map(|_| self.manner.format)
    }

    /// Whether the model may call tools of somebody else.
    pub(in crate::model) fn has_tools(&self) -> bool {
        !self.request.tools.is_empty() || self.request.verbatim.is_some()
    }

    /// Whether a reply that was cut can be used all the same: what the model called or said before is what counts.
    pub(in crate::model) fn may_be_cut(&self) -> bool {
        self.has_tools() || self.request.fit == Fit::AsItComes
    }

    /// The body that somebody else made for this protocol; another protocol's cannot be sent.
    pub(in crate::model) fn verbatim(
        &self,
        protocol: Protocol,
    ) -> Result<Option<&Verbatim>, ModelError> {
        match self.request.verbatim.as_deref() {
            Some(verbatim) if verbatim.protocol != protocol => Err(ModelError::Setting {
                setting: "the captured request".to_owned(),
                detail: "it is in the protocol of another provider".to_owned(),
            }),
            verbatim => Ok(verbatim),
        }
    }

    /// The temperature to send.
    pub(in crate::model) fn temperature(&self) -> Option<f64> {
        match self.manner.temperature {
            TemperatureUse::AsAsked => self.request.temperature,
            TemperatureUse::LeftOut => None,
        }
    }

    /// The system text, if there is one.
    pub(in crate::model) fn system(&self) -> Option<&str> {
        Some(self.request.system.as_str()).filter(|text| !text.trim().is_empty())
    }

    /// All that the user says: the parts of the request, the schema where it goes into the prompt, and the repair.
    pub(in crate::model) fn user_parts(&self) -> Vec<String> {
        let parts = self.request.user.iter().filter(|part| !part.trim().is_empty()).cloned();
        let mut parts: Vec<String> = parts.collect();
        if let (Some(schema), Some(AnswerFormat::JsonObject | AnswerFormat::PlainText)) =
            (self.schema(), self.format())
        {
            parts.push(schema_words(schema));
        }
        if let Some(repair) = self.repair {
            parts.push(repair.words());
        }
        parts
    }

    /// The same as one text, for services that have one place only.
    pub(in crate::model) fn user_text(&self) -> String {
        self.user_parts().join("\n\n")
    }
}

fn schema_words(schema: &AnswerSchema) -> String {
    format!(
        "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n```json\n{}\n```",
        schema.value()
    )
}

impl Repair {
    fn words(&self) -> String {
        let problems: Vec<String> =
            self.problems.iter().take(MAX_PROBLEMS).map(|problem| format!("- {problem}")).collect();
        let end = self.text.floor_char_boundary(MAX_SHOWN);
        format!(
            "You have answered this already, but the answer does not fit the JSON Schema:\n{}\n\nThe answer was:\n\
             <previous_answer>\n{}\n</previous_answer>\n\nAnswer again, with one JSON object that fits the schema, and \
             with nothing else.",
            problems.join("\n"),
            &self.text[..end],
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::request::Purpose;

    fn request() -> Request {
        let schema = AnswerSchema::new("verdict", json!({"type": "object"})).unwrap();
        Request::text(Purpose::new("grade"), "Grade.").and("  ").json(schema)
    }

    fn manner(format: AnswerFormat) -> CallManner {
        CallManner {
            format,
            limit_name: LimitName::MaxTokens,
            temperature: TemperatureUse::AsAsked,
        }
    }

    #[test]
    fn the_schema_goes_into_the_prompt_only_where_the_service_has_no_place_for_it() {
        let request = request();
        for (format, parts) in [
            (AnswerFormat::ForcedTool, 1),
            (AnswerFormat::JsonSchema, 1),
            (AnswerFormat::JsonObject, 2),
            (AnswerFormat::PlainText, 2),
        ] {
            let call = Call { request: &request, manner: manner(format), repair: None };
            assert_eq!(call.user_parts().len(), parts, "{format:?}");
        }
    }

    #[test]
    fn a_repair_shows_what_was_wrong_and_what_was_said() {
        let request = request();
        let repair =
            Repair { problems: vec!["$.score: missing".into()], text: "ä".repeat(20_000) };
        let manner = manner(AnswerFormat::ForcedTool);
        let call = Call { request: &request, manner, repair: Some(&repair) };
        let words = call.user_parts().pop().unwrap();
        assert!(words.contains("- $.score: missing\n") && words.contains("<previous_answer>\nä"));
        assert!(words.len() < 17 * 1024, "{}", words.len());
    }
}
