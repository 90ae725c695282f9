//! How well a judge agrees with people, and what that makes of its rates.
//!
//! ```text
//! feedback.json, labels.json --labels--> verdicts of people --pair--> verdicts of the judge --> Calibration (calibration.json)
//! calibration.json + Iteration --correct--> pass rates with the judge's mistakes taken out (benchmark)
//! ```
//!
//! A calibration is bound to the judge (model, votes, digest of its prompt) and to the suite: another prompt is another judge,
//! and how well expectations can be judged depends on the expectations. Labels of the same judge and suite add up.

mod correct;
mod gate;
mod labels;
mod sample;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillgauge_format::evals::{
    Calibration, Calibrations, Estimate, LabelledVerdict, MeasuredJudge,
};
use skillgauge_format::part::{GradedExpectation, Timestamp};
use skillgauge_format::write::{WriteError, round_rate, to_text};
use skillgauge_format::{Extra, ReadError, read};

use crate::iteration::{Iteration, Run};
use crate::statistics::{Accuracy, Measured};
use crate::text::sha256;
use crate::workspace::{WorkspaceError, write_atomically};

pub(crate) use correct::correct;
pub use gate::{GateRefusal, check_gate, check_iteration};
use labels::Pair;
pub use labels::{Label, LabelError, Unused, of_feedback, of_file};
pub use sample::{Drawn, sample};

/// The seed of everything that is drawn here: the same labels give the same digits.
const SEED: u64 = 42;

/// From so many labels on a judge counts as measured.
pub const FEWEST_LABELS: u64 = 20;

/// What became of the labels.
#[derive(Debug)]
pub struct Calibrated {
    /// One for each judge that the runs were judged by.
    pub calibrations: Vec<Calibration>,
    /// Labels that nothing was compared with.
    pub unused: Vec<Unused>,
}

