//! The loop with a scripted improver and a measurement that depends on the words of the description.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;
use skillgauge_core::trigger::LabelledQuery;
use skillgauge_core::tune::prompt::TEMPLATE;
use skillgauge_core::tune::{ProofPlan, halving, split};
use skillgauge_format::read;
use skillgauge_format::trigger::{ImprovementHistory, Query, TriggerSummary};

use super::*;
use crate::budget::Budget;
use crate::model::{Answering, Manner, Model, ModelError, ModelName, Origin, Request, Response};
use crate::tune::measure::{Measure, Measuring, RoundFile};
use crate::tune::store::{Proposals, Store};
use crate::tune::tuning::{Planned, TuneSettings, held_out};

/// Triggers for every query that has a word of the description which begins with `w`.
#[derive(Default)]
struct Words {
    /// Every description that was measured.
    measured: Mutex<Vec<String>>,
    /// Every query that each of these measurements asked.
    queries: Mutex<Vec<Vec<String>>>,
    /// The number of the first run of each.
    runs: Mutex<Vec<u32>>,
    /// From which measurement on it breaks, or falls short.
    breaks_at: Option<usize>,
    falls_short_at: Option<usize>,
    cancels_at: Option<(usize, CancellationToken)>,
}

impl Measure for Words {
    fn basis(&self) -> Basis {
        Basis::Measured
    }

    fn measure<'m>(
        &'m self,
        description: &'m str,
        sample: Sample<'m>,
        cancel: &'m CancellationToken,
        _: &'m mut (dyn FnMut(ProbeEvent<'_>) + Send),
    ) -> Measuring<'m> {
        Box::pin(async move {
            let count = {
                let mut measured = self.measured.lock().unwrap();
                measured.push(description.to_owned());
                let texts = sample.queries.iter().map(|query| query.text.clone()).collect();
                self.queries.lock().unwrap().push(texts);
                self.runs.lock().unwrap().push(sample.first_run);
                measured.len()
            };
            if let Some((at, token)) = &self.cancels_at
                && count >= *at
            {
                token.cancel();
            }
            if cancel.is_cancelled() {
                return Err(MeasureError::Cancelled);
            }
            if self.breaks_at.is_some_and(|at| count >= at) {
                return Err(MeasureError::Limit {
                    limit: "the limit of 9 calls is reached".to_owned(),
                });
            }
            let report = report(description, sample.queries, sample.runs);
            Ok(RoundReport {
                file: RoundFile::Report(Box::new(report.clone())),
                report,
                spent: Vec::new(),
                shortfall: (self.falls_short_at.is_some_and(|at| count >= at))
                    .then(|| "the limit of 9 calls is reached".to_owned()),
            })
        })
    }
}

fn report(description: &str, queries: &[LabelledQuery], runs: u32) -> TriggerReport {
    let result = |query: &LabelledQuery| {
        let has =
            |word: &str| word.starts_with('w') && query.text.split(' ').any(|part| part == word);
        let does = description.split(' ').any(has);
        QueryResult {
            query: query.text.clone(),
            should_trigger: query.should_trigger,
            triggers: if does { runs.into() } else { 0 },
            runs: runs.into(),
            trigger_rate: Number::Float(if does { 1.0 } else { 0.0 }),
            pass: does == query.should_trigger,
            ..QueryResult::default()
        }
    };
    let results: Vec<QueryResult> = queries.iter().map(result).collect();
    let passed = results.iter().filter(|result| result.pass).count() as u64;
    let total = results.len() as u64;
    TriggerReport {
        skill_name: "s".to_owned(),
        description: description.to_owned(),
        summary: TriggerSummary {
            passed,
            failed: total - passed,
            total,
            threshold: Number::Float(0.5),
            ..TriggerSummary::default()
        },
        results,
        ..TriggerReport::default()
    }
}

