//! The translator against Python's answers, and against its own limits.

use proptest::prelude::*;

use super::*;

/// One pattern, one text, and what Python's `re.search` says.
#[derive(Debug, serde::Deserialize)]
struct Row {
    pattern: String,
    text: String,
    /// What Python said instead of an answer.
    error: Option<String>,
    /// Whether skillgauge refuses what Python accepts.
    #[serde(default)]
    refused: bool,
    /// The spans of the match and of its groups, in characters; absent when nothing matched.
    spans: Option<Vec<Option<(usize, usize)>>>,
    #[serde(default)]
    names: std::collections::BTreeMap<String, usize>,
}

#[derive(Debug, serde::Deserialize)]
struct Table {
    rows: Vec<Row>,
}

/// The span of each group, if anything matches.
type Groups = Option<Vec<Option<(usize, usize)>>>;

fn answer(row: &Row) -> Result<Groups, String> {
    let regex = PythonRegex::new(&row.pattern).map_err(|error| error.to_string())?;
    for (name, number) in &row.names {
        assert_eq!(regex.group_names()[*number].as_deref(), Some(name.as_str()), "{row:?}");
    }
    let characters = |byte: usize| row.text[..byte].chars().count();
    let groups = regex.groups(&row.text).map_err(|error| error.to_string())?;
    Ok(groups.map(|groups| {
        let spans = groups.into_iter();
        spans.map(|span| span.map(|span| (characters(span.start), characters(span.end)))).collect()
    }))
}

#[test]
fn patterns_mean_what_they_mean_in_python() {
    let table: Table =
        serde_json::from_str(include_str!("../../testdata/python_regex.json")).unwrap();
    assert!(table.rows.len() >= 150, "{}", table.rows.len());
    let mut wrong = Vec::new();
    for row in &table.rows {
        let found = answer(row);
        let is_right = match (&found, &row.error) {
            (Err(_), Some(_)) => true,
            (Err(_), None) => row.refused,
            (Ok(_), Some(_)) => false,
            (Ok(spans), None) => !row.refused && *spans == row.spans,
        };
        if !is_right {
            wrong.push(format!("{row:?}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.rows.len(), wrong.join("\n"));
}

#[test]
fn a_refusal_says_what_and_where() {
    let message = |pattern: &str| PythonRegex::new(pattern).unwrap_err().to_string();
    assert_eq!(message("ab(cd"), "missing ), unterminated subpattern at position 2");
    assert_eq!(message("a(?<=b+)"), "look-behind requires fixed-width pattern at position 1");
    assert_eq!(message(r"x\p{L}"), r"bad escape \p at position 1");
    assert_eq!(
        message(r"\N{EM DASH}"),
        r"the character name `\N{EM DASH}` at position 0 is not supported; write the character itself, or its code as \uXXXX"
    );
    assert!(message("(?<n>a)").contains("Python names a group with (?P<name>...)"));
}

#[test]
fn a_pattern_that_explodes_gives_an_error_instead_of_a_hang() {
    let regex = PythonRegex::new(r"^(?:(a|aa)+)+(?=b)\1").unwrap();
    let text = "a".repeat(60) + "b";
    assert_eq!(regex.is_match(&text), Err(SearchError { bytes: 61 }));
}

#[test]
fn enormous_repetitions_and_nesting_are_refused() {
    let nested = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    for pattern in ["(?:a{1000}){1000000}", &nested, &"a".repeat(LONGEST + 1)] {
        let error = PythonRegex::new(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Engine { .. }), "{error}");
    }
}

#[test]
fn large_texts_are_searched_within_their_own_limit() {
    let text = "one line of text\n".repeat(20_000) + "the end\n";
    assert!(PythonRegex::new(r"(?<=the )end$").unwrap().is_match(&text).unwrap());
    assert!(!PythonRegex::new(r"(?<=one )end$").unwrap().is_match(&text).unwrap());
}

#[test]
fn a_search_can_go_on_after_a_match() {
    let regex = PythonRegex::new(r"^b|a").unwrap();
    assert_eq!(regex.find_from("bab", 0).unwrap(), Some(0..1));
    assert_eq!(regex.find_from("bab", 1).unwrap(), Some(1..2));
    assert_eq!(regex.find_from("bab", 2).unwrap(), None, "`^` is the start of the text");
}

proptest! {
    #[test]
    fn no_pattern_panics(pattern in r"[\PC\n]{0,40}", text in r"[\PC\n]{0,40}") {
        if let Ok(regex) = PythonRegex::new(&pattern) {
            let _ = regex.groups(&text);
        }
    }

    #[test]
    fn no_pattern_of_operators_panics(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", "b", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?P<n>", "(?P=n)", "(?(1)", "|", "*", "+", "?",
                "{2}", "{,3}", "[", "]", "^", "$", r"\b", r"\B", r"\w", r"\W", r"\1", "(?i)", "(?x)", "#", "\n", ".", "-",
            ]),
            0..12,
        ),
        text in "[ab \n]{0,12}",
    ) {
        if let Ok(regex) = PythonRegex::new(&parts.concat()) {
            let _ = regex.groups(&text);
        }
    }

    #[test]
    fn an_escaped_text_finds_itself(text in r"\PC{1,20}") {
        let escaped: String =
            text.chars().flat_map(|c| (!c.is_alphanumeric()).then_some('\\').into_iter().chain([c])).collect();
        let regex = PythonRegex::new(&escaped).unwrap();
        prop_assert_eq!(regex.find_from(&text, 0).unwrap(), Some(0..text.len()));
    }
}
