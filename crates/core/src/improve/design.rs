//! What a loop can show, said before anything is paid.

use std::fmt;

use super::contrast::{fewest_cases, fewest_runs, question};
use super::sealed::suite_for;
use crate::statistics::{Design, resolvable_beyond};
use crate::text::plural;
use skillgauge_format::improve::Question;

/// What a suite and a number of runs can show of the first version that is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// The cases of the suite.
    suite: usize,
    sealed: usize,
    runs: usize,
    /// The smallest difference that is found four times out of five; none when no result would be enough.
    resolvable: Option<f64>,
}

impl Promise {
    pub fn new(suite: usize, sealed: usize, runs: usize) -> Self {
        let cases = if sealed > 0 { sealed } else { suite };
        let resolvable = match question(cases, 1) {
            Question::OnSuite => Design::new(cases, runs).resolvable(),
            Question::Beyond => resolvable_beyond(cases, runs),
        };
        Self { suite, sealed, runs, resolvable }
    }

    fn cases(&self) -> usize {
        if self.sealed > 0 { self.sealed } else { self.suite }
    }

    /// The cases of a suite that could say how a version does on other tasks.
    fn suite_beyond(&self) -> usize {
        let needed = fewest_cases(1);
        if self.sealed > 0 { suite_for(needed) } else { needed }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, sealed, runs, resolvable } = *self;
        if sealed > 0 {
            writeln!(
                f,
                "{sealed} of {suite} cases are sealed: neither the analyst nor the loop sees them, and they decide"
            )?;
        }
        let kind = if sealed > 0 { "sealed case" } else { "case" };
        let design = format!("{} x {}", plural(self.cases(), kind), plural(runs, "run"));
        let Some(points) = resolvable else {
            write!(
                f,
                "warning: {design} can't show that a version is better, so the baseline will stay; "
            )?;
            return match fewest_runs(self.cases(), 1).filter(|needed| *needed > runs) {
                Some(needed) => write!(f, "--runs {needed} can, or {} cases", self.suite_beyond()),
                None => write!(f, "{} cases can", self.suite_beyond()),
            };
        };
        let points = (points * 100.0).round();
        write!(
            f,
            "{design}: a first version that is {points} points better is adopted in 4 of 5 loops; later versions must be better by more"
        )?;
        if question(self.cases(), 1) == Question::OnSuite {
            write!(
                f,
                "\nthe result will be about these cases only; for tasks like these it takes a suite of {} cases",
                self.suite_beyond()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sealed::sealed_of;
    use super::*;

    #[test]
    fn the_promise_names_the_cases_that_decide_and_what_they_can_show() {
        let promise = |suite, runs| Promise::new(suite, sealed_of(suite), runs);
        let told = |suite, runs| promise(suite, runs).to_string();
        let three = told(3, 3);
        assert!(three.starts_with("3 cases x 3 runs: a first version that is "), "{three}");
        assert!(
            three.ends_with(
                "about these cases only; for tasks like these it takes a suite of 6 cases"
            )
        );
        assert_eq!(
            told(3, 1),
            "warning: 3 cases x 1 run can't show that a version is better, so the baseline will stay; --runs 2 can, or 6 cases"
        );
        let eight = told(8, 3);
        assert!(eight.starts_with("8 cases x 3 runs: ") && !eight.contains("only"), "{eight}");
        let twelve = told(12, 3);
        assert!(twelve.starts_with("4 of 12 cases are sealed: "), "{twelve}");
        assert!(twelve.contains("4 sealed cases x 3 runs: "), "{twelve}");
        // More of anything shows less.
        let points = |suite, runs| promise(suite, runs).resolvable.unwrap();
        assert!(points(3, 3) > points(3, 10) && points(6, 3) > points(9, 3), "{}", points(6, 3));
    }
}
