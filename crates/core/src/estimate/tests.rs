//! What an estimate says, and how often it is right: docs/estimate.md has these numbers, and a test holds them to it.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillgauge_format::read;
use skillgauge_format::trigger::TriggerItem;

use super::*;

fn testdata(part: &str) -> Vec<(Described, TriggerSet)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/estimate").join(part);
    let mut folders: Vec<PathBuf> =
        fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| skill_with_set(folder)).collect()
}

fn skill_with_set(folder: &Path) -> (Described, TriggerSet) {
    let skill = Described::of(&Skill::read(folder)).unwrap();
    let bytes = fs_err::read(folder.join("evals/triggers.json")).unwrap();
    (skill, read::<TriggerSet>(&bytes).unwrap().value)
}

/// Accuracy over all queries, and the mean AUC within a skill; each skill alone or beside all others.
fn quality(sets: &[(Described, TriggerSet)], settings: Settings, alone: bool) -> (f64, f64) {
    let (mut right, mut total, mut aucs) = (0_u32, 0_u32, Vec::new());
    for (index, (skill, set)) in sets.iter().enumerate() {
        let others = sets.iter().enumerate().filter(|(other, _)| *other != index && !alone);
        let neighbours: Vec<Described> = others.map(|(_, (skill, _))| skill.clone()).collect();
        let estimate = estimate(skill, &neighbours, set, settings);
        right += u32::try_from(estimate.summary.likely_right).unwrap();
        total += u32::try_from(estimate.summary.total).unwrap();
        aucs.push(estimate.summary.ranking_auc.unwrap().as_f64());
    }
    let mean = aucs.iter().sum::<f64>() / f64::from(u32::try_from(aucs.len()).unwrap());
    (f64::from(right) / f64::from(total), mean)
}

#[test]
fn the_threshold_is_the_best_one_on_the_sets_that_are_there_for_it() {
    let sets = testdata("threshold");
    let accuracy = |threshold| quality(&sets, Settings { threshold }, true).0;
    let best = (0..200).map(|step| accuracy(f64::from(step) / 20.0)).fold(0.0, f64::max);
    assert!((accuracy(DEFAULT_THRESHOLD) - best).abs() < 1e-9, "{best}");
}

#[test]
fn the_page_states_how_often_the_estimate_is_right() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/estimate.md");
    let page = fs_err::read_to_string(page).unwrap();
    for (part, title) in [("threshold", "set for the threshold"), ("held-out", "held out")] {
        let sets = testdata(part);
        let queries: usize = sets.iter().map(|(_, set)| set.queries().len()).sum();
        for (alone, with) in [(true, "alone"), (false, "beside each other")] {
            let (accuracy, auc) = quality(&sets, Settings::default(), alone);
            let row = format!(
                "| {title} | {} | {queries} | {with} | {:.0} % | {auc:.2} |",
                sets.len(),
                100.0 * accuracy
            );
            assert!(page.contains(&row), "docs/estimate.md must say\n{row}");
        }
    }
}

#[test]
fn it_says_which_words_caught_and_which_are_missing() {
    let (skill, _) = skill_with_set(
        &PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/estimate/held-out/pdf-forms"),
    );
    let set = TriggerSet::List(vec![
        TriggerItem::new("Extract the fields of my PDF invoice", true),
        TriggerItem::new("Bake a cake", false),
        TriggerItem::new("Bake a cake with a form", true),
    ]);
    let estimate = estimate(&skill, &[], &set, Settings::default());
    let [first, second, third] = &estimate.results[..] else { panic!("{estimate:?}") };
    assert_eq!(first.caught_by.len(), 3, "{first:?}");
    assert!(first.missing.contains(&"invoice".to_owned()) && first.likely_trigger, "{first:?}");
    assert!(second.likely_right && second.caught_by.is_empty(), "{second:?}");
    assert!(!third.likely_right, "{third:?}");
    let text = render_text(&estimate);
    assert!(text.starts_with("ESTIMATE for pdf-forms: an estimate from words alone"), "{text}");
    assert!(text.contains("not in the description: bake, cake"), "{text}");
    assert!(text.contains("2 of 3 likely right"), "{text}");
}

#[test]
fn a_neighbour_that_fits_better_takes_the_query() {
    let described = |name: &str, description: &str| Described {
        name: name.to_owned(),
        description: description.to_owned(),
    };
    let skill = described("tables", "Makes tables from text");
    let other = described("sql-tables", "Designs database tables and indexes for PostgreSQL");
    let set = TriggerSet::List(vec![TriggerItem::new("design postgresql tables", false)]);
    let estimate = estimate(&skill, &[other], &set, Settings { threshold: 0.5 });
    assert_eq!(estimate.results[0].taken_by.as_deref(), Some("sql-tables"));
    assert!(!estimate.results[0].likely_trigger);
}

#[test]
fn what_is_written_is_of_its_kind_and_of_no_other() {
    let (skill, set) = testdata("held-out").remove(0);
    let estimate = estimate(&skill, &[], &set, Settings::default());
    let text = skillgauge_format::write::to_text(&estimate).unwrap();
    let back = read::<TriggerEstimate>(text.as_bytes()).unwrap();
    assert!(back.warnings.is_empty(), "{:?}", back.warnings);
    assert_eq!(back.value, estimate);
    assert!(!text.contains("trigger_rate") && !text.contains("\"pass\""), "{text}");
    read::<skillgauge_format::trigger::TriggerReport>(text.as_bytes()).unwrap_err();
}

proptest! {
    #[test]
    fn no_text_breaks_it(description in "\\PC{0,60}", query in "\\PC{1,60}") {
        let skill = Described { name: "a".to_owned(), description };
        let set = TriggerSet::List(vec![TriggerItem::new(query, true)]);
        let estimate = estimate(&skill, std::slice::from_ref(&skill), &set, Settings::default());
        for result in &estimate.results {
            prop_assert!(result.score.as_f64().is_finite() && result.score.as_f64() >= 0.0);
        }
        prop_assert!(render_text(&estimate).contains("estimate, not a measurement"));
    }
}
