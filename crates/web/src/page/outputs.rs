//! The files that a run left in `outputs/`, and how each is shown: never as what it claims to be, always as data.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fs_err as fs;
use serde::Serialize;
use skillgauge_core::files::{FileEntry, FileKind, Walk};
use skillgauge_core::iteration::Run;

use super::links::{Links, Target};
use super::{Scene, show};
use crate::read::{Bytes, load_bytes};

/// An image larger than this is not put into the one-file report.
const MAX_EMBEDDED: u64 = 512 << 10;
/// More files than this are counted and not shown.
const MAX_FILES: usize = 200;
/// More text than this is cut on a page.
const MAX_TEXT: usize = 64 << 10;
/// Rows and columns of a table that are shown.
const MAX_ROWS: usize = 200;
const MAX_COLUMNS: usize = 40;
/// Bytes of an unknown file that are shown.
const HEX_BYTES: usize = 256;
/// A file larger than this is only named.
const MAX_BYTES: u64 = 16 << 20;

/// The outputs of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outputs {
    pub(super) files: Vec<OutputFile>,
    /// How many more there are.
    pub(super) left_out: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct OutputFile {
    /// The path below `outputs/`, with `/`.
    pub(super) path: String,
    /// Its size in bytes.
    pub(super) size: u64,
}

impl Outputs {
    /// Lists the files below a run's `outputs/`, nested ones included. Links are named by nobody: they are left out.
    pub(super) fn list(run_folder: &Path) -> Self {
        let mut outputs = Self::default();
        let folder = run_folder.join("outputs");
        // A link would lead out of the workspace, and what it leads to into a report that is given away.
        if !fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) {
            return outputs;
        }
        for FileEntry { path, kind } in Walk::new(&folder).flatten() {
            match (kind, path.to_str()) {
                (FileKind::Folder, Some(_)) => {}
                (FileKind::File, Some(text)) if outputs.files.len() < MAX_FILES => {
                    let size = fs::metadata(folder.join(text)).map_or(0, |data| data.len());
                    outputs.files.push(OutputFile { path: text.to_owned(), size });
                }
                _ => outputs.left_out += 1,
            }
        }
        outputs
    }
}

/// The media type of an image that may be drawn; SVG only ever as an image, where no script of it runs.
pub(crate) fn image_type(path: &str) -> Option<&'static str> {
    Some(match extension(path).as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// The text of a file that is text: UTF-8, with or without a mark, and without the bytes that texts do not have.
pub(super) fn text_of(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).ok()?;
    let odd = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    (!text.as_bytes().iter().any(odd)).then(|| text.to_owned())
}

/// Rows of a CSV file by RFC 4180, as far as it keeps to it; the rest is read as it stands.
fn table(text: &str, separator: char) -> (Vec<Vec<String>>, bool) {
    let mut rows = Vec::new();
    let (mut row, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if field.is_empty() => is_quoted = true,
            '\r' if !is_quoted && characters.peek() == Some(&'\n') => {}
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
                if rows.len() == MAX_ROWS {
                    return (rows, characters.peek().is_some());
                }
            }
            _ if character == separator && !is_quoted => {
                let field = std::mem::take(&mut field);
                if row.len() < MAX_COLUMNS {
                    row.push(field);
                }
            }
            _ => field.push(character),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    (rows, false)
}

/// The head of a file as offset, bytes and characters.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut lines = String::new();
    for (index, chunk) in bytes[..bytes.len().min(HEX_BYTES)].chunks(16).enumerate() {
        let _ = write!(lines, "{:08x} ", index * 16);
        for byte in chunk {
            let _ = write!(lines, " {byte:02x}");
        }
        let gap = (16 - chunk.len()) * 3 + 2;
        let shown = chunk.iter().map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        });
        let _ = writeln!(lines, "{:gap$}{}", "", shown.collect::<String>());
    }
    lines
}

#[derive(Debug, Default, Serialize)]
pub(super) struct OutputView {
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
pub(super) fn outputs(scene: &Scene, run: &Run) -> (Vec<OutputView>, usize) {
    let folder = scene.run_folder(run);
    let listed = Outputs::list(&folder);
    let files = folder.join("outputs");
    let view = |file: &OutputFile| OutputView::new(&files, file, &run.folder, &scene.links);
    (listed.files.iter().map(view).collect(), listed.left_out)
}

impl OutputView {
    fn new(folder: &Path, file: &OutputFile, run: &str, links: &Links) -> Self {
        let mut view = Self {
            path: file.path.clone(),
            size: show::size(file.size),
            download: links.file(run, &file.path),
            ..Self::default()
        };
        let path = folder.join(&file.path);
        match image_type(&file.path) {
            Some(media_type) => view.take_image(&path, media_type, links.target),
            None => view.take(load_bytes(&path, MAX_BYTES), links.target),
        }
        view
    }

