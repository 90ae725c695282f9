//! Any text as `transcript.jsonl`: an error with its line, or a transcript that is written back as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_format::Kind;
use skillgauge_format::transcript::Transcript;

fuzz_target!(|text: &str| {
    match Transcript::from_jsonl(text) {
        Ok(transcript) => {
            let written = transcript.to_jsonl().expect("what was read can be written");
            let again = Transcript::from_jsonl(&written).expect("what was written can be read");
            assert_eq!(again, transcript);
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
    // The same as one object.
    let _ = Kind::Transcript.rewrite(text.as_bytes());
});
