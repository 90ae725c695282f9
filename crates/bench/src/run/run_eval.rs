//! The public skill-creator's run_eval.py: the nearest thing that it has to a harness.
//!
//! It starts `claude -p` for each query in a pool of Python processes, reads the events up to the first tool call, and
//! then kills the program; all runs share one folder. Here the fake agent is what `claude` means. The script is not
//! ours: its folder comes from `SKILLGAUGE_SKILL_CREATOR`, and without it only the others are measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use skillgauge_testkit::agent::{AgentScript, install};

use super::stage::Effort;
use crate::child::{self, Cost};

/// Queries that show that it works at all; it counts an agent that cannot be started as one that did not trigger.
const TRIAL: usize = 4;

/// Everything that the script needs.
pub(crate) struct RunEval {
    /// Arguments of `env` up to those of the script.
    start: Vec<String>,
    skill: PathBuf,
    queries: PathBuf,
    jobs: u32,
}

impl RunEval {
    /// The script with as many queries as there are runs; nothing when nobody says where it is.
    pub(crate) fn find(place: &Path, script: &AgentScript, effort: Effort) -> Result<Option<Self>> {
        let Some(creator) = std::env::var_os("SKILLGAUGE_SKILL_CREATOR") else {
            crate::say("SKILLGAUGE_SKILL_CREATOR is not set: run_eval.py is left out")?;
            return Ok(None);
        };
        let creator = fs_err::canonicalize(PathBuf::from(creator))?;
        ensure!(creator.join("scripts/run_eval.py").is_file(), "there is no scripts/run_eval.py");
        let (bin, project, skill) =
            (place.join("bin"), place.join("project"), place.join("sales-report"));
        for folder in [&bin, &skill, &project.join(".claude")] {
            fs_err::create_dir_all(folder)?;
        }
        install(&bin, "claude", script)?;
        fs_err::write(project.join("sales.csv"), "region,amount\nnorth,1\n".repeat(100))?;
        fs_err::write(
            skill.join("SKILL.md"),
            "---\nname: sales-report\ndescription: Makes reports. Use when a report is wanted.\n---\n\n# Reports\n",
        )?;
        let path = std::env::var("PATH").context("there is no PATH")?;
        let start = vec![
            "-C".to_owned(),
            project.display().to_string(),
            format!("PATH={}:{path}", bin.display()),
            format!("PYTHONPATH={}", creator.display()),
            "python3".to_owned(),
            "-m".to_owned(),
            "scripts.run_eval".to_owned(),
        ];
        let found = Self { start, skill, queries: place.join("queries.json"), jobs: effort.jobs };
        found.try_out(place)?;
        write_queries(&found.queries, effort.runs)?;
        Ok(Some(found))
    }

    fn arguments(&self, queries: &Path) -> Vec<String> {
        let mut arguments = self.start.clone();
        for (flag, value) in [
            ("--eval-set", queries.display().to_string()),
            ("--skill-path", self.skill.display().to_string()),
            ("--num-workers", self.jobs.to_string()),
            ("--runs-per-query", "1".to_owned()),
        ] {
            arguments.extend([flag.to_owned(), value]);
        }
        arguments
    }

    fn try_out(&self, place: &Path) -> Result<()> {
        let queries = place.join("trial.json");
        write_queries(&queries, TRIAL)?;
        let output = Command::new("/usr/bin/env").args(self.arguments(&queries)).output()?;
        let talk = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && talk.is_empty(), "run_eval.py does not work: {talk}");
        let result: Value = serde_json::from_slice(&output.stdout)?;
        ensure!(result["summary"]["total"] == TRIAL, "run_eval.py says {result}");
        Ok(())
    }

    pub(crate) fn measure(&self) -> Result<Cost> {
        let arguments = self.arguments(&self.queries);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        child::measure(Path::new("/usr/bin/env"), &arguments)
    }
}

fn write_queries(path: &Path, count: usize) -> Result<()> {
    let query =
        |number| json!({"query": format!("Make report {number}."), "should_trigger": false});
    let queries: Vec<Value> = (0..count).map(query).collect();
    Ok(fs_err::write(path, serde_json::to_vec(&queries)?)?)
}
