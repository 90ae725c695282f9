//! Whether a judge may decide about an exit code.

use std::fmt;

use skillgauge_format::evals::{Calibration, Calibrations, MeasuredJudge};

use super::{FEWEST_LABELS, judged, suite_digest};
use crate::iteration::Iteration;

/// Why a judge may not decide.
#[derive(Debug, PartialEq, Eq)]
pub enum GateRefusal {
    /// Nobody has measured this judge.
    Unmeasured { judge: String, otherwise: Option<Otherwise> },
    /// There are too few labels.
    TooFew { judge: String, labels: u64 },
    /// By its labels it could be guessing.
    Guessing { judge: String, labels: u64 },
}

/// What the nearest calibration differs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    Suite,
    Prompt,
    Votes,
}

impl fmt::Display for GateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmeasured { judge, otherwise } => {
                write!(f, "the judge {judge} has not been measured on this suite")?;
                match otherwise {
                    Some(Otherwise::Suite) => f.write_str(": its calibration is of another suite"),
                    Some(Otherwise::Prompt) => {
                        f.write_str(": its calibration is of another prompt")
                    }
                    Some(Otherwise::Votes) => {
                        f.write_str(": its calibration is of another number of votes")
                    }
                    None => Ok(()),
                }
            }
            Self::TooFew { judge, labels } => write!(
                f,
                "the judge {judge} was measured by {labels} labels only; {FEWEST_LABELS} are needed"
            ),
            Self::Guessing { judge, labels } => {
                write!(f, "by its {labels} labels the judge {judge} could be guessing")
            }
        }
    }
}

impl GateRefusal {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unmeasured { .. } | Self::TooFew { .. } => {
                "`skillgauge calibrate --sample 30` picks verdicts to label; or leave out --judge-gate"
            }
            Self::Guessing { .. } => {
                "choose another judge, or make the expectations easier to judge; `skillgauge calibrate` shows where it is wrong"
            }
        }
    }
}

/// Whether the judge was measured on the suite, and knows more than a coin.
pub fn check_gate(
    known: &Calibrations,
    judge: &MeasuredJudge,
    suite_digest: &str,
) -> Result<(), GateRefusal> {
    let is_right =
        |found: &&Calibration| found.judge == *judge && found.suite_digest == suite_digest;
    let Some(found) = known.calibrations.iter().find(is_right) else {
        let of_model =
            || known.calibrations.iter().filter(|found| found.judge.model == judge.model);
        let otherwise = of_model()
            .map(|found| {
                if found.judge == *judge {
                    Otherwise::Suite
                } else if found.judge.prompt_digest == judge.prompt_digest {
                    Otherwise::Votes
                } else {
                    Otherwise::Prompt
                }
            })
            .next();
        return Err(GateRefusal::Unmeasured { judge: judge.model.clone(), otherwise });
    };
    let (judge, labels) = (judge.model.clone(), found.labels);
    if labels < FEWEST_LABELS {
        Err(GateRefusal::TooFew { judge, labels })
    } else if !found.can_tell {
        Err(GateRefusal::Guessing { judge, labels })
    } else {
        Ok(())
    }
}

/// Whether every judge of an iteration was measured on its suite. Where no judge decided anything, nobody has to be.
pub fn check_iteration(iteration: &Iteration) -> Result<(), GateRefusal> {
    let known =
        Calibrations { calibrations: iteration.calibrations.clone(), ..Calibrations::default() };
    let suite = suite_digest(iteration);
    let unknown =
        MeasuredJudge { model: "of these gradings".to_owned(), ..MeasuredJudge::default() };
    let mut judges: Vec<&MeasuredJudge> = iteration
        .runs()
        .filter(|run| judged(run).next().is_some() || run.rubric.is_some())
        .map(|run| run.judged_by.as_ref().unwrap_or(&unknown))
        .collect();
    judges.sort();
    judges.dedup();
    judges.into_iter().try_for_each(|judge| check_gate(&known, judge, &suite))
}
