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
    let settings = Settings { threshold: 0.5, runs: 0, basis: RouteBasis::Measured };
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

/// A run that loads these.
fn loads(skills: &[usize]) -> Take {
    Take::Loaded(skills.to_vec())
}

fn passes(report: &RouteReport) -> Vec<Option<bool>> {
    report.results.iter().map(|result| result.pass).collect()
}

#[test]
fn the_matrix_counts_runs_by_who_wanted_and_who_took() {
    let [csv, pdf, none] = [&[0][..], &[1], &[]].map(loads);
    let report = reported(&[
        vec![csv.clone(), csv.clone(), Take::Error],
        vec![csv.clone(), csv, pdf.clone()],
        vec![pdf.clone(), none.clone(), none.clone()],
        vec![Take::Error, Take::Error, Take::Error],
        vec![pdf, none.clone(), none],
    ]);
    assert_eq!(report.matrix.labels, ["csv", "pdf", "none"]);
    assert_eq!(report.matrix.rows, [[2, 0, 0], [2, 1, 0], [0, 2, 4]]);
    assert_eq!(passes(&report), [Some(true), Some(false), Some(true), None, Some(true)]);
    let [csv, pdf] = &report.skills[..] else { panic!() };
    assert_eq!((csv.queries, csv.runs, csv.hits, csv.false_fires), (2, 2, 2, 2));
    assert_eq!((pdf.queries, pdf.runs, pdf.hits, pdf.false_fires), (1, 3, 1, 2));
    assert_eq!(report.collisions.len(), 1);
    assert_eq!(report.collisions[0].queries, ["fill the form"]);
    assert_eq!((report.collisions[0].runs, report.summary.undecided), (2, 1));
}

#[test]
fn a_query_that_nobody_took_although_a_skill_wants_it_fails() {
    let report = reported(&[vec![loads(&[])], vec![], vec![], vec![], vec![]]);
    assert_eq!(report.results[0].pass, Some(false));
    assert_eq!(report.matrix.rows[0], [0, 0, 1]);
    assert_eq!(report.summary.failed, 1);
}

#[test]
fn a_query_that_nobody_wants_and_a_skill_takes_is_its_false_fire_and_fails() {
    // csv refuses to bake; pdf says nothing about it, and takes it.
    let report = reported(&[vec![], vec![], vec![loads(&[1]), loads(&[1])], vec![], vec![]]);
    assert_eq!(report.results[2].pass, Some(false));
    assert_eq!(report.skills[1].false_fires, 2);
    assert!(render_text(&report).contains("pdf: no recall, 2 false fires"));
}

#[test]
fn a_run_that_loads_two_skills_counts_for_both() {
    let both = || loads(&[0, 1, 0]);
    let report = reported(&[vec![both(), both(), loads(&[0])], vec![], vec![], vec![], vec![]]);
    let one = &report.results[0];
    let taken: Vec<_> = one.taken_by.iter().map(|it| (it.skill.as_str(), it.runs)).collect();
    assert_eq!((taken, one.together), (vec![("csv", 3), ("pdf", 2)], 2));
    assert_eq!(one.pass, Some(false), "two of three runs loaded a skill that nobody asked for");
    let [csv, pdf] = &report.skills[..] else { panic!() };
    assert_eq!((csv.hits, csv.false_fires, pdf.false_fires), (3, 0, 2));
    let collision = &report.collisions[0];
    assert_eq!((collision.runs, collision.together), (2, 2));
    let text = render_text(&report);
    assert!(text.contains("csv and pdf collide in 2 runs, 2 of them with both loaded"), "{text}");
    assert!(text.contains("taken by csv 3/3, pdf 2/3, 2 with two or more loaded"), "{text}");
}

#[test]
fn errored_and_missing_runs_that_could_turn_a_query_leave_it_undecided() {
    let skills = two();
    let settings = Settings { threshold: 0.5, runs: 3, basis: RouteBasis::Measured };
    let takes = [
        vec![loads(&[0]), Take::Error, Take::Error],
        vec![loads(&[0])],
        vec![loads(&[]), loads(&[])],
        vec![loads(&[]), Take::Error, loads(&[])],
        vec![],
    ];
    let report = report(&skills, &plan(&skills), &takes, settings);
    assert_eq!(passes(&report), [None, None, Some(true), Some(false), None]);
    assert_eq!(report.results[1].runs_missing, 2);
    // What is undecided is in no recall and in no matrix.
    let counted: u64 = report.matrix.rows.iter().flatten().sum();
    assert_eq!(counted, 4, "two runs of each of the two decided queries");
    assert!(render_text(&report).contains("1 of 5 queries went where they should, 3 undecided"));
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
                    0 => loads(&[0]),
                    1 => loads(&[1, 0]),
                    2 => loads(&[]),
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
        prop_assert_eq!(summary.passed + summary.failed + summary.undecided, summary.total);
        let decided = || report.results.iter().filter(|result| result.pass.is_some());
        let completed: u64 = decided().map(|result| result.runs - result.errors).sum();
        let counted: u64 = report.matrix.rows.iter().flatten().sum();
        let twice: u64 = decided().map(|result| result.together).sum();
        prop_assert_eq!(completed + twice, counted);
        prop_assert!(render_text(&report).contains("queries went where they should"));
    }
}
