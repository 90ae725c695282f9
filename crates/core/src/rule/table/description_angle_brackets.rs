//! `DESCRIPTION_ANGLE_BRACKETS`.

use crate::rule::{Context, rule};
use crate::text::Span;
use crate::yaml::Node;

rule! {
    /// `description` contains `<` or `>`
    ///
    /// ## What it does
    /// Reports the first tag in the description, or else the first bare sign (`->`, `< 20`), in one finding.
    ///
    /// ## Why is this bad?
    /// The description is put into the agent's prompt, where tags mark its parts; a tag in it could end one.
    /// Uploads to claude.ai refuse tags, and the public skill-creator's check refuses any bracket.
    ///
    /// ## Example
    /// ```yaml
    /// description: Turns <table> elements into CSV -> use when the user has HTML.
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// description: Turns HTML tables into CSV. Use when the user has HTML.
    /// ```
    ///
    /// ## References
    /// - Validation contract, `DESCRIPTION_ANGLE_BRACKETS`
    DESCRIPTION_ANGLE_BRACKETS, level: Error, origin: Contract, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some((node, _)) = context.string("description") else { return };
    let Some(text) = node.as_str() else { return };
    let signs: Vec<usize> = memchr::memchr2_iter(b'<', b'>', text.as_bytes()).collect();
    let Some(&first) = signs.first() else { return };
    let tag = signs.iter().find_map(|&at| tag_at(text, at).map(|tag| (at, tag)));
    let (at, message, hint) = match tag {
        Some((at, tag)) => (
            at,
            format!("description contains the tag `{tag}`"),
            "hosted surfaces refuse tags; name it without the brackets",
        ),
        None => (
            first,
            format!("description contains a bare `{}`", &text[first..=first]),
            "write it in words: `to` for an arrow, `less than` for a comparison",
        ),
    };
    let nth = signs.iter().position(|&sign| sign == at).unwrap_or_default();
    let length = tag.map_or(1, |(_, tag)| tag.len());
    let source = context.document().map_or("", |document| &document.text);
    let span = in_source(node, source, &signs, nth, length).unwrap_or(node.span);
    context.report_at(span, message).hint(hint);
}

/// The tag that starts at byte `at`: `<a>`, `</a>`, `<a b="c">`, on one line.
fn tag_at(text: &str, at: usize) -> Option<&str> {
    let rest = text[at..].strip_prefix('<')?;
    let name = rest.strip_prefix('/').unwrap_or(rest);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = rest.find(['>', '<', '\n']).filter(|end| rest[*end..].starts_with('>'))?;
    Some(&text[at..at + end + 2])
}

/// Where the `nth` sign of the value stands in the file. Escapes can hide signs (`"\x3c"`); then nobody can say.
fn in_source(node: &Node, source: &str, signs: &[usize], nth: usize, length: usize) -> Option<Span> {
    let written = node.span.slice(source);
    let places: Vec<usize> = memchr::memchr2_iter(b'<', b'>', written.as_bytes()).collect();
    let start = *places.get(nth).filter(|_| places.len() == signs.len())?;
    // A tag can be folded over two lines of the file; its first sign is place enough then.
    let is_whole = written.get(start..start + length).is_some_and(|tag| !tag.contains(['\n', '\r']));
    let end = start + if is_whole { length } else { 1 };
    Some(Span::new(start, end).shifted(node.span.start))
}

#[cfg(test)]
mod tests {
    use super::tag_at;

    #[test]
    fn tags_are_told_from_bare_signs() {
        assert_eq!(tag_at("<b>", 0), Some("<b>"));
        assert_eq!(tag_at("x </div> y", 2), Some("</div>"));
        assert_eq!(tag_at("<a href='x'>", 0), Some("<a href='x'>"));
        for text in ["< 20 s", "<20 s and > 3", "<3", "<a", "<a <b>", "<é>", "<>"] {
            assert_eq!(tag_at(text, 0), None, "{text}");
        }
    }
}
