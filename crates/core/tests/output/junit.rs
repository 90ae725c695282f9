//! `junit`.

use roxmltree::{Document, Node};
use skillgauge_core::finding::{Level, Place};
use skillgauge_core::output::{Junit, Paths, Scope};
use skillgauge_core::text::Span;

use crate::fixture::{Fixture, finding, made, whole};

fn children<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Vec<Node<'a, 'i>> {
    node.children().filter(|child| child.has_tag_name(name)).collect()
}

#[test]
fn skills_are_suites_and_rules_are_cases() {
    let fixture = Fixture::new();
    let text = whole(&Junit::new(fixture.paths()), &fixture.all(), Scope::ManySkills);
    insta::assert_snapshot!("junit_many", fixture.anonymous(&text));
}

#[test]
fn one_skill_is_one_suite() {
    let fixture = Fixture::new();
    let text = whole(&Junit::new(fixture.paths()), &[fixture.check("good")], Scope::OneSkill);
    insta::assert_snapshot!("junit_one", fixture.anonymous(&text));
}

#[test]
fn counts_are_those_of_the_cases() {
    let fixture = Fixture::new();
    let text = whole(&Junit::new(fixture.paths()), &fixture.all(), Scope::ManySkills);
    let document = Document::parse(&text).unwrap();
    let suites = children(document.root_element(), "testsuite");
    assert_eq!(suites.len(), 3);
    for suite in suites {
        let cases = children(suite, "testcase");
        let failures: usize = cases.iter().map(|case| children(*case, "failure").len()).sum();
        assert_eq!(suite.attribute("tests"), Some(&*cases.len().to_string()));
        assert_eq!(suite.attribute("failures"), Some(&*failures.to_string()));
        assert_eq!(failures == 0, cases.iter().any(|c| c.attribute("name") == Some("valid")));
        assert!(cases.iter().all(|case| case.attribute("classname") == suite.attribute("name")));
    }
}

#[test]
fn findings_of_one_rule_share_a_case_that_lists_them_all() {
    let errors = [(0, "first"), (4, "second"), (4, "third")].map(|(start, message)| {
        finding(Level::Error, Place::skill_md(Span::new(start, start + 1)), message)
    });
    let checked = made("a", "---\n---\n", errors.into());
    let text = whole(&Junit::new(Paths::new("/p".into(), &[])), &[checked], Scope::OneSkill);
    let document = Document::parse(&text).unwrap();
    let failures: Vec<Node<'_, '_>> =
        document.descendants().filter(|node| node.has_tag_name("failure")).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].attribute("message"), Some("first (and 2 more)"));
    assert_eq!(
        failures[0].text(),
        Some(
            "a/SKILL.md:1:1: error: first\na/SKILL.md:2:1: error: second\na/SKILL.md:2:1: error: third\n"
        )
    );
}

#[test]
fn hostile_names_and_messages_survive() {
    let message = "]]> <failure> & \"quoted\" \0 \u{1b}[31m\n\ttab";
    let readable = "]]> <failure> & \"quoted\" \u{fffd} \u{fffd}[31m\n\ttab";
    let mut error = finding(Level::Error, Place::folder(), message);
    error.hint = Some("<!--".to_owned());
    let warning = finding(Level::Warning, Place::folder(), message);
    let checked = made("a\"b<c>&]]>\u{1b}", "", vec![error, warning]);
    let text = whole(&Junit::new(Paths::new("/p".into(), &[])), &[checked], Scope::OneSkill);
    let document = Document::parse(&text).unwrap();
    let suite = children(document.root_element(), "testsuite")[0];
    let name = "a\"b<c>&]]>\u{fffd}";
    assert_eq!(suite.attribute("name"), Some(name));
    let case = children(suite, "testcase")[0];
    let failure = children(case, "failure")[0];
    assert_eq!(failure.attribute("message"), Some(readable));
    assert_eq!(failure.text(), Some(&*format!("{name}: error: {readable}\nhint: <!--\n")));
    let output = children(case, "system-out")[0];
    assert_eq!(output.text(), Some(&*format!("{name}: warning: {readable}\n")));
}
