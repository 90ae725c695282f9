//! Carries out the steps of the loop, and writes each down when it is done.

use std::sync::Arc;

use skillgauge_core::analysis::{self, AnalysisSubject, ComparedCase, SkillFiles};
use skillgauge_core::benchmark::Aggregate;
use skillgauge_core::comparison::{ComparisonStore, overall, pairs};
use skillgauge_core::improve::{
    self, Change, Improvement, Round, Rules, Setting, Step, Stop, change,
};
use skillgauge_core::version::{Snapshot, VersionNumber, VersionStore, failures_in};
use skillgauge_core::workspace::{Iteration, WorkspaceLock, write_json};
use skillgauge_format::cases::Analysis;
use skillgauge_format::read;
use skillgauge_run::analyze::analyze;
use skillgauge_run::ask_once::Unanswered;
use skillgauge_run::budget::Budget;
use skillgauge_run::compare::{Again, compare};

use super::models::Models;
use super::tell;
use crate::args::{OutputArgs, PlainFormat, RunArgs};
use crate::commands::run::{self, Judging, Measurement, RunSummary, Target};
use crate::commands::{Outcome, analyze as analyze_command, compare as compare_command, snapshot};
use crate::error::CommandError;
use crate::keep::{self, PROGRAM};
use crate::session::Session;
use crate::{ExitCode, Printer, caution};

pub(super) struct Work<'w> {
    pub(super) rules: Rules,
    pub(super) run_args: &'w RunArgs,
    pub(super) store: &'w VersionStore,
    pub(super) session: &'w Session,
    pub(super) models: &'w Models,
    pub(super) budget: Arc<Budget>,
    pub(super) lock: &'w WorkspaceLock,
    pub(super) printer: &'w Printer,
    /// The texts of all expectations of the suite.
    pub(super) expectations: Vec<String>,
    pub(super) improvement: Improvement,
}

/// What became of a step.
type Done = Result<Option<Stop>, CommandError>;

