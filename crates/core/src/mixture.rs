//! Which programs made the runs of an iteration: one warning when there were several, wherever results are shown.
//!
//! A fleet, shards, a resumed iteration and a baseline that was taken over can each mix runs of different versions. What
//! differs between them may then be the program and not the skill. A run that does not tell counts for nothing.

use std::collections::BTreeMap;

/// The programs that made runs, by version, and how many runs each made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mixture {
    skillgauge: BTreeMap<String, usize>,
    agent: BTreeMap<String, usize>,
    graded: BTreeMap<String, usize>,
}

impl Mixture {
    /// Counts a run for what it was made with, as far as that is known.
    pub fn add(&mut self, skillgauge: Option<&str>, agent: Option<&str>) {
        count(&mut self.skillgauge, skillgauge);
        count(&mut self.agent, agent);
    }

    /// Counts a grading for the skillgauge that made it.
    pub fn add_grading(&mut self, skillgauge: &str) {
        count(&mut self.graded, Some(skillgauge));
    }

    /// Counts the runs of another part, too.
    pub fn merge(&mut self, part: Self) {
        let Self { skillgauge, agent, graded } = part;
        let all = [
            (&mut self.skillgauge, skillgauge),
            (&mut self.agent, agent),
            (&mut self.graded, graded),
        ];
        for (versions, more) in all {
            for (version, runs) in more {
                *versions.entry(version).or_default() += runs;
            }
        }
    }

    /// A sentence for each program of which there was more than one version.
    pub fn warnings(&self) -> Vec<String> {
        let programs = [
            ("made with different versions of the agent", &self.agent),
            ("made with different versions of skillgauge", &self.skillgauge),
            ("graded by different versions of skillgauge", &self.graded),
        ];
        let mixed = programs.into_iter().filter(|(_, versions)| versions.len() > 1);
        mixed.map(|(how, versions)| warning(how, versions)).collect()
    }
}

fn count(versions: &mut BTreeMap<String, usize>, version: Option<&str>) {
    let version = version.map(str::trim).filter(|version| !version.is_empty());
    if let Some(version) = version {
        // Nearly all runs have the same one.
        match versions.get_mut(version) {
            Some(runs) => *runs += 1,
            None => _ = versions.insert(version.to_owned(), 1),
        }
    }
}

fn warning(how: &str, versions: &BTreeMap<String, usize>) -> String {
    let named = |(version, runs): (&String, &usize)| match runs {
        1 => format!("{version} (1 run)"),
        _ => format!("{version} ({runs} runs)"),
    };
    let named: Vec<String> = versions.iter().map(named).collect();
    format!(
        "the runs were {how}: {}; what differs between them may come from that",
        named.join(", ")
    )
}

impl<'v> FromIterator<(Option<&'v str>, Option<&'v str>)> for Mixture {
    fn from_iter<T: IntoIterator<Item = (Option<&'v str>, Option<&'v str>)>>(runs: T) -> Self {
        let mut mixture = Self::default();
        for (skillgauge, agent) in runs {
            mixture.add(skillgauge, agent);
        }
        mixture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_version_and_runs_that_do_not_tell_are_no_mixture() {
        let runs = [(Some("0.1.0"), Some("2")), (None, Some(" ")), (Some("0.1.0"), None)];
        assert!(runs.into_iter().collect::<Mixture>().warnings().is_empty());
    }

    #[test]
    fn each_program_of_which_there_were_several_versions_is_named_with_them() {
        let runs = [(Some("0.1.0"), Some("2")), (Some("0.2.0"), Some("3")), (None, Some("2"))];
        let mut mixture = runs.into_iter().collect::<Mixture>();
        mixture.add_grading("1");
        mixture.add_grading("2");
        let warnings = mixture.warnings();
        let of = |how: &str, versions: &str| {
            format!("the runs were {how}: {versions}; what differs between them may come from that")
        };
        let expected = [
            of("made with different versions of the agent", "2 (2 runs), 3 (1 run)"),
            of("made with different versions of skillgauge", "0.1.0 (1 run), 0.2.0 (1 run)"),
            of("graded by different versions of skillgauge", "1 (1 run), 2 (1 run)"),
        ];
        assert_eq!(warnings, expected);
    }
}
