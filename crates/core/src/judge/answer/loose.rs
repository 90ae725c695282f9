//! Reads the JSON objects in whatever a model wrote: in code fences, between sentences, twice, or cut off.
//!
//! Forgiven are trailing commas, line breaks in strings, and `True`, `False`, `None`. At the end of the text everything that is
//! open is closed; an object that was cut has the key [`CUT`], and a string, number or word that was cut is left out. Depth
//! and work are bounded: every letter is read once for each place where an object may begin, and such places are counted.

use serde_json::{Map, Number, Value};

/// The key that an object has which the end of the text cut.
pub(super) const CUT: &str = "\u{0}cut";

/// More text than this is not looked through.
const MAX_TEXT: usize = 1024 * 1024;
/// How many objects may begin and turn out to be none.
const MAX_BROKEN: usize = 100;
const MAX_DEPTH: usize = 64;

/// All objects in a text, in their order, and how they are written; what is inside another object is part of that one.
pub(super) fn objects(text: &str) -> Vec<(&str, Value)> {
    let text = without_thinking(text.trim());
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    let (mut found, mut at, mut broken) = (Vec::new(), 0, 0);
    while let Some(offset) = text[at..].find(['{', '[']) {
        let start = at + offset;
        let mut reader = Reader { text, at: start };
        match reader.value(0) {
            Some(Read::Whole(value) | Read::Cut(value)) => {
                at = reader.at.max(start + 1);
                // A list holds answers only when it is one of objects.
                let is_answer = match &value {
                    Value::Array(items) => items.iter().any(Value::is_object),
                    other => other.is_object(),
                };
                if is_answer {
                    found.push((text.get(start..at).unwrap_or_default(), value));
                }
            }
            None => {
                broken += 1;
                at = start + 1;
                if broken > MAX_BROKEN {
                    break;
                }
            }
        }
    }
    found
}

/// What follows the thoughts that some models put in front of their answer.
fn without_thinking(answer: &str) -> &str {
    let thoughts = answer.strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    thoughts.map_or(answer, |(_, rest)| rest.trim())
}

enum Read<T> {
    Whole(T),
    /// The text ended within it.
    Cut(T),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// A value; nothing when there is none, or when nothing of it is left by the end of the text.
    fn value(&mut self, depth: usize) -> Option<Read<Value>> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => match self.string()? {
                Read::Whole(text) => Some(Read::Whole(Value::String(text))),
                Read::Cut(_) => None,
            },
            _ => self.word().map(Read::Whole),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Read<Value>> {
        self.at += 1;
        let mut fields = Map::new();
        loop {
            match self.peek() {
                None => return Some(cut(fields)),
                Some('}') => {
                    self.at += 1;
                    return Some(Read::Whole(Value::Object(fields)));
                }
                Some(',') => {
                    self.at += 1;
                    continue;
                }
                Some('"') => {}
                Some(_) => return None,
            }
            let Read::Whole(key) = self.string()? else { return Some(cut(fields)) };
            match self.peek() {
                None => return Some(cut(fields)),
                Some(':') => self.at += 1,
                Some(_) => return None,
            }
            if self.peek().is_none() {
                return Some(cut(fields));
            }
            match self.value(depth + 1) {
                Some(Read::Whole(value)) => {
                    // What is said twice and differently is not said.
                    let is_same = fields.get(&key).is_none_or(|said| *said == value);
                    fields.insert(key, if is_same { value } else { Value::Null });
                }
                Some(Read::Cut(value)) => {
                    fields.insert(key, value);
                    return Some(cut(fields));
                }
                None if self.is_over() => return Some(cut(fields)),
                None => return None,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Read<Value>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.peek() {
                None => return Some(Read::Cut(Value::Array(items))),
                Some(']') => {
                    self.at += 1;
                    return Some(Read::Whole(Value::Array(items)));
                }
                Some(',') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            match self.value(depth + 1) {
                Some(Read::Whole(value)) => items.push(value),
                Some(Read::Cut(value)) => {
                    items.push(value);
                    return Some(Read::Cut(Value::Array(items)));
                }
                None if self.is_over() => return Some(Read::Cut(Value::Array(items))),
                None => return None,
            }
        }
    }

    fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    /// A string; one that the text ends in is cut.
    fn string(&mut self) -> Option<Read<String>> {
        let rest = self.rest().strip_prefix('"')?;
        let mut text = String::new();
        let mut letters = rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += at + 2;
                    return Some(Read::Whole(text));
                }
                '\\' => {
                    let Some((_, escaped)) = letters.next() else { break };
                    match escaped {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        'b' => text.push('\u{8}'),
                        'f' => text.push('\u{c}'),
                        'u' => {
                            let Some(code) = code(letters.as_str()) else {
                                // No number: what it says is what it means.
                                text.push_str("\\u");
                                continue;
                            };
                            letters.nth(3);
                            if (0xD800..0xDC00).contains(&code) {
                                let low = letters.as_str().strip_prefix("\\u").and_then(self::code);
                                let low = low.filter(|low| (0xDC00..0xE000).contains(low));
                                if let Some(low) = low {
                                    letters.nth(5);
                                    let whole = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                                    text.push(char::from_u32(whole).unwrap_or('\u{fffd}'));
                                    continue;
                                }
                            }
                            text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                        }
                        '"' | '\\' | '/' => text.push(escaped),
                        // An escape that JSON does not know, as in a pattern.
                        other => {
                            text.push('\\');
                            text.push(other);
                        }
                    }
                }
                other => text.push(other),
            }
        }
        self.at = self.text.len();
        Some(Read::Cut(text))
    }

    /// A number or a word; one that the text ends with may go on.
    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let is_part =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '+' | '.' | '_');
        let end = rest.find(|letter| !is_part(letter));
        let Some(end) = end else {
            self.at = self.text.len();
            return None;
        };
        let word = &rest[..end];
        let value = match word.to_ascii_lowercase().as_str() {
            "" => return None,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "none" | "undefined" | "nan" => Value::Null,
            lower => match lower.parse::<i64>().ok() {
                Some(number) => Value::from(number),
                None => match lower.parse::<f64>().ok().and_then(Number::from_f64) {
                    Some(number) => Value::Number(number),
                    // A word without quotation marks: `pass`.
                    None => Value::String(word.to_owned()),
                },
            },
        };
        self.at += end;
        Some(value)
    }
}

