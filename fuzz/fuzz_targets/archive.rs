//! Any bytes as an archive of a run: unpacked within limits and inside of its folder, or refused.
#![no_main]

use std::io::Cursor;
use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skillgauge_core::package::{Links, UnpackLimits, unpack_folder};
use skillgauge_core::scratch::{PrivateFolder, remove_tree};

const LIMITS: UnpackLimits = UnpackLimits { bytes: 1 << 16, entries: 64 };

fn place() -> &'static Path {
    static MADE: OnceLock<PrivateFolder> = OnceLock::new();
    MADE.get_or_init(|| PrivateFolder::new(&std::env::temp_dir(), "fuzz-").expect("a folder"))
        .path()
}

fuzz_target!(|bytes: &[u8]| {
    let root = place().join("unpacked");
    for links in [Links::Refused, Links::Inside] {
        let _ = unpack_folder(Cursor::new(bytes), &root, links, LIMITS);
        remove_tree(&root).expect("removed");
        assert_eq!(
            std::fs::read_dir(place()).expect("listed").count(),
            0,
            "it wrote beside its folder"
        );
    }
});