/// Proposes what it was given, one after the other, and keeps what it was asked.
#[derive(Debug)]
struct Script {
    name: ModelName,
    answers: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    fn new(answers: &[&'static str]) -> Self {
        let name = "command:script".parse().unwrap();
        let answers = Mutex::new(answers.iter().rev().copied().collect());
        Self { name, answers, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// An answer with this value.
pub(super) fn answered(value: &serde_json::Value) -> Response {
    Response {
        text: value.to_string(),
        value: Some(value.clone()),
        usage: None,
        cost_usd: Some(0.25),
        stop_reason: None,
        tool_calls: Vec::new(),
        request_id: None,
        model: None,
        manner: Manner::default(),
        attempts: Vec::new(),
        origin: Origin::Live,
    }
}

impl Model for Script {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.user.join("\n\n"));
            let Some(next) = self.answers.lock().unwrap().pop() else {
                let error = ModelError::NoProgram { program: "script".to_owned() };
                return Err(error.into());
            };
            let value = json!({"reasoning": "r", "description": next});
            Ok(answered(&value))
        })
    }
}

/// Three runs of both descriptions.
const PROOF: usize = 6;

/// Five that should trigger, each with a word of its own, and five that should not.
fn queries() -> Vec<LabelledQuery> {
    let positive =
        (1..=5).map(|n| LabelledQuery::new(format!("please w{n} number {n} alpha{n}"), true));
    let negative =
        (1..=5).map(|n| LabelledQuery::new(format!("other{n} thing beta{n} gamma{n}"), false));
    positive.chain(negative).collect()
}

/// A seed that holds out the words w2 and w5.
fn seed() -> u64 {
    let queries = queries();
    let pairs = queries.iter().map(|query| (query.text.as_str(), query.should_trigger));
    let queries: Vec<Query<'_>> = pairs
        .map(|(text, should_trigger)| Query { text, should_trigger, situation: None })
        .collect();
    (0..1000).find(|&seed| split(&queries, 0.4, seed).test.starts_with(&[1, 4])).unwrap()
}

fn settings(rounds: u32) -> TuneSettings {
    TuneSettings {
        rounds,
        runs: 3,
        holdout: 0.4,
        target: 1.0,
        seed: seed(),
        candidates: 1,
        template: TEMPLATE.to_owned(),
    }
}

struct Run<'r> {
    words: &'r Words,
    script: &'r Script,
    settings: TuneSettings,
    proof_runs: u32,
    folder: Option<&'r Path>,
    budget: Budget,
    cancel: CancellationToken,
}

impl<'r> Run<'r> {
    fn new(words: &'r Words, script: &'r Script, rounds: u32) -> Self {
        Self {
            words,
            script,
            settings: settings(rounds),
            proof_runs: 3,
            folder: None,
            budget: Budget::default(),
            cancel: CancellationToken::new(),
        }
    }

