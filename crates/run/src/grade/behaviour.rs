//! Grades behaviour from any transcript.

use skillgauge_core::judge::grading::{disagreements_of_behaviour, grade_behaviour as compute};
use skillgauge_core::judge::material::{Blind, Material, Sources};
use skillgauge_core::judge::question;
use skillgauge_core::judge::template::TemplateKind;
use skillgauge_format::part::{Grader, Statement};
use skillgauge_format::transcript::Transcript;
use skillgauge_format::trigger::BehaviourGrading;
use tokio_util::sync::CancellationToken;

use super::judge::{Caution, Judge, Subject};

/// Grades a transcript by assertions about it: the grading, or why there is none, and what a reader should know before
/// believing it.
pub async fn grade_behaviour(
    transcript: &Transcript,
    assertions: &[Statement],
    judge: &Judge,
    cancel: &CancellationToken,
) -> (Result<BehaviourGrading, String>, Vec<Caution>) {
    // There are no arms: what a transcript shows of a skill may be what the assertions are about.
    let blind = Blind::default();
    let sources = Sources {
        transcript: Some(transcript),
        outputs: None,
        record: None,
        skill: None,
        blind: &blind,
        key: judge.key,
    };
    let template = judge.templates.get(TemplateKind::Behaviour);
    let subject = Subject {
        gather: &|budget| Material::gather(&sources, budget),
        question: &|material, asked| {
            question::behaviour(assertions, material, template, judge.key, asked)
        },
    };
    let (mut asked, record, material) = judge.put(&subject, cancel).await;
    let executor = transcript.header.model.as_deref();
    asked.cautions.extend(judge.same_model(executor, record.answered_by.as_deref()));
    let grading = if asked.is_cancelled {
        Err("the grading was cancelled".to_owned())
    } else {
        compute(assertions, &asked.votes, &material.corpus).map_err(|error| error.to_string())
    };
    let grading = grading.map(|mut grading| {
        let disagreements = disagreements_of_behaviour(&grading);
        let warnings = asked.cautions.iter().map(ToString::to_string).collect();
        let record = Grader { disagreements, warnings, ..record };
        grading.grader = Some(record);
        grading
    });
    (grading, asked.cautions)
}