impl Work<'_> {
    /// Step by step to the end, or to what keeps us from it.
    pub(super) fn go(mut self, output: &OutputArgs<PlainFormat>) -> Outcome {
        loop {
            let ended = match improve::next(&self.improvement, &self.rules) {
                Step::Stop(stop) => Some(stop),
                _ if self.session.cancel.is_cancelled() => Some(Stop::Interrupted),
                Step::Begin => self.begin()?,
                Step::Measure { version } => self.measure(version)?,
                Step::Compare { old, new } => self.compare([old, new])?,
                Step::Change { base, compared } => self.change(base, compared)?,
            };
            if let Some(stop) = ended {
                return self.end(&stop, output);
            }
        }
    }

    /// Cases that only decide.
    fn sealed(&self) -> &[String] {
        &self.improvement.sealed
    }

    fn save(&self) -> Result<(), CommandError> {
        Ok(improve::save(&self.improvement, self.store.workspace())?)
    }

    /// Why a step that failed did: the user, a limit, or this reason.
    fn pause(&self, reason: String) -> Stop {
        if self.session.cancel.is_cancelled() {
            return Stop::Interrupted;
        }
        self.budget
            .used_up()
            .map_or(Stop::Incomplete(reason), |over| Stop::Budget(over.to_string()))
    }

    fn begin(&mut self) -> Done {
        let stored = self.store.snapshot(None, &keep::stamp(self.lock))?;
        snapshot::tell(&stored, self.printer);
        self.improvement.rounds.push(Round::new(stored.version().0));
        self.save()?;
        Ok(None)
    }

    /// Makes the skill's folder that version, after what is there was stored.
    fn put(&self, version: VersionNumber) -> Result<(), CommandError> {
        if self.store.present_version(PROGRAM)? == Some(version) {
            return Ok(());
        }
        let done = self.store.restore(version, &keep::stamp(self.lock))?;
        if let Snapshot::New { .. } = done.before {
            snapshot::tell(&done.before, self.printer);
        }
        self.printer.say(&format!("the skill is {version} again"));
        Ok(())
    }

    fn measure(&mut self, version: VersionNumber) -> Done {
        self.put(version)?;
        let target = Target::read(self.run_args, self.printer)?;
        let measurement =
            Measurement::prepare(self.run_args, target, self.session, self.printer, Judging::Here)?;
        let record = &measurement.prepared.record;
        if Setting::of(record) != self.improvement.setting {
            return Err(CommandError::usage(
                "the suite or the agent was changed while the loop ran, so versions cannot be compared",
                "put it back and run the same command, or begin anew with --fresh",
            ));
        }
        self.printer.say(&format!("measuring {version}"));
        let (iteration, aggregate) = match self.benchmark(&measurement, version)? {
            Ok(found) => found,
            Err(stop) => return Ok(Some(stop)),
        };
        let number = iteration.number().unwrap_or_default();
        let primary = self.improvement.setting.primary_outcome;
        let Some(measured) =
            improve::measured(&aggregate.iteration, number, self.sealed(), primary)
        else {
            return Ok(Some(self.pause(format!("no run of {version} has a result"))));
        };
        self.printer.say(&tell::measured(version, &measured));
        if let Some(round) = self.improvement.rounds.last_mut() {
            round.measured = Some(measured);
        }
        self.save()?;
        Ok(None)
    }

    /// The runs of a version: those that are there, or new ones.
    fn benchmark(
        &self,
        measurement: &Measurement<'_>,
        version: VersionNumber,
    ) -> Result<Result<(Iteration, Aggregate), Stop>, CommandError> {
        if let Some(found) = self.measured_before(&measurement.prepared.record.key, version)? {
            return Ok(Ok(found));
        }
        let ran = measurement.drive(&self.budget, self.lock)?;
        let output = &self.run_args.output;
        RunSummary { shard: None, output, ran: &ran, remedy: run::SAME }
            .note(self.session, self.printer)?;
        let result = &ran.result;
        let lacking = result.missing.len() + result.not_graded.len();
        if !result.is_complete() || self.session.cancel.is_cancelled() {
            let reason = result.stopped.clone().unwrap_or_else(|| {
                format!(
                    "{version} is not measured: {lacking} runs are missing or not graded, {} with gaps",
                    result.judge_errors
                )
            });
            return Ok(Err(self.pause(reason)));
        }
        let aggregate = run::aggregate(&ran.open.iteration, &ran.open.record)?;
        Ok(Ok((ran.open.iteration, aggregate)))
    }

    /// An iteration of this loop that was finished just before we were stopped.
    fn measured_before(
        &self,
        key: &str,
        version: VersionNumber,
    ) -> Result<Option<(Iteration, Aggregate)>, CommandError> {
        let workspace = self.store.workspace();
        let after = self.improvement.after_iteration;
        for number in workspace.iterations()?.into_iter().rev().filter(|number| *number > after) {
            let iteration = workspace.iteration(number);
            let Ok(record) = iteration.record() else { continue };
            let is_same = record.key == key && record.version == Some(version.0);
            if is_same && record.finished.is_some() {
                let aggregate = run::aggregate(&iteration, &record)?;
                return Ok(Some((iteration, aggregate)));
            }
        }
        Ok(None)
    }

    fn compare(&mut self, versions: [VersionNumber; 2]) -> Done {
        let cases = self.improvement.setting.case_ids.len() - self.sealed().len();
        let mut done = Vec::new();
        if let Some(comparator) = &self.models.comparator {
            let [old, new] = versions;
            let mut found = pairs(self.store.workspace(), versions)?;
            found.pairs.retain(|pair| !self.sealed().contains(&pair.case));
            self.printer.say(&format!("comparing {new} with {old} on {} cases", found.pairs.len()));
            let request = compare_command::request(self.store, versions, found, Again::No)?;
            let work = compare(request, comparator, &self.budget, &self.session.cancel);
            done = self.session.block_on(self.printer, work)?;
            for case in &done {
                if let Err(reason) = &case.result {
                    self.printer.say(&format!("{} was not compared: {reason}", case.case));
                }
            }
        }
        let compared = improve::compared(&compare_command::overall_of(&done, versions), cases);
        // A comparator that fails costs only what it would have said; a limit or the user ends the loop.
        if compared.missing > 0 && self.models.comparator.is_some() {
            let pause = self.pause(String::new());
            if !matches!(pause, Stop::Incomplete(_)) {
                return Ok(Some(pause));
            }
        }
        self.printer.say(&tell::compared(versions, &compared));
        if let Some(round) = self.improvement.rounds.last_mut() {
            round.compared = Some(compared);
        }
        self.save()?;
        Ok(None)
    }

    /// Has the best version analysed, and makes the next one of it.
    fn change(&mut self, base: VersionNumber, compared: Option<[VersionNumber; 2]>) -> Done {
        let analysis = match self.analysis(base, compared)? {
            Ok(analysis) => analysis,
            Err(stop) => return Ok(Some(stop)),
        };
        let (policy, scratch) = (caution::policy(), self.session.scratch());
        let found: Change = change(self.store, base, &analysis.suggestions, &policy, scratch)?;
        tell::changes(&found, self.printer);
        if found.application.changed.is_empty() {
            let count = analysis.suggestions.len();
            return self.dead_end(format!("none of {count} suggestions can be applied"));
        }
        self.put(base)?;
        // What is there is `base`, which is stored; if a file cannot be written, that can be restored.
        analysis::write(self.store.skill(), &found.application)?;
        let round = self.improvement.rounds.len();
        let description = format!("round {round} of improve, from {base}");
        let stored = self.store.snapshot(Some(&description), &keep::stamp(self.lock))?;
        let version = stored.version();
        snapshot::tell(&stored, self.printer);
        // A version that is there already is new to the loop when it was killed before it could write it down.
        if self.improvement.rounds.iter().any(|round| round.version == version.0) {
            return self.dead_end(format!("the suggestions lead back to {version}"));
        }
        let round = Round {
            from: Some(base.0),
            changes: found.changes,
            left_out: found.left_out,
            repeats: self.repeats(version)?,
            ..Round::new(version.0)
        };
        if let Some(sentence) = improve::repeats_sentence(&round) {
            self.printer.say(&format!("warning: {sentence}"));
        }
        self.improvement.rounds.push(round);
        self.save()?;
        Ok(None)
    }

    /// The expectations that a version repeats and the baseline does not.
    fn repeats(&self, version: VersionNumber) -> Result<Vec<String>, CommandError> {
        let Some(first) = self.improvement.rounds.first() else { return Ok(Vec::new()) };
        let baseline = SkillFiles::of(&self.store.folder(VersionNumber(first.version)))?;
        let files = SkillFiles::of(&self.store.folder(version))?;
        Ok(improve::repeated(self.expectations.iter().map(String::as_str), &baseline, &files))
    }

    fn dead_end(&mut self, reason: String) -> Done {
        self.improvement.dead_end = Some(reason);
        self.save()?;
        Ok(None)
    }

    /// The analysis of this round: the one that is there, or a new one.
    fn analysis(
        &mut self,
        base: VersionNumber,
        compared: Option<[VersionNumber; 2]>,
    ) -> Result<Result<Analysis, Stop>, CommandError> {
        let root = self.store.workspace().root();
        let kept = self.improvement.rounds.last().and_then(|round| round.analysis.clone());
        if let Some(kept) = kept.and_then(|path| fs_err::read(root.join(path)).ok())
            && let Ok(kept) = read::<Analysis>(&kept)
        {
            return Ok(Ok(kept.value));
        }
        let comparisons =
            compared.map(|versions| ComparisonStore::new(self.store.workspace(), versions));
        let made = match self.ask(base, compared, comparisons.as_ref())? {
            Ok(made) => made,
            Err(reason) => return Ok(Err(self.pause(format!("there is no analysis: {reason}")))),
        };
        let path = if let Some(comparisons) = &comparisons {
            comparisons.save_analysis(&made)?;
            comparisons.analysis_file()
        } else {
            // The baseline was compared with nothing.
            let path = root.join(base.to_string()).join("analysis.json");
            write_json(&path, &made)?;
            path
        };
        let below = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if let Some(round) = self.improvement.rounds.last_mut() {
            round.analysis = Some(below);
        }
        self.save()?;
        Ok(Ok(made))
    }

    fn ask(
        &self,
        base: VersionNumber,
        compared: Option<[VersionNumber; 2]>,
        comparisons: Option<&ComparisonStore>,
    ) -> Result<Result<Analysis, Unanswered>, CommandError> {
        let mut stored = comparisons.map(ComparisonStore::all).unwrap_or_default();
        // `compare` may have been run on its own before.
        stored.retain(|stored| !self.sealed().contains(&stored.case));
        let cases: Vec<ComparedCase> = stored.iter().map(analyze_command::unblinded).collect();
        let versions = compared.unwrap_or([base, base]);
        let files = stored.iter().map(|stored| (&stored.files.comparison, &stored.files.key));
        let overall = overall(versions, files);
        let (winner, loser, standing) = analyze_command::standing(&overall);
        let failures = self.failures(base)?;
        let files = SkillFiles::of(&self.store.folder(base))?;
        let subject = AnalysisSubject {
            winner,
            loser,
            standing,
            version: &base.to_string(),
            cases: &cases,
            failures: &failures,
            files: &files,
        };
        let analyst = &self.models.analyst;
        self.printer.say(&format!("asking {} what to change in {base}", analyst.model.name()));
        let work = analyze(&subject, analyst, &self.budget, &self.session.cancel);
        self.session.block_on(self.printer, work)
    }

    /// What failed with the version that is to be improved.
    fn failures(&self, base: VersionNumber) -> Result<Vec<String>, CommandError> {
        let rounds = self.improvement.rounds.iter();
        let measured =
            rounds.filter(|round| round.version == base.0).find_map(|r| r.measured.as_ref());
        let Some(measured) = measured else { return Ok(Vec::new()) };
        let iteration = self.store.workspace().iteration(measured.iteration);
        let aggregate = run::aggregate(&iteration, &iteration.record()?)?;
        Ok(failures_in(&aggregate.iteration, base, self.sealed()))
    }

    /// Makes the skill what it should be now, and says what came out.
    fn end(mut self, stop: &Stop, output: &OutputArgs<PlainFormat>) -> Outcome {
        let conclusion = improve::conclude(&self.improvement, stop);
        if let Some(conclusion) = &conclusion {
            self.put(VersionNumber(conclusion.current()))?;
        }
        self.improvement.conclusion = conclusion;
        if !stop.is_pause() {
            self.save()?;
        }
        tell::end(&self.improvement, stop, output, self.printer)?;
        tell::spent(&self.budget.spent(), self.printer);
        if stop.is_pause() {
            self.printer.say("run the same command again to resume");
        }
        Ok(match stop {
            Stop::Interrupted => ExitCode::Interrupted,
            Stop::Budget(_) | Stop::Incomplete(_) => ExitCode::Incomplete,
            Stop::TooEasy
            | Stop::Target
            | Stop::Rounds
            | Stop::NoImprovement
            | Stop::DeadEnd(_) => ExitCode::Success,
        })
    }
}
