//! Reads the runs of an iteration, several cases at a time, and hands each case on as soon as it is its turn.

use std::convert::Infallible;
use std::path::Path;

use skillgauge_format::part::{Configuration, EvalId};

use super::layout::{CaseFolder, CasePlace, RunFolder};
use super::measured::{Measured, Unmeasured};
use super::reading::{self, Hands, Reading};
use super::subject::{Models, Subject};
use super::{BenchmarkError, parallel};
use crate::mixture::Mixture;

/// All runs of an iteration.
#[derive(Default)]
pub(super) struct Iteration {
    pub(super) cases: Vec<CaseRuns>,
    /// Where they are: the same cases and runs in the same order.
    pub(super) folders: Vec<CaseFolder>,
    pub(super) problems: Vec<String>,
    /// Who did the work and who judged, by the first runs that tell.
    pub(super) models: Models,
    /// What the runs were made with.
    pub(super) mixture: Mixture,
}

#[derive(Debug)]
pub(super) struct CaseRuns {
    pub(super) id: EvalId,
    pub(super) name: Option<String>,
    pub(super) runs: Vec<Run>,
    /// The lists of its verdicts, as long as they are not written.
    pub(super) lists: Vec<u8>,
}

impl CaseRuns {
    /// The measured runs of a configuration.
    pub(super) fn measured<'c>(
        &'c self,
        configuration: &'c Configuration,
    ) -> impl Iterator<Item = &'c Measured> {
        let runs = self.runs.iter().filter(move |run| run.configuration == *configuration);
        runs.filter_map(Run::measured)
    }

    /// The measured runs of all configurations.
    pub(super) fn all_measured(&self) -> impl Iterator<Item = &Measured> {
        self.runs.iter().filter_map(Run::measured)
    }

    /// Finds the runs whose rubric is missing because the gate stopped them, and scores them so.
    fn stop_at_gate(&mut self, folder: &CaseFolder) {
        for (run, place) in self.runs.iter_mut().zip(&folder.runs) {
            let State::Measured(measured) = &mut run.state else { continue };
            let told =
                || measured.gate_passed.or_else(|| reading::gate_passed(place.path.as_ref()?));
            if measured.rubric.is_none() && told() == Some(false) {
                measured.stop_at_gate();
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) configuration: Configuration,
    pub(super) number: u64,
    pub(super) state: State,
}

impl Run {
    /// What it says about the skill, if it says something.
    pub(super) fn measured(&self) -> Option<&Measured> {
        match &self.state {
            State::Measured(measured) => Some(measured),
            State::Unmeasured(_) => None,
        }
    }
}

/// Whether a run says something about the skill.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are measured, and the runs of a case lie together"
)]
pub(super) enum State {
    Measured(Measured),
    /// It does not.
    Unmeasured(Unmeasured),
}

/// What a thread reads a case with, and what came of it.
#[derive(Default)]
pub(super) struct Desk {
    hands: Hands,
    case: Option<CaseRuns>,
    folder: Option<CaseFolder>,
    /// Whether the case is what the name of its folder says.
    pub(super) is_expected: bool,
    problems: Vec<String>,
    models: Models,
    mixture: Mixture,
    /// What is written of the case.
    pub(super) text: Vec<u8>,
    /// Room for what it is made of.
    pub(super) bare: Vec<u8>,
}

impl Desk {
    fn read(&mut self, subject: &Subject<'_>, place: &CasePlace) {
        self.hands.lists().clear();
        let case = subject.case(place, &mut self.hands.reader);
        let mut runs = Vec::with_capacity(case.runs.len());
        for run in &case.runs {
            let skill = subject.skill_name.as_deref();
            let reading = match &run.path {
                Some(path) => reading::read(path, run.number, skill, &mut self.hands),
                None => Reading::of_missing(),
            };
            runs.push(self.take(reading, run, &subject.folder));
        }
        let (id, name) = (case.id.clone(), case.name.clone());
        let mut read = CaseRuns { id, name, runs, lists: Vec::new() };
        if subject.expects_rubric(&case) == Some(true) {
            read.stop_at_gate(&case);
        }
        // What was read may wait long for its turn.
        self.hands.reader.close_folders();
        self.is_expected = case.id == place.id && !case.runs.is_empty();
        (self.case, self.folder) = (Some(read), Some(case));
    }

    fn take(&mut self, reading: Reading, run: &RunFolder, folder: &Path) -> Run {
        if let Some(path) = run.path.as_deref().filter(|_| !reading.problems.is_empty()) {
            let place = path.strip_prefix(folder).unwrap_or(path).display();
            let problems = reading.problems.iter().map(|what| format!("{place}: {what}"));
            self.problems.extend(problems);
        }
        let (skillgauge, agent) = reading.made_with();
        self.mixture.add(skillgauge, agent);
        self.models.executor = self.models.executor.take().or(reading.model);
        self.models.analyzer = self.models.analyzer.take().or(reading.judge);
        let state = reading.state.map_or_else(State::Unmeasured, State::Measured);
        Run { configuration: run.configuration.clone(), number: run.number, state }
    }

