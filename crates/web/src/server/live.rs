//! Live updates: the journal of an iteration as server-sent events.
//!
//! The id of an event is the place in the journal behind its line. A browser that lost the connection sends the last one,
//! and goes on exactly there; nothing is lost and nothing comes twice.

use std::convert::Infallible;
use std::io::SeekFrom;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::AppState;
use super::answer::Answer;

/// How often the journal is looked at.
const PERIOD: Duration = Duration::from_millis(250);
/// How much of it is read at a time; a line that is longer is skipped.
const CHUNK: usize = 1 << 20;

#[derive(Debug, Default, Deserialize)]
pub(super) struct From {
    from: Option<u64>,
}

pub(super) async fn follow(
    State(state): State<Arc<AppState>>,
    Path(iteration): Path<String>,
    Query(wanted): Query<From>,
    headers: HeaderMap,
) -> Response {
    let workspace = state.workspace.refreshed();
    let Some(folder) = workspace.iteration_path(&iteration) else {
        return Answer::NotFound("there is no such iteration in this workspace").respond(&state);
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let follower = Follower {
        path: folder.join("journal.jsonl"),
        offset: last.or(wanted.from).unwrap_or_default(),
        waiting: Vec::new(),
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let (offset, entry) = follower.next().await;
        let event = Event::default().id(offset.to_string()).data(entry);
        Some((Ok::<_, Infallible>(event), follower))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// Where a reader is in the journal.
struct Follower {
    path: PathBuf,
    offset: u64,
    /// Entries that were read and not sent, the next one last.
    waiting: Vec<(u64, String)>,
}

impl Follower {
    /// The next entry, whenever it comes.
    async fn next(&mut self) -> (u64, String) {
        loop {
            if let Some(entry) = self.waiting.pop() {
                return entry;
            }
            if let Ok((chunk, start)) = read_from(&self.path, self.offset).await {
                let (entries, end) = entries(&chunk, start);
                self.offset = end;
                self.waiting = entries;
                self.waiting.reverse();
            }
            if self.waiting.is_empty() {
                tokio::time::sleep(PERIOD).await;
            }
        }
    }
}

/// The journal from a place on; from its beginning when it has become shorter, because then it is another one.
async fn read_from(path: &FilePath, offset: u64) -> std::io::Result<(Vec<u8>, u64)> {
    let mut file = tokio::fs::File::open(path).await?;
    let length = file.metadata().await?.len();
    let start = if offset > length { 0 } else { offset };
    file.seek(SeekFrom::Start(start)).await?;
    let mut chunk = Vec::new();
    file.take(CHUNK as u64).read_to_end(&mut chunk).await?;
    Ok((chunk, start))
}

/// The whole lines of a chunk that are JSON objects, each with the place behind it, and where to go on.
fn entries(chunk: &[u8], start: u64) -> (Vec<(u64, String)>, u64) {
    let mut found = Vec::new();
    let mut end = start;
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        if line.last() != Some(&b'\n') {
            // Half a line is waited for, unless it can never become a whole one.
            return (found, if line.len() >= CHUNK { end + line.len() as u64 } else { end });
        }
        end += line.len() as u64;
        let line = line.trim_ascii();
        if line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok() {
            found.push((end, String::from_utf8_lossy(line).into_owned()));
        }
    }
    (found, end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_line_is_waited_for_and_noise_is_skipped() {
        let (found, end) = entries(b"{\"event\":\"a\"}\nnoise\n{\"event\":\"b\"}\n{\"ev", 10);
        let places: Vec<u64> = found.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [24, 44]);
        assert_eq!(end, 44);
    }

    proptest! {
        #[test]
        fn going_on_anywhere_gives_each_entry_once(count in 1_usize..20, cut in 0_usize..400) {
            let lines = (0..count).map(|index| format!("{{\"event\":\"e{index}\"}}\n")).collect::<Vec<_>>().concat();
            let cut = cut.min(lines.len());
            let (mut all, end) = entries(&lines.as_bytes()[..cut], 0);
            let rest = usize::try_from(end).unwrap();
            all.extend(entries(&lines.as_bytes()[rest..], end).0);
            let names: Vec<String> = all.into_iter().map(|(_, entry)| entry).collect();
            let expected: Vec<String> = lines.lines().map(str::to_owned).collect();
            prop_assert_eq!(names, expected);
        }
    }
}
