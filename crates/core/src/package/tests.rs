//! What is packed, and that the bytes depend on nothing else.

use std::io::{Cursor, Read as _};

use proptest::prelude::*;

use super::*;

fn skill(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join("one").join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }
    folder
}

fn packed(folder: &tempfile::TempDir) -> Vec<u8> {
    let packing = Packing::of(&folder.path().join("one")).unwrap();
    write_archive(&packing, Cursor::new(Vec::new())).unwrap().into_inner()
}

fn unpacked(bytes: Vec<u8>) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        files.push((file.name().unwrap().into_owned(), bytes));
    }
    files
}

#[test]
fn only_the_skill_goes_in_and_the_rest_is_named() {
    let folder = skill(&[
        ("SKILL.md", b"x"),
        ("scripts/run.py", b"print()"),
        ("evals/evals.json", b"{}"),
        (".env", b"KEY=1"),
        (".git/HEAD", b"x"),
        ("node_modules/a.js", b"x"),
        (".gitignore", b"*.log\n"),
        ("debug.log", b"x"),
        ("one-workspace/history.json", b"{}"),
        ("examples/two/SKILL.md", b"x"),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("one/link")).unwrap();
    let packing = Packing::of(&folder.path().join("one")).unwrap();
    assert_eq!(packing.files, ["SKILL.md", "scripts/run.py"]);
    let left_out: Vec<String> = packing
        .left_out
        .iter()
        .map(|(path, reason)| format!("{}: {reason}", path.display()))
        .collect();
    insta::assert_snapshot!(left_out.join("\n"), @r"
    .env: looks like a secret
    .git: version control
    .gitignore: version control
    debug.log: ignored by git
    evals: evals are for the author
    examples/two: a skill of its own
    link: a link
    node_modules: left behind by a tool or a system
    one-workspace: a workspace
    ");
    let names: Vec<String> = unpacked(packed(&folder)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["one/SKILL.md", "one/scripts/run.py"]);
}

#[cfg(unix)]
#[test]
fn a_skill_md_that_is_a_link_is_refused() {
    let folder = skill(&[("other.md", b"x")]);
    std::os::unix::fs::symlink("other.md", folder.path().join("one/SKILL.md")).unwrap();
    let error = Packing::of(&folder.path().join("one")).unwrap_err();
    assert!(matches!(error, PackageError::SkillMdLeftOut { reason: LeftOut::Link }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_files_give_the_same_bytes_and_come_out_again(
        files in prop::collection::btree_map("[a-z]{1,6}(/[a-z]{1,6}\\.md)?", prop::collection::vec(any::<u8>(), 0..200), 0..6),
    ) {
        let mut given: Vec<(&str, &[u8])> = files
            .iter()
            // A name cannot be a file and a folder; `evals` stays out.
            .filter(|(name, _)| name.contains('/') && !name.starts_with("evals/"))
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect();
        given.push(("SKILL.md", b"x"));
        let first = packed(&skill(&given));
        given.reverse();
        prop_assert_eq!(&first, &packed(&skill(&given)));
        let mut expected: Vec<(String, Vec<u8>)> =
            given.iter().map(|(name, bytes)| (format!("one/{name}"), bytes.to_vec())).collect();
        expected.sort();
        prop_assert_eq!(unpacked(first), expected);
    }
}
