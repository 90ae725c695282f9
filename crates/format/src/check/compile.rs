//! A JSON Schema, made ready to check with.
//!
//! The schema that schemars generates from our types is read once into a flat list of rules, references resolved. Only
//! the part of JSON Schema that our types use is understood; whatever else a schema says is recorded in
//! [`Schema::unsupported`], and a test holds that this list is empty for every kind of file. So the published schema
//! and the checker cannot drift apart.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::pattern::Pattern;
use super::types::Types;

/// A schema as a list of rules that refer to each other by number.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    rules: Vec<Rule>,
    root: RuleId,
    /// Keywords, or forms of them, that this checker does not understand.
    pub(crate) unsupported: Vec<String>,
}

/// The number of a rule in its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleId(usize);

/// What a value must be like. The default accepts everything.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// `$ref`: the value must obey this rule, too.
    pub(crate) target: Option<RuleId>,
    pub(crate) types: Types,
    /// `types` together with what references and alternatives admit; filled in when all rules are there.
    admitted: Types,
    /// Whether null is worth mentioning: not for a field that one would rather leave out.
    pub(crate) hides_null: bool,
    /// `enum` and `const`.
    pub(crate) constants: Option<Vec<Value>>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_minimum: Option<f64>,
    pub(crate) min_length: usize,
    pub(crate) pattern: Option<Pattern>,
    /// `format: date-time`, which schemas only annotate and we only warn about.
    pub(crate) is_time: bool,
    pub(crate) min_items: usize,
    pub(crate) max_items: Option<usize>,
    pub(crate) items: Option<RuleId>,
    pub(crate) properties: Vec<(String, RuleId)>,
    pub(crate) required: Vec<String>,
    /// `additionalProperties` when it is a schema: the object is a map.
    pub(crate) additional: Option<RuleId>,
    /// `oneOf` whose branches only require a field each: exactly one of these must be there.
    pub(crate) exactly_one: Vec<String>,
    /// `anyOf` whose branches only require a field each: at least one of these must be there.
    pub(crate) at_least_one: Vec<String>,
    pub(crate) any_of: Vec<RuleId>,
    /// `allOf`, each part perhaps under a condition.
    pub(crate) all_of: Vec<(Option<Condition>, RuleId)>,
}

/// `if` a field has this value.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) field: String,
    pub(crate) value: String,
}

impl Schema {
    pub(crate) fn compile(schema: &Value) -> Self {
        let mut compiler =
            Compiler { document: schema, schema: Self::default(), known: BTreeMap::new() };
        let root = compiler.rule(schema);
        let mut schema = compiler.schema;
        schema.root = root;
        for index in 0..schema.rules.len() {
            match schema.find_types(RuleId(index), 0) {
                Some(types) => schema.rules[index].admitted = types,
                None => schema.unsupported.push("a reference that leads back to itself".to_owned()),
            }
        }
        schema
    }

    pub(crate) fn root(&self) -> RuleId {
        self.root
    }

    pub(crate) fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0]
    }

    /// The types of value that a rule admits, its references and alternatives included.
    pub(crate) fn types(&self, id: RuleId) -> Types {
        self.rule(id).admitted
    }

    /// Nothing when references and alternatives go round in a circle, which says nothing about a value.
    fn find_types(&self, id: RuleId, depth: usize) -> Option<Types> {
        if depth > self.rules.len() {
            return None;
        }
        let rule = self.rule(id);
        let mut types = rule.types;
        if let Some(target) = rule.target {
            types = types.and(self.find_types(target, depth + 1)?);
        }
        if !rule.any_of.is_empty() {
            let mut union = Types::NONE;
            for &branch in &rule.any_of {
                union = union.or(self.find_types(branch, depth + 1)?);
            }
            types = types.and(union);
        }
        for &(_, part) in &rule.all_of {
            self.find_types(part, depth + 1)?;
        }
        Some(types)
    }
}

struct Compiler<'s> {
    document: &'s Value,
    schema: Schema,
    /// The rules of `$defs`, made when they are first referred to.
    known: BTreeMap<&'s str, RuleId>,
}

impl<'s> Compiler<'s> {
    fn rule(&mut self, schema: &'s Value) -> RuleId {
        let id = RuleId(self.schema.rules.len());
        self.schema.rules.push(Rule::default());
        self.schema.rules[id.0] = match schema {
            Value::Bool(true) => Rule::default(),
            Value::Object(keywords) => self.keywords(keywords),
            other => {
                self.schema.unsupported.push(other.to_string());
                Rule::default()
            }
        };
        id
    }

    fn keywords(&mut self, keywords: &'s Map<String, Value>) -> Rule {
        let mut rule = Rule::default();
        for (keyword, value) in keywords {
            if self.keyword(&mut rule, keyword, value).is_none() {
                self.schema.unsupported.push(format!("{keyword}: {value}"));
            }
        }
        for (name, property) in &rule.properties {
            let hides_null = !rule.required.contains(name);
            self.schema.rules[property.0].hides_null = hides_null;
        }
        rule
    }

