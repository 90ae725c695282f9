//! Where gradings go.

use std::path::PathBuf;

use skillgauge_core::workspace::{RunDir, Workspace, WorkspaceError, write_json};
use skillgauge_format::cases::CasesGrading;
use skillgauge_format::evals::{EvalsGrading, Timing};
use skillgauge_format::part::Configuration;
use skillgauge_format::read;

use super::GradingFile;

/// Writes a grading into the folder of its run; one of a `cases` suite also to where the seed wants it, if it is about the
/// skill itself and not about a baseline.
pub fn store(
    file: &GradingFile,
    run: &RunDir,
    configuration: &Configuration,
    workspace: &Workspace,
) -> Result<(), WorkspaceError> {
    match file {
        GradingFile::Evals(grading) => run.write_json(&run.grading_file(), grading),
        GradingFile::Cases(grading) => {
            run.write_json(&run.grading_file(), grading)?;
            if *configuration != Configuration::WithSkill {
                return Ok(());
            }
            let path = cases_grading_file(workspace, grading);
            if let Some(folder) = path.parent() {
                fs_err::create_dir_all(folder)
                    .map_err(|source| WorkspaceError::Io { path: folder.to_owned(), source })?;
            }
            write_json(&path, grading)
        }
    }
}

/// The grading that a run has, if the judge left fewer gaps in it than in the new one: it was paid for, and a judge that
/// is down is no reason to lose it.
pub fn fuller(run: &RunDir, new: &GradingFile) -> Option<Box<EvalsGrading>> {
    let GradingFile::Evals(new) = new else { return None };
    let gaps = |grading: &EvalsGrading| grading.judge_errors.as_ref().map_or(0, Vec::len);
    if gaps(new) == 0 {
        return None;
    }
    let old = read::<EvalsGrading>(&fs_err::read(run.grading_file()).ok()?).ok()?.value;
    (gaps(&old) < gaps(new)).then(|| Box::new(old))
}

/// Writes down when a run was graded. To be done before the grading is written: that makes the run a finished one.
pub fn store_timing(timing: Option<&Timing>, run: &RunDir) -> Result<(), WorkspaceError> {
    timing.map_or(Ok(()), |timing| run.write_json(&run.timing_file(), timing))
}

/// `<workspace>/grading/<case_id>_v<version>_run<run>.json`. An id is kebab-case, so it cannot lead elsewhere.
pub fn cases_grading_file(workspace: &Workspace, grading: &CasesGrading) -> PathBuf {
    let CasesGrading { case_id, version, run, .. } = grading;
    workspace.root().join("grading").join(format!("{case_id}_v{version}_run{run}.json"))
}
