//! Takes out of a request and a response what is different in every run: paths of temporary folders, and secrets.
//!
//! A path is replaced by the name of its place (`{{place:work}}`) and comes back when the answer is replayed, with the
//! path of that run. A secret is replaced for good.

use std::path::Path;

use serde_json::Value;

use crate::model::{REDACTED, Secret};

/// Folders whose paths are different in every run, each with a name that is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<Place>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    path: String,
    mark: String,
}

impl Places {
    /// Places by path and name, such as `/tmp/x7/work` and `work`. Paths that are not text, and `/`, are left out.
    pub fn new<P: AsRef<Path>>(places: impl IntoIterator<Item = (P, impl AsRef<str>)>) -> Self {
        let place = |(path, name): (P, _)| -> Option<Place> {
            let path = path.as_ref().to_str()?.trim_end_matches('/').to_owned();
            let name: &str = AsRef::<str>::as_ref(&name);
            (!path.is_empty()).then(|| Place { path, mark: format!("{{{{place:{name}}}}}") })
        };
        let mut places: Vec<Place> = places.into_iter().filter_map(place).collect();
        // A folder inside of another one must be found first.
        places.sort_by(|one, other| {
            other.path.len().cmp(&one.path.len()).then_with(|| one.path.cmp(&other.path))
        });
        Self(places)
    }
}

/// Takes places and secrets out, and puts places back in.
pub(super) struct Scrubber<'s> {
    places: &'s [Place],
    secrets: &'s [Secret],
}

impl<'s> Scrubber<'s> {
    pub(super) fn new(places: &'s Places, secrets: &'s [Secret]) -> Self {
        Self { places: &places.0, secrets }
    }

    /// A value without places and secrets, in keys of objects as well.
    pub(super) fn hide(&self, value: &Value) -> Value {
        map_texts(value, &|text| self.hide_text(text))
    }

    /// A text without places and secrets.
    pub(super) fn hide_text(&self, text: &str) -> String {
        let text = self
            .places
            .iter()
            .fold(text.to_owned(), |text, place| text.replace(&place.path, &place.mark));
        self.secrets.iter().fold(text, |text, secret| hide_secret(secret, &text))
    }

    /// A value with the paths of this run.
    pub(super) fn show(&self, value: &Value) -> Value {
        map_texts(value, &|text| {
            self.places
                .iter()
                .fold(text.to_owned(), |text, place| text.replace(&place.mark, &place.path))
        })
    }
}

/// A secret may also stand inside of a text that is JSON itself, with its quotes and backslashes escaped.
fn hide_secret(secret: &Secret, text: &str) -> String {
    let plain = secret.scrub(text);
    let quoted = Value::from(secret.expose()).to_string();
    let escaped = quoted.trim_matches('"');
    if escaped.len() < 8 || escaped == secret.expose() {
        plain
    } else {
        plain.replace(escaped, REDACTED)
    }
}

/// The same value with every text in it rewritten.
fn map_texts(value: &Value, rewrite: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => rewrite(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, rewrite)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, item)| (rewrite(key), map_texts(item, rewrite)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_folder_inside_of_another_is_found_first() {
        let places = Places::new([("/tmp/x", "root"), ("/tmp/x/work/", "work")]);
        let scrubber = Scrubber::new(&places, &[]);
        assert_eq!(
            scrubber.hide_text("in /tmp/x/work/a.md and /tmp/x/b"),
            "in {{place:work}}/a.md and {{place:root}}/b"
        );
    }

    #[test]
    fn nonsense_is_no_place() {
        assert_eq!(Places::new([("/", "root"), ("", "nothing")]), Places::default());
    }

    #[test]
    fn places_come_back_as_those_of_this_run_and_secrets_do_not() {
        let then = Places::new([("/tmp/then", "work")]);
        let now = Places::new([("/home/ci/now", "work")]);
        let secrets = [Secret::new("sk-0123456789"), Secret::new("pass\"word1")];
        let said = json!({"/tmp/then/a": ["key sk-0123456789", 1, {"cwd": "/tmp/then"}], "line": "{\"k\": \"pass\\\"word1\"}"});
        let kept = Scrubber::new(&then, &secrets).hide(&said);
        assert_eq!(
            kept,
            json!({"{{place:work}}/a": ["key <secret>", 1, {"cwd": "{{place:work}}"}], "line": "{\"k\": \"<secret>\"}"})
        );
        let told = Scrubber::new(&now, &[]).show(&kept);
        assert_eq!(told["/home/ci/now/a"], json!(["key <secret>", 1, {"cwd": "/home/ci/now"}]));
    }

    proptest! {
        #[test]
        fn what_is_hidden_and_shown_is_the_same(text in "[a-z/ {}:]{0,40}") {
            let places = Places::new([("/a", "one"), ("/a/b", "two"), ("/c", "three")]);
            let scrubber = Scrubber::new(&places, &[]);
            let value = json!([text]);
            prop_assert_eq!(scrubber.show(&scrubber.hide(&value)), value);
        }
    }
}
