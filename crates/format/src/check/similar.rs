//! Did you mean?
//!
//! A field that we do not know is somebody's own, and kept. But when a field that we do know is missing and the unknown
//! one is nearly spelled like it, then it is a mistake that would otherwise be found out much later, or never.

/// Keys longer than this are not names of fields.
const LONGEST: usize = 64;

/// The candidate that `text` is most likely a misspelling of.
pub(crate) fn most_similar<'c>(
    text: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(text, candidate)?, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How far two names are apart when they are near enough to be the same.
///
/// Another style of the same words (`shouldTrigger`, `should-trigger`) or a plural is as near as one typing mistake.
/// Otherwise it depends on the length: `id` and `if` are different words, `critereon` and `criterion` are not.
fn distance(left: &str, right: &str) -> Option<usize> {
    if left == right || left.len() > LONGEST || right.len() > LONGEST {
        return None;
    }
    let (left, right) = (words(left), words(right));
    if left == right {
        return Some(0);
    }
    let is_plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one) && one.len() > 2;
    if is_plural(&left, &right) || is_plural(&right, &left) {
        return Some(1);
    }
    let allowed = match left.len().max(right.len()) {
        0..=3 => 0,
        4..=5 => 1,
        _ => 2,
    };
    if left.len().abs_diff(right.len()) > allowed {
        return None;
    }
    let distance = strsim::damerau_levenshtein(&left, &right);
    (distance <= allowed).then_some(distance)
}

/// A name without the marks that styles differ in.
fn words(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_and_other_styles_are_recognised() {
        let known = [
            "criterion",
            "description",
            "required",
            "should_trigger",
            "expectations",
            "id",
            "skill_name",
        ];
        for (found, meant) in [
            ("critereon", Some("criterion")),
            ("desciption", Some("description")),
            ("requierd", Some("required")),
            ("shouldTrigger", Some("should_trigger")),
            ("should-trigger", Some("should_trigger")),
            ("expectation", Some("expectations")),
            ("Skill Name", Some("skill_name")),
            ("ID", Some("id")),
            ("if", None),
            ("tags", None),
            ("notes", None),
            ("comment", None),
            ("skill_version", None),
        ] {
            assert_eq!(most_similar(found, known), meant, "{found}");
        }
    }

    #[test]
    fn the_nearest_name_wins() {
        assert_eq!(
            most_similar("train_pased", ["train_passed", "train_total"]),
            Some("train_passed")
        );
        assert_eq!(most_similar(&"a".repeat(1_000_000), ["aa"]), None);
    }
}
