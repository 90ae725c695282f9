//! The files that a run left in `outputs/`, and how each is shown: never as what it claims to be, always as data.

use std::path::Path;

use skillgauge_core::files::{FileEntry, FileKind, Walk};

use super::json::{Bytes, load_bytes};

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
pub struct Outputs {
    pub files: Vec<OutputFile>,
    /// How many more there are.
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutputFile {
    /// The path below `outputs/`, with `/`.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

/// How a file is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Text, Markdown and code, as it stands; how much was cut.
    Text {
        text: String,
        is_cut: bool,
    },
    Table {
        /// The rows, the head first.
        rows: Vec<Vec<String>>,
        is_cut: bool,
    },
    /// An image of a type that browsers draw without running anything.
    Image {
        media_type: &'static str,
    },
    Download,
    /// The first bytes of something unknown.
    Hex {
        /// Lines of offset, bytes and characters.
        lines: String,
    },
    /// It cannot be shown; why.
    Problem(String),
}

impl Outputs {
    /// Lists the files below a run's `outputs/`, nested ones included. Links are named by nobody: they are left out.
    pub fn list(run_folder: &Path) -> Self {
        let mut outputs = Self::default();
        let folder = run_folder.join("outputs");
        for FileEntry { path, kind } in Walk::new(&folder).flatten() {
            match (kind, path.to_str()) {
                (FileKind::Folder, Some(_)) => {}
                (FileKind::File, Some(text)) if outputs.files.len() < MAX_FILES => {
                    let size = fs_err::metadata(folder.join(text)).map_or(0, |data| data.len());
                    outputs.files.push(OutputFile { path: text.to_owned(), size });
                }
                _ => outputs.left_out += 1,
            }
        }
        outputs
    }
}

/// The media type of an image that may be drawn; SVG only ever as an image, where no script of it runs.
pub fn image_type(path: &str) -> Option<&'static str> {
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

/// How a file below a folder is shown.
pub fn show(folder: &Path, path: &str) -> Shown {
    let extension = extension(path);
    if let Some(media_type) = image_type(path) {
        return Shown::Image { media_type };
    }
    let bytes = match load_bytes(&folder.join(path), MAX_BYTES) {
        Bytes::Read(bytes) => bytes,
        Bytes::Missing => return Shown::Problem("the file is gone".to_owned()),
        Bytes::Broken(message) => return Shown::Problem(message),
    };
    if extension == "pdf" {
        return Shown::Download;
    }
    match text_of(&bytes) {
        Some(text) if matches!(extension.as_str(), "csv" | "tsv") => {
            let separator = if extension == "tsv" { '\t' } else { ',' };
            let (rows, is_cut) = table(&text, separator);
            Shown::Table { rows, is_cut }
        }
        Some(text) => {
            let is_cut = text.len() > MAX_TEXT;
            let end = text.floor_char_boundary(MAX_TEXT);
            Shown::Text { text: text[..end].to_owned(), is_cut }
        }
        None => Shown::Hex { lines: hex(&bytes) },
    }
}

/// The text of a file that is text: UTF-8, with or without a mark, and without the bytes that texts do not have.
pub(crate) fn text_of(bytes: &[u8]) -> Option<String> {
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
        let write =
            |name: &str, bytes: &[u8]| fs_err::write(folder.path().join(name), bytes).unwrap();
        write("a.md", b"# Title <script>");
        write("a.csv", b"a,b\n1,2\n");
        write("a.pdf", b"%PDF-1.7");
        write("a.bin", b"\x00\x01abc");
        write("a.PNG", b"\x89PNG");
        let show = |name: &str| show(folder.path(), name);
        let text = "# Title <script>".to_owned();
        assert_eq!(show("a.md"), Shown::Text { text, is_cut: false });
        assert!(matches!(show("a.csv"), Shown::Table { rows, .. } if rows.len() == 2));
        assert_eq!(show("a.pdf"), Shown::Download);
        assert_eq!(show("a.PNG"), Shown::Image { media_type: "image/png" });
        let Shown::Hex { lines } = show("a.bin") else { panic!("not hex") };
        assert!(
            lines.starts_with("00000000  00 01 61 62 63") && lines.ends_with("..abc\n"),
            "{lines}"
        );
        assert!(matches!(show("gone.txt"), Shown::Problem(_)));
    }

    #[test]
    fn nested_files_are_listed_and_links_are_only_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("outputs/deep/er")).unwrap();
        fs_err::write(folder.path().join("outputs/deep/er/a.txt"), "x").unwrap();
        fs_err::write(folder.path().join("outputs/b.txt"), "xy").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("outputs/link")).unwrap();
        let outputs = Outputs::list(folder.path());
        let paths: Vec<&str> = outputs.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["b.txt", "deep/er/a.txt"]);
        assert_eq!(outputs.left_out, usize::from(cfg!(unix)));
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
