//! Everything that the pages of one iteration show, read once for each page of the server and once for a report.

use std::path::PathBuf;

use minijinja::{Value, context};
use skillgauge_core::benchmark::{Settings, Summary};
use skillgauge_core::iteration::{Iteration, Problem, Run};

use super::links::{Links, Target};
use super::view;
use crate::feedback::Feedback;
use crate::server::FleetView;
use crate::triggering::Triggering;
use crate::versions;
use crate::workspace::Workspace;

/// How much of an iteration is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'k> {
    All,
    /// One case, by the name of its folder.
    Case(&'k str),
}

pub(crate) struct Scene {
    pub(crate) workspace: Workspace,
    /// What the iteration is called in addresses.
    pub(crate) key: String,
    pub(crate) iteration: Iteration,
    pub(crate) summary: Summary,
    pub(crate) feedback: Feedback,
    pub(crate) triggering: Triggering,
    pub(crate) links: Links,
    /// Files of the iteration that could not be used.
    pub(crate) problems: Vec<Problem>,
}

/// The pages that are not about one case or run: name, title.
const PAGES: [(&str, &str); 8] = [
    ("overview", "Overview"),
    ("cases", "Cases"),
    ("trigger", "Trigger"),
    ("routing", "Routing"),
    ("tuning", "Tuning"),
    ("versions", "Versions"),
    ("review", "Review"),
    ("fleet", "Fleet"),
];

impl Scene {
    /// Nothing when there is no such iteration.
    pub(crate) fn read(
        workspace: Workspace,
        key: &str,
        part: Part<'_>,
        target: Target,
    ) -> Option<Self> {
        let path = workspace.iteration_path(key)?;
        let read = match part {
            Part::All => Iteration::read(&path),
            Part::Case(case) => Iteration::read_case(&path, case),
        };
        let mut problems = Vec::new();
        let iteration = read.unwrap_or_else(|error| {
            problems.push(Problem { file: key.to_owned(), message: error.to_string() });
            Iteration { folder: path.clone(), ..Iteration::default() }
        });
        problems.extend(iteration.problems.iter().cloned());
        let feedback = Feedback::read(&path, &mut problems);
        Some(Self {
            key: key.to_owned(),
            summary: iteration.summary(&Settings::default()),
            iteration,
            feedback,
            triggering: Triggering::read(workspace.root()),
            links: Links::new(target, key),
            workspace,
            problems,
        })
    }

    pub(crate) fn run_folder(&self, run: &Run) -> PathBuf {
        self.iteration.folder.join(&run.folder)
    }

    /// What the head of every page shows: the skill, the iteration, the way to the other pages.
    pub(crate) fn head(&self, current: &str, fleet: Option<&FleetView>) -> Value {
        let has = |name: &str| match name {
            "trigger" => {
                !self.triggering.reports.is_empty() || !self.triggering.problems.is_empty()
            }
            "routing" => !self.triggering.routes.is_empty(),
            "tuning" => !self.triggering.loops.is_empty(),
            "versions" => versions::are_in(self.workspace.root()),
            "fleet" => fleet.is_some(),
            _ => true,
        };
        let pages: Vec<(String, &str, bool)> = PAGES
            .into_iter()
            .filter(|(name, _)| has(name))
            .map(|(name, title)| (self.links.page(name), title, name == current))
            .collect();
        let iterations = self.workspace.iterations().iter().map(|key| {
            let href = Links::new(self.links.target, key).page("overview");
            (href, key.replacen("iteration-", "iteration ", 1), *key == self.key)
        });
        let iterations: Vec<(String, String, bool)> = iterations.collect();
        let about = &self.iteration.about;
        let version = about.version.map(|version| format!("v{version}"));
        let facts: Vec<(&str, &String)> = [
            ("version", &version),
            ("agent", &about.agent),
            ("model", &about.executor_model),
            ("judge", &about.judge_model),
            ("made", &about.timestamp),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .collect();
        let skill = about.skill_name.clone().unwrap_or_else(|| {
            let name = self.workspace.name();
            name.strip_suffix("-workspace").map(str::to_owned).unwrap_or(name)
        });
        context! {
            skill => skill,
            facts => view(facts),
            pages => view(pages),
            iterations => view(iterations),
            iteration => self.key.clone(),
        }
    }
}