/// Why calibrations cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    #[error("{}: {source}", path.display())]
    Broken {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
    #[error(transparent)]
    Json(#[from] WriteError),
    #[error(transparent)]
    Unwritable(#[from] WorkspaceError),
}

/// Compares labels with what the judge decided about the same expectations of the same runs, and adds them to those that the
/// workspace has of this judge and suite.
pub fn calibrate(
    iteration: &Iteration,
    labels: &[Label],
    timestamp: Option<&Timestamp>,
) -> Result<Calibrated, LabelError> {
    let (pairs, unused) = labels::pair(iteration, labels)?;
    let suite_digest = suite_digest(iteration);
    let mut by_judge: BTreeMap<MeasuredJudge, BTreeMap<String, LabelledVerdict>> = BTreeMap::new();
    for Pair { judge, label, run, verdict } in pairs {
        let known = || {
            let is_same =
                |old: &&Calibration| old.judge == judge && old.suite_digest == suite_digest;
            let old = iteration.calibrations.iter().find(is_same);
            let verdicts = old.into_iter().flat_map(|old| old.verdicts.iter().cloned());
            verdicts.map(|verdict| (verdict.id.clone(), verdict)).collect()
        };
        let all = by_judge.entry(judge.clone()).or_insert_with(known);
        let id = verdict_id(iteration, run, &verdict.text);
        if let Some(old) = all.get(&id).filter(|old| old.passed != label.passed) {
            return Err(LabelError::changed(label, old.passed));
        }
        let labelled = LabelledVerdict {
            id: id.clone(),
            passed: label.passed,
            judged: verdict.passed,
            voided: verdict.voided == Some(true),
            extra: Extra::new(),
        };
        all.insert(id, labelled);
    }
    let of = |(judge, verdicts): (MeasuredJudge, BTreeMap<String, LabelledVerdict>)| {
        let verdicts: Vec<LabelledVerdict> = verdicts.into_values().collect();
        let found = Accuracy::of(verdicts.iter().map(|one| (one.passed, one.judged)));
        let voided = verdicts.iter().filter(|one| one.passed && one.voided);
        let count = |number: usize| number as u64;
        Calibration {
            judge,
            suite_digest: suite_digest.clone(),
            timestamp: timestamp.cloned(),
            labels: count(found.labels()),
            both_pass: count(found.0.true_positive),
            both_fail: count(found.0.true_negative),
            false_pass: count(found.0.false_positive),
            false_fail: count(found.0.false_negative),
            voided: count(voided.count()),
            agreement: found.agreement().map(estimate),
            kappa: found.kappa(SEED).map(estimate),
            sensitivity: found.sensitivity().map(estimate),
            specificity: found.specificity().map(estimate),
            can_tell: found.can_tell(SEED),
            verdicts,
            extra: Extra::new(),
        }
    };
    Ok(Calibrated { calibrations: by_judge.into_iter().map(of).collect(), unused })
}

/// How many digits tell runs, or verdicts, apart.
const ID_DIGITS: usize = 16;

/// What a run is called where nobody should see its configuration.
fn neutral_id(iteration: &Iteration, run: &Run) -> String {
    let folder = || iteration.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let of = match &iteration.record {
        Some(record) => format!("{}\0{}", record.key, record.started),
        None => folder().unwrap_or_default(),
    };
    sha256(format!("{of}\0{}", run.folder))[..ID_DIGITS].to_owned()
}

fn verdict_id(iteration: &Iteration, run: &Run, expectation: &str) -> String {
    let run = neutral_id(iteration, run);
    sha256(format!("{run}\0{}", expectation.trim()))[..ID_DIGITS].to_owned()
}

/// Where the calibrations of a workspace are.
pub fn file(workspace: &Path) -> PathBuf {
    workspace.join("calibration.json")
}

/// The calibrations of a workspace; none when there is no file.
pub fn load(workspace: &Path) -> Result<Calibrations, CalibrationError> {
    let path = file(workspace);
    match fs_err::read(&path) {
        Ok(bytes) => match read::<Calibrations>(&bytes) {
            Ok(found) => Ok(found.value),
            Err(source) => Err(CalibrationError::Broken { path, source }),
        },
        Err(_) => Ok(Calibrations::default()),
    }
}

/// Keeps calibrations in the place of those of the same judge and suite.
pub fn keep(workspace: &Path, new: &[Calibration]) -> Result<PathBuf, CalibrationError> {
    let mut known = load(workspace)?;
    let is_replaced = |old: &Calibration| {
        new.iter().any(|new| new.judge == old.judge && new.suite_digest == old.suite_digest)
    };
    known.calibrations.retain(|old| !is_replaced(old));
    known.calibrations.extend_from_slice(new);
    let path = file(workspace);
    write_atomically(&path, to_text(&known)?.as_bytes())?;
    Ok(path)
}

/// The digest of the suite that an iteration measured. Other tools keep none: theirs is over the expectations.
pub(crate) fn suite_digest(iteration: &Iteration) -> String {
    if let Some(record) = &iteration.record {
        return record.suite_digest.clone();
    }
    let mut texts: Vec<String> = Vec::new();
    for case in &iteration.cases {
        let of_run = |run: &Run| -> Vec<String> {
            judged(run).map(|verdict| format!("{}\0{}", case.id, verdict.text)).collect()
        };
        texts.extend(case.runs.iter().flat_map(of_run));
    }
    texts.sort();
    texts.dedup();
    format!("sha256:{}", sha256(texts.join("\n")))
}

/// The verdicts of a run that a judge gave.
fn judged(run: &Run) -> impl Iterator<Item = &GradedExpectation> {
    run.verdicts.iter().filter(|verdict| is_judged(verdict))
}

/// Whether a judge decided it: not a program, and not the gate.
fn is_judged(verdict: &GradedExpectation) -> bool {
    verdict.check_type.is_none() && verdict.not_judged.is_none()
}

/// How often the judge was right, from the counts that were kept.
fn accuracy(calibration: &Calibration) -> Accuracy {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Accuracy(crate::statistics::Confusion {
        true_positive: count(calibration.both_pass),
        false_positive: count(calibration.false_pass),
        false_negative: count(calibration.false_fail),
        true_negative: count(calibration.both_fail),
    })
}

pub(crate) fn estimate(measured: Measured) -> Estimate {
    let rounded = |number: f64| round_rate(number).into();
    let Measured { value, interval } = measured;
    Estimate {
        mean: rounded(value),
        low: rounded(interval.low),
        high: rounded(interval.high),
        extra: Extra::new(),
    }
}

#[cfg(test)]
mod tests;
