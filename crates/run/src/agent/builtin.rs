//! The agents that skillgauge knows: one table of embedded descriptors.

use std::path::Path;
use std::sync::OnceLock;

use super::descriptor::{Draft, Problem, Reader};

/// The built-in agents by name, the most wanted first: `auto` takes the first that can be used.
pub static BUILTIN: [(&str, &str); 5] = [
    ("claude", include_str!("../../agents/claude.toml")),
    ("codex", include_str!("../../agents/codex.toml")),
    ("gemini", include_str!("../../agents/gemini.toml")),
    ("opencode", include_str!("../../agents/opencode.toml")),
    ("command", include_str!("../../agents/command.toml")),
];

/// The built-in descriptors, read once. A test holds that none of them has a problem.
pub(super) fn drafts() -> &'static (Vec<Draft>, Vec<Problem>) {
    static DRAFTS: OnceLock<(Vec<Draft>, Vec<Problem>)> = OnceLock::new();
    DRAFTS.get_or_init(|| {
        let mut problems = Vec::new();
        let mut drafts = Vec::new();
        for (name, text) in &BUILTIN {
            let file = format!("agents/{name}.toml");
            let mut reader = Reader::new(&file, text, Path::new(""));
            let table = reader.parse();
            drafts.push(reader.draft(name, &table, 0..0));
            problems.append(&mut reader.problems);
        }
        (drafts, problems)
    })
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::Source;
    use super::{BUILTIN, drafts};

    #[test]
    fn every_built_in_descriptor_is_without_a_problem_and_has_its_own_name() {
        let (drafts, problems) = drafts();
        assert_eq!(problems, &[]);
        for (draft, (name, _)) in drafts.iter().zip(&BUILTIN) {
            let descriptor = draft.clone().finish(Source::Builtin).unwrap();
            assert_eq!(descriptor.name.as_str(), *name);
        }
    }

    #[test]
    fn every_file_in_the_folder_is_in_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("agents");
        let mut files: Vec<String> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let mut names = BUILTIN.map(|(name, _)| name);
        names.sort_unstable();
        assert_eq!(files, names);
    }
}
