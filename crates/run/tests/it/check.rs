//! Checks whose scripts are real processes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skillgauge_core::check::compile;
use skillgauge_format::Suite;
use skillgauge_format::evals::CheckResult;
use skillgauge_run::check::{CheckJob, CheckRunError, Scripts, check_and_store, check_run};
use skillgauge_run::model::Environment;
use skillgauge_run::outputs::{CollectLimits, Scope, Snapshot, collect};
use skillgauge_run::process::Guard;
use tokio_util::sync::CancellationToken;

fn scripts() -> Scripts {
    let variables = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("GITHUB_TOKEN", "ghp-0123456789abcdef"),
        ("DATABASE_URL", "postgres://user:password@host/db"),
        ("HTTPS_PROXY", "http://user:password@proxy:8080"),
        ("LANG", "C.UTF-8"),
    ];
    let environment: Environment = variables.into_iter().collect();
    Scripts::new(crate::guard(), environment, CancellationToken::new())
}

fn job(folder: &std::path::Path, script: &str) -> CheckJob {
    fs_err::create_dir_all(folder.join("outputs")).unwrap();
    job_of(folder, json!({"type": "custom_script", "script": script}))
}

fn job_of(folder: &std::path::Path, mut check: Value) -> CheckJob {
    check["id"] = "S1".into();
    check["description"] = "d".into();
    let suite = json!({"evals": [{"id": 1, "prompt": "p", "structural_expectations": [check]}]});
    let suite = Suite::read(suite.to_string().as_bytes()).unwrap().value;
    let checks = Arc::new(compile(&suite.cases().next().unwrap()).unwrap());
    CheckJob {
        run_dir: folder.to_owned(),
        checks,
        skill_dir: None,
        skill_name: None,
        inputs: vec![],
    }
}

async fn check(scripts: &Scripts, script: &str) -> CheckResult {
    let folder = tempfile::tempdir().unwrap();
    let mut structural = check_run(scripts, job(folder.path(), script)).await.unwrap();
    structural.expectations.pop().unwrap()
}

#[tokio::test]
async fn a_script_passes_with_exit_code_0_and_says_its_last_lines() {
    let result =
        check(&scripts(), "for i in 1 2 3 4 5 6 7; do echo line $i; done; echo warn >&2").await;
    assert!(result.passed);
    assert_eq!(result.evidence, "exit code 0: line 4; line 5; line 6; line 7; warn");
    let result = check(&scripts(), "echo no >&2; exit 4").await;
    assert_eq!((result.passed, result.evidence.as_str()), (false, "exit code 4: no"));
}

/// What one crate writes into `run.json` is what the other one reads there.
#[tokio::test]
async fn what_was_collected_in_part_is_decided_by_what_the_record_tells() {
    let folder = tempfile::tempdir().unwrap();
    let (work, run) = (folder.path().join("work"), folder.path().join("run"));
    fs_err::create_dir(&work).unwrap();
    let before = Snapshot::take(&work, Scope::new());
    fs_err::write(work.join("a.log"), "more than three").unwrap();
    for name in ["b", "c.txt", "d.txt", "e.txt"] {
        fs_err::write(work.join(name), "x").unwrap();
    }
    fs_err::os::unix::fs::symlink("/etc", work.join("a.link")).unwrap();
    let mut limits = CollectLimits { file_bytes: 3, files: 3, ..CollectLimits::default() };
    for (name_bytes, count) in [(100, Some(3)), (7, None)] {
        limits.name_bytes = name_bytes;
        let _ = fs_err::remove_dir_all(&run);
        let outputs = collect(&before, &work, &run.join("outputs"), &limits).unwrap();
        let record = json!({"execution": {"outputs": outputs}});
        fs_err::write(run.join("run.json"), record.to_string()).unwrap();
        for (check, passed, evidence) in [
            (json!({"type": "file_absent", "pattern": "a.log"}), false, "a.log (too large"),
            (json!({"type": "file_exists", "pattern": "a.link"}), false, "a link that leads out"),
            (json!({"type": "file_exists", "pattern": "c.txt"}), true, "c.txt (past the number"),
            (json!({"type": "file_absent", "pattern": "e.txt"}), false, ""),
            (json!({"type": "file_count", "pattern": "*.txt", "count": 3}), count.is_some(), ""),
            (json!({"type": "file_absent", "pattern": "z"}), count.is_some(), ""),
        ] {
            let structural = check_run(&scripts(), job_of(&run, check.clone())).await.unwrap();
            let result = &structural.expectations[0];
            assert_eq!(result.passed, passed, "{check}: {}", result.evidence);
            assert!(result.evidence.contains(evidence), "{check}: {}", result.evidence);
        }
    }
}

#[tokio::test]
async fn a_script_gets_no_secret() {
    let result =
        check(&scripts(), "env | grep -c -e password -e ghp- -e TOKEN; env | grep LANG").await;
    assert_eq!(result.evidence, "exit code 0: 0; LANG=C.UTF-8");
}

#[tokio::test]
async fn a_script_that_takes_too_long_is_ended_with_its_children_and_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = Scripts { timeout: Duration::from_millis(300), ..scripts() };
    let script = "echo begun; (setsid sleep 300 & echo $! > ../child); sleep 300";
    let structural = check_run(&scripts, job(folder.path(), script)).await.unwrap();
    let result = &structural.expectations[0];
    assert!(
        !result.passed && result.evidence.starts_with("Not decided: stopped after"),
        "{result:?}"
    );
    let child = fs_err::read_to_string(folder.path().join("child")).unwrap();
    let stat = fs_err::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    assert!(!stat.contains("(sleep)"), "the child lives: {stat}");
}

#[tokio::test]
async fn a_script_that_floods_its_output_is_bounded() {
    let result = check(&scripts(), "yes | head -c 50000000; echo the end").await;
    assert!(result.passed && result.evidence.ends_with("the end"), "{}", result.evidence);
}

#[tokio::test]
async fn the_result_is_written_and_a_guard_that_is_missing_is_no_failed_check() {
    let folder = tempfile::tempdir().unwrap();
    let job = job(folder.path(), "true");
    let structural = check_and_store(&scripts(), job.clone()).await.unwrap();
    let stored = fs_err::read(folder.path().join("structural.json")).unwrap();
    let stored = skillgauge_format::read::<skillgauge_format::evals::Structural>(&stored).unwrap();
    assert_eq!(stored.value, structural);
    let broken = Scripts { guard: Guard::new("/no/such/guard"), ..scripts() };
    let error = check_run(&broken, job).await.unwrap_err();
    assert!(matches!(error, CheckRunError::Check(_)), "{error}");
}
