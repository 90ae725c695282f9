//! The tree that the parser makes.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::{JsonPath, Number, Span, Step, from_value};

/// A parsed file.
#[derive(Debug)]
pub struct Document<'t> {
    /// The one value of the file.
    pub root: Node<'t>,
    /// How many keys occur again in the same object; zero for nearly every file, and then nobody has to look for them.
    pub repeated_keys: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'t> {
    /// From the first to the last byte of the value, quotes and brackets included.
    pub span: Span,
    /// What it is.
    pub value: Value<'t>,
}

/// A JSON value; text without escapes is borrowed from the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, escapes resolved.
    String(Cow<'t, str>),
    /// The items of an array.
    Array(Vec<Node<'t>>),
    /// The members of an object in the order of the file, equal keys included.
    Object(Vec<Member<'t>>),
}

/// A key of an object and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'t> {
    /// The key, escapes resolved.
    pub key: Cow<'t, str>,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The value of a key when this is an object that has it; the last one if the key is repeated.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Whether this is an object with that key.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The members when this is an object, else none.
    pub fn members(&self) -> &[Member<'t>] {
        if let Value::Object(members) = &self.value { members } else { &[] }
    }

    /// The items when this is an array, else none.
    pub fn items(&self) -> &[Node<'t>] {
        if let Value::Array(items) = &self.value { items } else { &[] }
    }

    /// The way to the outermost value or key that stands at a span.
    pub fn path_of(&self, span: Span) -> Option<JsonPath> {
        let mut steps = Vec::new();
        self.walk_to(span, &mut steps).then(|| JsonPath::new(steps))
    }

    fn walk_to(&self, span: Span, steps: &mut Vec<Step>) -> bool {
        if self.span == span {
            return true;
        }
        let is_inside = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        if let Some(index) = self.items().iter().position(|item| is_inside(item.span)) {
            steps.push(Step::Index(index));
            return self.items()[index].walk_to(span, steps);
        }
        let found = self
            .members()
            .iter()
            .find(|member| member.key_span == span || is_inside(member.value.span));
        let Some(member) = found else { return false };
        steps.push(Step::Key(member.key.to_string()));
        member.key_span == span || member.value.walk_to(span, steps)
    }

    /// The value without its places; the last of repeated keys counts.
    pub fn to_value(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => (*truth).into(),
            Value::Number(Number::Unsigned(number)) => (*number).into(),
            Value::Number(Number::Signed(number)) => (*number).into(),
            Value::Number(Number::Float(number)) => (*number).into(),
            Value::String(text) => text.as_ref().into(),
            Value::Array(items) => items.iter().map(Node::to_value).collect(),
            Value::Object(members) => members
                .iter()
                .map(|member| (member.key.clone().into_owned(), member.value.to_value()))
                .collect(),
        }
    }

    /// Reads a type from this value.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        from_value(&self.to_value())
    }

    /// The text when this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The number when this is one.
    pub fn as_number(&self) -> Option<Number> {
        if let Value::Number(number) = &self.value { Some(*number) } else { None }
    }

    /// The truth value when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = &self.value { Some(*truth) } else { None }
    }
}