    fn go(self) -> Result<TuneResult, TuneError> {
        let queries = queries();
        let store = self.folder.map(|folder| Store::open(folder, None).unwrap());
        let proposals = match &store {
            Some(store) => Proposals::open(&store.proposals_file(), "key", Vec::new()),
            None => Proposals::none(vec!["An old try".to_owned()]),
        };
        let history = self.folder.and_then(|folder| fs_err::read(folder.join("history.json")).ok());
        let history = history.map(|bytes| read(&bytes).unwrap().value).unwrap_or_default();
        let proof = ProofPlan::new(held_out(&queries, &self.settings), self.proof_runs);
        let tuning = Tuning {
            proof,
            skill_name: "s",
            description: "Start w1",
            body: "The body",
            queries: &queries,
            settings: self.settings,
            measure: self.words,
            improver: self.script,
            budget: Arc::new(self.budget),
            store,
            history,
            proposals,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(tune(tuning, &self.cancel, &mut |_| ()))
    }
}

fn rounds(tuned: &TuneResult) -> Vec<(u64, Option<bool>)> {
    tuned.summary.iterations.iter().map(|round| (round.round, round.adopted)).collect()
}

#[test]
fn a_better_description_wins_and_the_loop_stops_at_the_target() {
    let (words, script) =
        (Words::default(), Script::new(&["Better w1 w2 w3", "All w1 w2 w3 w4 w5", "More"]));
    let tuned = Run::new(&words, &script, 5).go().unwrap();
    assert_eq!(tuned.summary.final_description, "All w1 w2 w3 w4 w5");
    assert_eq!(rounds(&tuned), [(1, Some(true)), (2, Some(true)), (3, Some(true))]);
    assert_eq!(tuned.stop, StopReason::TargetReached { target: 1.0 });
    assert_eq!((tuned.summary.partial, tuned.summary.total_rounds), (None, 3));
    assert_eq!(script.asked().len(), 2);
}

#[test]
fn the_original_is_kept_when_nothing_is_better() {
    let (words, script) = (Words::default(), Script::new(&["Worse", "Worse still", "Bad"]));
    let tuned = Run::new(&words, &script, 4).go().unwrap();
    assert_eq!(
        (tuned.summary.final_description.as_str(), &tuned.summary.proof),
        ("Start w1", &None)
    );
    assert_eq!(words.measured.lock().unwrap().len(), 4, "nothing is proven that nobody would take");
    assert_eq!(tuned.summary.best_iteration.round, 1);
    assert_eq!(rounds(&tuned)[1..], [(2, Some(false)), (3, Some(false)), (4, Some(false))]);
    assert_eq!(tuned.stop, StopReason::RoundsUsed { rounds: 4 });
    let warnings = tuned.summary.warnings.unwrap();
    assert!(warnings.iter().any(|warning| warning.starts_with("plateau")), "{warnings:?}");
    for prompt in &script.asked() {
        assert!(prompt.contains("BEGIN DESCRIPTION #1\nStart w1\n"), "{prompt}");
    }
}

#[test]
fn the_improver_sees_training_failures_and_nothing_of_the_test_set() {
    let (words, script) = (Words::default(), Script::new(&["Worse", "Better w1 w3", "Bad w9"]));
    let tuned = Run::new(&words, &script, 4).go().unwrap();
    let queries = queries();
    let asked = script.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(tuned.split.test.len(), 4);
    for prompt in &asked {
        for &place in &tuned.split.test {
            assert!(!prompt.contains(&queries[place].text), "{prompt}");
        }
        for forbidden in ["test", "held", "of 10", "of 4 ", "/10", "/4"] {
            assert!(!prompt.contains(forbidden), "{forbidden}: {prompt}");
        }
    }
    let failed =
        tuned.split.train.iter().filter(|&&place| place != 0 && queries[place].should_trigger);
    for &place in failed {
        assert!(asked[0].contains(&queries[place].text), "{}", asked[0]);
    }
    assert!(asked[0].contains("- An old try\n"), "what the history has is told, without its rates");
    assert!(asked[1].contains("- Worse (3 of 6 training requests right)"), "{}", asked[1]);
}

#[test]
fn a_bad_proposal_goes_back_once_and_then_the_round_is_over() {
    let (words, script) = (
        Words::default(),
        Script::new(&["<bad>", "Good w1 w2 w3 w4 w5", "I'm sorry, no", "Here is it"]),
    );
    let tuned = Run::new(&words, &script, 2).go().unwrap();
    assert_eq!(tuned.summary.final_description, "Good w1 w2 w3 w4 w5");
    assert!(script.asked()[1].contains("angle brackets"), "{}", script.asked()[1]);
    let (words, script) =
        (Words::default(), Script::new(&["<bad>", "Sure!", "Good w1 w2 w3 w4 w5"]));
    let tuned = Run::new(&words, &script, 3).go().unwrap();
    assert_eq!(
        rounds(&tuned),
        [(1, Some(true)), (3, Some(true))],
        "round 2 had nothing to measure"
    );
    assert_eq!(words.measured.lock().unwrap().len(), 2 + PROOF);
}

#[test]
fn of_several_candidates_the_best_on_the_training_queries_is_taken() {
    let (words, script) =
        (Words::default(), Script::new(&["One w1 w2", "Two w1 w2 w3 w4 w5", "Three w1"]));
    let mut run = Run::new(&words, &script, 2);
    run.settings.candidates = 3;
    let tuned = run.go().unwrap();
    assert_eq!(tuned.summary.final_description, "Two w1 w2 w3 w4 w5");
    // The first description, three proposals on the training queries, and the best of them on the others.
    assert_eq!(words.measured.lock().unwrap()[4], "Two w1 w2 w3 w4 w5");
    let asked = words.queries.lock().unwrap();
    let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
    assert_eq!(counts[..5], [10, 6, 6, 6, 4]);
    assert_eq!(counts[5..], [4; PROOF]);
    let texts = |places: &[usize]| -> Vec<String> {
        places.iter().map(|place| queries()[*place].text.clone()).collect()
    };
    assert!(asked[1..4].iter().all(|asked| *asked == texts(&tuned.split.train)));
    assert_eq!(asked[4], texts(&tuned.split.test));
    let last = tuned.summary.iterations.last().unwrap();
    assert_eq!((last.train_total, last.test_total, last.test_passed), (6, 4, 4));
    assert_eq!(tuned.reports.last().unwrap().results.len(), 10);
    assert!(
        script.asked()[2].contains("- One w1 w2\n- Two w1 w2 w3 w4 w5\n"),
        "{}",
        script.asked()[2]
    );
}

#[test]
fn the_plan_counts_what_the_loop_makes() {
    let queries = queries();
    let mut settings = settings(2);
    let planned = |settings: &TuneSettings, proof: &ProofPlan| {
        let Planned { probes, proof, questions } = Planned::of(settings, &queries, proof);
        (probes, proof, questions)
    };
    let (none, five) = (ProofPlan::new(0, 5), ProofPlan::new(4, 5));
    // Ten queries three times and a control, for the first description and for each proposal; then both once more.
    assert_eq!(planned(&settings, &none), (62, 0, 2));
    assert_eq!(planned(&settings, &five), (62 + 40, 40, 2));
    settings.candidates = 3;
    assert_eq!(planned(&settings, &none), (31 + 3 * 19 + 12, 0, 6));
    settings.candidates = 8;
    let halved = u64::try_from(halving::cost(8, 18)).unwrap();
    assert_eq!(planned(&settings, &none), (31 + (halved + 8).max(3 * 19) + 12, 0, 16));
    settings.candidates = 3;
    settings.holdout = 0.0;
    assert_eq!(planned(&settings, &none), (4 * 31, 0, 6));
    settings.rounds = 1;
    assert_eq!(planned(&settings, &five), (31, 0, 0), "one round measures, and that is all");
}

#[test]
fn what_was_measured_is_kept_whatever_ends_the_loop() {
    let limit = || StopReason::Limit { limit: "the limit of 9 calls is reached".to_owned() };
    let (words, script) =
        (Words { breaks_at: Some(2), ..Words::default() }, Script::new(&["Better w1 w2 w3"]));
    let tuned = Run::new(&words, &script, 3).go().unwrap();
    assert_eq!(
        (&tuned.stop, tuned.summary.partial, tuned.reports.len()),
        (&limit(), Some(true), 1)
    );
    let (words, script) =
        (Words { falls_short_at: Some(2), ..Words::default() }, Script::new(&["Better w1 w2 w3"]));
    let tuned = Run::new(&words, &script, 3).go().unwrap();
    assert_eq!(
        (&tuned.stop, tuned.summary.iterations.len()),
        (&limit(), 1),
        "half a round is none"
    );
    let (words, script) = (Words::default(), Script::new(&["Better w1 w2 w3"]));
    let tuned = Run::new(&words, &script, 3).go().unwrap();
    assert!(matches!(tuned.stop, StopReason::Improver { .. }), "{:?}", tuned.stop);
    assert_eq!(
        (tuned.summary.final_description.as_str(), tuned.summary.partial, &tuned.summary.proof),
        ("Start w1", Some(true), &None),
        "what is not proven is not stood by"
    );
    let (words, script) = (Words::default(), Script::new(&["Better w1 w2 w3"]));
    let mut run = Run::new(&words, &script, 3);
    run.budget = Budget::new(Some(0), None);
    let tuned = run.go().unwrap();
    assert!(matches!(tuned.stop, StopReason::Limit { .. }), "{:?}", tuned.stop);
    assert_eq!(script.asked().len(), 0, "a limit holds for the improver, too");
    let cancel = CancellationToken::new();
    let words = Words { cancels_at: Some((2, cancel.clone())), ..Words::default() };
    let script = Script::new(&["Better w1 w2 w3"]);
    let mut run = Run::new(&words, &script, 3);
    run.cancel = cancel;
    let tuned = run.go().unwrap();
    assert_eq!((tuned.stop, tuned.summary.iterations.len()), (StopReason::Interrupted, 1));
}

#[test]
fn the_files_are_of_their_kinds_and_a_stopped_loop_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let words = Words { breaks_at: Some(2), ..Words::default() };
    let script = Script::new(&["Better w1 w2 w3"]);
    let mut run = Run::new(&words, &script, 3);
    run.folder = Some(folder.path());
    assert!(run.go().unwrap().stop.is_early());
    // The same once more: the improver is not asked again for what it has proposed.
    let (words, script) = (Words::default(), Script::new(&["All w1 w2 w3 w4 w5"]));
    let mut run = Run::new(&words, &script, 3);
    run.folder = Some(folder.path());
    let tuned = run.go().unwrap();
    assert_eq!(
        words.measured.lock().unwrap()[..3],
        ["Start w1", "Better w1 w2 w3", "All w1 w2 w3 w4 w5"]
    );
    assert_eq!(script.asked().len(), 1);
    let bytes = |name: &str| fs_err::read(folder.path().join(name)).unwrap();
    let summary = read::<LoopSummary>(&bytes("loop_summary.json")).unwrap();
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    assert_eq!(summary.value, tuned.summary);
    let history = read::<ImprovementHistory>(&bytes("history.json")).unwrap();
    assert!(history.warnings.is_empty(), "{:?}", history.warnings);
    let told: Vec<&str> = history.value.0.iter().map(|round| round.description.as_str()).collect();
    assert_eq!(told, ["Better w1 w2 w3", "All w1 w2 w3 w4 w5"], "nothing is there twice");
    assert_eq!(history.value.0[0].pass_rate, "4/6", "of the training queries");
    let own = |place: usize| history.value.0[place].measured.clone().unwrap().pass_rate;
    assert_eq!((own(0).as_str(), own(1).as_str()), ("5/6", "6/6"), "the last round's, too");
    for round in 1..=3 {
        read::<TriggerReport>(&bytes(&format!("round-{round}.json"))).unwrap();
    }
}

