//! What an agent did in a probe, in few words and within bounds: enough to see what it did in place of loading a skill.
//!
//! A turn is one answer of the model. Agents that tell the tokens of each answer mark where one begins; otherwise an answer
//! begins with whatever the main agent says or does after the result of a tool. Sub-agents have turns of their own, which no
//! limit counts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::transcript::{Event, EventKind, SkillState, Transcript};

use crate::text::shorten;

/// As many steps as are kept.
const MOST: usize = 8;
/// Characters of one step.
const STEP: usize = 100;
/// Characters of what the agent said.
const SAID: usize = 200;
/// As many turns as have their tokens kept.
const TURNS: usize = 200;
/// What private paths begin with in every transcript.
const WORK: &str = "/skillgauge/work/";

/// What an agent did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// The first things that it did, such as `Bash ls`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub did: Vec<String>,
    /// How many more it did.
    #[serde(default)]
    pub more: u64,
    /// The beginning of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Answers of the model; absent when none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// The tokens of each turn; empty when the agent doesn't tell them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<u64>,
}

impl Steps {
    pub(super) fn of(transcript: &Transcript) -> Self {
        let mut steps = Self::default();
        for event in &transcript.events {
            if let Some(step) = step(&event.kind) {
                steps.add(step);
            }
        }
        steps.said = transcript.end.final_text.as_deref().and_then(said);
        steps.turns = Some(turns(&transcript.events)).filter(|turns| *turns > 0);
        steps.tokens = tokens(&transcript.events);
        steps
    }

    /// Of calls that a model asked for, and what it said.
    pub fn of_calls<'c>(calls: impl IntoIterator<Item = (&'c str, &'c Value)>, text: &str) -> Self {
        let mut steps = Self { said: said(text), ..Self::default() };
        for (name, input) in calls {
            steps.add(call(name, input));
        }
        steps
    }

    fn add(&mut self, step: String) {
        if self.did.len() < MOST {
            self.did.push(step);
        } else {
            self.more += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same with every text rewritten, for whoever knows secrets.
    #[must_use]
    pub fn map_texts(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        self.did = self.did.iter().map(|step| rewrite(step)).collect();
        self.said = self.said.as_deref().map(&rewrite);
        self
    }
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| shorten(text, SAID))
}

fn step(kind: &EventKind) -> Option<String> {
    match kind {
        EventKind::ToolCall(made) => Some(call(&made.name, &made.input)),
        EventKind::FileChange(change) => {
            Some(shorten(&format!("changed {}", relative(&change.path)), STEP))
        }
        EventKind::PermissionDenied(denied) => {
            Some(shorten(&format!("was refused {}", denied.tool), STEP))
        }
        _ => None,
    }
}

/// A call in a few words: the tool, and what tells most about its input.
fn call(name: &str, input: &Value) -> String {
    let about = match input {
        Value::Object(fields) => {
            let telling =
                ["command", "cmd", "file_path", "path", "skill", "name", "pattern", "url"];
            let named = telling.iter().find_map(|key| fields.get(*key).and_then(words));
            named.or_else(|| fields.values().find_map(words))
        }
        other => words(other),
    };
    let about = about.unwrap_or_default();
    shorten(format!("{name} {}", relative(about.trim())).trim_end(), STEP)
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        _ => None,
    }
}

/// A text without the private folder: what lies in the work folder is named from there.
fn relative(text: &str) -> String {
    text.replace(WORK, "")
}

/// Whether the main agent's model made it.
fn is_answer(event: &Event) -> bool {
    let by_model = match &event.kind {
        EventKind::Text { .. } | EventKind::Thinking { .. } | EventKind::ToolCall(_) => true,
        // A load without a call is the word of a program that tells of it as one thing.
        EventKind::SkillLoad(load) => {
            load.state == SkillState::Asked
                || (load.state == SkillState::Loaded && load.call.is_none())
        }
        _ => false,
    };
    by_model && event.sub_agent.is_none()
}

/// For each event the turn that it belongs to, from 1; 0 before the first.
fn numbered(events: &[Event]) -> Vec<u64> {
    let last_mark = events.iter().rposition(is_marked);
    let mut turn = 0_u64;
    // A result of a tool ends an answer, where nothing else says so.
    let mut is_over = true;
    let mut numbers = Vec::with_capacity(events.len());
    for (place, event) in events.iter().enumerate() {
        let begins = match last_mark {
            Some(last) if place <= last => is_marked(event),
            _ => is_over && is_answer(event),
        };
        if begins {
            turn += 1;
        }
        if is_answer(event) {
            is_over = false;
        } else if event.sub_agent.is_none() && matches!(event.kind, EventKind::ToolResult(_)) {
            is_over = true;
        }
        numbers.push(turn);
    }
    numbers
}

