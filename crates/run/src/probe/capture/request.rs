//! A captured request: what an agent sends, with a hole where the query goes.
//!
//! Everything that the model sees stays: system text, tools, the list of skills. What says who asks is taken out, and the
//! paths of the private folder are the same in every capture.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillgauge_core::trigger::listing::names;
use skillgauge_format::trigger::{Turn, TurnRole};

use super::dialect::{DUMMY_KEY, Dialect};
use super::listener::Question;
use crate::agent::adapter::InstalledSkill;
use crate::agent::{PREFIX, ROOT};
use crate::model::{Protocol, Verbatim};

/// What is asked while the request is captured.
pub(super) const PLACEHOLDER: &str = "skillgauge puts the query of each probe here";

/// How the block begins that tells Anthropic which program asks; ours is another one.
const BILLING: &str = "x-anthropic-billing-header:";

/// What an agent sends for a query, whatever the query is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapturedRequest {
    pub agent: String,
    /// Its version, if it tells one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub protocol: Protocol,
    /// What decided about it: the agent, its version, the model and the skills.
    pub identity: String,
    /// The folder that the agent finds skills in.
    skill_folder: String,
    headers: Vec<(String, String)>,
    body: Value,
}

/// What is known of a capture beside the question.
pub(super) struct Origin {
    pub(super) agent: String,
    pub(super) version: Option<String>,
    pub(super) identity: String,
    /// Where skills are in the work folder.
    pub(super) skills: String,
    /// The folder in which the private place was made.
    pub(super) around: String,
}

impl CapturedRequest {
    /// Makes a question that can be asked for any query.
    pub(super) fn new(dialect: &Dialect, question: Question, origin: Origin) -> Self {
        let mut body = map_texts(&question.body, &|text| {
            without_private_folder(text, &origin.around).replace(DUMMY_KEY, "")
        });
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|name, _| !dialect.removed.contains(&name.as_str()));
        }
        if let Some(blocks) = body.get_mut("system").and_then(Value::as_array_mut) {
            let is_billing = |block: &Value| {
                block["text"].as_str().is_some_and(|text| text.starts_with(BILLING))
            };
            blocks.retain(|block| !is_billing(block));
        }
        Self {
            agent: origin.agent,
            version: origin.version,
            protocol: dialect.protocol,
            identity: origin.identity,
            skill_folder: format!("{ROOT}/work/{}", origin.skills),
            headers: question.headers,
            body,
        }
    }

    /// What the agent would send for a query.
    #[cfg(test)]
    pub(in crate::probe) fn for_query(&self, query: &str, model: &str) -> Verbatim {
        self.for_conversation(query, &[], model)
    }

    /// What the agent would send for the last message of a conversation.
    pub(in crate::probe) fn for_conversation(
        &self,
        first: &str,
        later: &[Turn],
        model: &str,
    ) -> Verbatim {
        let mut body = map_texts(&self.body, &|text| text.replace(PLACEHOLDER, first));
        body["model"] = model.into();
        let list = match self.protocol {
            Protocol::AnthropicMessages => "messages",
            Protocol::OpenaiResponses => "input",
        };
        if let Some(messages) = body.get_mut(list).and_then(Value::as_array_mut) {
            messages.extend(later.iter().map(|turn| self.message(turn)));
        }
        Verbatim {
            protocol: self.protocol,
            body,
            headers: self.headers.clone(),
            identity: self.identity.clone(),
        }
    }

    fn message(&self, turn: &Turn) -> Value {
        let (role, text) = (turn.role.as_str(), turn.content.as_str());
        match (self.protocol, turn.role) {
            (Protocol::AnthropicMessages, _) => {
                json!({"role": role, "content": [{"type": "text", "text": text}]})
            }
            (Protocol::OpenaiResponses, TurnRole::User) => {
                json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
            }
            (Protocol::OpenaiResponses, TurnRole::Assistant) => {
                json!({"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]})
            }
        }
    }

    /// The entries of these skills in the list that the agent sends.
    pub(in crate::probe) fn listing<'n>(
        &self,
        skills: impl Iterator<Item = &'n str>,
    ) -> Vec<String> {
        let skills: Vec<&str> = skills.collect();
        let mut texts = Vec::new();
        all_texts(&self.body, &mut texts);
        let mut entries: Vec<String> = Vec::new();
        for text in texts {
            // Whether the lines belong to an entry: a description may have several.
            let mut is_inside = false;
            for line in text.lines() {
                let begins = skills.iter().any(|skill| names(line, skill));
                let is_more =
                    is_inside && !line.trim().is_empty() && !line.starts_with(['-', '<', '#']);
                match entries.last_mut() {
                    Some(entry) if is_more => {
                        entry.push(' ');
                        entry.push_str(line.trim());
                    }
                    _ if begins => entries.push(line.trim_end().to_owned()),
                    _ => {}
                }
                is_inside = begins || is_more;
            }
        }
        entries.dedup();
        entries
    }

    /// A skill as this agent sees it.
    pub(in crate::probe) fn installed(&self, name: &str) -> InstalledSkill {
        InstalledSkill::new(name, format!("{}/{name}", self.skill_folder), "")
    }
}

