//! Checks what an improver proposes, as strictly as a description that a person has written.
//!
//! Only training queries are looked for in it: an improver has never seen the others, and a reason that named one would
//! tell it.

use std::fmt;

/// The longest description that agents accept, in characters.
pub const MAX_CHARACTERS: usize = 1024;

/// How many queries in a description make a list of them.
const LIST: usize = 2;

/// A query with fewer words may well be a part of a good description.
const SHORTEST_QUOTE: usize = 4;

/// How answers begin that are no descriptions, in lower case.
const CHATTER: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i will not",
    "i'm sorry",
    "i am sorry",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "i am not able",
    "sorry,",
    "as an ai",
    "as a language model",
    "here is",
    "here's",
    "sure,",
    "sure!",
    "certainly",
    "of course",
    "description delivered",
    "the improved description",
    "the new description",
    "n/a",
    "none",
    "no change",
];

/// Why a proposal is no description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    Empty,
    TooLong {
        characters: usize,
    },
    /// `<` or `>`, which the specification forbids.
    AngleBrackets,
    /// A refusal, or talk around a description.
    NoDescription,
    /// It lists requests instead of saying what they have in common.
    ListsQueries {
        /// How many of them it quotes.
        count: usize,
    },
    /// It is what is there already, or what was tried before.
    TriedBefore,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the description is empty"),
            Self::TooLong { characters } => {
                write!(
                    f,
                    "the description has {characters} characters; at most {MAX_CHARACTERS} are allowed"
                )
            }
            Self::AngleBrackets => {
                f.write_str("the description has angle brackets, which are not allowed")
            }
            Self::NoDescription => f.write_str(
                "the answer is not a description; give the description alone, without any talk",
            ),
            Self::ListsQueries { count } => write!(
                f,
                "the description quotes {count} of the requests word for word; say what they have in common instead"
            ),
            Self::TriedBefore => f.write_str("the description was tried before; write another one"),
        }
    }
}

/// The description on one line, as it would be written into a SKILL.md.
pub fn normal(proposal: &str) -> String {
    let line = proposal.split_whitespace().collect::<Vec<_>>().join(" ");
    let quoted = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted
        .filter(|inner| !inner.contains('"'))
        .map_or(line.clone(), |inner| inner.trim().to_owned())
}

/// The description that was proposed, or everything that is wrong with it.
pub fn check<'q>(
    proposal: &str,
    train_queries: impl IntoIterator<Item = &'q str>,
    tried: &[&str],
) -> Result<String, Vec<Rejection>> {
    let description = normal(proposal);
    let mut rejections = Vec::new();
    let characters = description.chars().count();
    if description.is_empty() {
        return Err(vec![Rejection::Empty]);
    }
    if characters > MAX_CHARACTERS {
        rejections.push(Rejection::TooLong { characters });
    }
    if description.contains(['<', '>']) {
        rejections.push(Rejection::AngleBrackets);
    }
    let lower = description.to_lowercase().replace('\u{2019}', "'");
    if CHATTER.iter().any(|start| begins_with(&lower, start)) {
        rejections.push(Rejection::NoDescription);
    }
    let quoted = (train_queries.into_iter().map(normal))
        .filter(|query| query.split(' ').count() >= SHORTEST_QUOTE)
        .filter(|query| lower.contains(&plain(query)))
        .count();
    if quoted >= LIST {
        rejections.push(Rejection::ListsQueries { count: quoted });
    }
    if tried.iter().any(|tried| normal(tried) == description) {
        rejections.push(Rejection::TriedBefore);
    }
    if rejections.is_empty() { Ok(description) } else { Err(rejections) }
}

/// Whether a text begins with these words and not only with their letters.
fn begins_with(text: &str, start: &str) -> bool {
    text.strip_prefix(start).is_some_and(|rest| {
        !rest.starts_with(char::is_alphanumeric) || !start.ends_with(char::is_alphanumeric)
    })
}

/// Lower case, without the mark at the end.
fn plain(query: &str) -> String {
    query.to_lowercase().replace('\u{2019}', "'").trim_end_matches(['.', '?', '!']).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUERIES: [&str; 3] =
        ["Make a report of sales.csv", "Which columns have outliers?", "new report"];

    fn reasons(proposal: &str) -> Vec<Rejection> {
        check(proposal, QUERIES, &["Old one."]).err().unwrap_or_default()
    }

    #[test]
    fn a_good_description_is_taken_and_put_on_one_line() {
        let taken =
            check("  \"Makes reports\n of tables. Use when there are numbers.\" ", QUERIES, &[]);
        assert_eq!(taken.unwrap(), "Makes reports of tables. Use when there are numbers.");
        assert_eq!(reasons("Herein lies a report. Sureness and nonesuch."), []);
        assert_eq!(reasons("Sorry state of a table? Cleans it."), []);
    }

    #[test]
    fn each_kind_of_bad_answer_has_its_reason() {
        assert_eq!(reasons(" \n "), [Rejection::Empty]);
        assert_eq!(reasons(&"é".repeat(1024)), []);
        assert_eq!(reasons(&"é".repeat(1025)), [Rejection::TooLong { characters: 1025 }]);
        assert_eq!(reasons("Makes <b>reports</b>"), [Rejection::AngleBrackets]);
        for chatter in [
            "I'm sorry, I can't help with that",
            "I can’t do that",
            "Here is the improved description: Makes reports",
            "Description delivered above.",
            "Sure! Makes reports",
            "none",
        ] {
            assert_eq!(reasons(chatter), [Rejection::NoDescription], "{chatter}");
        }
        assert_eq!(reasons("Old  one."), [Rejection::TriedBefore]);
    }

    #[test]
    fn a_list_of_the_requests_is_no_description() {
        let list = "Use for: make a report of SALES.csv; which columns have outliers; new report";
        assert_eq!(reasons(list), [Rejection::ListsQueries { count: 2 }]);
        assert_eq!(reasons("Can make a report of sales.csv and other tables"), []);
    }

    #[test]
    fn all_reasons_are_given_at_once() {
        let bad = format!("Here is <it>: {}", "x".repeat(1024));
        assert_eq!(reasons(&bad).len(), 3);
    }

    proptest! {
        #[test]
        fn what_is_taken_can_be_written_as_a_description(proposal in "\\PC{0,1200}") {
            if let Ok(description) = check(&proposal, QUERIES, &[]) {
                prop_assert!(!description.is_empty() && description.chars().count() <= MAX_CHARACTERS);
                prop_assert!(!description.contains(['<', '>', '\n', '\r', '\t']));
                prop_assert_eq!(description.trim(), &description);
            }
        }
    }
}
