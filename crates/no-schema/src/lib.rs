//! `derive(JsonSchema)` that makes nothing.
//!
//! The types of `skillgauge-format` say what their JSON Schema is by schemars' derive and its attributes. The schemas are
//! committed and embedded, so only the test that holds them to the types needs the code that the derive makes. Everywhere
//! else this one stands in for it: the attributes are allowed, and the compiler has nothing to do.

use proc_macro::TokenStream;

#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
