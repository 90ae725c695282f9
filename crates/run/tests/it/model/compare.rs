//! Blind comparison and analysis against the scripted server: what is really sent, and what is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_core::analysis::{AnalysisSubject, SkillFiles, Standing};
use skillgauge_core::comparison::{Blinding, ComparisonStore, pairs};
use skillgauge_core::version::{Commits, Stamp, VersionNumber, VersionStore};
use skillgauge_core::workspace::Holder;
use skillgauge_format::part::Timestamp;
use skillgauge_run::agent::adapter::{Context, Exit, adapter};
use skillgauge_run::analyze::{Analyst, analyze};
use skillgauge_run::budget::Budget;
use skillgauge_run::compare::{Again, Comparator, CompareRequest, ComparedCase, compare};
use skillgauge_testkit::server::{Reply, Rule, Script, Server};
use tokio_util::sync::CancellationToken;

use crate::model::stage::{access, model, serve, serve_reply};

const VERSIONS: [VersionNumber; 2] = [VersionNumber(0), VersionNumber(1)];
const TIME: &str = "2026-02-22T20:00:00Z";

struct NoCommits;

impl Commits for NoCommits {
    fn commit_of(&self, _: &Path) -> Option<String> {
        None
    }
}

/// A skill with two versions under different names, and a run of each on the same cases.
struct Shop {
    folder: tempfile::TempDir,
}

impl Shop {
    fn new(cases: &[&str]) -> Self {
        let shop = Self { folder: tempfile::tempdir().unwrap() };
        for (version, name) in [(0, "pdf-tools"), (1, "pdf-helper")] {
            let text = format!(
                "---\nname: {name}\ndescription: Use when testing.\n---\n\nBody {version}.\n"
            );
            write(&shop.skill().join("SKILL.md"), &text);
            let store = shop.store();
            let since = TIME.to_owned();
            let holder = Holder { command: "test".into(), process: 1, machine: None, since };
            let lock = store.lock(&holder).unwrap();
            let time = Timestamp::new(TIME);
            let stamp = Stamp { time, program: "0.1.0", commits: &NoCommits, lock: &lock };
            store.snapshot(None, &stamp).unwrap();
            shop.iteration(version, name, cases);
        }
        shop
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("pdf-tools")
    }

    fn store(&self) -> VersionStore {
        VersionStore::of(&self.skill()).unwrap()
    }

    fn iteration(&self, version: u64, name: &str, cases: &[&str]) {
        let folder = self.store().workspace().root().join(format!("iteration-{}", version + 1));
        let mut record: Value = serde_json::from_str(include_str!(
            "../../../../format/testdata/skillgauge/iteration.json"
        ))
        .unwrap();
        record["version"] = version.into();
        record["case_ids"] = json!(cases);
        write(&folder.join("iteration.json"), &record.to_string());
        let case = |id: &&str| {
            json!({"id": id, "prompt": format!("Do {id}."), "expectations": [
                {"criterion": "c", "description": "The file has a title", "required": true}]})
        };
        let suite = json!({"version": "1.0", "cases": cases.iter().map(case).collect::<Vec<_>>()});
        write(&folder.join("suite.json"), &suite.to_string());
        for id in cases {
            let run = folder.join(format!("eval-{id}/with_skill/run-1"));
            let mut record: Value = serde_json::from_str(include_str!(
                "../../../../format/testdata/skillgauge/run.json"
            ))
            .unwrap();
            record["id"] = format!("eval-{id}/with_skill/run-1").into();
            record["case_id"] = (*id).into();
            let output = format!(
                "# Quality {version}{version}\n\nMade with {name} v{version} (version: 1.{version}) on {TIME},\n\
                 Sun Feb 22 20:00:0{version} UTC 2026, 177178{version}000, in {}\n",
                run.join("outputs").display()
            );
            write(&run.join(format!("outputs/report_v{version}.md")), &output);
            let said = format!("I used {name} v{version} in {}", run.display());
            let stream = format!("{}\n", json!({"type": "text", "text": said}));
            let transcript = adapter("command").unwrap().read(
                Context::default(),
                stream.as_bytes(),
                Exit::code(0),
            );
            write(&run.join("transcript.jsonl"), &transcript.to_jsonl().unwrap());
            write(&run.join("run.json"), &record.to_string());
        }
    }

