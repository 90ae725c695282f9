//! What a check found, before it is asked whether that is what was wanted.

use super::evidence::Evidence;

/// Whether what a check states is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    /// It could not be seen: the file is too large, the transcript is missing.
    Unknown,
}

impl Verdict {
    /// Whether the check passes. What is not known never passes.
    pub(super) fn passes(self, negated: bool) -> bool {
        match self {
            Self::Holds => !negated,
            Self::Fails => negated,
            Self::Unknown => false,
        }
    }

    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

/// A verdict and what shows it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    evidence: Evidence,
}

impl Finding {
    pub(super) fn new(verdict: Verdict, evidence: Evidence) -> Self {
        Self { verdict, evidence }
    }

    /// A verdict with one sentence.
    pub(super) fn plain(verdict: Verdict, note: impl Into<String>) -> Self {
        let mut evidence = Evidence::new();
        evidence.note(note.into());
        Self { verdict, evidence }
    }

    /// The same facts for the contrary statement.
    pub(super) fn opposite(self) -> Self {
        let verdict = match self.verdict {
            Verdict::Holds => Verdict::Fails,
            Verdict::Fails => Verdict::Holds,
            Verdict::Unknown => Verdict::Unknown,
        };
        Self { verdict, ..self }
    }

    pub(super) fn evidence(&self, negated: bool) -> String {
        let prefix = match (self.verdict, negated) {
            (Verdict::Unknown, _) => "Not decided: ",
            (Verdict::Holds | Verdict::Fails, true) => "Negated: ",
            (Verdict::Holds | Verdict::Fails, false) => "",
        };
        format!("{prefix}{}", self.evidence)
    }
}
