//! The archive: a zip file whose bytes depend on names, contents and the executable bit, and on nothing else.

use std::io::{Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{PackageError, Packing};
use crate::files::{Durability, mode_of, open_file, replace};

/// Fixed, so that another default of the library cannot change the bytes.
const LEVEL: i64 = 6;

/// Writes the archive to a file: beside its place first, so that whoever looks sees the old one or the new one.
pub fn write_archive_file(packing: &Packing, path: &Path) -> Result<(), PackageError> {
    replace(path, Durability::Synced, |file| write_archive(packing, file).map(drop))
}

pub fn write_archive<W: Write + Seek>(packing: &Packing, target: W) -> Result<W, PackageError> {
    let mut archive = ZipWriter::new(target);
    for file in &packing.files {
        let path = packing.skill.join(file);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode_of(&path)?.bits());
        archive.start_file(format!("{}/{file}", packing.name), options)?;
        std::io::copy(&mut open_file(&path)?, &mut archive)?;
    }
    Ok(archive.finish()?)
}
