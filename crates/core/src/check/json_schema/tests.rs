//! The checker against the `jsonschema` crate.
