//! Any bytes as a suite in either dialect and as a trigger set, with everything that is made of them before a run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_core::trigger::QuerySet;
use skillgauge_format::Suite;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = Suite::read(bytes) {
        let _ = format!("{:?}", read.value).len();
    }
    if let Ok(set) = QuerySet::read(bytes) {
        let _ = set.queries.len();
    }
});
