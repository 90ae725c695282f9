//! Glob patterns of checks: which files of `outputs/` are meant.
//!
//! A pattern without `/` matches a file's name at any depth; one with `/` matches its path below `outputs/`. Hidden
//! files and folders are meant only when the pattern names them.

use std::path::{Component, Path};

use globset::{GlobBuilder, GlobMatcher};

/// Why a glob cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobProblem {
    #[error("the glob `{glob}` is not valid: {reason}")]
    Invalid {
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It can match nothing that is in `outputs/`.
    #[error("the glob `{glob}` leads out of `outputs/`; write it relative to that folder")]
    Outside { glob: String },
}

/// A glob that is ready to match.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    source: String,
    matcher: GlobMatcher,
    scope: Scope,
    /// The parts of the pattern that name something hidden.
    hidden: Vec<GlobMatcher>,
    /// The parts of a path that the pattern begins with, as far as each is a part of its own.
    parts: Vec<GlobMatcher>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Name,
    Path,
}

impl Glob {
    pub(super) fn new(source: &str) -> Result<Self, GlobProblem> {
        // A `./` says that the path begins at `outputs/`, so it counts as a slash.
        let scope = if source.contains('/') { Scope::Path } else { Scope::Name };
        let mut pattern = source;
        while let Some(rest) = pattern.strip_prefix("./") {
            pattern = rest.trim_start_matches('/');
        }
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            return Err(GlobProblem::Outside { glob: source.to_owned() });
        }
        let matcher = matcher(pattern).map_err(|error| GlobProblem::Invalid {
            glob: source.to_owned(),
            reason: error.kind().to_string(),
        })?;
        let names_hidden =
            |part: &&str| part.starts_with('.') || part.contains("{.") || part.contains(",.");
        // A brace around slashes makes parts that are no globs; they are left out.
        let hidden = pattern.split('/').filter(names_hidden).filter_map(matcher_of).collect();
        let parts = pattern.split('/').map_while(|part| match part {
            // From here on a pattern may lead anywhere.
            "**" => None,
            part => matcher_of(part),
        });
        let parts = parts.collect();
        Ok(Self { source: source.to_owned(), matcher, scope, hidden, parts })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern itself says that what it means is in this folder.
    pub(super) fn names_folder(&self, folder: &Path) -> bool {
        self.scope == Scope::Path
            && folder.components().count() <= self.parts.len()
            && self.leads_into(folder)
    }

    /// Whether a path relative to `outputs/` is meant.
    pub(super) fn matches(&self, path: &Path) -> bool {
        let is_match = match self.scope {
            Scope::Name => path.file_name().is_some_and(|name| self.matcher.is_match(name)),
            Scope::Path => self.matcher.is_match(path),
        };
        is_match && self.may_see(path)
    }

    /// Whether something in a folder could be meant; when in doubt, it could.
    pub(super) fn leads_into(&self, folder: &Path) -> bool {
        let mut names = folder.components().map(Component::as_os_str).zip(&self.parts);
        let is_way = self.scope == Scope::Name || names.all(|(name, part)| part.is_match(name));
        is_way && self.may_see(folder)
    }

    fn may_see(&self, path: &Path) -> bool {
        path.components().all(|component| match component {
            Component::Normal(name) if name.as_encoded_bytes().starts_with(b".") => {
                self.hidden.iter().any(|hidden| hidden.is_match(name))
            }
            _ => true,
        })
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build()?;
    Ok(glob.compile_matcher())
}

fn matcher_of(part: &str) -> Option<GlobMatcher> {
    matcher(part).ok()
}

/// A glob over names that are no paths, such as those of tools.
#[derive(Clone, Debug)]
pub(super) struct NameGlob(GlobMatcher);

impl NameGlob {
    pub(super) fn new(source: &str) -> Result<Self, GlobProblem> {
        let glob = GlobBuilder::new(source).build().map_err(|error| GlobProblem::Invalid {
            glob: source.to_owned(),
            reason: error.kind().to_string(),
        })?;
        Ok(Self(glob.compile_matcher()))
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.glob().glob()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        Glob::new(glob).unwrap().matches(Path::new(path))
    }

    #[test]
    fn a_pattern_without_a_slash_matches_names_at_any_depth() {
        assert!(matches("*.ts", "a.ts") && matches("*.ts", "x/y/a.ts"));
        assert!(!matches("*.ts", "a.tsx"));
        assert!(matches("{a,b}.md", "x/b.md") && !matches("{a,b}.md", "c.md"));
        assert!(matches("[ab].md", "b.md") && matches("?.md", "x.md"));
    }

    #[test]
    fn a_pattern_with_a_slash_is_relative_to_outputs() {
        assert!(matches("src/*.ts", "src/a.ts") && !matches("src/*.ts", "x/src/a.ts"));
        assert!(!matches("src/*.ts", "src/deep/a.ts"));
        assert!(matches("src/**/*.ts", "src/deep/er/a.ts") && matches("src/**/*.ts", "src/a.ts"));
        assert!(matches("**/*.ts", "a.ts") && matches("./a.ts", "a.ts"));
        assert!(!matches("./a.ts", "sub/a.ts") && !matches("././a.ts", "sub/a.ts"));
        assert!(matches("././a.ts", "a.ts") && matches("./*/a.ts", "sub/a.ts"));
        assert!(matches("{src,lib}/a.ts", "lib/a.ts") && matches("{src/a,lib/b}.ts", "src/a.ts"));
    }

    #[test]
    fn hidden_files_match_only_when_the_pattern_names_them() {
        assert!(!matches("*", ".env") && matches(".*", ".env") && matches(".env", "x/.env"));
        assert!(!matches("**/*", ".git/config") && !matches("config", ".git/config"));
        assert!(matches(".github/**/*.yml", ".github/workflows/ci.yml"));
        assert!(!matches(".github/**/*", ".github/.secret"));
        assert!(matches("{.env,env}", ".env") && !matches("{.env,x}", ".git"));
    }

    #[test]
    fn a_glob_knows_the_folders_that_it_may_lead_into() {
        let leads =
            |glob: &str, folder: &str| Glob::new(glob).unwrap().leads_into(Path::new(folder));
        assert!(leads("*.ts", "deep/er") && leads("**/a", "deep") && leads("a/**", "a/b/c"));
        assert!(leads("src/*/a", "src/x") && !leads("src/a", "lib") && leads("src/a", ""));
        assert!(!leads("*.ts", ".cache") && leads(".cache/*", ".cache"));
        assert!(leads("{src/a,lib/b}.ts", "lib"), "a brace around slashes may be anything");
        let names =
            |glob: &str, folder: &str| Glob::new(glob).unwrap().names_folder(Path::new(folder));
        assert!(names("lib/*.ts", "lib") && names("*/a", "lib") && names("lib/**", "lib"));
        assert!(!names("**/a", "lib") && !names("a", "lib") && !names("src/**/a", "src/lib"));
    }

    #[test]
    fn globs_that_cannot_work_are_refused() {
        assert!(matches!(Glob::new("a[").unwrap_err(), GlobProblem::Invalid { .. }));
        assert!(matches!(Glob::new("{a").unwrap_err(), GlobProblem::Invalid { .. }));
        assert!(matches!(Glob::new("/etc/passwd").unwrap_err(), GlobProblem::Outside { .. }));
        assert!(matches!(Glob::new("a/../../b").unwrap_err(), GlobProblem::Outside { .. }));
    }
}
