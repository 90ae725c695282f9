//! Output files as a page shows them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::links::{Links, Target};
use super::show;
use crate::model::iteration::Iteration;
use crate::model::json::{Bytes, load_bytes};
use crate::model::output::{Outputs, Shown, show as show_file};
use crate::model::run::Run;

/// An image larger than this is not put into the one-file report.
const MAX_EMBEDDED: u64 = 512 << 10;

#[derive(Debug, Default, Serialize)]
pub(crate) struct OutputView {
    path: String,
    size: String,
    kind: &'static str,
    text: Option<String>,
    rows: Option<Vec<Vec<String>>>,
    image: Option<String>,
    download: Option<String>,
    note: Option<String>,
}

/// The files of a run, and how many are not shown.
pub(crate) fn outputs(iteration: &Iteration, run: &Run, links: &Links) -> (Vec<OutputView>, usize) {
    let folder = iteration.path.join(&run.folder);
    let listed = Outputs::list(&folder);
    let files = folder.join("outputs");
    let view = |file: &crate::model::output::OutputFile| {
        let mut view = OutputView {
            path: file.path.clone(),
            size: show::size(file.size),
            download: links.file(&run.folder, &file.path),
            ..OutputView::default()
        };
        view.fill(show_file(&files, &file.path), &files.join(&file.path), links.target);
        view
    };
    (listed.files.iter().map(view).collect(), listed.left_out)
}

impl OutputView {
    fn fill(&mut self, shown: Shown, path: &std::path::Path, target: Target) {
        let cut = |is_cut: bool| is_cut.then(|| "cut here; the file goes on".to_owned());
        match shown {
            Shown::Text { text, is_cut } => {
                (self.kind, self.text, self.note) = ("text", Some(text), cut(is_cut));
            }
            Shown::Table { rows, is_cut } => {
                (self.kind, self.rows, self.note) = ("table", Some(rows), cut(is_cut));
            }
            Shown::Image { media_type } => {
                self.kind = "image";
                self.image = match target {
                    Target::Server => self.download.clone(),
                    Target::File => match load_bytes(path, MAX_EMBEDDED) {
                        Bytes::Read(bytes) => {
                            Some(format!("data:{media_type};base64,{}", STANDARD.encode(bytes)))
                        }
                        Bytes::Missing => None,
                        Bytes::Broken(message) => {
                            self.note = Some(format!("not in this file: {message}"));
                            None
                        }
                    },
                };
            }
            Shown::Download => {
                self.kind = "download";
                let note = match target {
                    Target::Server => "not shown here; download it",
                    Target::File => "not in this file; open the workspace with `skillgauge serve`",
                };
                self.note = Some(note.to_owned());
            }
            Shown::Hex { lines } => {
                self.kind = "hex";
                self.text = Some(lines);
                self.note = Some("not text: its first bytes".to_owned());
            }
            Shown::Problem(message) => (self.kind, self.note) = ("problem", Some(message)),
        }
    }
}
