//! `ALLOWED_TOOLS_ITEM_TYPE`.

use crate::rule::{Context, rule};
use crate::yaml::{Node, ScalarType, Value};

rule! {
    /// An item of `allowed-tools` is not a string
    ///
    /// ## What it does
    /// Reports each item of the list that YAML reads as something else. The classic is `- Bash: git`, which is a
    /// mapping.
    ///
    /// ## Why is this bad?
    /// The item does not name a tool, so it allows nothing; some readers drop the whole list.
    ///
    /// ## Example
    /// ```yaml
    /// allowed-tools:
    ///   - Read
    ///   - Bash: git
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// allowed-tools:
    ///   - Read
    ///   - Bash(git:*)
    /// ```
    ///
    /// ## References
    /// - Validation contract, `ALLOWED_TOOLS_ITEM_TYPE`
    ALLOWED_TOOLS_ITEM_TYPE, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(node) = context.entry("allowed-tools").map(|entry| &entry.value) else { return };
    let Value::Sequence(items) = &node.value else { return };
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_str().is_none()) {
        context
            .report_at(
                item.span,
                format!("item {} of allowed-tools must be a string, found {}", index + 1, item.describe()),
            )
            .hint(hint(item));
    }
}

fn hint(item: &Node) -> String {
    let pair = item.as_mapping().and_then(|mapping| mapping.entries.first());
    let texts = pair.and_then(|entry| Some((entry.key.as_str()?, entry.value.as_str()?)));
    match (texts, &item.value) {
        (Some((tool, command)), _) => format!("write it as one text, such as `{tool}({command}:*)`"),
        (None, Value::Scalar(scalar)) if scalar.kind() != ScalarType::Null => {
            format!("name a tool, or quote it: `\"{}\"`", scalar.text)
        }
        (None, _) => "name one tool in each item, such as `- Read`".to_owned(),
    }
}
