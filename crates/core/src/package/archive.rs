//! The archive: a zip file whose bytes depend on names, contents and the executable bit, and on nothing else.

use std::io::{Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{PackageError, Packing};
use crate::version::{FileMode, mode_of, open_file, temporary_file};

/// Fixed, so that another default of the library cannot change the bytes.
const LEVEL: i64 = 6;

/// Writes the archive to a file: beside its place first, so that whoever looks sees the old one or the new one.
pub fn write_archive_file(packing: &Packing, path: &Path) -> Result<(), PackageError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut draft = temporary_file(folder.unwrap_or(Path::new(".")))?;
    write_archive(packing, draft.as_file_mut())?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

pub fn write_archive<W: Write + Seek>(packing: &Packing, target: W) -> Result<W, PackageError> {
    let mut archive = ZipWriter::new(target);
    for file in &packing.files {
        let path = packing.skill.join(file);
        let mode = match mode_of(&path)? {
            FileMode::Plain => 0o644,
            FileMode::Program => 0o755,
        };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode);
        archive.start_file(format!("{}/{file}", packing.name), options)?;
        std::io::copy(&mut open_file(&path)?, &mut archive)?;
    }
    Ok(archive.finish()?)
}
