//! Any pattern on any text: an error or an answer with sound ranges, no panic, no hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillgauge_core::python_regex::PythonRegex;

fuzz_target!(|input: (&str, &str)| {
    let (pattern, text) = input;
    let Ok(regex) = PythonRegex::new(pattern) else { return };
    if let Ok(Some(groups)) = regex.groups(text) {
        assert_eq!(groups.len(), regex.group_names().len());
        for group in groups.into_iter().flatten() {
            assert!(text.get(group).is_some());
        }
    }
});
