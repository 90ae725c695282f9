//! What surrounds a query: files in the work folder, earlier messages, project instructions.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// Where a query is asked. Two queries with the same words in different situations are different queries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
pub struct Situation {
    /// Files that are in the work folder, as the trigger set names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Earlier messages of the conversation, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// Project instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// An earlier message of a conversation.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
pub struct Turn {
    /// Who wrote it.
    pub role: TurnRole,
    /// What it says.
    #[schemars(regex(pattern = crate::check::NOT_BLANK))]
    pub content: String,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// The person who asks.
    #[default]
    User,
    /// The agent.
    Assistant,
}

impl TurnRole {
    /// The name in files and requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Situation {
    /// Nothing at all: an empty folder, a new conversation, no instructions.
    pub fn is_bare(&self) -> bool {
        self.files.is_empty() && self.turns.is_empty() && self.context.is_none()
    }

    /// The same, or nothing when it is bare.
    pub fn some(self) -> Option<Self> {
        (!self.is_bare()).then_some(self)
    }
}

/// In a few words, such as `with a.csv, after 2 messages, with project instructions`.
impl std::fmt::Display for Situation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if !self.files.is_empty() {
            let most = 3;
            let named = self.files.iter().take(most).map(String::as_str).collect::<Vec<_>>();
            let more = match self.files.len().saturating_sub(most) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("with {}{more}", named.join(", ")));
        }
        match self.turns.len() {
            0 => {}
            1 => parts.push("after 1 message".to_owned()),
            turns => parts.push(format!("after {turns} messages")),
        }
        if self.context.is_some() {
            parts.push("with project instructions".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_situation_is_told_in_a_few_words() {
        let turn = Turn { role: TurnRole::User, content: "x".into() };
        let files = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let situation = Situation { files, turns: vec![turn], context: Some("Be short.".into()) };
        let text = "with a, b, c and 1 more, after 1 message, with project instructions";
        assert_eq!(situation.to_string(), text);
        assert_eq!(Situation::default().to_string(), "");
        assert_eq!(Situation::default().some(), None);
    }
}
