//! What holds for the project as a whole: generated files, the direction of dependencies, documents.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::process::Command;

use skillgauge_dev::{generated, project_root};

#[test]
fn generated_files_are_what_the_code_says() {
    for file in generated() {
        let path = project_root().join(&file.path);
        let found = fs_err::read_to_string(&path).unwrap_or_default();
        assert!(
            found == file.content,
            "{} is out of date: run `make generate`",
            file.path.display()
        );
    }
}

/// The README's first command is `cargo run`, which needs exactly one program to choose from.
#[test]
fn cargo_run_is_skillgauge() {
    let metadata = metadata();
    let defaults = metadata["workspace_default_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let chosen = packages.iter().filter(|package| defaults.contains(&package["id"]));
    let targets = chosen.flat_map(|package| package["targets"].as_array().unwrap());
    let programs: Vec<&str> = targets
        .filter(|target| target["kind"].as_array().unwrap().contains(&"bin".into()))
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(programs, ["skillgauge"]);
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(project_root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `format <- core <- run <- cluster <- cli; core <- web <- cli`, and nothing points the other way.
#[test]
fn dependencies_point_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("skillgauge-no-schema", &[][..]),
        ("skillgauge-format", &["skillgauge-no-schema"]),
        ("skillgauge-core", &["skillgauge-format"]),
        ("skillgauge-run", &["skillgauge-format", "skillgauge-core"]),
        ("skillgauge-cluster", &["skillgauge-format", "skillgauge-core", "skillgauge-run"]),
        ("skillgauge-web", &["skillgauge-format", "skillgauge-core"]),
        (
            "skillgauge",
            &[
                "skillgauge-format",
                "skillgauge-core",
                "skillgauge-run",
                "skillgauge-cluster",
                "skillgauge-web",
            ],
        ),
        (
            "skillgauge-dev",
            &["skillgauge", "skillgauge-format", "skillgauge-core", "skillgauge-run"],
        ),
        ("skillgauge-testkit", &["skillgauge-format"]),
        (
            "skillgauge-bench",
            &[
                "skillgauge-format",
                "skillgauge-core",
                "skillgauge-run",
                "skillgauge-web",
                "skillgauge-testkit",
            ],
        ),
    ]);
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let allowed =
            allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the table above"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let target = dependency["name"].as_str().unwrap();
            let is_ours = target.starts_with("skillgauge") && dependency["kind"].is_null();
            assert!(!is_ours || allowed.contains(&target), "{name} must not depend on {target}");
        }
    }
}

/// ARCHITECTURE.md has one line for each module folder, below the line of its crate, and none for a folder that is gone.
#[test]
fn the_architecture_names_every_module_folder_once() {
    let page = fs_err::read_to_string(project_root().join("ARCHITECTURE.md")).unwrap();
    let (mut told, mut source) = (Vec::new(), None);
    for line in page.lines() {
        if line.starts_with("crates/") && line.ends_with("/src") {
            source = Some(line);
        } else if let Some((source, entry)) = source.zip(line.strip_prefix("  ")) {
            let folder = entry.split_whitespace().next().unwrap_or_default();
            told.push(format!("{source}/{}", folder.trim_end_matches('/')));
        } else {
            source = None;
        }
    }
    let mut found = Vec::new();
    for crate_folder in subfolders("crates") {
        let folders = subfolders(&format!("{crate_folder}/src"));
        // Programs and what is not code are no modules.
        let is_module = |folder: &String| {
            let path = project_root().join(folder);
            !folder.ends_with("/bin")
                && (path.join("mod.rs").is_file() || path.with_extension("rs").is_file())
        };
        found.extend(folders.into_iter().filter(is_module));
    }
    told.sort();
    assert_eq!(told, found, "left: ARCHITECTURE.md, right: the tree");
}

/// The folders in a folder of the project, in order.
fn subfolders(folder: &str) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(project_root().join(folder)) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

/// The viewer shows what `core` has read, in the types of the contract: a model of its own was how numbers came apart.
#[test]
fn the_viewer_has_no_model_of_untyped_json() {
    let mut folders = vec![project_root().join("crates/web/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs_err::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap_or_default();
            for untyped in ["serde_json::Value", "serde_json::{Value", "Value as Json", "json!("] {
                assert!(!product.contains(untyped), "{}: {untyped}", path.display());
            }
        }
    }
}
