//! The viewer: how long the pages of a large workspace take, and how much memory.
//!
//! The pages of 2,000 runs are asked for without a network in between.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::json;
use skillgauge_web::{AppState, app};
use tower::ServiceExt as _;

use crate::child::Sample;
use crate::page;

const CASES: u32 = 100;
const RUNS: u32 = 10;
const REPETITIONS: usize = 15;
const WANTED_MS: f64 = 300.0;
const WANTED_MB: f64 = 150.0;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn measure() -> Result<String> {
    let folder = tempfile::tempdir()?;
    for case in 0..CASES {
        write_case(folder.path(), case)?;
    }
    let before = peak_mb()?;
    let state = AppState::new(folder.path(), 8420, "token".to_owned())?;
    let router = app(state);
    let mut rows = Vec::new();
    for name in ["overview", "cases", "review", "case/eval-7", "transcript/eval-7/with_skill/run-1"]
    {
        let mut times = Vec::new();
        for _ in 0..REPETITIONS {
            let request = Request::get(format!("/i/iteration-1/{name}"))
                .header(header::HOST, "127.0.0.1:8420")
                .body(Body::empty())?;
            let began = Instant::now();
            let response = router.clone().oneshot(request).await?;
            ensure!(response.status() == StatusCode::OK, "{name}: {}", response.status());
            response.into_body().collect().await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        rows.push((name, Sample::of(times), peak_mb()?));
    }
    render(&rows, before)
}

fn render(rows: &[(&str, Sample, f64)], before: f64) -> Result<String> {
    let (_, overview, memory) = rows.first().context("nothing was measured")?;
    let (first, median) = (overview.max(), overview.median());
    let mut out = format!(
        "## The viewer\n\nMeasured on {}; load {} at the end. A workspace of {} runs ({CASES} cases, two configurations, {RUNS} runs \
         each) without a benchmark.json, so that intervals and verdict are computed for each page too. Nothing is cached: each \
         page is made from the files. The time is that of the server, from the request to the last byte, {REPETITIONS} times.\n\n",
        page::describe(),
        page::load(),
        CASES * RUNS * 2
    );
    out.push_str("| goal | measured | |\n|---|---|---|\n");
    let _ = writeln!(
        out,
        "| overview below {WANTED_MS:.0} ms of server time | {median:.0} ms in the median, {first:.0} ms at worst | {} |",
        page::met(median < WANTED_MS)
    );
    let _ = writeln!(
        out,
        "| overview below {WANTED_MB:.0} MB of memory | {memory:.0} MB at the peak, {before:.0} MB before | {} |\n",
        page::met(*memory < WANTED_MB)
    );
    out.push_str("| page | median | best | worst | peak memory so far |\n|---|---|---|---|---|\n");
    for (name, times, memory) in rows {
        let _ = writeln!(
            out,
            "| {name} | {:.0} ms | {:.0} ms | {:.0} ms | {memory:.0} MB |",
            times.median(),
            times.min(),
            times.max()
        );
    }
    Ok(out)
}

/// A case with its runs, each with the files that the product writes.
fn write_case(workspace: &Path, case: u32) -> Result<()> {
    let folder = workspace.join(format!("iteration-1/eval-{case}"));
    for configuration in ["with_skill", "without_skill"] {
        for run in 1..=RUNS {
            let folder = folder.join(format!("{configuration}/run-{run}"));
            fs_err::create_dir_all(folder.join("outputs"))?;
            fs_err::write(folder.join("outputs/notes.md"), "# Notes\n\n- One\n".repeat(20))?;
            let passes = !(case + run).is_multiple_of(5) && configuration == "with_skill";
            let expectations: Vec<_> = (0..10)
                .map(|index| {
                    json!({"text": format!("Expectation {index} of case {case} holds for the notes"),
                        "passed": passes || index < 5, "evidence": "The notes say \"One\" in line 3 of notes.md, as they should"})
                })
                .collect();
            let files = [
                (
                    "grading.json",
                    json!({"expectations": expectations,
                    "summary": {"passed": 10, "failed": 0, "total": 10, "pass_rate": 1.0},
                    "rubric_scores": {"clarity": {"score": 4, "evidence": "short"}},
                    "rubric_summary": {"weighted_mean": 4, "max_possible": 5, "normalized": 0.8}}),
                ),
                (
                    "structural.json",
                    json!({"expectations": [], "gate_passed": true,
                    "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": 0.0}}),
                ),
                ("timing.json", json!({"total_tokens": 4000 + run, "duration_ms": 30_000 + case})),
                ("metrics.json", json!({"total_tool_calls": 3})),
                ("run.json", json!({"outcome": "completed", "cost_usd": 0.01})),
            ];
            for (name, value) in files {
                fs_err::write(folder.join(name), format!("{value:#}"))?;
            }
            fs_err::write(folder.join("transcript.jsonl"), transcript())?;
        }
    }
    Ok(())
}

fn transcript() -> String {
    let mut text = String::from(
        "{\"format\":\"transcript\",\"version\":{\"major\":1,\"minor\":0},\"agent\":\"fake\"}\n",
    );
    for index in 0..60 {
        let _ = writeln!(
            text,
            "{{\"index\":{index},\"type\":\"text\",\"text\":\"Step {index} of the work\"}}"
        );
    }
    text.push_str("{\"type\":\"end\",\"outcome\":\"completed\",\"skills_loaded\":[]}\n");
    text
}

/// The most memory that this process has had so far.
fn peak_mb() -> Result<f64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
