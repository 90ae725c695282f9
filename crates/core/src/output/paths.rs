//! How paths are shown: as given to people, absolute in reports, relative to the working folder in links.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Knows the working folder and the real places of the paths that were given.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    working_folder: PathBuf,
    /// Where each given path really leads. A shell may hand in thousands, and each skill looks its own up.
    roots: BTreeMap<PathBuf, PathBuf>,
}

impl Paths {
    /// For paths given in `working_folder`.
    pub fn new(working_folder: PathBuf, given: &[PathBuf]) -> Self {
        let real = |path: &PathBuf| {
            let there = fs_err::canonicalize(working_folder.join(path));
            there.unwrap_or_else(|_| plain(&working_folder.join(path)))
        };
        let roots = given.iter().map(|path| (path.clone(), real(path))).collect();
        Self { working_folder, roots }
    }

    /// The absolute path, links resolved up to the path that was given.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let found = path.ancestors().find_map(|given| {
            let real = self.roots.get(given)?;
            path.strip_prefix(given).ok().map(|rest| plain(&real.join(rest)))
        });
        found.unwrap_or_else(|| plain(&self.working_folder.join(path)))
    }

    /// The path relative to the working folder when it is below it, with `/`, for annotations and links.
    pub fn relative(&self, path: &Path) -> String {
        let path = plain(&self.working_folder.join(path));
        let shown = path.strip_prefix(&self.working_folder).unwrap_or(&path);
        shown.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    }
}

/// Without `.` parts and trailing slashes; `..` stays, because a link may come before it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_working_folder_are_shown_relative() {
        let paths = Paths::new(PathBuf::from("/nowhere/project"), &[]);
        assert_eq!(paths.relative(Path::new("./skills/a/")), "skills/a");
        assert_eq!(paths.relative(Path::new("/nowhere/project/a")), "a");
        assert_eq!(paths.relative(Path::new("/else/a")), "/else/a");
    }

    #[test]
    fn absolute_paths_start_at_the_real_place_of_the_given_path() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs_err::canonicalize(folder.path()).unwrap();
        let paths = Paths::new(real.clone(), &[PathBuf::from(".")]);
        assert_eq!(paths.absolute(Path::new(".")), real);
        assert_eq!(paths.absolute(Path::new("./a/")), real.join("a"));
    }

    #[cfg(unix)]
    #[test]
    fn of_several_given_paths_the_nearest_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir_all(real.join("there/a")).unwrap();
        fs_err::create_dir(real.join("here")).unwrap();
        std::os::unix::fs::symlink(real.join("there"), real.join("here/link")).unwrap();
        let paths = Paths::new(real.clone(), &["here".into(), "here/link".into()]);
        assert_eq!(paths.absolute(Path::new("here/link/a")), real.join("there/a"));
        assert_eq!(paths.absolute(Path::new("here/b")), real.join("here/b"));
    }
}
