//! Finds versions that have learnt the exam by heart: their files repeat expectations of the suite word for word.

use skillgauge_format::improve::Round;

use crate::analysis::SkillFiles;
use crate::text::plural;
use crate::version::VersionNumber;

/// Shorter expectations, such as "The file exists", stand in many skills by chance.
const FEWEST_WORDS: usize = 5;

/// The expectations that the files of a version repeat, and those of the baseline do not.
///
/// Words are compared: case, white space, punctuation and Markdown marks do not matter.
pub fn repeated<'e>(
    expectations: impl IntoIterator<Item = &'e str>,
    baseline: &SkillFiles,
    version: &SkillFiles,
) -> Vec<String> {
    let [before, after] = [baseline, version]
        .map(|files| files.texts.values().map(|text| words(text).0).collect::<Vec<String>>());
    let mut found: Vec<String> = Vec::new();
    for expectation in expectations {
        let (text, count) = words(expectation);
        let is_in = |files: &[String]| files.iter().any(|file| file.contains(&text));
        if count >= FEWEST_WORDS
            && is_in(&after)
            && !is_in(&before)
            && !found.iter().any(|known| known == expectation)
        {
            found.push(expectation.to_owned());
        }
    }
    found
}

/// The words, each between blanks, and how many they are.
fn words(text: &str) -> (String, usize) {
    let mut out = String::from(" ");
    let mut count = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
        count += 1;
    }
    (out, count)
}

/// What is said about a version that repeats expectations.
pub fn repeats_sentence(round: &Round) -> Option<String> {
    let count = round.repeats.len();
    (count > 0).then(|| {
        let version = VersionNumber(round.version);
        format!("{version} repeats {} word for word", plural(count, "expectation"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[&str]) -> SkillFiles {
        let named = (0..).zip(texts).map(|(n, text): (u32, _)| (n.to_string(), (*text).to_owned()));
        SkillFiles { texts: named.collect(), left_out: Vec::new() }
    }

    #[test]
    fn only_whole_new_expectations_of_some_length_are_found() {
        let all = [
            "The report has a total in the last line.",
            "Every section starts with a short summary",
            "It has a title",
            "Every section starts with a short summary",
            "A table lists all of the findings",
        ];
        let before = files(&["# A table lists all of the findings"]);
        let after = files(&[
            "Write so that the **report has a total\n  in the last line**.",
            "- THE report has a total in the `last line`; every section starts\nwith a short summary.",
            "It has a title. A table lists all of the findings",
        ]);
        assert_eq!(repeated(all, &before, &after), [all[0], all[1]]);
        // A part of an expectation, or one inside longer words, is not the expectation.
        let parts =
            files(&["The report has a total in the last linen", "Every section starts with a"]);
        assert_eq!(repeated(all, &before, &parts), Vec::<String>::new());
        assert_eq!(repeated(all, &after, &after), Vec::<String>::new());
        let round = Round { repeats: vec![all[0].to_owned()], ..Round::new(2) };
        assert_eq!(repeats_sentence(&round).unwrap(), "v2 repeats 1 expectation word for word");
        assert_eq!(repeats_sentence(&Round::new(2)), None);
    }
}
