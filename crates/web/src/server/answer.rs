//! Answers: pages, assets, and the messages for what is not there.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::{Value, context};

use super::AppState;
use crate::page::{RenderError, SCRIPT, STYLE};

pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

pub(super) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

/// A page, or why there is none.
pub(super) enum Answer {
    Page(String),
    /// There is no such page.
    NotFound(&'static str),
    Broken(RenderError),
}

impl From<Result<String, RenderError>> for Answer {
    fn from(rendered: Result<String, RenderError>) -> Self {
        rendered.map_or_else(Self::Broken, Self::Page)
    }
}

impl Answer {
    pub(super) fn respond(self, state: &AppState) -> Response {
        match self {
            Self::Page(html) => Html(html).into_response(),
            Self::NotFound(text) => message(state, StatusCode::NOT_FOUND, "Not here", text),
            Self::Broken(error) => {
                let text = error.to_string();
                message(state, StatusCode::INTERNAL_SERVER_ERROR, "This page is broken", &text)
            }
        }
    }
}

pub(super) fn message(state: &AppState, status: StatusCode, title: &str, text: &str) -> Response {
    let values: Value = context! { title => title, text => text };
    match state.templates.render("message.html", values) {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => (status, error.to_string()).into_response(),
    }
}

/// Makes an answer away from the threads that serve others: it reads files.
pub(super) async fn blocking(
    state: Arc<AppState>,
    make: impl FnOnce(&AppState) -> Answer + Send + 'static,
) -> Response {
    let inner = Arc::clone(&state);
    match tokio::task::spawn_blocking(move || make(&inner)).await {
        Ok(answer) => answer.respond(&state),
        Err(_) => message(
            &state,
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page is broken",
            "making it failed; this is a mistake of skillgauge, please report it",
        ),
    }
}
