//! `DUPLICATE_KEY`.

use crate::rule::{Context, rule};
use crate::yaml::{Mapping, Node, Value};

rule! {
    /// A key occurs twice in the front matter
    ///
    /// ## What it does
    /// Reports each repetition of a key, in nested mappings too.
    ///
    /// ## Why is this bad?
    /// Some readers take the first value, some the last, some refuse the front matter. One of the values is lost
    /// without a word.
    ///
    /// ## Example
    /// ```yaml
    /// name: pdf-forms
    /// description: Fills PDF forms.
    /// description: Use when the user has a PDF form.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// name: pdf-forms
    /// description: Fills PDF forms. Use when the user has a PDF form.
    /// ```
    ///
    /// ## References
    /// - YAML 1.2.2, 3.2.1.3: the keys of a mapping are unique
    DUPLICATE_KEY, level: Error, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(mapping) = context.document().and_then(|document| document.mapping()) else { return };
    look(context, mapping);
}

fn look(context: &mut Context<'_>, mapping: &Mapping) {
    for key in &mapping.duplicates {
        let name = key.scalar_text().unwrap_or("(not a text)");
        context
            .report_at(key.span, format!("key `{name}` occurs again; one of the values is lost"))
            .hint("keep one of them");
    }
    for entry in &mapping.entries {
        look_below(context, &entry.value);
    }
}

fn look_below(context: &mut Context<'_>, node: &Node) {
    match &node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => {
            for item in items {
                look_below(context, item);
            }
        }
        Value::Mapping(mapping) => look(context, mapping),
    }
}
