//! The two conventions of skill writing that a program decides: front matter, and the length of the body.

use skillgauge_format::cases::ConventionCheck;

use crate::finding::Level;
use crate::profile::Policy;
use crate::skill::Skill;
use crate::validate;

/// How many words a body should stay below: what skill authors recommend for a skill that is loaded on demand.
pub const WORD_TARGET: usize = 500;

/// Whether the skill has a valid front matter: the result of `skillgauge validate`.
pub fn front_matter(skill: &Skill) -> ConventionCheck {
    let Some(document) = skill.document() else {
        return check(false, "There is no SKILL.md that can be read".to_owned());
    };
    // The folder of a stored version is not called as the skill is; that is no fault of its front matter.
    let policy = Policy { ignored: vec![FOLDER_NAME], ..Policy::default() };
    let findings = validate::findings(skill, &policy);
    let errors: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .map(|finding| finding.rule.code)
        .collect();
    if !errors.is_empty() {
        return check(false, format!("Validation finds {}", errors.join(", ")));
    }
    let has = |key: &str| document.entry(key).is_some();
    let missing: Vec<&str> = ["name", "description"].into_iter().filter(|key| !has(key)).collect();
    if missing.is_empty() {
        check(true, "Valid YAML, name and description present".to_owned())
    } else {
        check(false, format!("Valid YAML without {}", missing.join(" and ")))
    }
}

/// The rule about the name of a skill's folder.
const FOLDER_NAME: &str = "NAME_FOLDER_MISMATCH";

/// Whether the body is short: its words against [`WORD_TARGET`].
pub fn token_efficiency(skill: &Skill) -> ConventionCheck {
    let Some(document) = skill.document() else {
        return check(false, "There is no SKILL.md that can be read".to_owned());
    };
    let words = document.body().split_whitespace().count();
    let passed = words < WORD_TARGET;
    let side = if passed { "under" } else { "over" };
    check(passed, format!("{words} words, {side} {WORD_TARGET} target"))
}

fn check(passed: bool, details: String) -> ConventionCheck {
    ConventionCheck { passed, details, ..ConventionCheck::default() }
}
