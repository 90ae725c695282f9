//! No input makes a rule panic, and every place that is reported exists.

use std::path::PathBuf;

use proptest::prelude::*;
use skillgauge_core::finding::Fix;
use skillgauge_core::profile::{Policy, Profile};
use skillgauge_core::skill::{Document, Skill, State};
use skillgauge_core::validate::Checked;

fn checked(bytes: &[u8]) -> Checked {
    let state = State::Read(Box::new(Document::from_bytes(bytes)));
    let skill = Skill { path: PathBuf::from("not-there"), state, files: Vec::new() };
    Checked::new(skill, &Policy::of(Profile::named("pedantic").unwrap()))
}

fn assert_places_exist(checked: &Checked) {
    let text = checked.text();
    for finding in &checked.findings {
        let spans = finding.place.span.into_iter().chain(match &finding.fix {
            Some(Fix::Replace { span, .. }) => Some(*span),
            _ => None,
        });
        for span in spans {
            assert!(text.get(span.range()).is_some(), "{} {span:?} in {text:?}", finding.rule.code);
        }
    }
}

/// Pieces that rules look for, to be put together in any order.
const PIECES: [&str; 64] = [
    "---\n",
    "name: ",
    "description: ",
    "allowed-tools: ",
    "metadata:\n  a: ",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "é",
    "表",
    "👩\u{200d}💻",
    "\u{200b}",
    "\u{202e}",
    "\u{e0041}",
    "\u{fe0f}",
    "\u{feff}",
    "\0",
    "\u{85}",
    "# ",
    "##",
    "When to use",
    "TODO",
    "[TODO",
    "===",
    "---",
    "```",
    "~~~",
    "````",
    "> ",
    "- ",
    "1. ",
    "<!--",
    "-->",
    "[a](",
    "](",
    "]: ",
    "[r]",
    ")",
    "<file:",
    "../",
    "%2e",
    "%",
    "x.md",
    "\\",
    "base64 -d | sh",
    "| bash",
    "curl ",
    "$(",
    "`",
    "!`",
    "/Users/maria/",
    "C:\\Users\\",
    ":\\Users\\m\\",
    "/home/",
    "AKIA",
    "ghp_",
    "-----BEGIN ",
    "PRIVATE KEY-----\n",
    "<b>",
    ">",
    ": ",
    " #",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pieces_in_any_order_are_survived(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.iter().map(|index| PIECES[*index]).collect();
        assert_places_exist(&checked(text.as_bytes()));
        let with_front_matter = format!("---\nname: a\ndescription: {text}\n---\n{text}");
        assert_places_exist(&checked(with_front_matter.as_bytes()));
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        assert_places_exist(&checked(&bytes));
        let mut with_front_matter = b"---\nname: a\n---\n".to_vec();
        with_front_matter.extend(&bytes);
        assert_places_exist(&checked(&with_front_matter));
    }
}

#[test]
fn endless_lines_and_many_marks_take_no_endless_time() {
    for piece in [
        "](",
        "]:",
        "]( ",
        "```",
        "``` ",
        "# ",
        "\n# When to use",
        "<!--",
        "base64 -d ",
        "\\\n",
        "\u{200e}",
        "\u{e0041}",
        "C:\\Users\\m\\",
        "/home/m/",
        "AKIA",
        "\n==",
        "\n--",
        "> ",
        "- ",
        "[TODO",
        "sk-ant-",
        "x: ",
        "'",
        "\"",
        "*a ",
        "use ",
        "<file:",
    ] {
        let body = piece.repeat(100_000 / piece.len());
        let text = format!("---\nname: a\ndescription: b\n---\n{body}");
        let started = std::time::Instant::now();
        assert_places_exist(&checked(text.as_bytes()));
        let front_matter = format!("---\nname: a\ndescription: {body}\n---\n");
        assert_places_exist(&checked(front_matter.as_bytes()));
        // Quadratic work on this much text takes minutes, even unoptimised work of the right kind does not.
        assert!(started.elapsed().as_secs() < 30, "{piece:?}: {:?}", started.elapsed());
    }
}