fn is_marked(event: &Event) -> bool {
    event.tokens.is_some() && event.sub_agent.is_none()
}

/// How many answers of the model there are.
fn turns(events: &[Event]) -> u64 {
    numbered(events).last().copied().unwrap_or_default()
}

/// The turn at which a skill was loaded first.
pub(super) fn load_turn(events: &[Event], name: &str) -> Option<u64> {
    let is_load = |event: &Event| matches!(&event.kind, EventKind::SkillLoad(load) if load.state == SkillState::Loaded && load.name == name);
    let place = events.iter().position(is_load)?;
    numbered(events).get(place).copied().map(|turn| turn.max(1))
}

fn tokens(events: &[Event]) -> Vec<u64> {
    let marked = events.iter().filter(|event| is_marked(event));
    let sum = |event: &Event| {
        let tokens = event.tokens?;
        Some(tokens.input.saturating_add(tokens.output.unwrap_or_default()))
    };
    marked.filter_map(sum).take(TURNS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skillgauge_format::transcript::StepTokens;

    use super::*;

    fn events(value: &Value) -> Vec<Event> {
        let items = value.as_array().unwrap().iter().enumerate();
        let event = |(index, item): (usize, &Value)| {
            let mut item = item.clone();
            item["index"] = json!(index);
            serde_json::from_value(item).unwrap()
        };
        items.map(event).collect()
    }

    fn call_of(id: &str) -> Value {
        json!({"type": "tool_call", "id": id, "name": "Bash", "input": {"command": "ls"}})
    }

    fn result_of(id: &str) -> Value {
        json!({"type": "tool_result", "id": id, "status": "ok", "output": ""})
    }

    fn load() -> Value {
        json!({"type": "skill_load", "name": "x", "state": "loaded", "call": "c"})
    }

    #[test]
    fn calls_of_one_answer_are_one_turn_and_what_follows_their_results_is_the_next() {
        let both = events(&json!([
            {"type": "text", "text": "Let me see"}, call_of("a"), call_of("b"), result_of("a"), result_of("b"),
            call_of("c"), result_of("c"), load(), {"type": "text", "text": "Done"},
        ]));
        assert_eq!(
            (turns(&both), load_turn(&both, "x"), load_turn(&both, "y")),
            (3, Some(2), None)
        );
        assert_eq!(turns(&[]), 0);
        let bare = json!({"type": "skill_load", "name": "x", "state": "loaded"});
        let told = events(&json!([call_of("a"), result_of("a"), bare]));
        assert_eq!(load_turn(&told, "x"), Some(2));
    }

    #[test]
    fn marks_of_the_agent_count_more_than_the_order_of_events() {
        let mut marked = events(&json!([
            call_of("a"), result_of("a"), call_of("b"), result_of("b"), {"type": "text", "text": "x"},
        ]));
        assert_eq!(turns(&marked), 3);
        // The second call belongs to the first answer: its tool was quick.
        for place in [0, 4] {
            marked[place].tokens = Some(StepTokens { input: 10, output: Some(5) });
        }
        assert_eq!((turns(&marked), tokens(&marked)), (2, vec![15, 15]));
    }

    #[test]
    fn a_sub_agent_has_turns_of_its_own() {
        let mut all = events(&json!([
            call_of("a"), call_of("inner"), result_of("inner"), call_of("inner2"), result_of("inner2"), result_of("a"),
            {"type": "text", "text": "Done"},
        ]));
        for event in &mut all[1..5] {
            event.sub_agent = Some(skillgauge_format::transcript::SubAgentId("s".into()));
        }
        assert_eq!(turns(&all), 2);
    }

    #[test]
    fn a_step_is_a_few_words_and_there_are_few_of_them() {
        let write = json!({"file_path": "/skillgauge/work/report.md", "content": "x".repeat(5000)});
        assert_eq!(call("Write", &write), "Write report.md");
        assert_eq!(
            call("shell", &json!({"command": ["bash", "-lc", "ls\n-l"]})),
            "shell bash -lc ls -l"
        );
        assert_eq!(call("Done", &json!({})), "Done");
        let long = json!({"command": "x".repeat(5000)});
        assert!(call("Bash", &long).chars().count() <= STEP + 3);
        let many = Steps::of_calls((0..20).map(|_| ("Bash", &long)), &"y".repeat(9999));
        assert_eq!((many.did.len(), many.more), (MOST, 12));
        assert!(many.said.unwrap().chars().count() <= SAID + 3);
    }
}
