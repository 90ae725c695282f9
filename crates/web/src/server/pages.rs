//! The pages: the workspace as it is now, rendered.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use minijinja::{Value, context};
use serde::Deserialize;

use super::AppState;
use super::answer::{Answer, blocking};
use crate::page::{self, Links, Pair, Part, Scene, Target};
use crate::versions::Versions;

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
    let links = Links::new(Target::Server, workspace.newest());
    Redirect::temporary(&links.page("overview")).into_response()
}

/// A page that is not about one case or run.
pub(super) async fn page(
    State(state): State<Arc<AppState>>,
    Path((iteration, name)): Path<(String, String)>,
) -> Response {
    blocking(state, move |state| {
        let Some(scene) = read(state, &iteration, Part::All) else { return no_iteration() };
        let triggering = &scene.triggering;
        let (title, values) = match name.as_str() {
            "overview" => ("Overview", page::overview(&scene)),
            "cases" => ("Cases", page::cases(&scene)),
            "trigger" => ("Trigger", page::trigger(triggering)),
            "routing" => ("Routing", page::routing(triggering)),
            "tuning" => ("Tuning", page::tuning(triggering)),
            "versions" => ("Versions", page::versions(&Versions::read(scene.workspace.root()))),
            "fleet" => match state.fleet() {
                Some(found) => ("Fleet", page::fleet(&found)),
                None => return Answer::NotFound("no fleet is watched; `serve --fleet URL` does"),
            },
            _ => return Answer::NotFound("there is no such page"),
        };
        render(&scene, state, (title, &name), &format!("{name}.html"), values)
    })
    .await
}

pub(super) async fn review(
    State(state): State<Arc<AppState>>,
    Path(iteration): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    blocking(state, move |state| {
        let Some(scene) = read(state, &iteration, Part::All) else { return no_iteration() };
        let values = page::review(&scene, wanted.page());
        render(&scene, state, ("Review", "review"), "review.html", values)
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
        let Some(scene) = read(state, &iteration, Part::Case(&key)) else { return no_iteration() };
        let Some(case) = scene.iteration.case(&key) else {
            return Answer::NotFound("there is no such case in this iteration");
        };
        let pair = Pair { left: wanted.left, right: wanted.right };
        let values = page::case(&scene, case, &pair);
        render(&scene, state, (&case.title(), "cases"), "case.html", values)
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
        let Some(scene) = read(state, &iteration, Part::Case(&key)) else { return no_iteration() };
        let Some(found) = scene.iteration.run(&folder) else {
            return Answer::NotFound("there is no such run in this iteration");
        };
        let values = page::transcript(&scene, found, wanted.page());
        render(&scene, state, ("Transcript", "cases"), "transcript.html", values)
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

fn read(state: &AppState, key: &str, part: Part<'_>) -> Option<Scene> {
    Scene::read(state.workspace.refreshed(), key, part, Target::Server)
}

fn render(
    scene: &Scene,
    state: &AppState,
    (title, current): (&str, &str),
    template: &str,
    page: Value,
) -> Answer {
    // Where the journal ends now: what comes later is news to this page.
    let journal = fs_err::metadata(scene.iteration.folder.join("journal.jsonl"));
    let from = journal.map_or(0, |metadata| metadata.len());
    let live = match current {
        "fleet" => "/fleet/live".to_owned(),
        _ => format!("{}?from={from}", scene.links.page("live")),
    };
    let values = context! {
        head => scene.head(current, state.fleet().as_ref()),
        page => page,
        template => template,
        title => title,
        target => "server",
        token => state.token.clone(),
        live => live,
    };
    state.templates.render("server.html", values).into()
}
