//! What must not change the result: how the bytes arrive, and whether the transcript was stored in between.

use std::sync::LazyLock;

use proptest::prelude::*;
use skillgauge_format::transcript::Transcript;
use skillgauge_run::agent::adapter::{ADAPTERS, Caps, Context, LineSplitter};

use crate::adapter::fixture::{Fixture, context};

fn everything() -> &'static [Fixture] {
    static ALL: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
        ["claude", "codex", "gemini", "opencode"].into_iter().flat_map(Fixture::all).collect()
    });
    &ALL
}

#[test]
fn all_recorded_streams_are_there() {
    assert_eq!(everything().len(), 141);
}

#[test]
fn the_events_of_the_lines_are_the_events_of_the_transcript() {
    for fixture in everything() {
        let mut adapter = fixture.kind().open(context(&fixture.agent));
        let mut events = Vec::new();
        for line in fixture.stream.split_inclusive(|byte| *byte == b'\n') {
            events.extend_from_slice(adapter.line(line));
        }
        let transcript = adapter.finish(&fixture.exit());
        assert_eq!(transcript, fixture.read(), "{}/{}", fixture.agent, fixture.case);
        // What was read from standard error, or follows from the whole, comes after the lines; so do the tokens of an
        // answer, after its first event.
        let mut told = transcript.events[..events.len()].to_vec();
        for event in told.iter_mut().chain(&mut events) {
            event.tokens = None;
        }
        assert_eq!(told, events, "{}/{}", fixture.agent, fixture.case);
        assert!(transcript.events[events.len()..].iter().all(|event| event.line.is_none()));
    }
}

/// Who states tokens for each answer of the model, and that they come to no more than the run's own total.
#[test]
fn the_tokens_of_the_steps_are_part_of_those_of_the_run() {
    let mut stating = std::collections::BTreeMap::<&str, usize>::new();
    for fixture in everything() {
        let transcript = fixture.read();
        let steps: Vec<_> = transcript.events.iter().filter_map(|event| event.tokens).collect();
        let Some(usage) = transcript.end.usage.filter(|_| !steps.is_empty()) else { continue };
        *stating.entry(&fixture.agent).or_default() += 1;
        let input: u64 = steps.iter().map(|step| step.input).sum();
        let output: u64 = steps.iter().filter_map(|step| step.output).sum();
        let name = format!("{}/{}", fixture.agent, fixture.case);
        assert!(input <= usage.total_tokens() - usage.output_tokens, "{name}: {input} {usage:?}");
        assert!(output <= usage.output_tokens, "{name}: {output} of {usage:?}");
    }
    assert_eq!(stating.keys().copied().collect::<Vec<_>>(), ["claude", "opencode"]);
}

#[test]
fn a_transcript_that_was_written_and_read_back_is_equal() {
    for fixture in everything() {
        let transcript = fixture.read();
        let text = transcript.to_jsonl().unwrap();
        assert_eq!(
            Transcript::from_jsonl(&text).unwrap(),
            transcript,
            "{}/{}",
            fixture.agent,
            fixture.case
        );
        let json = serde_json::to_string(&transcript).unwrap();
        assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), transcript);
    }
}

#[test]
fn skills_are_recognised_without_knowing_them_too() {
    for fixture in everything() {
        let known = fixture.read().end;
        let unknown = fixture.kind().read(Context::default(), &fixture.stream, fixture.exit()).end;
        assert_eq!(
            unknown.skills_loaded, known.skills_loaded,
            "{}/{}",
            fixture.agent, fixture.case
        );
        assert_eq!(
            unknown.skills_requested, known.skills_requested,
            "{}/{}",
            fixture.agent, fixture.case
        );
        assert_eq!(
            unknown.skills_touched, known.skills_touched,
            "{}/{}",
            fixture.agent, fixture.case
        );
        assert_eq!(unknown.outcome, known.outcome, "{}/{}", fixture.agent, fixture.case);
    }
}

#[test]
fn the_same_conversation_has_the_same_tokens_with_every_agent() {
    for agent in ["claude", "codex", "gemini", "opencode"] {
        let usage = Fixture::load(agent, "full").read().end.usage.unwrap();
        // Gemini's four requests had 28 reasoning tokens beside the output.
        let output = usage.output_tokens - if agent == "gemini" { 28 } else { 0 };
        assert_eq!(
            (usage.input_tokens, usage.cache_read_tokens, output),
            (4006, 12006, 206),
            "{agent}"
        );
    }
}

#[test]
fn every_adapter_has_recorded_streams_or_a_contract() {
    for kind in &ADAPTERS {
        assert!(kind.name == "command" || !Fixture::all(kind.name).is_empty(), "{}", kind.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunks_that_end_anywhere_give_the_same_transcript(
        index in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let fixture = index.get(everything());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(fixture.stream.len() + 1)).collect();
        cuts.sort_unstable();
        let mut adapter = fixture.kind().open(context(&fixture.agent));
        let mut splitter = LineSplitter::new(Caps::default().line + 1);
        let mut start = 0;
        for cut in cuts.into_iter().chain([fixture.stream.len()]) {
            splitter.push(&fixture.stream[start..cut], |line| { adapter.line(line); });
            start = cut;
        }
        let dropped = splitter.finish(|line| { adapter.line(line); });
        prop_assert_eq!(dropped, 0);
        prop_assert_eq!(adapter.finish(&fixture.exit()), fixture.read());
    }
}