    fn take_image(&mut self, path: &Path, media_type: &str, target: Target) {
        self.kind = "image";
        match target {
            Target::Server => self.image.clone_from(&self.download),
            Target::File => match load_bytes(path, MAX_EMBEDDED) {
                Bytes::Read(bytes) => {
                    let data = STANDARD.encode(bytes);
                    self.image = Some(format!("data:{media_type};base64,{data}"));
                }
                Bytes::Missing => {}
                Bytes::Broken(message) => self.note = Some(format!("not in this file: {message}")),
            },
        }
    }

    fn take(&mut self, bytes: Bytes, target: Target) {
        let cut = |is_cut: bool| is_cut.then(|| "cut here; the file goes on".to_owned());
        let extension = extension(&self.path);
        let bytes = match bytes {
            Bytes::Read(bytes) => bytes,
            Bytes::Missing => {
                (self.kind, self.note) = ("problem", Some("the file is gone".to_owned()));
                return;
            }
            Bytes::Broken(message) => {
                (self.kind, self.note) = ("problem", Some(message));
                return;
            }
        };
        match text_of(&bytes) {
            _ if extension == "pdf" => {
                let note = match target {
                    Target::Server => "not shown here; download it",
                    Target::File => "not in this file; open the workspace with `skillgauge serve`",
                };
                (self.kind, self.note) = ("download", Some(note.to_owned()));
            }
            Some(text) if matches!(extension.as_str(), "csv" | "tsv") => {
                let (rows, is_cut) = table(&text, if extension == "tsv" { '\t' } else { ',' });
                (self.kind, self.rows, self.note) = ("table", Some(rows), cut(is_cut));
            }
            Some(text) => {
                let shown = text[..text.floor_char_boundary(MAX_TEXT)].to_owned();
                self.note = cut(shown.len() < text.len());
                (self.kind, self.text) = ("text", Some(shown));
            }
            None => {
                (self.kind, self.text) = ("hex", Some(hex(&bytes)));
                self.note = Some("not text: its first bytes".to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quoted_fields_keep_separators_and_line_ends() {
        let (rows, is_cut) = table("a,\"b,\"\"c\"\"\n\"\r\n1,2", ',');
        assert_eq!(rows, [vec!["a", "b,\"c\"\n"], vec!["1", "2"]]);
        assert!(!is_cut);
    }

    #[test]
    fn a_long_table_is_cut_and_says_so() {
        let (rows, is_cut) = table(&"1,2\n".repeat(MAX_ROWS + 1), ',');
        assert_eq!(rows.len(), MAX_ROWS);
        assert!(is_cut);
        assert!(!table(&"1,2\n".repeat(MAX_ROWS), ',').1);
    }

    #[test]
    fn every_kind_is_shown_in_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let links = Links::new(Target::Server, "iteration-1");
        let show = |name: &str, bytes: Option<&[u8]>| {
            if let Some(bytes) = bytes {
                fs::write(folder.path().join(name), bytes).unwrap();
            }
            let file = OutputFile { path: name.to_owned(), size: 0 };
            OutputView::new(folder.path(), &file, "run", &links)
        };
        assert_eq!(show("a.md", Some(b"# <script>")).text.as_deref(), Some("# <script>"));
        assert_eq!(show("a.csv", Some(b"a,b\n1,2\n")).rows.unwrap().len(), 2);
        assert_eq!(show("a.pdf", Some(b"%PDF-1.7")).kind, "download");
        assert!(show("a.PNG", Some(b"\x89PNG")).image.unwrap().ends_with("a.PNG"));
        let dump = show("a.bin", Some(b"\x00\x01abc")).text.unwrap();
        assert!(
            dump.starts_with("00000000  00 01 61 62 63") && dump.ends_with("..abc\n"),
            "{dump}"
        );
        assert_eq!(show("gone.txt", None).note.as_deref(), Some("the file is gone"));
    }

    #[test]
    fn nested_files_are_listed_and_links_are_only_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("outputs/deep/er")).unwrap();
        fs::write(folder.path().join("outputs/deep/er/a.txt"), "x").unwrap();
        fs::write(folder.path().join("outputs/b.txt"), "xy").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("outputs/link")).unwrap();
        let outputs = Outputs::list(folder.path());
        let paths: Vec<&str> = outputs.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["b.txt", "deep/er/a.txt"]);
        assert_eq!(outputs.left_out, usize::from(cfg!(unix)));
    }

    #[cfg(unix)]
    #[test]
    fn outputs_that_are_a_link_are_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("secrets")).unwrap();
        fs::write(folder.path().join("secrets/key"), "private").unwrap();
        fs::create_dir_all(folder.path().join("run")).unwrap();
        std::os::unix::fs::symlink("../secrets", folder.path().join("run/outputs")).unwrap();
        assert!(Outputs::list(&folder.path().join("run")).files.is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_are_a_disaster(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = hex(&bytes);
            if let Some(text) = text_of(&bytes) {
                let _ = table(&text, ',');
            }
        }
    }
}
