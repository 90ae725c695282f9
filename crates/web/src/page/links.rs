//! Where things are: addresses on the server, places inside of the one-file report.

use std::fmt::Write as _;

/// What the pages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The server: every page has an address.
    Server,
    /// One file: every page is a section.
    File,
}

/// Makes links for one iteration.
#[derive(Debug, Clone)]
pub(crate) struct Links {
    pub(crate) target: Target,
    iteration: String,
}

impl Links {
    pub(crate) fn new(target: Target, iteration: &str) -> Self {
        Self { target, iteration: iteration.to_owned() }
    }

    /// A page that is not about one case or run.
    pub(crate) fn page(&self, name: &str) -> String {
        match self.target {
            Target::Server => format!("/i/{}/{name}", encode(&self.iteration)),
            Target::File => format!("#{name}"),
        }
    }

    /// A case, or one of its runs.
    pub(crate) fn case(&self, key: &str, run: Option<&str>) -> String {
        match (self.target, run) {
            (Target::Server, None) => self.page(&format!("case/{}", encode(key))),
            (Target::Server, Some(run)) => {
                self.page(&format!("case/{}#{}", encode(key), encode(&run_anchor(run))))
            }
            (Target::File, None) => format!("#{}", encode(&case_anchor(key))),
            (Target::File, Some(run)) => format!("#{}", encode(&run_anchor(run))),
        }
    }

    /// A case with two of its runs side by side; the file has only the first pair.
    pub(crate) fn compare(&self, key: &str, left: &str, right: &str) -> Option<String> {
        (self.target == Target::Server).then(|| {
            format!(
                "{}?left={}&right={}",
                self.page(&format!("case/{}", encode(key))),
                encode_all(left),
                encode_all(right)
            )
        })
    }

    /// A run's transcript, or one of its events.
    pub(crate) fn transcript(&self, folder: &str, run: &str, event: Option<usize>) -> String {
        let anchor = event.map_or_else(
            || format!("#{}", encode(&transcript_anchor(run))),
            |event| format!("#{}", encode(&event_anchor(run, event))),
        );
        match self.target {
            Target::File => anchor,
            Target::Server => {
                let page = event.unwrap_or_default() / super::transcript::EVENTS_PER_PAGE + 1;
                self.page(&format!("transcript/{}?page={page}{anchor}", encode(folder)))
            }
        }
    }

    /// An output file to download; the one-file report has none.
    pub(crate) fn file(&self, folder: &str, path: &str) -> Option<String> {
        (self.target == Target::Server)
            .then(|| self.page(&format!("file/{}/outputs/{}", encode(folder), encode(path))))
    }
}

/// The id of a case's section.
pub(crate) fn case_anchor(key: &str) -> String {
    format!("case-{key}")
}

/// The id of a run on the page of its case.
pub(crate) fn run_anchor(run: &str) -> String {
    format!("run-{run}")
}

/// The id of a transcript's section.
pub(crate) fn transcript_anchor(run: &str) -> String {
    format!("transcript-{run}")
}

/// The id of an event.
pub(crate) fn event_anchor(run: &str, event: usize) -> String {
    format!("event-{run}-{event}")
}

/// Percent-encodes a path, its slashes left alone.
fn encode(path: &str) -> String {
    percent(path, b"-._~/")
}

/// Percent-encodes a value of a query.
fn encode_all(value: &str) -> String {
    percent(value, b"-._~")
}

fn percent(text: &str, plain: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_stay_inside_of_a_link() {
        let links = Links::new(Target::Server, "iteration-1");
        assert_eq!(
            links.file("eval-1/with_skill/run-1", "a b/\"<x>?#.txt").unwrap(),
            "/i/iteration-1/file/eval-1/with_skill/run-1/outputs/a%20b/%22%3Cx%3E%3F%23.txt"
        );
        assert_eq!(Links::new(Target::File, "x").page("cases"), "#cases");
        assert_eq!(
            links.transcript("e/c/run-1", "e-c-run-1", Some(612)),
            "/i/iteration-1/transcript/e/c/run-1?page=2#event-e-c-run-1-612"
        );
    }
}
