use proptest::prelude::*;
use skillgauge_format::read;
use skillgauge_format::trigger::{RouteBasis, RouteReport, TriggerItem, TriggerSet};

use super::*;
use crate::estimate::Described;

fn skill(name: &str, queries: &[(&str, bool)]) -> RouteSkill {
    let items = queries.iter().map(|(text, label)| TriggerItem::new(*text, *label)).collect();
    RouteSkill {
        described: Described { name: name.to_owned(), description: format!("Does {name} things") },
        set: Some(TriggerSet::List(items)),
    }
}

fn two() -> Vec<RouteSkill> {
    vec![
        skill(
            "csv",
            &[("sum the csv", true), ("fill the form", false), ("bake", false), ("chart", true)],
        ),
        skill("pdf", &[("fill the form", true), ("sing", false)]),
    ]
}

fn reported(takes: &[Vec<Take>]) -> RouteReport {
    let skills = two();
    let settings = Settings { threshold: 0.5, basis: RouteBasis::Measured };
    report(&skills, &plan(&skills), takes, settings)
}

#[test]
fn a_query_of_two_sets_knows_who_wants_and_who_refuses_it() {
    let queries = plan(&two());
    assert_eq!(queries.len(), 5);
    assert_eq!(queries[1].text, "fill the form");
    assert_eq!((&queries[1].wanted_by[..], &queries[1].refused_by[..]), (&[1][..], &[0][..]));
    assert_eq!((&queries[2].wanted_by[..], &queries[2].refused_by[..]), (&[][..], &[0][..]));
}

#[test]
fn the_matrix_counts_runs_by_who_wanted_and_who_took() {
    use Take::{Error, None, Skill};
    let report = reported(&[
        vec![Skill(0), Skill(0), Error],
        vec![Skill(0), Skill(0), Skill(1)],
        vec![Skill(1), None, None],
        vec![Error, Error, Error],
        vec![Skill(1), None, None],
    ]);
    assert_eq!(report.matrix.labels, ["csv", "pdf", "none"]);
    assert_eq!(report.matrix.rows, [[2, 0, 0], [2, 1, 0], [0, 2, 4]]);
    let passes: Vec<Option<bool>> = report.results.iter().map(|result| result.pass).collect();
    // Nobody says that pdf must not bake; it is not measured whether csv charts; pdf sang once, which it must not.
    assert_eq!(passes, [Some(true), Some(false), Some(true), Option::None, Some(true)]);
    let [csv, pdf] = &report.skills[..] else { panic!() };
    assert_eq!((csv.queries, csv.runs, csv.hits, csv.false_fires), (2, 2, 2, 2));
    assert_eq!((pdf.queries, pdf.runs, pdf.hits, pdf.false_fires), (1, 3, 1, 1));
    assert_eq!(report.collisions.len(), 1);
    assert_eq!(report.collisions[0].queries, ["fill the form"]);
    assert_eq!((report.collisions[0].runs, report.summary.unmeasured), (2, 1));
}

#[test]
fn a_query_that_nobody_took_although_a_skill_wants_it_fails() {
    let report = reported(&[vec![Take::None], vec![], vec![], vec![], vec![]]);
    assert_eq!(report.results[0].pass, Some(false));
    assert_eq!(report.matrix.rows[0], [0, 0, 1]);
    assert_eq!(report.summary.failed, 1);
}

#[test]
fn the_estimate_routes_by_words_and_says_what_it_is() {
    let skills = vec![
        RouteSkill {
            described: Described {
                name: "csv-report".to_owned(),
                description: "Summarises CSV tables and finds outliers in columns".to_owned(),
            },
            set: Some(TriggerSet::List(vec![
                TriggerItem::new("find outliers in the columns of my csv table", true),
                TriggerItem::new("bake a cake", false),
            ])),
        },
        RouteSkill {
            described: Described {
                name: "pdf-forms".to_owned(),
                description: "Fills in PDF forms and extracts fields from acroforms".to_owned(),
            },
            set: None,
        },
    ];
    let report = estimate(&skills, crate::estimate::Settings::default());
    assert_eq!(report.basis, RouteBasis::Estimate);
    assert_eq!((report.summary.passed, report.summary.failed), (2, 0));
    let text = render_text(&report);
    assert!(text.starts_with("ESTIMATE from words alone; nothing was measured"), "{text}");
    assert!(text.contains("pdf-forms has no trigger set"), "{text}");
}

proptest! {
    #[test]
    fn any_takes_make_a_report_that_adds_up(
        takes in proptest::collection::vec(proptest::collection::vec(0..4_usize, 0..5), 0..6)
    ) {
        let takes: Vec<Vec<Take>> = takes
            .into_iter()
            .map(|takes| {
                let take = |number| match number {
                    0 | 1 => Take::Skill(number),
                    2 => Take::None,
                    _ => Take::Error,
                };
                takes.into_iter().map(take).collect()
            })
            .collect();
        let report = reported(&takes);
        let text = skillgauge_format::write::to_text(&report).unwrap();
        let back = read::<RouteReport>(text.as_bytes()).unwrap();
        prop_assert!(back.warnings.is_empty());
        prop_assert_eq!(&back.value, &report);
        let summary = &report.summary;
        prop_assert_eq!(summary.passed + summary.failed + summary.unmeasured, summary.total);
        let completed: u64 = report.results.iter().map(|result| result.runs - result.errors).sum();
        let counted: u64 = report.matrix.rows.iter().flatten().sum();
        prop_assert_eq!(completed, counted);
        prop_assert!(render_text(&report).contains("queries went where they should"));
    }
}
