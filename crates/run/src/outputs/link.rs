//! Where a link in the work folder leads, found without a look at anything outside of that folder.
//!
//! The system would follow a link to its end, wherever that is, and a mounted or hanging place outside is none of our
//! business. So each step is made here, and the first one that leaves the folder is the last.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::walk::Scope;

/// Links in a row that are followed; the kernel's limit, too.
const MOST_HOPS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a regular file of the work folder, by its real path, of so many bytes.
    ToFile(PathBuf, u64),
    /// To a folder of the work folder.
    ToFolder,
    /// To nothing, to itself, or to what is neither file nor folder.
    Nowhere,
    /// Out of the work folder, or to a part of it that is not looked at.
    Out,
}

/// A work folder whose links are followed.
#[derive(Debug)]
pub(super) struct Links<'a> {
    /// As it was given, which is how an agent may write it.
    given: &'a Path,
    /// Without any link in it.
    real: PathBuf,
    scope: &'a Scope,
}

impl<'a> Links<'a> {
    pub(super) fn new(work: &'a Path, scope: &'a Scope) -> io::Result<Self> {
        Ok(Self { given: work, real: fs_err::canonicalize(work)?, scope })
    }

    /// Follows the link at a path relative to the work folder.
    pub(super) fn follow(&self, link: &Path) -> Leads {
        // Parts that are still to be walked, the next one last. What was walked already is a real path.
        let mut ahead = parts(link);
        let mut place = self.real.clone();
        let mut hops = 0;
        while let Some(part) = ahead.pop() {
            match part {
                Part::Root => place = PathBuf::from("/"),
                Part::Up => {
                    place.pop();
                }
                Part::Name(name) => {
                    place.push(name);
                    // On the way down to the work folder again, which is a real path and so holds no links.
                    if self.real.starts_with(&place) {
                        continue;
                    }
                    if !place.starts_with(&self.real) {
                        return Leads::Out;
                    }
                    let Ok(target) = target(&place) else { return Leads::Nowhere };
                    let Some(target) = target else { continue };
                    hops += 1;
                    if hops > MOST_HOPS {
                        return Leads::Nowhere;
                    }
                    place.pop();
                    match target.strip_prefix(self.given) {
                        Ok(inside) if target.is_absolute() => {
                            place.clone_from(&self.real);
                            ahead.extend(parts(inside));
                        }
                        _ => ahead.extend(parts(&target)),
                    }
                }
            }
        }
        self.end(place)
    }

    fn end(&self, place: PathBuf) -> Leads {
        let Ok(inside) = place.strip_prefix(&self.real) else { return Leads::Out };
        if !self.scope.reaches(inside) {
            return Leads::Out;
        }
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_file() => Leads::ToFile(place, metadata.len()),
            Ok(metadata) if metadata.is_dir() => Leads::ToFolder,
            _ => Leads::Nowhere,
        }
    }
}

enum Part {
    Root,
    Up,
    Name(OsString),
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<Part> {
    let parts = path.components().rev().filter_map(|component| match component {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

/// What is written in a link; nothing when it is none.
fn target(place: &Path) -> io::Result<Option<PathBuf>> {
    if place.symlink_metadata()?.is_symlink() {
        fs_err::read_link(place).map(Some)
    } else {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use fs_err::os::unix::fs::symlink;

    use super::{Leads, Links};
    use crate::outputs::Scope;

    #[test]
    fn links_are_followed_inside_of_the_work_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        for inner in ["work/real", "work/.git", "work/skills/mine", "elsewhere"] {
            fs_err::create_dir_all(folder.path().join(inner)).unwrap();
        }
        for file in
            ["work/a.txt", "work/real/b.txt", "work/.git/config", "work/skills/mine/s", "secret"]
        {
            fs_err::write(folder.path().join(file), "text").unwrap();
        }
        let absolute = work.join("a.txt").display().to_string();
        symlink(&work, folder.path().join("same")).unwrap();
        let again = folder.path().join("same");
        let alias = again.join("a.txt").display().to_string();
        let links = [
            ("plain", "a.txt"),
            ("absolute", absolute.as_str()),
            ("alias", alias.as_str()),
            ("chain", "plain"),
            ("around", "../work/real/../a.txt"),
            ("folder", "real"),
            ("through", "folder/b.txt"),
            ("here", "."),
            ("loop", "loop"),
            ("ping", "pong"),
            ("pong", "ping"),
            ("nothing", "gone.txt"),
            ("up", "../secret"),
            ("root", "/"),
            ("out", "/etc/hostname"),
            ("far", "up"),
            ("git", ".git/config"),
            ("skill", "skills/mine/s"),
            ("beside", "../elsewhere/../work2"),
        ];
        for (name, target) in links {
            symlink(target, work.join(name)).unwrap();
        }
        let scope = Scope::new().without("skills/mine");
        let real = fs_err::canonicalize(&work).unwrap();
        let file = |name: &str| Leads::ToFile(real.join(name), 4);
        // By its other name, as an agent may have been told it.
        let found = Links::new(&again, &scope).unwrap();
        for (name, expected) in [
            ("plain", file("a.txt")),
            ("absolute", file("a.txt")),
            ("alias", file("a.txt")),
            ("chain", file("a.txt")),
            ("around", file("a.txt")),
            ("folder", Leads::ToFolder),
            ("through", file("real/b.txt")),
            ("here", Leads::ToFolder),
            ("loop", Leads::Nowhere),
            ("ping", Leads::Nowhere),
            ("nothing", Leads::Nowhere),
            ("up", Leads::Out),
            ("root", Leads::Out),
            ("out", Leads::Out),
            ("far", Leads::Out),
            ("git", Leads::Out),
            ("skill", Leads::Out),
            ("beside", Leads::Out),
        ] {
            assert_eq!(found.follow(name.as_ref()), expected, "{name}");
        }
    }
}
