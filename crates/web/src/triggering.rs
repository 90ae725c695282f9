//! Trigger reports, routing reports and tuning loops of a workspace, by what their files look like.

use std::path::Path;

use skillgauge_core::iteration::Problem;
use skillgauge_format::{Kind, json};

use skillgauge_format::trigger::{LoopSummary, RouteReport, TriggerReport};

use crate::read::{Bytes, files, folders, load_bytes};

const MAX_FILES: usize = 200;
const MAX_BYTES: u64 = 32 << 20;

/// Folders that may hold them begin with one of these.
const FOLDERS: [&str; 6] = ["trigger", "route", "routing", "tune", "tuning", "loop"];

/// Each with its file, relative to the workspace.
#[derive(Debug, Default)]
pub(crate) struct Triggering {
    pub(crate) reports: Vec<(String, TriggerReport)>,
    pub(crate) routes: Vec<(String, RouteReport)>,
    pub(crate) loops: Vec<(String, LoopSummary)>,
    /// Files that could not be used.
    pub(crate) problems: Vec<Problem>,
}

impl Triggering {
    /// Looks through the workspace, one level deep.
    pub(crate) fn read(workspace: &Path) -> Self {
        let mut found = Self::default();
        let mut paths = files(workspace);
        for folder in folders(workspace) {
            if FOLDERS.iter().any(|name| folder.starts_with(name)) {
                let inside = files(&workspace.join(&folder)).into_iter();
                paths.extend(inside.map(|name| format!("{folder}/{name}")));
            }
        }
        paths.retain(|path| path.strip_suffix(".json").is_some());
        for file in paths.into_iter().take(MAX_FILES) {
            if let Err(message) = found.add(workspace, &file) {
                found.problems.push(Problem { file, message });
            }
        }
        found
    }

    /// Adds a file if it is one of these; an estimate from words is none of them, and must not look like one.
    fn add(&mut self, workspace: &Path, file: &str) -> Result<(), String> {
        let bytes = match load_bytes(&workspace.join(file), MAX_BYTES) {
            Bytes::Missing => return Ok(()),
            Bytes::Broken(message) => return Err(message),
            Bytes::Read(bytes) => bytes,
        };
        let document = json::parse(&bytes).map_err(|error| format!("not JSON: {error}"))?;
        let (root, name) = (&document.root, file.to_owned());
        match Kind::detect(root) {
            Some(Kind::TriggerReport) => {
                let report =
                    root.deserialize::<TriggerReport>().map_err(|error| error.to_string())?;
                self.reports.push((name, report));
            }
            Some(Kind::RouteReport) => {
                let report =
                    root.deserialize::<RouteReport>().map_err(|error| error.to_string())?;
                self.routes.push((name, report));
            }
            Some(Kind::LoopSummary) => {
                let summary =
                    root.deserialize::<LoopSummary>().map_err(|error| error.to_string())?;
                self.loops.push((name, summary));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_known_by_their_shape_and_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        let query = json!({"query": "q", "should_trigger": true, "triggers": 3, "runs": 3, "errors": 0,
            "trigger_rate": 1.0, "pass": true});
        let report = json!({"skill_name": "s", "description": "d", "results": [query],
            "summary": {"passed": 1, "failed": 0, "total": 1, "threshold": 0.5}});
        write("history.json", r#"{"versions": []}"#);
        write("trigger/a.json", &report.to_string());
        write("trigger/b.json", "{");
        write("loop_summary.json", r#"{"original_description": "d", "iterations": []}"#);
        let found = Triggering::read(folder.path());
        assert_eq!((found.reports.len(), found.loops.len(), found.routes.len()), (1, 0, 0));
        let broken: Vec<&str> =
            found.problems.iter().map(|problem| problem.file.as_str()).collect();
        assert_eq!(broken, ["loop_summary.json", "trigger/b.json"]);
    }
}
