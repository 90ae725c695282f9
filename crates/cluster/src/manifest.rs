//! The manifest: all that workers need of an iteration, named by digest and free of places on any machine.
//!
//! A job is only a name. What it means is here: the tasks, the suite, and which bundle of files each of them needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillgauge_core::package::{Links, PackageError, pack_folder};
use skillgauge_core::plan::RunId;
use skillgauge_format::Suite;
use skillgauge_format::part::Configuration;
use skillgauge_format::record::IterationRecord;
use skillgauge_run::agent::AgentTask;
use skillgauge_run::iteration::Prepared;

use crate::fleet::{Fleet, FleetError, patiently};
use crate::local::measure;

/// All that workers need of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub record: IterationRecord,
    /// The suite, in its own dialect.
    pub suite: String,
    /// The number under which gradings are kept.
    pub version: u64,
    /// The tasks; where their files are is left blank.
    tasks: Vec<ManifestTask>,
    /// The skill under test, with its evals, for checks.
    pub skill: Bundle,
    /// The files that tasks need, by the digest that the task has.
    files: BTreeMap<String, Bundle>,
    /// Input files of cases that are not in the skill but in the workspace, for checks.
    pub workspace_files: Option<Bundle>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ManifestTask {
    case: String,
    configuration: Configuration,
    task: AgentTask,
}

/// An archive among the inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// The SHA-256 of the archive, which is its name.
    pub sha256: String,
    /// The folder in it that is meant; nothing for all of it.
    #[serde(default)]
    pub folder: PathBuf,
}

/// Why there is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Files cannot be packed.
    #[error("{} cannot be packed for the fleet: {source}", path.display())]
    Pack {
        path: PathBuf,
        /// Why not.
        #[source]
        source: PackageError,
    },
    /// The suite cannot be written.
    #[error("the suite cannot be written: {message}")]
    Suite {
        /// Why not.
        message: String,
    },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A manifest with its files, ready to be sent.
#[derive(Debug)]
pub(crate) struct PackedManifest {
    pub(crate) manifest_sha256: String,
    /// Everything to send, by SHA-256; the manifest comes last.
    pub(crate) files: Vec<(String, PathBuf)>,
    _folder: tempfile::TempDir,
}

impl Manifest {
    /// Fetches the manifest of that digest, into a file that is there for it.
    pub(crate) async fn fetch<F: Fleet>(
        fleet: &F,
        sha256: &str,
        file: &Path,
    ) -> Result<Self, FleetError> {
        patiently(|| fleet.get_input(sha256, file)).await?;
        serde_json::from_slice(&fs_err::read(file)?).map_err(|error| {
            FleetError::damaged(sha256, format!("it is no manifest of this version: {error}"))
        })
    }

    /// What a run of the plan is, with blank places.
    pub(crate) fn task(&self, run: &RunId) -> Option<&AgentTask> {
        let is_it =
            |task: &&ManifestTask| task.case == run.case && task.configuration == run.configuration;
        self.tasks.iter().find(is_it).map(|task| &task.task)
    }

    /// The bundle of a skill or an input of a task, by its digest there.
    pub(crate) fn bundle(&self, digest: &str) -> Option<&Bundle> {
        self.files.get(digest)
    }

    /// Packs everything that workers need. Blocks.
    pub(crate) fn pack(
        prepared: &Prepared,
        record: &IterationRecord,
        skill: &Path,
        workspace: &Path,
        version: u64,
    ) -> Result<PackedManifest, ManifestError> {
        let mut packer = Packer { folder: tempfile::tempdir()?, files: Vec::new() };
        let skill = fs_err::canonicalize(skill)?;
        let own = packer.skill(&skill)?;
        let mut files = BTreeMap::from([(prepared.record.skill_digest.clone(), own.clone())]);
        let mut tasks = Vec::new();
        for (case, configuration, task) in prepared.tasks() {
            let mut task = task.clone();
            for skill in &mut task.skills {
                let folder = std::mem::take(&mut skill.folder);
                if !files.contains_key(skill.digest.as_str()) {
                    let bundle = packer.skill(&folder)?;
                    files.insert(skill.digest.as_str().to_owned(), bundle);
                }
            }
            for input in &mut task.inputs {
                let root = std::mem::take(&mut input.root);
                if !files.contains_key(input.digest.as_str()) {
                    let bundle = packer.bundle(&root, &[&input.path], PathBuf::new())?;
                    files.insert(input.digest.as_str().to_owned(), bundle);
                }
            }
            let configuration = Configuration::from(configuration);
            tasks.push(ManifestTask { case: case.to_owned(), configuration, task });
        }
        let manifest = Self {
            // As it was begun: when it is submitted again, the same manifest has the same name.
            record: IterationRecord {
                finished: None,
                partial: None,
                executor_model: None,
                ..record.clone()
            },
            suite: suite_text(&prepared.suite)?,
            version,
            tasks,
            skill: own,
            files,
            workspace_files: packer.workspace_files(prepared, &skill, workspace)?,
        };
        packer.finish(&manifest)
    }
}

fn suite_text(suite: &Suite) -> Result<String, ManifestError> {
    suite.to_json().map_err(|error| ManifestError::Suite { message: error.to_string() })
}

struct Packer {
    folder: tempfile::TempDir,
    files: Vec<(String, PathBuf)>,
}

impl Packer {
    /// A skill with everything in it, below a folder of its own name: a skill without a name is called as its folder.
    fn skill(&mut self, folder: &Path) -> Result<Bundle, ManifestError> {
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return self.bundle(folder, &[Path::new("")], PathBuf::new());
        };
        let name = PathBuf::from(name);
        self.bundle(parent, &[&name], name.clone())
    }

    fn bundle(
        &mut self,
        root: &Path,
        below: &[&Path],
        folder: PathBuf,
    ) -> Result<Bundle, ManifestError> {
        let file = self.folder.path().join(format!("{}.zip", self.files.len()));
        let packed = pack_folder(root, below, Links::Inside, fs_err::File::create(&file)?);
        packed.map_err(|source| ManifestError::Pack { path: root.to_owned(), source })?;
        let (_, sha256) = measure(&file)?;
        self.files.push((sha256.clone(), file));
        Ok(Bundle { sha256, folder })
    }

    fn workspace_files(
        &mut self,
        prepared: &Prepared,
        skill: &Path,
        workspace: &Path,
    ) -> Result<Option<Bundle>, ManifestError> {
        let is_plain = |path: &&Path| {
            path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        let named: Vec<String> = prepared.cases().flat_map(|case| case.files().to_vec()).collect();
        let only_there =
            |path: &&Path| !skill.join(path).is_file() && workspace.join(path).is_file();
        let below: Vec<&Path> =
            named.iter().map(Path::new).filter(is_plain).filter(only_there).collect();
        if below.is_empty() {
            return Ok(None);
        }
        self.bundle(workspace, &below, PathBuf::new()).map(Some)
    }

    fn finish(mut self, manifest: &Manifest) -> Result<PackedManifest, ManifestError> {
        let file = self.folder.path().join("manifest.json");
        let text = serde_json::to_vec(manifest).map_err(std::io::Error::from)?;
        fs_err::write(&file, text)?;
        let (_, sha256) = measure(&file)?;
        self.files.push((sha256.clone(), file));
        Ok(PackedManifest { manifest_sha256: sha256, files: self.files, _folder: self.folder })
    }
}
