//! What a loop measures with: a description in, a report out.

use std::pin::Pin;
use std::sync::Arc;

use skillgauge_core::estimate::{self, Described, estimate};
use skillgauge_core::trigger::{LabelledQuery, metrics};
use skillgauge_format::Number;
use skillgauge_format::trigger::{
    QueryEstimate, QueryResult, TriggerEstimate, TriggerItem, TriggerMeasurement, TriggerReport,
    TriggerSet, TriggerSummary, Via,
};
use tokio_util::sync::CancellationToken;

use crate::probe::{
    Journal, JournalError, Measurement, ProbeCost, ProbeError, ProbeEvent, Prober, Sample,
    measure_sample,
};

/// Measures, or estimates, how a description does.
pub trait Measure: Send + Sync {
    fn basis(&self) -> Basis;

    /// How a description does on a sample; a probe that an earlier sample had in common is not made again. When `cancel`
    /// fires it ends soon.
    fn measure<'m>(
        &'m self,
        description: &'m str,
        sample: Sample<'m>,
        cancel: &'m CancellationToken,
        on_event: &'m mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Measuring<'m>;
}

pub type Measuring<'m> =
    Pin<Box<dyn Future<Output = Result<RoundReport, MeasureError>> + Send + 'm>>;

/// How it is found out how a description does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    Measured,
    Estimate,
}

#[derive(Clone, Debug)]
pub struct RoundReport {
    /// What the loop works with.
    pub report: TriggerReport,
    /// What is kept of the round: a measured report, or an estimate as what it is.
    pub file: RoundFile,
    /// What each probe cost.
    pub spent: Vec<ProbeCost>,
    /// Why it is not all that was asked for, if it is not.
    pub shortfall: Option<String>,
}

/// What is kept of a round.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundFile {
    Report(Box<TriggerReport>),
    Estimate(Box<TriggerEstimate>),
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("it was interrupted")]
    Cancelled,
    /// A limit on calls or cost was reached before anything was measured.
    #[error("{limit}")]
    Limit { limit: String },
    #[error(transparent)]
    Probe(ProbeError),
}

#[derive(Debug)]
pub struct ProbeMeasure {
    prober: Arc<Prober>,
    measurement: Measurement,
    journal: Journal,
}

impl ProbeMeasure {
    /// Of the skill with its own description; everything goes into one journal. Blocks.
    pub fn new(prober: Arc<Prober>, measurement: Measurement) -> Result<Self, JournalError> {
        let journal = match &measurement.journal {
            Some(folder) => Journal::at(&folder.join("probes.jsonl"), measurement.kept)?,
            None => Journal::in_memory(),
        };
        Ok(Self { prober, measurement, journal })
    }
}

impl Measure for ProbeMeasure {
    fn basis(&self) -> Basis {
        Basis::Measured
    }

    fn measure<'m>(
        &'m self,
        description: &'m str,
        sample: Sample<'m>,
        cancel: &'m CancellationToken,
        on_event: &'m mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Measuring<'m> {
        let mut measurement = self.measurement.clone();
        if description != measurement.description {
            measurement.skill = measurement.skill.with_description(description);
            description.clone_into(&mut measurement.description);
        }
        Box::pin(async move {
            let (prober, journal) = (&self.prober, Some(&self.journal));
            let measured =
                measure_sample(prober, &measurement, sample, journal, cancel, on_event).await;
            match measured {
                // Also when there is a part of a report: the next call resumes it.
                _ if cancel.is_cancelled() => Err(MeasureError::Cancelled),
                Ok(measured) => Ok(RoundReport {
                    file: RoundFile::Report(Box::new(measured.report.clone())),
                    report: measured.report,
                    spent: measured.spent,
                    shortfall: measured.shortfall.map(|shortfall| shortfall.reason),
                }),
                Err(ProbeError::Budget(over)) => {
                    Err(MeasureError::Limit { limit: over.to_string() })
                }
                Err(error) => Err(MeasureError::Probe(error)),
            }
        })
    }
}

/// Estimates from words alone. Nothing that it gives is a measured rate.
#[derive(Clone, Debug)]
pub struct EstimateMeasure {
    pub name: String,
    pub neighbours: Vec<Described>,
    pub settings: estimate::Settings,
}

impl Measure for EstimateMeasure {
    fn basis(&self) -> Basis {
        Basis::Estimate
    }

    fn measure<'m>(
        &'m self,
        description: &'m str,
        sample: Sample<'m>,
        cancel: &'m CancellationToken,
        _: &'m mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Measuring<'m> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(MeasureError::Cancelled);
            }
            let skill = Described { name: self.name.clone(), description: description.to_owned() };
            let items = sample.queries.iter().map(|query| {
                let item = TriggerItem::new(&query.text, query.should_trigger);
                item.asked_in(query.situation.clone())
            });
            let set = TriggerSet::List(items.collect());
            let estimate = estimate(&skill, &self.neighbours, &set, self.settings);
            Ok(RoundReport {
                report: as_report(&estimate, sample.queries),
                file: RoundFile::Estimate(Box::new(estimate)),
                spent: Vec::new(),
                shortfall: None,
            })
        })
    }
}

/// What the loop computes with: one run for each query. It stays inside; what is written is the estimate.
fn as_report(estimate: &TriggerEstimate, queries: &[LabelledQuery]) -> TriggerReport {
    let threshold = 0.5;
    let result = |(query, asked): (&QueryEstimate, &LabelledQuery)| QueryResult {
        query: query.query.clone(),
        situation: asked.situation.clone(),
        should_trigger: query.should_trigger,
        triggers: u64::from(query.likely_trigger),
        runs: 1,
        trigger_rate: Number::Float(if query.likely_trigger { 1.0 } else { 0.0 }),
        pass: query.likely_right,
        decided: Some(true),
        ..QueryResult::default()
    };
    let results: Vec<QueryResult> = estimate.results.iter().zip(queries).map(result).collect();
    TriggerReport {
        skill_name: estimate.skill_name.clone(),
        description: estimate.description.clone(),
        summary: TriggerSummary {
            passed: estimate.summary.likely_right,
            failed: estimate.summary.likely_wrong,
            total: estimate.summary.total,
            threshold: Number::Float(threshold),
            ..TriggerSummary::default()
        },
        metrics: Some(metrics(&results)),
        measurement: Some(TriggerMeasurement {
            via: Via::Estimate,
            cost_usd: Some(Number::Float(0.0)),
            ..TriggerMeasurement::default()
        }),
        results,
        ..TriggerReport::default()
    }
}
