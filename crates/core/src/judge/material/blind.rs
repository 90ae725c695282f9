//! Takes out of what a judge sees what tells the arm: paths (a folder named `without_skill`), and the skill ([`SkillMask`]).

use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::skill_mask::SkillMask;

/// The private work folder of a run, which has another name in every run.
static PRIVATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"/[^\s"'`<>|;,(){}\[\]=:]*/skillgauge-[^/\s"'`]+/(?:[^/\s"'`]+/)+?work\b"#).ok()
});

/// Paths that are replaced by a name, the longest first, and the skill that must not show.
#[derive(Clone, Debug, Default)]
pub struct Blind {
    paths: Vec<(String, &'static str)>,
    skill: Option<SkillMask>,
}

impl Blind {
    /// Replaces each path by its name. A path with fewer than two parts, such as `/` or `runs`, is left alone: it would
    /// be found everywhere.
    pub fn new<'p>(paths: impl IntoIterator<Item = (&'p Path, &'static str)>) -> Self {
        let is_specific = |path: &Path| path.is_absolute() && path.components().count() > 2;
        let mut paths: Vec<(String, &'static str)> = paths
            .into_iter()
            .filter(|(path, _)| is_specific(path))
            .filter_map(|(path, name)| {
                let text = path.to_str()?.trim_end_matches('/');
                Some((text.to_owned(), name))
            })
            .collect();
        paths.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then(one.cmp(other)));
        paths.dedup_by(|one, other| one.0 == other.0);
        Self { paths, skill: None }
    }

    /// The paths of a run and of everything above it up to the workspace, under names that say nothing.
    ///
    /// The layout is `<workspace>/iteration-<N>/eval-<id>/<configuration>/run-<k>`.
    pub fn of_run(run: &Path, skill: Option<&Path>) -> Self {
        let real = fs_err::canonicalize(run).unwrap_or_else(|_| run.to_owned());
        let skill_real = skill.and_then(|skill| fs_err::canonicalize(skill).ok());
        let above =
            |path: &'_ Path, levels: usize| path.ancestors().nth(levels).map(Path::to_owned);
        let mut paths = Vec::new();
        for run in [run, real.as_path()] {
            // Any folder above the run tells the rest of the way, configuration included.
            for (levels, name) in
                [(0, "RUN"), (1, "RUNS"), (2, "CASE"), (3, "ITERATION"), (4, "WORKSPACE")]
            {
                paths.extend(above(run, levels).map(|path| (path, name)));
            }
        }
        paths.extend(skill.map(|skill| (skill.to_owned(), "FOLDER")));
        paths.extend(skill_real.map(|skill| (skill, "FOLDER")));
        Self::new(paths.iter().map(|(path, name)| (path.as_path(), *name)))
    }

    /// The same, and the skill must not show either.
    #[must_use]
    pub fn hiding(mut self, skill: Option<SkillMask>) -> Self {
        self.skill = skill;
        self
    }

    pub fn hides_skill(&self) -> bool {
        self.skill.is_some()
    }

    pub(super) fn skill(&self) -> Option<&SkillMask> {
        self.skill.as_ref()
    }

    /// What an agent said, without what tells the arm.
    pub fn said<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.skill.as_ref().map(|skill| skill.said(text)) {
            Some(Cow::Owned(said)) => Cow::Owned(self.apply(&said).into_owned()),
            Some(Cow::Borrowed(_)) | None => self.apply(text),
        }
    }

    /// What was written into a file, without what tells the arm.
    pub fn written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.skill.as_ref().map(|skill| skill.written(text)) {
            Some(Cow::Owned(written)) => Cow::Owned(self.apply(&written).into_owned()),
            Some(Cow::Borrowed(_)) | None => self.apply(text),
        }
    }

    /// The text without these paths, and without the skill's name and folder.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (path, name) in &self.paths {
            if memchr::memmem::find(text.as_bytes(), path.as_bytes()).is_some() {
                text = Cow::Owned(text.replace(path.as_str(), name));
            }
        }
        if let Some(pattern) = PRIVATE.as_ref()
            && let Cow::Owned(changed) = pattern.replace_all(&text, "WORK")
        {
            text = Cow::Owned(changed);
        }
        match self.skill.as_ref().map(|skill| skill.apply(&text)) {
            Some(Cow::Owned(masked)) => Cow::Owned(masked),
            Some(Cow::Borrowed(_)) | None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_run_is_taken_out_from_wherever_it_is_told() {
        let run = Path::new("/home/me/w/iteration-1/eval-1/without_skill/run-2");
        let blind = Blind::of_run(run, Some(Path::new("/home/me/skill")));
        assert_eq!(
            blind.apply("see /home/me/w/iteration-1/eval-1/without_skill/run-2/outputs/a.md"),
            "see RUN/outputs/a.md"
        );
        assert_eq!(blind.apply("/home/me/w/iteration-1/eval-1/without_skill"), "RUNS");
        assert_eq!(blind.apply("/home/me/w/iteration-1/x"), "ITERATION/x");
        assert_eq!(blind.apply("/home/me/skill/SKILL.md"), "FOLDER/SKILL.md");
        assert_eq!(blind.apply("nothing of it: /home/you"), "nothing of it: /home/you");
        assert_eq!(
            blind.apply("at: /tmp/skillgauge-me/run-a81f/x/work/notes.md"),
            "at: WORK/notes.md"
        );
    }

    #[test]
    fn short_and_relative_paths_are_left_alone() {
        let blind =
            Blind::new([(Path::new("/"), "A"), (Path::new("runs"), "B"), (Path::new("/tmp"), "C")]);
        assert_eq!(blind.apply("/tmp/runs"), "/tmp/runs");
    }
}
