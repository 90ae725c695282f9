//! Finds the JSON object in an answer.
//!
//! Models wrap JSON in code fences and kind words. So the whole text is tried first, and then every place where an
//! object could begin. The one invariant: this never guesses. Two objects in one answer are as bad as none, because
//! nobody knows which one was meant.

use serde_json::Value;

/// More text than this is not looked through.
const MAX_TEXT: usize = 1024 * 1024;

/// How many objects may begin and turn out to be none. Each may cost a look at the whole text.
const MAX_BROKEN: usize = 100;

/// Why no JSON was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::model) enum ExtractError {
    #[error("there is no JSON object in the answer")]
    None,
    /// There is more than one.
    #[error("there are several JSON objects in the answer, and it does not say which one counts")]
    Several,
    /// There is too much text.
    #[error("the answer is too long to look through")]
    TooLong,
}

/// The text of the one JSON value in an answer: the whole of it, or the only object in it.
pub(in crate::model) fn extract(answer: &str) -> Result<&str, ExtractError> {
    let answer = without_thinking(answer.trim());
    if answer.len() > MAX_TEXT {
        return Err(ExtractError::TooLong);
    }
    if serde_json::from_str::<Value>(answer).is_ok() {
        return Ok(answer);
    }
    let (mut found, mut broken) = (None, 0);
    let mut at = 0;
    while let Some(offset) = answer[at..].find('{') {
        let start = at + offset;
        match object_at(&answer[start..]) {
            Some(length) if found.is_none() => {
                found = Some(&answer[start..start + length]);
                at = start + length;
            }
            Some(_) => return Err(ExtractError::Several),
            None => {
                at = start + 1;
                broken += usize::from(looks_like_json(&answer[at..]));
                if broken > MAX_BROKEN {
                    return Err(ExtractError::None);
                }
            }
        }
    }
    found.ok_or(ExtractError::None)
}

/// The length of the object that a text begins with.
fn object_at(text: &str) -> Option<usize> {
    if !looks_like_json(&text[1..]) {
        return None;
    }
    // As values and not as something to skip: values have a limit on their depth.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// Whether what follows a brace can be JSON at all: braces in prose and in programs mostly cannot.
fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['"', '}'])
}

/// What follows the thoughts that some models put in front of their answer.
fn without_thinking(answer: &str) -> &str {
    let thoughts = answer.strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    thoughts.map_or(answer, |(_, rest)| rest.trim())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_object_is_found_in_its_wrapping() {
        let object = "{\"a\": {\"b\": \"}\"}}";
        for answer in [
            object.to_owned(),
            format!("  {object}\n"),
            format!("```json\n{object}\n```"),
            format!("```\n{object}\n```\nThat is my verdict."),
            format!("Here it is: {object} Hope it helps!"),
            format!("I filled in {{name}} and {{ }}x: {object}").replace("{ }", "{ "),
            format!("<think>maybe {{\"a\": 1}}?</think>\n{object}"),
        ] {
            assert_eq!(extract(&answer), Ok(object), "{answer}");
        }
    }

    #[test]
    fn a_whole_answer_may_be_any_json() {
        assert_eq!(extract(" [1, 2]\n"), Ok("[1, 2]"));
        assert_eq!(extract("\"yes\""), Ok("\"yes\""));
    }

    #[test]
    fn two_objects_are_not_guessed_between() {
        for answer in [
            "{\"a\": 1} {\"a\": 2}",
            "First I thought {\"a\": 1}, but it is {\"a\": 1}.",
            "```json\n{\"a\": 1}\n```\nor\n```json\n{\"a\": 2}\n```",
            "{} and {\"a\": 1}",
        ] {
            assert_eq!(extract(answer), Err(ExtractError::Several), "{answer}");
        }
    }

    #[test]
    fn an_answer_without_an_object_has_none() {
        for answer in
            ["", "I would say four.", "{not json}", "{\"a\": 1", "{{{{", "<think>{\"a\":1}"]
        {
            let expected =
                if answer.contains("think") { Ok("{\"a\":1}") } else { Err(ExtractError::None) };
            assert_eq!(extract(answer), expected, "{answer}");
        }
    }

    #[test]
    fn hostile_answers_take_no_time() {
        let started = std::time::Instant::now();
        for piece in ["{", "{\"", "{\"a\":", "{\"a\":[", "[{\"a\":0},"] {
            let answer = piece.repeat(MAX_TEXT / piece.len());
            assert!(extract(&answer).is_err());
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
        assert_eq!(extract(&"x".repeat(MAX_TEXT + 1)), Err(ExtractError::TooLong));
    }

    proptest! {
        #[test]
        fn whatever_is_found_is_json(answer in "\\PC{0,80}|[{}\\[\\]\":,a1 \\\\]{0,60}") {
            if let Ok(found) = extract(&answer) {
                prop_assert!(serde_json::from_str::<Value>(found).is_ok(), "{}", found);
                prop_assert!(answer.contains(found));
            }
        }
    }
}