/// A text in which the private folder of the capture has the name that it has in every run, also where a path was made the
/// name of a folder.
fn without_private_folder(text: &str, around: &str) -> String {
    let dashed = |path: &str| path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let place = format!("{around}/{PREFIX}");
    let text = without(text, &place, ROOT);
    without(&text, &dashed(&place), &dashed(ROOT))
}

/// A text in which something stands for every path that begins so and goes on with letters and digits.
fn without(text: &str, beginning: &str, instead: &str) -> String {
    let mut parts = text.split(beginning);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str(instead);
        clean.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    }
    clean
}

fn all_texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| all_texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| all_texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same value with every text in it rewritten; names of fields stay.
fn map_texts(value: &Value, rewrite: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => rewrite(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, rewrite)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, item)| (key.clone(), map_texts(item, rewrite))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::DIALECTS;
    use super::*;

    fn captured(body: Value) -> CapturedRequest {
        let question = Question { body, headers: vec![("anthropic-beta".into(), "b".into())] };
        let origin = Origin {
            agent: "claude".into(),
            version: Some("1.0".into()),
            identity: "i".into(),
            skills: ".claude/skills".into(),
            around: "/tmp/skillgauge-0/x".into(),
        };
        CapturedRequest::new(&DIALECTS[0], question, origin)
    }

    #[test]
    fn who_asks_is_taken_out_and_what_the_model_sees_stays() {
        let request = captured(json!({
            "model": "m", "stream": true, "metadata": {"user_id": "u"}, "max_tokens": 32000,
            "system": [{"type": "text", "text": "x-anthropic-billing-header: v"}, {"type": "text", "text": "You are."}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "cwd: /tmp/skillgauge-0/x/run-a1B2/work, key skillgauge-capture-no-real-key"},
                {"type": "text", "text": PLACEHOLDER},
            ]}],
            "tools": [{"name": "Skill"}],
        }));
        let sent = request.for_query("a \"report\"", "other");
        assert_eq!(
            sent.body,
            json!({
                "model": "other", "max_tokens": 32000, "system": [{"type": "text", "text": "You are."}],
                "messages": [{"role": "user", "content": [
                    {"type": "text", "text": "cwd: /skillgauge/work, key "},
                    {"type": "text", "text": "a \"report\""},
                ]}],
                "tools": [{"name": "Skill"}],
            })
        );
        assert_eq!(sent.headers, [("anthropic-beta".to_owned(), "b".to_owned())]);
        assert_eq!(request.installed("x").folder, "/skillgauge/work/.claude/skills/x");
    }

    #[test]
    fn a_conversation_goes_on_behind_the_first_message() {
        let request = captured(
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": PLACEHOLDER}]}]}),
        );
        let turn = |role, text: &str| Turn { role, content: text.to_owned() };
        let later = [turn(TurnRole::Assistant, "Hi"), turn(TurnRole::User, "And?")];
        let sent = request.for_conversation("Hello", &later, "m").body;
        let texts: Vec<_> = (sent["messages"].as_array().unwrap().iter())
            .map(|it| (it["role"].as_str().unwrap(), it["content"][0]["text"].as_str().unwrap()))
            .collect();
        assert_eq!(texts, [("user", "Hello"), ("assistant", "Hi"), ("user", "And?")]);
    }

    #[test]
    fn the_entries_of_the_list_are_found_with_all_their_lines() {
        let list = "Skills:\n\n- x: One\n  two\n- other: no\n- y\n</system-reminder>\n- x-ray: no";
        let request = captured(json!({"messages": [{"content": [{"text": list}]}]}));
        assert_eq!(request.listing(["x", "y"].into_iter()), ["- x: One two", "- y"]);
    }

    #[test]
    fn every_mention_of_the_private_folder_is_replaced_wherever_it_ends() {
        let clean = |text: &str| without_private_folder(text, "/tmp/c.1");
        assert_eq!(
            clean("/tmp/c.1/run-aB3/work and /tmp/c.1/run-aB3"),
            "/skillgauge/work and /skillgauge"
        );
        assert_eq!(clean("<cwd>/tmp/c.1/run-a</cwd>"), "<cwd>/skillgauge</cwd>");
        assert_eq!(
            clean("projects/-tmp-c-1-run-aB3-work/memory"),
            "projects/-skillgauge-work/memory"
        );
        assert_eq!(clean("/tmp/other"), "/tmp/other");
    }
}
