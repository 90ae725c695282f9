//! What a fleet does, as somebody else tells it: this crate knows no fleet. The page follows it by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::AppState;
use super::answer::Answer;

/// The news of a fleet; the sender sends whenever something is different.
pub type FleetFeed = watch::Receiver<FleetView>;

/// A fleet at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetView {
    /// As `fleet status --format json` tells it; the last that is known.
    pub status: Value,
    /// Why nothing newer is known.
    pub problem: Option<String>,
}

pub(super) async fn follow(State(state): State<Arc<AppState>>) -> Response {
    let Some(feed) = state.fleet.clone() else {
        return Answer::NotFound("no fleet is watched; `serve --fleet URL` does").respond(&state);
    };
    let news = stream::unfold(feed, |mut feed| async move {
        // Whoever sends is gone: so are we, soon.
        feed.changed().await.ok()?;
        let event = Event::default().data(json!({"event": "the fleet moved"}).to_string());
        Some((Ok::<_, Infallible>(event), feed))
    });
    Sse::new(news).keep_alive(KeepAlive::default()).into_response()
}
