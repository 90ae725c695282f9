//! The pages: the workspace as it is now, rendered.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use minijinja::{Value, context};
use serde::Deserialize;

use super::AppState;
use super::answer::{Answer, blocking};
use crate::model::iteration::{Iteration, Part};
use crate::model::trigger::Triggering;
use crate::model::versions::Versions;
use crate::model::{SELF, Workspace};
use crate::page::{self, Links, Pair, Target, head};

/// What a page's address may ask for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    page: Option<usize>,
    left: Option<String>,
    right: Option<String>,
}

impl Wanted {
    fn page(&self) -> usize {
        self.page.unwrap_or(1).clamp(1, 1_000_000)
    }
}

pub(super) async fn home(State(state): State<Arc<AppState>>) -> Response {
    let workspace = state.workspace.refreshed();
    let key = workspace.newest().unwrap_or(SELF);
    Redirect::temporary(&Links::new(Target::Server, key).page("overview")).into_response()
}

/// A page that is not about one case or run.
pub(super) async fn page(
    State(state): State<Arc<AppState>>,
    Path((iteration, name)): Path<(String, String)>,
) -> Response {
    blocking(state, move |state| {
        let Some(mut scene) = Scene::read(state, &iteration, Part::All) else {
            return no_iteration();
        };
        if name == "overview" {
            // No other page shows intervals over cases, and they cost a second reading of every run.
            scene.iteration = std::mem::take(&mut scene.iteration).with_statistics();
        }
        let Scene { iteration, triggering, links, .. } = &scene;
        let (title, template, values) = match name.as_str() {
            "overview" => {
                let before = scene.workspace.before(&iteration.key);
                let before = before.and_then(|key| scene.workspace.iteration(key));
                ("Overview", "overview.html", page::overview(iteration, before.as_ref(), links))
            }
            "cases" => ("Cases", "cases.html", page::cases(iteration, links)),
            "trigger" => ("Trigger", "trigger.html", page::trigger(triggering)),
            "routing" => ("Routing", "routing.html", page::routing(triggering)),
            "tuning" => ("Tuning", "tuning.html", page::tuning(triggering)),
            "versions" => ("Versions", "versions.html", page::versions(&scene.versions)),
            "fleet" => match state.fleet() {
                Some(found) => ("Fleet", "fleet.html", page::fleet(&found)),
                None => return Answer::NotFound("no fleet is watched; `serve --fleet URL` does"),
            },
            _ => return Answer::NotFound("there is no such page"),
        };
        scene.render(state, (title, &name), template, values)
    })
    .await
}

pub(super) async fn review(
    State(state): State<Arc<AppState>>,
    Path(iteration): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    blocking(state, move |state| {
        let Some(scene) = Scene::read(state, &iteration, Part::All) else { return no_iteration() };
        let values = page::review(&scene.iteration, wanted.page(), &scene.links);
        scene.render(state, ("Review", "review"), "review.html", values)
    })
    .await
}

/// The page of a case.
pub(super) async fn case(
    State(state): State<Arc<AppState>>,
    Path((iteration, key)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
) -> Response {
    blocking(state, move |state| {
        let Some(scene) = Scene::read(state, &iteration, Part::Case(&key)) else {
            return no_iteration();
        };
        let Some(case) = scene.iteration.case(&key) else {
            return Answer::NotFound("there is no such case in this iteration");
        };
        let pair = Pair { left: wanted.left, right: wanted.right };
        let values = page::case(&scene.iteration, case, &pair, &scene.links);
        scene.render(state, (&case.name, "cases"), "case.html", values)
    })
    .await
}

/// The page of a transcript.
pub(super) async fn transcript(
    State(state): State<Arc<AppState>>,
    Path((iteration, folder)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
) -> Response {
    blocking(state, move |state| {
        let key = case_key(&folder);
        let Some(scene) = Scene::read(state, &iteration, Part::Case(&key)) else {
            return no_iteration();
        };
        let Some(found) = scene.iteration.run(&folder) else {
            return Answer::NotFound("there is no such run in this iteration");
        };
        let values = page::transcript(&scene.iteration, found, wanted.page(), &scene.links);
        scene.render(state, ("Transcript", "cases"), "transcript.html", values)
    })
    .await
}

/// What is not there.
pub(super) async fn nowhere(State(state): State<Arc<AppState>>) -> Response {
    Answer::NotFound("there is no such page").respond(&state)
}

fn no_iteration() -> Answer {
    Answer::NotFound("there is no such iteration in this workspace")
}

/// The case of a run's folder.
pub(super) fn case_key(folder: &str) -> String {
    let mut parts = folder.split('/');
    let first = parts.next().unwrap_or_default();
    match parts.next() {
        Some(second) if first == "runs" => format!("runs/{second}"),
        _ => first.to_owned(),
    }
}

/// Everything that a page may show.
struct Scene {
    workspace: Workspace,
    iteration: Iteration,
    triggering: Triggering,
    versions: Versions,
    links: Links,
}

impl Scene {
    fn read(state: &AppState, key: &str, part: Part<'_>) -> Option<Self> {
        let workspace = state.workspace.refreshed();
        let path = match workspace.iteration_path(key) {
            Some(path) => path,
            // A workspace without iterations is shown as an empty one.
            None if key == SELF && workspace.iterations().is_empty() => workspace.root().to_owned(),
            None => return None,
        };
        let iteration = Iteration::read_part(&path, key, part);
        Some(Self {
            iteration,
            triggering: Triggering::read(workspace.root()),
            versions: Versions::read(workspace.root()),
            links: Links::new(Target::Server, key),
            workspace,
        })
    }

    fn render(
        &self,
        state: &AppState,
        (title, current): (&str, &str),
        template: &str,
        page: Value,
    ) -> Answer {
        let fleet = state.fleet();
        let known = (&self.triggering, &self.versions, fleet.as_ref());
        let head = head(&self.workspace, &self.iteration, known, &self.links, current);
        // Where the journal ends now: what comes later is news to this page.
        let journal = fs_err::metadata(self.iteration.path.join("journal.jsonl"));
        let from = journal.map_or(0, |metadata| metadata.len());
        let live = match current {
            "fleet" => "/fleet/live".to_owned(),
            _ => format!("{}?from={from}", self.links.page("live")),
        };
        let values = context! {
            head => head,
            page => page,
            template => template,
            title => title,
            target => "server",
            token => state.token.clone(),
            live => live,
        };
        state.templates.render("server.html", values).into()
    }
}