    /// Reads one keyword into the rule; nothing when it, or its form, is not understood.
    fn keyword(&mut self, rule: &mut Rule, keyword: &str, value: &'s Value) -> Option<()> {
        match keyword {
            // For people and editors.
            "$schema" | "$id" | "$defs" | "title" | "description" | "examples" | "default" => {}
            "$ref" => rule.target = Some(self.reference(value.as_str()?)?),
            "type" => rule.types = Types::from_schema(value)?,
            "const" => rule.constants = Some(vec![value.clone()]),
            "enum" => rule.constants = Some(value.as_array()?.clone()),
            "minimum" => rule.minimum = Some(value.as_f64()?),
            "maximum" => rule.maximum = Some(value.as_f64()?),
            "exclusiveMinimum" => rule.exclusive_minimum = Some(value.as_f64()?),
            "minLength" => rule.min_length = usize::try_from(value.as_u64()?).ok()?,
            "pattern" => rule.pattern = Some(Pattern::from_schema(value.as_str()?)?),
            "format" => rule.is_time = (value.as_str()? == "date-time").then_some(true)?,
            "minItems" => rule.min_items = usize::try_from(value.as_u64()?).ok()?,
            "maxItems" => rule.max_items = Some(usize::try_from(value.as_u64()?).ok()?),
            "items" => rule.items = Some(self.rule(value)),
            "properties" => {
                for (name, property) in value.as_object()? {
                    let property = self.rule(property);
                    rule.properties.push((name.clone(), property));
                }
            }
            "required" => rule.required = names(value)?,
            "additionalProperties" => match value {
                Value::Bool(true) => {}
                Value::Object(_) => rule.additional = Some(self.rule(value)),
                _ => return None,
            },
            "anyOf" => match required_only(value) {
                Some(fields) => rule.at_least_one = fields,
                None => {
                    rule.any_of =
                        value.as_array()?.iter().map(|branch| self.rule(branch)).collect();
                }
            },
            "oneOf" => match required_only(value) {
                Some(fields) => rule.exactly_one = fields,
                None => rule.constants = Some(all_constants(value)?),
            },
            "allOf" => {
                for part in value.as_array()? {
                    let part = self.part(part)?;
                    rule.all_of.push(part);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A part of `allOf`: a schema, or `if` a field has a value `then` a schema.
    fn part(&mut self, part: &'s Value) -> Option<(Option<Condition>, RuleId)> {
        let keywords = part.as_object()?;
        let (Some(condition), Some(then)) = (keywords.get("if"), keywords.get("then")) else {
            return Some((None, self.rule(part)));
        };
        let properties = condition.get("properties")?.as_object()?;
        let (field, constant) = properties.iter().next()?;
        let is_simple = properties.len() == 1
            && keywords.len() == 2
            && condition.get("required")? == &Value::from(vec![field.as_str()]);
        let value = constant.get("const")?.as_str()?.to_owned();
        let condition = Condition { field: field.clone(), value };
        is_simple.then(|| (Some(condition), self.rule(then)))
    }

    fn reference(&mut self, reference: &'s str) -> Option<RuleId> {
        let name = reference.strip_prefix("#/$defs/")?;
        if let Some(&id) = self.known.get(name) {
            return Some(id);
        }
        let definition = self.document.get("$defs")?.get(name)?;
        // Entered before the definition is read, so that a type may contain itself.
        let id = RuleId(self.schema.rules.len());
        self.known.insert(name, id);
        let made = self.rule(definition);
        debug_assert_eq!(made, id, "the next rule takes the next number");
        Some(made)
    }
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The fields of branches that have nothing but `required: [field]`.
fn required_only(branches: &Value) -> Option<Vec<String>> {
    let field = |branch: &Value| {
        let keywords = branch.as_object()?;
        let fields = names(keywords.get("required")?)?;
        (keywords.len() == 1 && fields.len() == 1).then(|| fields.into_iter().next())?
    };
    branches.as_array()?.iter().map(field).collect()
}

/// The constants of branches that have nothing else but words about them; schemars writes documented enums so.
fn all_constants(branches: &Value) -> Option<Vec<Value>> {
    let constant = |branch: &Value| {
        let keywords = branch.as_object()?;
        let is_plain =
            keywords.keys().all(|key| matches!(key.as_str(), "const" | "type" | "description"));
        is_plain.then(|| keywords.get("const").cloned())?
    };
    branches.as_array()?.iter().map(constant).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_understood_is_recorded() {
        let schema = Schema::compile(&json!({
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "^never seen$"}, "b": {"not": {}}},
            "additionalProperties": false,
            "oneOf": [{"type": "string"}, {"type": "null"}],
            "items": false
        }));
        assert_eq!(schema.unsupported.len(), 5, "{:?}", schema.unsupported);
    }

    #[test]
    fn a_reference_that_goes_round_in_a_circle_is_recorded() {
        for schema in [
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/A"}]}}}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}}),
        ] {
            assert!(!Schema::compile(&schema).unsupported.is_empty(), "{schema}");
        }
    }

    #[test]
    fn a_type_may_contain_itself() {
        let schema = Schema::compile(&json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}}
        }));
        assert_eq!(schema.unsupported, Vec::<String>::new());
        assert_eq!(schema.types(schema.root()), Types::OBJECT);
    }
}
