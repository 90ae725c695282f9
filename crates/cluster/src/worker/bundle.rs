//! Bundles on a worker: fetched once, unpacked once, kept until the worker ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillgauge_core::package::Links;
use skillgauge_core::scratch::PrivateFolder;
use tokio::sync::Mutex;

use crate::archive::unpack;
use crate::fleet::{Fleet, FleetError, patiently};
use crate::manifest::{Bundle, Manifest};

/// What a worker has fetched.
#[derive(Debug)]
pub(super) struct Bundles {
    folder: PrivateFolder,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    manifests: BTreeMap<String, Arc<Manifest>>,
    folders: BTreeMap<String, PathBuf>,
}

impl Bundles {
    pub(super) fn new(scratch: &Path) -> Result<Self, FleetError> {
        let folder = PrivateFolder::new(scratch, "worker-")?;
        Ok(Self { folder, known: Mutex::default() })
    }

    /// Where everything of this worker is.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A private folder for one job.
    pub(super) fn job_folder(&self) -> Result<tempfile::TempDir, FleetError> {
        Ok(tempfile::Builder::new().prefix("job-").tempdir_in(self.folder.path())?)
    }

    pub(super) async fn manifest<F: Fleet>(
        &self,
        fleet: &F,
        sha256: &str,
    ) -> Result<Arc<Manifest>, FleetError> {
        let mut known = self.known.lock().await;
        if let Some(manifest) = known.manifests.get(sha256) {
            return Ok(Arc::clone(manifest));
        }
        let file = self.folder.path().join(format!("{sha256}.json"));
        let manifest = Arc::new(Manifest::fetch(fleet, sha256, &file).await?);
        known.manifests.insert(sha256.to_owned(), Arc::clone(&manifest));
        Ok(manifest)
    }

    /// Where a bundle's folder is.
    pub(super) async fn place<F: Fleet>(
        &self,
        fleet: &F,
        bundle: &Bundle,
    ) -> Result<PathBuf, FleetError> {
        let mut known = self.known.lock().await;
        if let Some(folder) = known.folders.get(&bundle.sha256) {
            return Ok(folder.join(&bundle.folder));
        }
        let file = self.folder.path().join(format!("{}.zip", bundle.sha256));
        patiently(|| fleet.get_input(&bundle.sha256, &file)).await?;
        let folder = self.folder.path().join(&bundle.sha256);
        unpack(fs_err::File::open(&file)?, &folder, Links::Inside, &bundle.sha256)?;
        fs_err::remove_file(&file)?;
        known.folders.insert(bundle.sha256.clone(), folder.clone());
        Ok(folder.join(&bundle.folder))
    }
}
