//! The way from the root of a file to one of its values.

use std::fmt;

use serde::{Serialize, Serializer};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into an object.
    Key(String),
    /// Into an array, counted from 0.
    Index(usize),
}

/// A path such as `$.cases[0].expectations[2].criterion`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonPath(Vec<Step>);

impl JsonPath {
    /// The path of the root, `$`.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path with the given steps, the first one nearest to the root.
    pub fn new(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The path of a member of this object.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.0.push(Step::Key(key.to_owned()));
        self
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for step in &self.0 {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[{}]", serde_json::Value::from(key.as_str()))?,
            }
        }
        Ok(())
    }
}

/// Whether a key can follow a dot without quotes.
fn is_plain(key: &str) -> bool {
    !key.starts_with(|c: char| c.is_ascii_digit())
        && !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Serialize for JsonPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_the_expression_that_gets_there() {
        let path = JsonPath::new(vec![Step::Key("cases".into()), Step::Index(0)]).key("prompt");
        assert_eq!(path.to_string(), "$.cases[0].prompt");
        assert_eq!(JsonPath::root().to_string(), "$");
        assert_eq!(
            JsonPath::root().key("a \"b\"").key("").key("10").to_string(),
            r#"$["a \"b\""][""]["10"]"#
        );
    }
}
