//! Output files: always a download, never a page.
//!
//! Whatever an agent left there is handed out as bytes. Images keep their type, so that a page can draw them; the policy
//! of the answer is a sandbox, so that nothing in them runs even when somebody opens the address itself.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::AppState;
use super::answer::message;
use crate::confine::{Refused, confined_file};
use crate::page::image_type;

/// A larger file is not handed out: it would have to be held in memory.
const MAX_BYTES: u64 = 64 << 20;

/// Nothing may run, and nothing may be loaded.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

pub(super) async fn output(
    State(state): State<Arc<AppState>>,
    Path((iteration, path)): Path<(String, String)>,
) -> Response {
    let inner = Arc::clone(&state);
    let found = tokio::task::spawn_blocking(move || read(&inner, &iteration, &path)).await;
    let refuse = |status, text: &str| message(&state, status, "No such file", text);
    match found {
        Ok(Ok((name, bytes))) => {
            let media_type = image_type(&name).unwrap_or("application/octet-stream");
            let headers = [
                (header::CONTENT_TYPE, media_type.to_owned()),
                (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
                (header::CONTENT_DISPOSITION, disposition(&name)),
            ];
            (headers, bytes).into_response()
        }
        Ok(Err(error @ Problem::Refused(Refused::NotPlain | Refused::Outside))) => {
            refuse(StatusCode::BAD_REQUEST, &error.to_string())
        }
        Ok(Err(error @ Problem::TooLarge)) => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string())
        }
        Ok(Err(error)) => refuse(StatusCode::NOT_FOUND, &error.to_string()),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "reading it failed"),
    }
}

/// Why a file is not handed out.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the file is larger than {} MB; open it in the workspace", MAX_BYTES >> 20)]
    TooLarge,
}

fn read(state: &AppState, iteration: &str, path: &str) -> Result<(String, Vec<u8>), Problem> {
    let workspace = state.workspace.refreshed();
    let root = workspace.iteration_path(iteration).ok_or(Refused::NotFound)?;
    let (folder, inner) = path.split_once("/outputs/").ok_or(Refused::NotPlain)?;
    // The whole way is plain and stays inside of the iteration, and the end of it inside of the run's own outputs.
    confined_file(&root, path)?;
    let file = confined_file(&root.join(folder).join("outputs"), inner)?;
    let size = fs_err::metadata(&file).map_or(0, |metadata| metadata.len());
    if size > MAX_BYTES {
        return Err(Problem::TooLarge);
    }
    let bytes = fs_err::read(&file).map_err(|_| Refused::NotFound)?;
    let name = inner.rsplit('/').next().unwrap_or(inner).to_owned();
    Ok((name, bytes))
}

/// A download under the file's own name, in ASCII; the browser asks where to put it.
fn disposition(name: &str) -> String {
    let plain = |character: char| {
        if character.is_ascii_alphanumeric() || "._- ".contains(character) {
            character
        } else {
            '_'
        }
    };
    format!("attachment; filename=\"{}\"", name.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::disposition;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(disposition("a\"; x=\r\n.txt"), "attachment; filename=\"a__ x___.txt\"");
    }
}
