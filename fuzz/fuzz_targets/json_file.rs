//! Any bytes as each of the JSON files: problems or a value, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_format::Kind;

fuzz_target!(|bytes: &[u8]| {
    for kind in Kind::all() {
        let _ = kind.check(bytes);
    }
});