#[test]
fn the_proof_asks_both_in_turn_with_fresh_runs_of_the_held_out_queries() {
    let (words, script) = (Words::default(), Script::new(&["All w1 w2 w3 w4 w5"]));
    let tuned = Run::new(&words, &script, 2).go().unwrap();
    let proof = tuned.summary.proof.unwrap();
    assert_eq!((proof.round, proof.proven, proof.queries, proof.runs), (2, true, 4, 3));
    assert_eq!(proof.candidate, "All w1 w2 w3 w4 w5");
    assert_eq!(
        (proof.original_rate, proof.candidate_rate),
        (Some(Number::Float(0.5)), Some(Number::Float(1.0)))
    );
    // Two queries went from 0 of 3 to 3 of 3: one deal in 20 each.
    assert_eq!(proof.p, Some(Number::Float(0.0025)));
    assert_eq!(tuned.summary.best_iteration.round, 2);
    assert!(tuned.summary.best_iteration_note.unwrap().contains("optimistic"));
    let measured = words.measured.lock().unwrap();
    let (original, candidate) = ("Start w1", "All w1 w2 w3 w4 w5");
    assert_eq!(measured[2..], [original, candidate, candidate, original, original, candidate]);
    let runs: Vec<u32> = words.runs.lock().unwrap()[2..].to_vec();
    assert!(runs.iter().all(|run| *run > 1_000_000), "no round has had these: {runs:?}");
    assert_eq!(runs.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[test]
fn what_is_better_on_train_only_is_not_adopted_and_the_sentence_says_so() {
    // The training queries have w1, w3 and w4; nothing changes for the others.
    let (words, script) = (Words::default(), Script::new(&["Train w1 w3 w4"]));
    let tuned = Run::new(&words, &script, 2).go().unwrap();
    let summary = tuned.summary;
    assert_eq!(summary.final_description, "Start w1");
    let proof = summary.proof.clone().unwrap();
    assert_eq!((proof.proven, proof.difference), (false, Some(Number::Float(0.0))));
    let sentence = skillgauge_core::tune::conclusion(&summary);
    assert!(
        sentence.starts_with(
            "train 4/6 -> 6/6; on 4 held-out queries 50 % -> 50 % of runs right (+0 points, "
        ),
        "{sentence}"
    );
    assert!(sentence.contains("not shown to be better; "), "{sentence}");
    assert!(sentence.ends_with(" held-out queries x 5 runs would show +25 points"), "{sentence}");
}

#[test]
fn what_no_result_could_prove_is_not_asked() {
    for (holdout, proof_runs, words_of_it) in
        [(0.0, 3, "no queries are held out"), (0.4, 1, "4 held-out queries can't show any gain")]
    {
        let (words, script) = (Words::default(), Script::new(&["All w1 w2 w3 w4 w5"]));
        let mut run = Run::new(&words, &script, 2);
        (run.settings.holdout, run.proof_runs) = (holdout, proof_runs);
        let tuned = run.go().unwrap();
        assert_eq!(words.measured.lock().unwrap().len(), 2);
        assert_eq!(tuned.summary.final_description, "Start w1");
        assert_eq!(tuned.summary.proof.as_ref().unwrap().candidate, "All w1 w2 w3 w4 w5");
        let sentence = skillgauge_core::tune::conclusion(&tuned.summary);
        assert!(
            sentence.contains(words_of_it) && sentence.contains("would show +25"),
            "{sentence}"
        );
    }
}

#[test]
fn a_proof_that_is_stopped_proves_nothing() {
    let words = Words { falls_short_at: Some(5), ..Words::default() };
    let script = Script::new(&["All w1 w2 w3 w4 w5"]);
    let tuned = Run::new(&words, &script, 2).go().unwrap();
    assert!(matches!(tuned.stop, StopReason::Limit { .. }), "{:?}", tuned.stop);
    assert_eq!((tuned.summary.proof, tuned.summary.partial), (None, Some(true)));
    assert_eq!(tuned.summary.final_description, "Start w1");
}

#[test]
fn many_candidates_are_halved_on_training_queries() {
    let answers = ["A w1", "B w1 w2", "C w1 w3", "D w1 w3 w4", "E", "F w2", "G w5", "H w9"];
    let (words, script) = (Words::default(), Script::new(&answers));
    let mut run = Run::new(&words, &script, 2);
    run.settings.candidates = 8;
    let tuned = run.go().unwrap();
    assert_eq!(tuned.summary.proof.unwrap().candidate, "D w1 w3 w4");
    let last = tuned.summary.iterations.last().unwrap();
    assert_eq!((last.train_passed, last.train_total, last.test_total), (6, 6, 4));
    let (measured, queries) = (words.measured.lock().unwrap(), words.queries.lock().unwrap());
    let held_out: Vec<String> =
        tuned.split.test.iter().map(|place| self::queries()[*place].text.clone()).collect();
    let asked = |letter: &str| -> usize {
        let of = measured.iter().zip(queries.iter()).filter(|(what, _)| what.starts_with(letter));
        of.map(|(_, queries)| queries.iter().filter(|query| !held_out.contains(query)).count())
            .sum()
    };
    // D was measured whole once more, which costs nothing where probes are remembered.
    assert!(asked("E ") + asked("E") < 18 && asked("D") > 18, "{} {}", asked("E"), asked("D"));
    for (what, queries) in measured.iter().zip(queries.iter()).skip(1) {
        let is_chosen = what.starts_with('D') || what.starts_with("Start");
        assert!(is_chosen || queries.iter().all(|query| !held_out.contains(query)), "{what}");
    }
}