    async fn compare(&self, server: &Server, again: Again, budget: Budget) -> Vec<ComparedCase> {
        let store = self.store();
        let found = pairs(store.workspace(), VERSIONS).unwrap();
        let [old, new] = VERSIONS.map(|version| store.names_of(version));
        let request = CompareRequest {
            pairs: found.pairs,
            names: VERSIONS.map(|version| version.to_string()),
            skill: store.skill(),
            blinding: Blinding::new([&old, &new]).unwrap(),
            store: ComparisonStore::new(store.workspace(), VERSIONS),
            again,
        };
        let comparator = Comparator {
            model: model("openai:gpt-4o", &access(server)),
            seed: 42,
            timeout: Duration::from_secs(20),
            jobs: 2,
        };
        compare(request, &comparator, &Arc::new(budget), &CancellationToken::new()).await
    }
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn answer(winner: &str) -> Value {
    let pair = json!({"A": 7, "B": 6});
    json!({"reasoning": "The title says more.", "winner": winner, "scores": {
        "description_quality": pair, "convention_compliance": pair, "type_specific_quality": pair,
        "token_efficiency": pair, "content_value": pair}})
}

/// All text of a request, as it went over the wire.
fn sent(server: &Server) -> Vec<String> {
    server.requests().iter().map(|request| request.json().to_string()).collect()
}

#[tokio::test]
async fn nothing_that_is_sent_tells_which_version_is_which() {
    let shop = Shop::new(&["case-one", "case-two"]);
    let server = serve_reply(Reply::json(answer("A")));
    let done = shop.compare(&server, Again::No, Budget::default()).await;
    assert!(done.iter().all(|case| case.result.is_ok()), "{done:?}");
    let requests = sent(&server);
    assert_eq!(requests.len(), 4);
    let workspace = shop.store().workspace().root().display().to_string();
    let place = shop.folder.path().display().to_string();
    for request in &requests {
        // The results themselves are there, and both of them.
        assert!(request.contains("# Quality 00") && request.contains("# Quality 11"), "{request}");
        let lower = request.to_lowercase();
        for telling in [
            "v0",
            "v1",
            "1.0",
            "1.1",
            "2026",
            "20:00",
            "17717",
            "pdf-tools",
            "pdf-helper",
            "pdf_tools",
            "iteration-",
            "with_skill",
            "run-1",
            "workspace/",
            &workspace,
            &place,
            "/tmp",
        ] {
            assert!(!lower.contains(&telling.to_lowercase()), "{telling} is in {request}");
        }
    }
}

#[tokio::test]
async fn both_orders_are_asked_and_the_key_is_kept_apart() {
    let shop = Shop::new(&["case-one"]);
    // The same result both times: its label changes with its place.
    let server = serve(
        Script::new()
            .rule(Rule::reply(Reply::json(answer("A"))).times(1))
            .rule(Rule::reply(Reply::json(answer("B")))),
    );
    let done = shop.compare(&server, Again::No, Budget::default()).await;
    let files = done[0].result.as_ref().unwrap();
    let firsts = |one: &str, other: &str| -> Vec<bool> {
        sent(&server).iter().map(|request| request.find(one) < request.find(other)).collect()
    };
    let results = firsts("Quality 00", "Quality 11");
    assert_eq!(results.len(), 2);
    assert_ne!(results[0], results[1]);
    let labels = firsts("# Result A", "# Result B");
    assert_eq!(labels[0], labels[1]);
    assert!(!files.key.disagreement);
    let folder = shop.store().workspace().root().join("comparison/v0-v1/case-one");
    let comparison = fs_err::read_to_string(folder.join("comparison.json")).unwrap();
    let key: Value =
        serde_json::from_slice(&fs_err::read(folder.join("comparison_key.json")).unwrap()).unwrap();
    assert!(!comparison.contains("v0") && !comparison.contains("v1"), "{comparison}");
    assert_eq!(key["seed"], 42);
    assert_ne!(key["A"], key["B"]);

    // The same again is not paid for again; on demand it is.
    let kept = shop.compare(&server, Again::No, Budget::default()).await;
    assert!(kept[0].is_kept);
    assert_eq!(server.requests().len(), 2);
    shop.compare(&server, Again::Yes, Budget::default()).await;
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_preferred_position_or_label_is_a_tie_and_nothing_more_is_asked() {
    let shop = Shop::new(&["case-one"]);
    let server = serve_reply(Reply::json(answer("A")));
    let done = shop.compare(&server, Again::No, Budget::default()).await;
    let files = done[0].result.as_ref().unwrap();
    assert_eq!(server.requests().len(), 2);
    assert!(files.key.disagreement && files.comparison.tie);
    assert_eq!(files.key.orders.len(), 2);
}

#[tokio::test]
async fn what_is_not_decided_is_not_written() {
    let shop = Shop::new(&["case-one"]);
    let server = serve_reply(Reply::json(answer("A")));
    let done = shop.compare(&server, Again::No, Budget::new(Some(1), None)).await;
    assert!(done[0].result.as_ref().unwrap_err().contains("--max-calls"), "{done:?}");
    assert!(!shop.store().workspace().root().join("comparison").exists());

    let server = serve_reply(Reply::json(answer("neither")));
    let done = shop.compare(&server, Again::No, Budget::default()).await;
    assert!(done[0].result.is_err());
    assert!(!shop.store().workspace().root().join("comparison").exists());
}

fn suggestion(before: &str) -> Value {
    json!({"reasoning": "r", "area": "body", "file": "SKILL.md", "before": before, "after": "Better body."})
}

fn analysis(suggestions: &[Value]) -> Value {
    json!({"strengths": ["s"], "weaknesses": [], "suggestions": suggestions})
}

async fn analyzed(server: &Server) -> skillgauge_format::cases::Analysis {
    let shop = Shop::new(&["case-one"]);
    let files = SkillFiles::of(&shop.skill()).unwrap();
    let subject = AnalysisSubject {
        winner: "v1",
        loser: "v0",
        standing: Standing::Won,
        version: "v1",
        cases: &[],
        failures: &[],
        files: &files,
    };
    let analyst = Analyst {
        model: model("openai:gpt-4o", &access(server)),
        timeout: Duration::from_secs(20),
    };
    analyze(&subject, &analyst, &Budget::default(), &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_suggestion_that_is_not_in_the_files_is_sent_back_once() {
    let server = serve(
        Script::new()
            .rule(
                Rule::reply(Reply::json(analysis(&[
                    suggestion("Body 1."),
                    suggestion("Boddy 1."),
                ])))
                .times(1),
            )
            .rule(
                Rule::reply(Reply::json(analysis(&[suggestion("name: pdf-helper")])))
                    .last_user("# Put these right"),
            ),
    );
    let analysis = analyzed(&server).await;
    let before: Vec<&str> =
        analysis.suggestions.iter().map(|found| found.before.as_str()).collect();
    assert_eq!(before, ["Body 1.", "name: pdf-helper"]);
    assert_eq!(analysis.notes, None);
    assert!(server.unmatched().is_empty());
}

#[tokio::test]
async fn a_suggestion_that_stays_wrong_is_dropped_with_a_note() {
    let server =
        serve_reply(Reply::json(analysis(&[suggestion("Body 1."), suggestion("nowhere")])));
    let analysis = analyzed(&server).await;
    assert_eq!(server.requests().len(), 2);
    assert!(analysis.suggestions.iter().all(|found| found.before == "Body 1."));
    let notes = analysis.notes.unwrap();
    assert!(notes[0].contains("dropped"), "{notes:?}");
}
