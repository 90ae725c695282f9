//! Rules for what a judge decides: given away by the prompt, without content, there twice.

use super::report::Report;
use super::table::suite::{DUPLICATE_EXPECTATION, LEAKED_EXPECTATION, UNCHECKABLE};
use super::text::{Sequences, quoted, repeated, words};
use super::view::CaseView;

/// Shorter expectations stand in a prompt by chance.
const FEWEST_LEAKED_WORDS: usize = 4;

/// The share of an expectation's sequences from which it stands in the prompt.
const LEAKED: f64 = 0.8;

pub(super) fn check(case: &CaseView<'_>, report: &mut Report<'_>) {
    let prompt = case.prompt.as_ref().map(|prompt| words(prompt.text)).unwrap_or_default();
    let prompt = Sequences::of(&prompt, 3);
    for expectation in &case.expectations {
        let words = words(expectation.text);
        if words.is_empty() {
            continue;
        }
        if words.len() >= FEWEST_LEAKED_WORDS
            && Sequences::of(&words, 3).share_in(&prompt) >= LEAKED
        {
            let message = format!("{} stands in the prompt", quoted(expectation.text));
            let hint = "say what a good result has beyond what the prompt asks for".to_owned();
            report.add(&LEAKED_EXPECTATION, &expectation.spot, message, hint);
        }
        if is_empty_talk(expectation.text, &words) {
            let message =
                format!("{} states nothing that could be checked", quoted(expectation.text));
            let hint = "name what a person would look at: a file, a number, a section, an order"
                .to_owned();
            report.add(&UNCHECKABLE, &expectation.spot, message, hint);
        }
    }
    duplicates(case, report);
}

/// Words that say that all is well, and words that every sentence has.
const EMPTY_WORDS: &str = "\
    a accurate accurately achieved agent all an and answer any are as asked be been by can clear \
    clearly complete completed completely completes correct correctly desired did do does done \
    everything expectations expected fine finished follow followed follows for fully good has \
    have helpful in instructions is it its job made meets model must no of ok okay on output \
    outputs pass passes perfect perfectly problem problems produced produces prompt properly \
    quality request requested required requirements response result results right should skill \
    solved solves succeeded succeeds success successful successfully task that the there this to \
    useful user was well were what with without work worked working works";

/// Whether nothing particular is said. A quotation or a piece of code is always something particular.
fn is_empty_talk(text: &str, words: &[String]) -> bool {
    !text.contains(['`', '"', '\'', '“'])
        && words.iter().all(|word| EMPTY_WORDS.split(' ').any(|empty| empty == word))
}

/// Words that do not make a difference between two expectations.
const ARTICLES: &[&str] = &["a", "an", "the", "is", "are", "be", "should", "must", "that"];

fn duplicates(case: &CaseView<'_>, report: &mut Report<'_>) {
    let key = |text: &str| {
        let mut words = words(text);
        words.retain(|word| !ARTICLES.contains(&word.as_str()));
        words.sort_unstable();
        words
    };
    let texts: Vec<_> =
        case.expectations.iter().filter(|found| !key(found.text).is_empty()).collect();
    for (first, second) in repeated(texts.iter().map(|found| key(found.text))) {
        let message = format!(
            "{} is already said at {}",
            quoted(texts[second].text),
            report.place(&texts[first].spot)
        );
        report.add(
            &DUPLICATE_EXPECTATION,
            &texts[second].spot,
            message,
            "leave one of them out".to_owned(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_talk_has_no_word_of_its_own() {
        let is_empty = |text: &str| is_empty_talk(text, &words(text));
        for text in [
            "The output is correct.",
            "It works",
            "The task was completed successfully",
            "Follows the instructions",
        ] {
            assert!(is_empty(text), "{text}");
        }
        for text in [
            "The output is valid JSON",
            "It works offline",
            "Says `ok`",
            "Totals are in row 12",
            "输出正确",
        ] {
            assert!(!is_empty(text), "{text}");
        }
    }

    #[test]
    fn the_word_list_is_sorted_and_in_lower_case() {
        let words: Vec<&str> = EMPTY_WORDS.split(' ').collect();
        assert!(words.len() > 100 && words.is_sorted());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase())));
    }
}