fn code(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

fn cut(mut fields: Map<String, Value>) -> Read<Value> {
    fields.insert(CUT.to_owned(), Value::Bool(true));
    Read::Cut(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn objects(text: &str) -> Vec<Value> {
        super::objects(text).into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn objects_are_found_wherever_they_stand() {
        let one = json!({"a": {"b": "}"}});
        for text in [
            r#"{"a": {"b": "}"}}"#,
            "```json\n{\"a\": {\"b\": \"}\"},}\n```\nThat is my verdict.",
            "I filled {in} and [so] on: {\"a\": {\"b\": \"}\"}} Hope it helps!",
            "<think>{\"a\": 1}</think>{\"a\": {\"b\": \"}\"}}",
        ] {
            assert_eq!(objects(text), std::slice::from_ref(&one), "{text}");
        }
        assert_eq!(objects("{\"a\": 1} or {\"a\": 2}"), [json!({"a": 1}), json!({"a": 2})]);
        assert_eq!(objects("no JSON, {not even} this"), [] as [Value; 0]);
    }

    #[test]
    fn what_python_and_hasty_writers_make_of_json_is_read() {
        let text = "{\"a\": True, \"b\": None, \"c\": pass, \"d\": 4.0, \"e\": \"two\nlines \\d \\u00e9\",}";
        assert_eq!(
            objects(text),
            [json!({"a": true, "b": null, "c": "pass", "d": 4.0, "e": "two\nlines \\d é"})]
        );
    }

    #[test]
    fn of_a_text_that_was_cut_what_is_whole_is_left() {
        let whole =
            r#"{"e": {"E1": {"v": "pass", "q": ["a", "b"]}, "E2": {"v": "fail", "q": ["c"]}}}"#;
        let cut = |end: usize| objects(&whole[..end]).pop();
        let at = |text: &str| whole.find(text).unwrap() + text.len();
        assert_eq!(cut(at("\"b\"]}")).unwrap()["e"]["E1"], json!({"v": "pass", "q": ["a", "b"]}));
        assert_eq!(cut(at("[\"c\"")).unwrap()["e"]["E2"][CUT], true);
        assert_eq!(cut(at("\"E2\": {\"v\": \"fa")).unwrap()["e"]["E2"], json!({CUT: true}));
        assert_eq!(objects("{\"n\": 1"), [json!({CUT: true})], "it may have been 15");
    }

    proptest! {
        #[test]
        fn json_is_read_as_json(text in "\\PC{0,30}", number: i32, flag: bool) {
            let value = json!({"t": text, "n": [number, flag, null], "o": {"x": text}});
            prop_assert_eq!(objects(&value.to_string()), [value.clone()]);
            prop_assert_eq!(objects(&format!("Well: {value:#} so.")), [value]);
        }

        #[test]
        fn nothing_makes_it_panic(text in "[\\[\\]{}\":,a1\\\\u \\n.-]{0,60}") {
            let _ = objects(&text);
        }
    }
}
