//! From the results of probes to the report of a measurement: whole, cut short, or without any rate.

use std::collections::BTreeMap;

use skillgauge_core::text::plural;
use skillgauge_core::trigger::{
    self, LabelledQuery, Observation, assemble, control_query, summary,
};
use skillgauge_format::json::Number;
use skillgauge_format::transcript::Outcome;
use skillgauge_format::trigger::{
    TriggerControl, TriggerMeasurement, TriggerReport, Via, ViaDetail,
};
use skillgauge_format::write::round_rate;

use super::capture::{Offer, Offering};
use super::error::ProbeError;
use super::journal::{Failures, MAX_FAILURES};
use super::measure::{EarlyStop, Measurement, Probing, Shortfall};
use super::result::{ProbeResult, Spending};

/// How often each outcome came up, in words.
pub(super) fn outcomes<'o>(seen: impl Iterator<Item = &'o Observation>, skill: &str) -> String {
    let mut counts = BTreeMap::<String, u64>::new();
    for observation in seen {
        *counts.entry(observation.answer(skill).outcome().to_string()).or_default() += 1;
    }
    let counts = counts.iter().map(|(outcome, count)| format!("{count} {outcome}"));
    counts.collect::<Vec<String>>().join(", ")
}

/// Says where the request of each probe came from.
pub(super) fn tell_offers<'o>(
    report: &mut TriggerReport,
    offerings: impl Iterator<Item = &'o Offering> + Clone,
) {
    let Some(first) = offerings.clone().next() else { return };
    if let Some(measurement) = &mut report.measurement {
        measurement.via_detail = Some(match first.offer {
            Offer::Captured(_) => ViaDetail::Captured,
            Offer::BuiltIn(_) => ViaDetail::BuiltIn,
        });
    }
    for reason in offerings.filter_map(|offering| offering.instead.as_ref()) {
        let warnings = report.warnings.get_or_insert_default();
        let warning = format!("the request is not the agent's own, but built in: {reason}");
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

impl Measurement {
    fn max_turns(&self) -> Option<u64> {
        match &self.probing {
            Probing::Agent { limits, .. } => limits.max_turns.map(u64::from),
            Probing::Api { .. } => None,
        }
    }

    pub(super) fn report(
        &self,
        queries: &[LabelledQuery],
        results: &[Vec<ProbeResult>],
        saved: &[u64],
        control: &ProbeResult,
        shortfall: Option<&Shortfall>,
        failures: &Failures,
    ) -> TriggerReport {
        let observations: Vec<Vec<Observation>> = results
            .iter()
            .map(|results| results.iter().map(|result| result.observation.clone()).collect())
            .collect();
        let name = self.skill.name.as_str();
        let mut report = assemble(&trigger::Measured {
            skill_name: name,
            description: &self.description,
            threshold: self.threshold,
            runs: u64::from(self.runs),
            max_turns: self.max_turns(),
            queries,
            observations: &observations,
            saved: if self.early_stop == EarlyStop::On { saved } else { &[] },
        });
        let counted = report.measurement.take().unwrap_or_default();
        if let Some(Shortfall { reason, missing }) = shortfall {
            let warnings = report.warnings.get_or_insert_default();
            warnings.push(format!("{missing} probes were not made: {reason}"));
        }
        if failures.left > 0 {
            let probes = plural(failures.left, "probe");
            report.warnings.get_or_insert_default().push(format!(
                "{probes} failed in {MAX_FAILURES} earlier calls and were not asked again; `--retry-failed` asks them"
            ));
        }
        let control_said = TriggerControl {
            query: control_query(name),
            passed: true,
            outcome: control.observation.outcome.to_string(),
        };
        let asked = results.iter().flatten().chain([control]).map(|result| &result.spending);
        let spent = Spending::sum(asked.chain([&failures.unfinished]));
        report.measurement = Some(TriggerMeasurement {
            control: Some(control_said),
            partial: shortfall.map(|_| true),
            ..self.described(counted, Some(control), &spent)
        });
        report
    }

    /// The report of a measurement that has no rates: who reads a file learns why, too.
    pub fn unmeasured(&self, error: &ProbeError) -> TriggerReport {
        let (asked, outcome) = match error {
            ProbeError::Control { result, .. } => {
                (Some(result.as_ref()), Some(result.observation.outcome))
            }
            ProbeError::Cancelled => (None, Some(Outcome::Cancelled)),
            _ => (None, None),
        };
        // Nobody knows what an attempt cost that gave no result.
        let unknown =
            Spending { requests: None, tokens: None, cost_usd: None, ..Spending::default() };
        let spent = asked.map_or(unknown, |result| result.spending);
        let control = outcome.map(|outcome| TriggerControl {
            query: control_query(&self.skill.name),
            passed: false,
            outcome: outcome.to_string(),
        });
        let described = self.described(TriggerMeasurement::default(), asked, &spent);
        TriggerReport {
            skill_name: self.skill.name.clone(),
            description: self.description.clone(),
            summary: summary(&[], Number::Float(self.threshold)),
            measurement: Some(TriggerMeasurement { control, partial: Some(true), ..described }),
            warnings: Some(vec![error.to_string()]),
            ..TriggerReport::default()
        }
    }

    /// Who was asked, by the word of one that answered, and what it cost.
    fn described(
        &self,
        counted: TriggerMeasurement,
        asked: Option<&ProbeResult>,
        spent: &Spending,
    ) -> TriggerMeasurement {
        let dollars = |amount: f64| Number::Float((amount * 1e6).round() / 1e6);
        let via = match &self.probing {
            Probing::Agent { .. } => Via::Agent,
            Probing::Api { .. } => Via::Api,
        };
        let asked_model = match &self.probing {
            Probing::Agent { model, .. } => model.clone(),
            Probing::Api { model, .. } => Some(model.to_string()),
        };
        #[expect(clippy::cast_precision_loss, reason = "nobody waits for 2^53 milliseconds")]
        let seconds = round_rate(spent.millis as f64 / 1000.0);
        TriggerMeasurement {
            via,
            agent: asked.and_then(|asked| asked.agent.clone()),
            agent_version: asked.and_then(|asked| asked.agent_version.clone()),
            model: asked_model.or_else(|| asked.and_then(|asked| asked.model.clone())),
            calls: spent.calls,
            requests: spent.requests,
            tokens: spent.tokens,
            tokens_at_least: spent.tokens_at_least,
            cost_usd: spent.cost_usd.map(dollars),
            cost_at_least_usd: dollars(spent.cost_at_least_usd),
            seconds: Number::Float(seconds),
            ..counted
        }
    }
}
