//! `github`.

use skillgauge_core::finding::{Level, Place};
use skillgauge_core::output::{Github, Paths, Scope};
use skillgauge_core::text::Span;

use crate::fixture::{Fixture, finding, made, whole};

#[test]
fn each_finding_is_an_annotation() {
    let fixture = Fixture::new();
    let text = whole(&Github::new(fixture.paths()), &fixture.all(), Scope::ManySkills);
    insta::assert_snapshot!("github_many", fixture.anonymous(&text));
}

#[test]
fn a_valid_skill_alone_is_only_a_summary() {
    let fixture = Fixture::new();
    let text = whole(&Github::new(fixture.paths()), &[fixture.check("good")], Scope::OneSkill);
    assert_eq!(text, "1 skill checked, 0 not valid: 0 errors, 0 warnings\n");
}

#[test]
fn a_skill_cannot_end_a_property_or_a_line() {
    let mut hostile = finding(Level::Error, Place::skill_md(Span::new(0, 3)), "a\r\n::set-env::b");
    hostile.hint = Some("50% off\n::error::c".to_owned());
    let checked = made("skills/a,line=1:2\n::x", "---\n", vec![hostile]);
    let github = Github::new(Paths::new("/project".into(), &[]));
    let text = whole(&github, &[checked], Scope::OneSkill);
    assert_eq!(
        text.lines().next(),
        Some(
            "::error file=skills/a%2Cline=1%3A2%0A%3A%3Ax/SKILL.md,line=1,col=1,endColumn=4,\
             title=NAME_FORMAT::a%0D%0A::set-env::b%0A50%25 off%0A::error::c"
        )
    );
    assert_eq!(text.lines().count(), 2);
}
