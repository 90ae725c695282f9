//! Generators.
fn main() {}
