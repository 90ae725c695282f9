//! What a fleet does, as somebody else tells it: this crate knows no fleet. The page follows it by server-sent events.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;

use super::AppState;
use super::answer::Answer;

/// The news of a fleet; the sender sends whenever something is different.
pub type FleetFeed = watch::Receiver<FleetView>;

/// A fleet at one moment, as `fleet status --format json` has it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct FleetView {
    pub workers: Vec<WorkerView>,
    pub plans: Vec<PlanView>,
    /// Why nothing newer is known.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct WorkerView {
    pub name: String,
    pub tool_version: String,
    pub slots: u32,
    pub grade_slots: u32,
    /// By plan.
    pub running: BTreeMap<String, u32>,
    pub done: u64,
    pub failed: u64,
    #[serde(default)]
    pub left: Vec<LeftView>,
}

/// What a worker cannot do, and why.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct LeftView {
    pub queue: String,
    pub plan: String,
    pub why: String,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct PlanView {
    pub id: String,
    pub skill: String,
    pub agent: String,
    pub state: String,
    pub planned: u64,
    pub queued: u64,
    pub running: u64,
    pub done: u64,
    pub failed: u64,
    pub lost: u64,
    pub grades_queued: u64,
    pub graded: u64,
    pub runs_per_minute: Option<f64>,
    pub seconds_left: Option<f64>,
}

pub(super) async fn follow(State(state): State<Arc<AppState>>) -> Response {
    let Some(feed) = state.fleet.clone() else {
        return Answer::NotFound("no fleet is watched; `serve --fleet URL` does").respond(&state);
    };
    let news = stream::unfold(feed, |mut feed| async move {
        // Whoever sends is gone: so are we, soon.
        feed.changed().await.ok()?;
        let event = Event::default().data(r#"{"event":"the fleet moved"}"#);
        Some((Ok::<_, Infallible>(event), feed))
    });
    Sse::new(news).keep_alive(KeepAlive::default()).into_response()
}