    /// The case, as long as nobody took it, and the lists of its verdicts.
    pub(super) fn case(&self) -> Option<(&CaseRuns, &[u8])> {
        Some((self.case.as_ref()?, self.hands.keeper.lists.as_slice()))
    }

    /// Forgets what is only there to be written.
    pub(super) fn forget_texts(&mut self) {
        for run in self.case.iter_mut().flat_map(|case| &mut case.runs) {
            if let State::Measured(measured) = &mut run.state {
                measured.notes = Vec::new();
            }
        }
    }

    /// Keeps the lists of the case's verdicts with it.
    pub(super) fn keep_lists(&mut self) {
        if let Some(case) = &mut self.case {
            case.lists = std::mem::take(self.hands.lists());
        }
    }
}

/// Reads every run. `finish` gets each case in the thread that read it, `take` gets it when all before it were taken.
pub(super) fn read<E: Send>(
    subject: &Subject<'_>,
    threads: usize,
    finish: impl Fn(&mut Desk) -> Result<(), E> + Sync,
    mut take: impl FnMut(&mut Desk) -> Result<(), E> + Send,
) -> Result<Iteration, E> {
    let mut iteration = Iteration::default();
    let fill = |place: &CasePlace, desk: &mut Desk| {
        desk.read(subject, place);
        finish(desk)
    };
    let mut problems = Vec::new();
    parallel::in_order(&subject.places, threads, fill, |desk| {
        take(desk)?;
        iteration.add(desk);
        problems.append(&mut desk.problems);
        Ok(())
    })?;
    iteration.sort();
    iteration.problems.extend_from_slice(&subject.problems);
    iteration.problems.append(&mut problems);
    iteration.stop_at_gates(subject);
    Ok(iteration)
}

/// Reads every run, if there is any; `take` gets each case in its turn.
pub(super) fn read_all(
    subject: &Subject<'_>,
    threads: usize,
    mut take: impl FnMut(&mut Desk) + Send,
) -> Result<Iteration, BenchmarkError> {
    let take = |desk: &mut Desk| {
        take(desk);
        Ok::<(), Infallible>(())
    };
    let Ok(iteration) = read(subject, threads, |_| Ok(()), take);
    if iteration.cases.is_empty() {
        return Err(BenchmarkError::NoRuns { folder: subject.folder.clone() });
    }
    Ok(iteration)
}

impl Iteration {
    fn add(&mut self, desk: &mut Desk) {
        let (Some(case), Some(mut folder)) = (desk.case.take(), desk.folder.take()) else { return };
        self.problems.append(&mut folder.problems);
        if case.runs.is_empty() {
            return;
        }
        self.cases.push(case);
        self.folders.push(folder);
        self.mixture.merge(std::mem::take(&mut desk.mixture));
        let Models { executor, analyzer } = std::mem::take(&mut desk.models);
        self.models.executor = self.models.executor.take().or(executor);
        self.models.analyzer = self.models.analyzer.take().or(analyzer);
    }

    /// Puts the cases in the order of their ids, which their folders need not have.
    fn sort(&mut self) {
        let mut both: Vec<(CaseRuns, CaseFolder)> =
            self.cases.drain(..).zip(self.folders.drain(..)).collect();
        both.sort_by(|(_, a), (_, b)| (&a.id, &a.folder).cmp(&(&b.id, &b.folder)));
        (self.cases, self.folders) = both.into_iter().unzip();
        for pair in self.folders.windows(2).filter(|pair| pair[0].id == pair[1].id) {
            self.problems.push(format!(
                "{} and {} both say that they are the case {}; they are counted as two cases",
                pair[0].folder, pair[1].folder, pair[0].id
            ));
        }
    }

    /// Scores the runs that the gate stopped where only other runs tell that a rubric is to be expected: when one of the
    /// iteration was scored.
    fn stop_at_gates(&mut self, subject: &Subject<'_>) {
        let is_scored = |case: &CaseRuns| case.all_measured().any(|run| run.rubric.is_some());
        let is_open = |folder: &CaseFolder| subject.expects_rubric(folder).is_none();
        if !self.folders.iter().any(is_open) || !self.cases.iter().any(is_scored) {
            return;
        }
        for (case, folder) in self.cases.iter_mut().zip(&self.folders) {
            if is_open(folder) {
                case.stop_at_gate(folder);
            }
        }
    }
}
