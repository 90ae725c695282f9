//! Rules for trigger sets.

use crate::suite_lint::rule::lint_rules;

lint_rules! { Triggers:
    /// The same query should trigger and should not
    ///
    /// ## What it does
    /// Reports queries that differ only in case, punctuation and spaces and have different labels. Queries that are the
    /// same to the letter are `conflicting-labels`.
    ///
    /// ## Why is this bad?
    /// One of the two fails whatever the description says.
    ///
    /// ## Use instead
    /// One of the two, or two queries that a person could tell apart.
    CONTRADICTING_QUERIES, Error, "contradicting-queries";

    /// Two queries are nearly the same
    ///
    /// ## What it does
    /// Reports queries with the same label of whose pairs of neighbouring words 4 in 5 are the same. A pair with
    /// different labels is welcome: such pairs show where the border is. Only the first 1,000 queries are compared.
    ///
    /// ## Why is this bad?
    /// They count as two and tell as much as one. When a loop holds one of them back for the test, the other one gives it
    /// away.
    ///
    /// ## Use instead
    /// Another way in which a user would ask, or another task.
    SIMILAR_QUERIES, Warning, "similar-queries";

    /// The length of a query tells whether it should trigger
    ///
    /// ## What it does
    /// Takes the length of each query for a score: when it ranks a query that should trigger before one that should not in
    /// 3 of 4 pairs, or the other way round (an area under the curve of at least 0.75), that is reported. Sets with fewer
    /// than 5 queries of a label are left alone.
    ///
    /// ## Why is this bad?
    /// Long, detailed queries load a skill more easily, whatever its description says, and short ones do not. The set
    /// measures how it was written, not the description. Most public trigger sets have this fault.
    ///
    /// ## Use instead
    /// Queries that should not trigger with as much detail as those that should, and some short ones that should.
    LENGTH_SEPARATES, Warning, "length-separates";

    /// A query names the skill
    ///
    /// ## What it does
    /// Reports queries with the name of the skill as it is written when it has more than one word (`pdf-tools`), as a
    /// command (`/pdf`), or beside the word "skill" ("the pdf skill").
    ///
    /// ## Why is this bad?
    /// An agent that is told which skill to use needs no description. Users who know the name are not the ones that a
    /// description has to reach.
    ///
    /// ## Use instead
    /// The task as a user has it who does not know that the skill exists.
    QUERY_NAMES_SKILL, Warning, "query-names-skill";
}
