//! The positive control: shows that triggering is possible at all before anything is measured.

use std::sync::Arc;

use skillgauge_core::trigger::Answer;
use tokio_util::sync::CancellationToken;

use super::error::ProbeError;
use super::event::ProbeEvent;
use super::journal::Journal;
use super::prober::{Batch, Prober};
use super::result::{ProbeResult, Spending};
use super::spec::ProbeSpec;

/// How often a control may end without a trigger: a model may do something else once.
const TRIES: u32 = 2;

/// Runs the control. Only one that triggered is kept: one that failed is tried again by the next call.
pub(crate) async fn control(
    prober: &Arc<Prober>,
    spec: &ProbeSpec,
    skill: &str,
    journal: Option<&Journal>,
    cancel: &CancellationToken,
    on_event: &mut (dyn FnMut(ProbeEvent<'_>) + Send),
) -> Result<ProbeResult, ProbeError> {
    if let Some(known) = journal.and_then(|journal| journal.known(&spec.id)) {
        return Ok(known.clone());
    }
    on_event(ProbeEvent::ControlStarted { query: spec.query() });
    let mut spent = Spending::default();
    let mut tries = 0;
    loop {
        tries += 1;
        let batch = Batch { specs: vec![spec.clone()], ..Batch::default() };
        let ran = prober.carry_out(batch, cancel, &mut |_| ()).await?;
        let Some(mut result) = ran.results.into_iter().flatten().next() else {
            return Err(match ran.stopped.filter(|_| !cancel.is_cancelled()) {
                Some(halt) => halt.nothing_measured(),
                None => ProbeError::Cancelled { measured: 0, probes: 1 },
            });
        };
        spent.add(&result.spending);
        let answer = result.observation.answer(skill);
        if answer == Answer::NotTriggered && tries < TRIES {
            continue;
        }
        on_event(ProbeEvent::ControlEnded { observation: &result.observation });
        if !matches!(answer, Answer::Triggered(_)) {
            return Err(ProbeError::Control {
                skill: skill.to_owned(),
                query: spec.query().to_owned(),
                observation: Box::new(result.observation),
            });
        }
        result.spending = spent;
        if let Some(journal) = journal {
            journal.keep(&result)?;
        }
        return Ok(result);
    }
}
