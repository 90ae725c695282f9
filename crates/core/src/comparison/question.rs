//! The question to the comparator: two results in one order, and the schema of the answer.

use serde::Serialize;
use serde_json::{Map, Value, json};
use skillgauge_format::AnswerSchema;
use skillgauge_format::cases::Label;

use super::shown::Shown;
use super::{Question, QuestionError};
use crate::judge::answer::Wanted;
use crate::judge::material::{Fence, FenceKey};
use crate::judge::template::{Rendered, Template, TemplateKind};

/// The dimensions, in the order of the file.
const DIMENSIONS: [&str; 5] = [
    "description_quality",
    "convention_compliance",
    "type_specific_quality",
    "token_efficiency",
    "content_value",
];

#[derive(Serialize)]
struct ShownResult {
    label: Label,
    text: String,
}

#[derive(Serialize)]
struct Context<'c> {
    boundary: &'c str,
    prompt: String,
    results: Vec<ShownResult>,
}

/// Asks which of two results is better; `results` are those behind A and B, `first` is the one that is shown first.
pub fn question(
    prompt: &str,
    results: [&Shown; 2],
    first: Label,
    key: FenceKey,
) -> Result<Question, QuestionError> {
    let template = Template::built_in(TemplateKind::Compare)?;
    let [a, b] = results.map(Shown::as_str);
    let fence = Fence::around(key, &[prompt, a, b]);
    let shown = |label: Label| {
        let text = match label {
            Label::A => a,
            Label::B => b,
        };
        ShownResult { label, text: fence.wrap("RESULT", text) }
    };
    let context = Context {
        boundary: fence.boundary(),
        prompt: fence.wrap("TASK", prompt),
        results: vec![shown(first), shown(first.other())],
    };
    let Rendered { system, user } = template.render(&context)?;
    let wanted = DIMENSIONS.map(|id| Wanted::new(id.to_owned(), "")).to_vec();
    let drawn = fence.boundary().to_owned();
    let drawn = results.iter().filter_map(|result| result.mark.clone()).chain([drawn]).collect();
    Ok(Question {
        system,
        user,
        schema: schema()?,
        template: template.record().clone(),
        wanted,
        drawn,
    })
}

/// Reasons come first, then scores, then the winner: a model writes in that order and should think before it decides.
fn schema() -> Result<AnswerSchema, skillgauge_format::UnsupportedSchema> {
    let score = json!({"type": "integer", "minimum": 1, "maximum": 10});
    let pair = object([("A", score.clone()), ("B", score)]);
    let scores = object(DIMENSIONS.map(|name| (name, pair.clone())));
    let reasoning = json!({
        "type": "string",
        "minLength": 1,
        "description": "what each result does better, with the passages that show it, and what decides",
    });
    let winner = json!({"type": "string", "enum": ["A", "B"]});
    AnswerSchema::new(
        "comparison",
        object([("reasoning", reasoning), ("scores", scores), ("winner", winner)]),
    )
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let required = fields.each_ref().map(|(name, _)| *name).to_vec();
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: FenceKey = FenceKey::new(1);

    fn shown(text: &str) -> Shown {
        Shown { text: text.to_owned(), mark: None }
    }

    #[test]
    fn results_are_shown_in_the_order_that_was_asked_for() {
        let (a, b) = (shown("alpha\n"), shown("beta\n"));
        let asked = |first| question("Do it.", [&a, &b], first, KEY).unwrap().user;
        let (one, other) = (asked(Label::A), asked(Label::B));
        assert!(one.find("alpha").unwrap() < one.find("beta").unwrap());
        assert!(other.find("alpha").unwrap() > other.find("beta").unwrap());
        assert!(other.find("# Result B").unwrap() < other.find("# Result A").unwrap());
        insta::assert_snapshot!(one);
    }

    #[test]
    fn an_answer_needs_reasons_all_dimensions_and_a_winner() {
        let schema = schema().unwrap();
        let fields: Vec<&String> =
            schema.value()["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["reasoning", "scores", "winner"]);
        let pair = json!({"A": 1, "B": 10});
        let scores: Map<String, Value> =
            DIMENSIONS.iter().map(|name| ((*name).to_owned(), pair.clone())).collect();
        let mut answer = json!({"reasoning": "r", "scores": scores, "winner": "A"});
        assert_eq!(schema.check(&answer.to_string()).errors(), 0);
        answer["winner"] = "C".into();
        answer["scores"]["content_value"]["A"] = 11.into();
        assert_eq!(schema.check(&answer.to_string()).errors(), 2);
    }

    #[test]
    fn a_result_cannot_end_the_material() {
        let forged = question("Do it.", [&shown("x"), &shown("y")], Label::A, KEY).unwrap();
        let hostile = shown(&forged.user);
        let asked = question("Do it.", [&hostile, &shown("y")], Label::A, KEY).unwrap().user;
        let boundary = asked.split("===== BEGIN TASK ").nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(asked.matches(&format!("===== END RESULT {boundary}")).count(), 2);
    }
}
