//! Saves what a person says about a run: the only thing that the viewer writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use axum::Form;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use skillgauge_core::iteration::Iteration;
use skillgauge_core::time::timestamp;
use skillgauge_format::evals::{Review, ReviewMark, ReviewVerdict};

use super::AppState;
use super::pages::case_key;
use crate::feedback::{SaveError, save as save_review};
use crate::page::{Links, Target};

/// Why a review is not saved.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("the token is missing or wrong; load the page again")]
    Token,
    #[error("there is no such run")]
    NoRun,
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error("saving failed")]
    Stopped,
}

pub(super) async fn save(
    State(state): State<Arc<AppState>>,
    Path(iteration): Path<String>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let fields: BTreeMap<String, String> = fields.into_iter().collect();
    let wants_page = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    match put(Arc::clone(&state), iteration.clone(), fields).await {
        Ok((run, page)) if wants_page => {
            let to = Links::new(Target::Server, &iteration).page("review");
            Redirect::to(&format!("{to}?page={page}#review-{run}")).into_response()
        }
        Ok(_) => "saved".into_response(),
        Err(refusal) => {
            let status = match refusal {
                Refusal::Token => StatusCode::FORBIDDEN,
                Refusal::NoRun => StatusCode::NOT_FOUND,
                Refusal::Save(SaveError::Broken(_)) => StatusCode::CONFLICT,
                Refusal::Save(SaveError::Json(_) | SaveError::Write(_)) | Refusal::Stopped => {
                    StatusCode::INTERNAL_SERVER_ERROR
                }
            };
            (status, refusal.to_string()).into_response()
        }
    }
}

async fn put(
    state: Arc<AppState>,
    key: String,
    fields: BTreeMap<String, String>,
) -> Result<(String, usize), Refusal> {
    let given = fields.get("token").map(String::as_str).unwrap_or_default();
    if !same(given, &state.token) {
        return Err(Refusal::Token);
    }
    let _one_at_a_time = state.writing.lock().await;
    let workspace = state.workspace.refreshed();
    let work = move || {
        let folder = fields.get("run").cloned().unwrap_or_default();
        let path = workspace.iteration_path(&key).ok_or(Refusal::NoRun)?;
        let iteration = Iteration::read_case(&path, &case_key(&folder));
        let iteration = iteration.map_err(|_| Refusal::NoRun)?;
        let (_, run) = iteration.run(&folder).ok_or(Refusal::NoRun)?;
        let page = fields.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
        let id = run.id.clone();
        save_review(&path, review(id.clone(), &fields))?;
        Ok((id, page))
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Refusal::Stopped))
}

fn review(run_id: String, fields: &BTreeMap<String, String>) -> Review {
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    // Browsers send line ends as CR LF.
    let comment = field("comment").replace("\r\n", "\n");
    let mut verdicts: Vec<(usize, ReviewVerdict)> = fields
        .iter()
        .filter_map(|(name, said)| {
            let index = name.strip_prefix("verdict-")?;
            let text = fields.get(&format!("text-{index}"))?.replace("\r\n", "\n");
            let passed = match said.as_str() {
                "passed" => true,
                "failed" => false,
                _ => return None,
            };
            Some((index.parse().ok()?, ReviewVerdict { text, passed }))
        })
        .collect();
    verdicts.sort_by_key(|(index, _)| *index);
    Review {
        run_id,
        feedback: comment.trim().to_owned(),
        timestamp: Some(timestamp(SystemTime::now())),
        mark: match field("mark") {
            "good" => Some(ReviewMark::Good),
            "bad" => Some(ReviewMark::Bad),
            _ => None,
        },
        verdicts: verdicts.into_iter().map(|(_, verdict)| verdict).collect(),
        ..Review::default()
    }
}

/// Compares without telling by the time it takes how much was right.
fn same(given: &str, token: &str) -> bool {
    let differs =
        given.bytes().zip(token.bytes()).fold(0, |sum, (left, right)| sum | (left ^ right));
    differs == 0 && given.len() == token.len() && !token.is_empty()
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn only_the_whole_token_is_the_token() {
        assert!(same("abc", "abc"));
        for given in ["", "ab", "abd", "abcd"] {
            assert!(!same(given, "abc"), "{given}");
        }
        assert!(!same("", ""));
    }
}
