//! The table of keywords: which there are, and what each takes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// Words for people and editors; it decides nothing.
    Annotation,
    Anything,
    Schema,
    Schemas,
    Properties,
    /// An object with schemas under regular expressions.
    PatternProperties,
    Types,
    Values,
    Names,
    /// An object with lists of names.
    NameLists,
    Count,
    Amount,
    Positive,
    Truth,
    Pattern,
    Reference,
}

/// What a keyword takes, if it is one that is understood.
pub(super) fn keyword(name: &str) -> Option<Argument> {
    Some(match name {
        "$schema" | "$comment" | "title" | "description" | "default" | "examples"
        | "deprecated" | "readOnly" | "writeOnly" => Argument::Annotation,
        "const" => Argument::Anything,
        "additionalProperties"
        | "propertyNames"
        | "items"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else" => Argument::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Argument::Schemas,
        "properties" | "$defs" | "dependentSchemas" => Argument::Properties,
        "patternProperties" => Argument::PatternProperties,
        "type" => Argument::Types,
        "enum" => Argument::Values,
        "required" => Argument::Names,
        "dependentRequired" => Argument::NameLists,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Argument::Count,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Argument::Amount,
        "multipleOf" => Argument::Positive,
        "uniqueItems" => Argument::Truth,
        "pattern" => Argument::Pattern,
        "$ref" => Argument::Reference,
        _ => return None,
    })
}
