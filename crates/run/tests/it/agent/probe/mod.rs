//! Probes from a measurement to a report: with the fake agent, with the real ones, and without any.

mod api;
mod capture;
mod fake;
mod real;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skillgauge_core::trigger::LabelledQuery;
use skillgauge_format::trigger::QueryResult;
use skillgauge_run::agent::{BundledSkills, StopCondition, TaskLimits, TaskSkill};
use skillgauge_run::budget::Budget;
use skillgauge_run::cassette::Mode;
use skillgauge_run::model::Access;
use skillgauge_run::probe::{
    Batch, EarlyStop, ListingSource, Measured, Measurement, ProbeError, ProbeResult, ProbeSpec,
    Prober, ProberSettings, Probing, Resume, measure,
};
use tokio_util::sync::CancellationToken;

use crate::agent::stage::{Stage, block_on};
use crate::guard;

/// What the control says; scripts recognise it by this.
pub(super) const CONTROL: &str = "Use the skill";

pub(super) fn settings() -> ProberSettings {
    ProberSettings { jobs: 2, first_delay: Duration::from_millis(20), ..ProberSettings::default() }
}

impl Stage {
    pub(super) fn prober(
        &self,
        mode: Mode,
        settings: ProberSettings,
        budget: Budget,
    ) -> Arc<Prober> {
        let access = Access {
            environment: self.environment(),
            ..Access::new(guard(), self.path("scratch"), self.path("project"))
        };
        let executor = Arc::new(self.executor(mode));
        Arc::new(Prober::new(executor, access, settings, Arc::new(budget)))
    }

    /// The skill alone, one run each, with a journal.
    pub(super) fn measurement(&self, agent: &str, model: Option<&str>) -> Measurement {
        Measurement {
            skill: self.skill(),
            description: "as it is".to_owned(),
            neighbours: Vec::new(),
            probing: Probing::Agent {
                agent: agent.to_owned(),
                model: model.map(str::to_owned),
                limits: TaskLimits { timeout: Duration::from_mins(1), ..TaskLimits::default() },
                bundled_skills: BundledSkills::Off,
            },
            runs: 1,
            threshold: 0.5,
            early_stop: EarlyStop::Off,
            journal: Some(self.path("project/csv-report-workspace/trigger")),
            kept: Resume::Earlier,
            listing: ListingSource::Modelled,
        }
    }

    pub(super) fn measure(
        &self,
        measurement: &Measurement,
        queries: &[(&str, bool)],
    ) -> Result<Measured, ProbeError> {
        self.measure_with(
            measurement,
            queries,
            &self.prober(Mode::Off, settings(), Budget::default()),
        )
    }

    pub(super) fn measure_with(
        &self,
        measurement: &Measurement,
        queries: &[(&str, bool)],
        prober: &Arc<Prober>,
    ) -> Result<Measured, ProbeError> {
        let queries: Vec<LabelledQuery> =
            queries.iter().map(|(text, label)| LabelledQuery::new(*text, *label)).collect();
        let measured = block_on(measure(
            prober,
            measurement,
            &queries,
            &CancellationToken::new(),
            &mut |_| (),
        ));
        assert_eq!(self.left_in_scratch(), Vec::<PathBuf>::new());
        measured
    }

    /// A second skill beside the one under test.
    pub(super) fn neighbour(&self) -> TaskSkill {
        self.write(
            "project/slides/SKILL.md",
            "---\nname: slides\ndescription: Makes slides. Use when the user wants slides.\n---\n\n# Slides\n\nMake them.\n",
        );
        TaskSkill::read(&self.path("project/slides")).unwrap()
    }

    /// One probe without a control, for what would make a control fail.
    pub(super) fn probe(&self, agent: &str, model: Option<&str>, query: &str) -> ProbeResult {
        let mut task = self.task(agent, query);
        task.inputs.clear();
        task.model = model.map(str::to_owned);
        task.stop = StopCondition::AtLoadOf(vec!["csv-report".to_owned()]);
        let batch = Batch { specs: vec![ProbeSpec::agent(task, 1, None)], ..Batch::default() };
        let prober = self.prober(Mode::Off, settings(), Budget::default());
        let results = block_on(prober.run(batch, &CancellationToken::new(), &mut |_| ())).unwrap();
        assert_eq!(self.left_in_scratch(), Vec::<PathBuf>::new());
        results.into_iter().flatten().next().unwrap()
    }
}

/// Triggers, errors and runs of a query.
pub(super) fn counts<'m>(measured: &'m Measured, query: &str) -> (u64, u64, u64, &'m QueryResult) {
    let result =
        measured.report.results.iter().find(|result| result.query.contains(query)).unwrap();
    (result.triggers, result.errors, result.runs, result)
}
