//! `CONTROL_CHAR`.

use crate::rule::value::and_more;
use crate::rule::{Context, rule};
use crate::text::Span;

rule! {
    /// SKILL.md contains control characters
    ///
    /// ## What it does
    /// Reports the first control character other than tab and line breaks (U+0000 to U+001F, U+007F to U+009F), and
    /// how many there are.
    ///
    /// ## Why is this bad?
    /// YAML does not allow most of them, so that front matter with one is lost. In the body they are invisible,
    /// and a terminal can take them for commands.
    ///
    /// ## Example
    /// ```text
    /// description: Fills PDF\x07 forms.
    /// ```
    ///
    /// ## Use instead
    /// ```text
    /// description: Fills PDF forms.
    /// ```
    CONTROL_CHAR, level: Warning, origin: Extra, since: "0.1.0", fixable: No, check: check
}

fn check(context: &mut Context<'_>) {
    let Some(document) = context.document() else { return };
    let text = document.text.as_str();
    if !may_have_control(text) {
        return;
    }
    let mut found = text.char_indices().filter(|(_, c)| is_control(*c));
    let Some((at, first)) = found.next() else { return };
    let more = and_more(found.count(), "control character");
    context
        .report_at(
            Span::new(at, at + first.len_utf8()),
            format!("SKILL.md contains the control character U+{:04X}{more}", u32::from(first)),
        )
        .hint("remove it; it came in by copying or from a broken tool");
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// Whether a look at each character could find one. Written so that the compiler looks at many bytes at a time.
fn may_have_control(text: &str) -> bool {
    let bytes = text.as_bytes();
    let suspicious = |b: &u8| (*b < 0x20 && !matches!(*b, b'\t' | b'\n' | b'\r')) || *b == 0x7f;
    let has_low =
        bytes.chunks(256).any(|chunk| chunk.iter().fold(false, |found, byte| found | suspicious(byte)));
    // U+0080 to U+009F start with the byte C2 and go on with one below A0.
    let is_high = |at: usize| bytes.get(at + 1).is_some_and(|next| *next < 0xa0);
    has_low || (!text.is_ascii() && memchr::memchr_iter(0xc2, bytes).any(is_high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_look_agrees_with_the_slow_one() {
        for c in (0..=0x100).filter_map(char::from_u32) {
            for text in [format!("{c}"), format!("{}{c}é\n", "a".repeat(100))] {
                assert_eq!(may_have_control(&text), text.chars().any(is_control), "{text:?}");
            }
        }
    }
}
