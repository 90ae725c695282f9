//! In which format a result is written, and where to: the same two flags in every command that has a result.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use skillgauge_core::workspace::write_atomically;

use crate::Printer;
use crate::error::{CommandError, Explain as _};

/// How a result is written that has no other readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlainFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// How a result is written that can be looked at in a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// A page
    Html,
}

/// In which format and where to.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OutputArgs<F: Format> {
    /// How the result is written
    #[arg(long, alias = "out-format", value_enum, value_name = "FORMAT", default_value_t)]
    pub format: F,

    /// Write the result to this file, too: in the format of its extension, or else in --format
    ///
    /// Extensions are .txt, .json, .md, .xml (JUnit), .sarif and .html, as far as the command has the format. May be
    /// given more than once.
    #[arg(long = "out", short = 'o', value_name = "FILE", value_parser = file_for::<F>)]
    pub files: Vec<PathBuf>,
}

/// Takes the name of a file that can be written when the work is done: before anything is paid.
fn file_for<F: ValueEnum>(name: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(name);
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_format = ["html", "htm", "json", "md", "sarif", "txt", "xml"].contains(&extension);
    if is_format && of_extension::<F>(&file).is_none() {
        return Err(format!("this command cannot write .{extension}"));
    }
    match file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(format!("there is no folder {}", folder.display())),
        None => Ok(file),
    }
}

/// What a format must be able to do; every format can.
pub trait Format: ValueEnum + Copy + Default + PartialEq + Send + Sync + 'static {}

impl<F: ValueEnum + Copy + Default + PartialEq + Send + Sync + 'static> Format for F {}

impl<F: Format> OutputArgs<F> {
    /// The format of each file, and last that of standard output.
    pub(crate) fn places(&self) -> impl Iterator<Item = (F, Option<&Path>)> {
        let files = self.files.iter().map(PathBuf::as_path).filter(|file| *file != Path::new("-"));
        let files = files.map(|file| (of_extension(file).unwrap_or(self.format), Some(file)));
        files.chain([(self.format, None)])
    }

    /// Whether the result goes anywhere in this format.
    pub(crate) fn has(&self, format: F) -> bool {
        self.places().any(|(wanted, _)| wanted == format)
    }

    /// Writes the result wherever it goes.
    pub(crate) fn write(
        &self,
        printer: &Printer,
        mut render: impl FnMut(F) -> Result<String, CommandError>,
    ) -> Result<(), CommandError> {
        for (format, place) in self.places() {
            let text = render(format)?;
            match place {
                Some(file) => write_file(file, &text, printer)?,
                // Text comes first among the formats, and is the only one for people.
                None if format == F::default() => printer.print_text(&text)?,
                None => printer.print(&text)?,
            }
        }
        Ok(())
    }
}

/// Writes a result to a file and says so; a device is written to as it is.
pub(crate) fn write_file(file: &Path, text: &str, printer: &Printer) -> Result<(), CommandError> {
    let hint = "name another file with --out";
    if file.exists() && !file.is_file() {
        fs_err::write(file, text).or_hint(hint)?;
    } else {
        write_atomically(file, text.as_bytes()).or_hint(hint)?;
    }
    printer.say(&format!("wrote {}", file.display()));
    Ok(())
}

fn of_extension<F: ValueEnum>(file: &Path) -> Option<F> {
    let name = match file.extension()?.to_str()? {
        "md" => "markdown",
        "xml" => "junit",
        "txt" => "text",
        "htm" => "html",
        other => other,
    };
    F::from_str(name, true).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::RunFormat;

    fn places(format: RunFormat, files: &[&str]) -> Vec<(RunFormat, Option<String>)> {
        let files = files.iter().map(PathBuf::from).collect();
        let args = OutputArgs { format, files };
        let shown = |file: &Path| file.display().to_string();
        args.places().map(|(format, file)| (format, file.map(shown))).collect()
    }

    #[test]
    fn a_file_has_the_format_of_its_extension_or_that_which_was_named() {
        use RunFormat::{Github, Json, Junit, Markdown, Text};
        let some = |file: &str| Some(file.to_owned());
        assert_eq!(places(Junit, &[]), [(Junit, None)]);
        assert_eq!(places(Junit, &["f"]), [(Junit, some("f")), (Junit, None)]);
        assert_eq!(places(Github, &["f.xml"]), [(Junit, some("f.xml")), (Github, None)]);
        assert_eq!(
            places(Text, &["a.json", "b.md"]),
            [(Json, some("a.json")), (Markdown, some("b.md")), (Text, None)]
        );
        assert_eq!(places(Json, &["-"]), [(Json, None)]);
    }
}
