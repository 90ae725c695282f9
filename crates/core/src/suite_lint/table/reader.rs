//! What the reader of a file reports; the codes are those of `skillgauge_format::problem`.

use crate::suite_lint::rule::lint_rules;

lint_rules! { Reader:
    /// No criterion of a case is required
    ///
    /// ## What it does
    /// Reports a case of the `cases` dialect in which every expectation has `required: false`.
    ///
    /// ## Why is this bad?
    /// `overall` is "pass" exactly when every required criterion passed, so this case can never fail.
    ///
    /// ## Use instead
    /// `required: true` for what makes the result useless when it is missing.
    NO_REQUIRED, Error, "no-required";

    /// An expectation is a matter of taste
    ///
    /// ## What it does
    /// Looks for words such as "appropriate", "good", "properly" and "reasonable" in criteria and expectations.
    ///
    /// ## Why is this bad?
    /// Two people, or one judge asked twice, will disagree; the score is noise.
    ///
    /// ## Use instead
    /// What exactly must be there: "names all 3 files" instead of "lists the files properly".
    VAGUE, WarningOrStrictError, "vague";

    /// Something that reads like an expectation is not graded
    ///
    /// ## What it does
    /// Reports `expect`, `fail`, `expected_behavior` and the like beside `expectations`, which are the ones that count, and
    /// such fields and `must_have` lists that hold something else than texts.
    ///
    /// ## Why is this bad?
    /// The author believes that it decides, and nobody looks at it.
    ///
    /// ## Use instead
    /// One list: `expectations` for what a judge decides, `structural_expectations` for what a program decides.
    NOT_GRADED, Warning, "not-graded";

    /// A judge decides what a program was meant to decide
    ///
    /// ## What it does
    /// Reports an assertion with a `pattern`, a `value` or another condition that no check understands: its `type` is
    /// unknown, or a field that its type needs is missing.
    ///
    /// ## Why is this bad?
    /// The judge gets the condition as text, which costs money and may be judged differently each time.
    ///
    /// ## Use instead
    /// A `type` of docs/checks.md with its fields.
    /// ```json
    /// {"name": "no-find", "type": "transcript_regex", "pattern": "Bash.*find", "expect": "absent"}
    /// ```
    JUDGED_AS_TEXT, Warning, "judged-as-text";

    /// An expectation has no text
    ///
    /// ## What it does
    /// Reports an expectation that is empty, or an object without a `text` or a `description`.
    ///
    /// ## Why is this bad?
    /// There is nothing to judge.
    ///
    /// ## Use instead
    /// A sentence that is true or false of the result.
    NO_STATEMENT, Error, "no-statement";

    /// The suite has no cases
    ///
    /// ## What it does
    /// Reports an empty list of cases.
    ///
    /// ## Why is this bad?
    /// There is nothing to run.
    ///
    /// ## Use instead
    /// At least 6 cases; see `few-cases`.
    EMPTY_SUITE, Warning, "empty-suite";

    /// An id is taken twice
    ///
    /// ## What it does
    /// Compares the ids of cases, checks and rubric dimensions, and the criteria of a case.
    ///
    /// ## Why is this bad?
    /// Results are stored and found by id: one of the two would overwrite the other.
    ///
    /// ## Use instead
    /// Another id.
    DUPLICATE_ID, Error, "duplicate-id";

    /// An id is no folder name
    ///
    /// ## What it does
    /// Reports ids with other characters than letters, digits, `.`, `_` and `-`.
    ///
    /// ## Why is this bad?
    /// A case's runs are stored in the folder `eval-<id>`.
    ///
    /// ## Use instead
    /// An id such as `login-flow`.
    UNSAFE_ID, Error, "unsafe-id";

    /// An input file is outside of the skill
    ///
    /// ## What it does
    /// Reports absolute paths and paths that climb out with `..`.
    ///
    /// ## Why is this bad?
    /// A suite that somebody else wrote must not read your files, and the path exists on no other machine.
    ///
    /// ## Use instead
    /// A file below `evals/files/`.
    PATH_OUTSIDE, Error, "path-outside";

    /// A check has a field that it does not look at
    ///
    /// ## What it does
    /// Compares the fields of a structural check with those of its type.
    ///
    /// ## Why is this bad?
    /// The author believes that it has an effect.
    ///
    /// ## Use instead
    /// The type that has this field, or no field.
    UNUSED_FIELD, Warning, "unused-field";

    /// A rubric does not say what a score means
    ///
    /// ## What it does
    /// Looks for descriptions of the scores 1, 3 and 5 of each dimension.
    ///
    /// ## Why is this bad?
    /// Without anchors each judge has a scale of its own.
    ///
    /// ## Use instead
    /// One sentence for each of 1, 3 and 5.
    MISSING_ANCHOR, Warning, "missing-anchor";

    /// A rubric describes a score that does not exist
    ///
    /// ## What it does
    /// Reports keys of `scoring` other than 1 to 5.
    ///
    /// ## Why is this bad?
    /// No judge will ever give it.
    ///
    /// ## Use instead
    /// Scores from 1 to 5.
    UNKNOWN_ANCHOR, Warning, "unknown-anchor";

    /// The version of the file is none
    ///
    /// ## What it does
    /// Reports a `version` that does not look like `1.0`.
    ///
    /// ## Why is this bad?
    /// It cannot be told whether this skillgauge can read the file.
    ///
    /// ## Use instead
    /// `"version": "1.0"`
    BAD_VERSION, Error, "bad-version";

    /// The file is newer than skillgauge
    ///
    /// ## What it does
    /// Compares the major version of the file with the one that this skillgauge reads.
    ///
    /// ## Why is this bad?
    /// Its fields may mean something else by now.
    ///
    /// ## Use instead
    /// A newer skillgauge.
    NEWER_VERSION, Error, "newer-version";

    /// The trigger set has no queries
    ///
    /// ## What it does
    /// Reports an empty list of queries.
    ///
    /// ## Why is this bad?
    /// There is nothing to measure.
    ///
    /// ## Use instead
    /// At least 5 queries that should trigger and 5 that should not.
    EMPTY_SET, Error, "empty-set";

    /// All queries have the same label
    ///
    /// ## What it does
    /// Reports a trigger set in which every query should trigger, or none.
    ///
    /// ## Why is this bad?
    /// A description that always triggers, or never, passes.
    ///
    /// ## Use instead
    /// Both kinds; near misses are worth most among those that should not.
    ONE_CLASS, Warning, "one-class";

    /// The trigger set is small
    ///
    /// ## What it does
    /// Reports fewer than 5 different queries of a label.
    ///
    /// ## Why is this bad?
    /// A rate of 4 of 4 has an interval from 51% to 100%.
    ///
    /// ## Use instead
    /// At least 5 of each, better 10.
    FEW_QUERIES, Warning, "few-queries";

    /// A query is there with both labels
    ///
    /// ## What it does
    /// Compares the texts of all queries.
    ///
    /// ## Why is this bad?
    /// One of the two fails whatever the description says.
    ///
    /// ## Use instead
    /// The label that you mean.
    CONFLICTING_LABELS, Error, "conflicting-labels";

    /// A query is there twice
    ///
    /// ## What it does
    /// Compares the texts of all queries.
    ///
    /// ## Why is this bad?
    /// It counts once, so the set is smaller than it looks.
    ///
    /// ## Use instead
    /// Another query.
    REPEATED_QUERY, Warning, "repeated-query";

    /// Earlier messages don't take turns
    ///
    /// ## What it does
    /// Looks at the roles in `turns`: the first message is the user's, the last one the assistant's, and they alternate.
    ///
    /// ## Why is this bad?
    /// The query is the user's next message. No conversation with an agent has two messages of one side in a row.
    ///
    /// ## Use instead
    /// `"turns": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}]`
    TURN_ORDER, Error, "turn-order";

    /// A query has a field that nobody reads
    ///
    /// ## What it does
    /// Reports each unknown field of the queries once. A field that looks like a misspelling is `unknown-field`.
    ///
    /// ## Why is this bad?
    /// It has no effect: the query is asked as if it were not there.
    ///
    /// ## Use instead
    /// `files`, `turns` and `context` say where a query is asked. `skillgauge schema trigger-set` lists all fields.
    IGNORED_FIELD, Warning, "ignored-field";

    /// Queries and cases are in one list
    ///
    /// ## What it does
    /// Reports items without `should_trigger` among items that have it, and the other way round.
    ///
    /// ## Why is this bad?
    /// A file is either a trigger set or a suite; nobody can tell which one is meant.
    ///
    /// ## Use instead
    /// `evals/triggers.json` for queries, `evals/evals.json` for cases.
    MIXED_ITEMS, Error, "mixed-items";

    /// The file is neither a trigger set nor a suite
    ///
    /// ## What it does
    /// Looks for an array of queries, or an object with `cases` or `evals`.
    ///
    /// ## Why is this bad?
    /// There is nothing to run.
    ///
    /// ## Use instead
    /// `skillgauge schema evals-suite` or `skillgauge schema cases-suite` shows the shape.
    UNKNOWN_DIALECT, Error, "unknown-dialect";

    /// The file is of another kind
    ///
    /// ## What it does
    /// Reports, for example, a suite that was given as `--triggers`.
    ///
    /// ## Why is this bad?
    /// It cannot be used for this.
    ///
    /// ## Use instead
    /// The other option, or the other file.
    OTHER_KIND, Error, "other-kind";

    /// A value is of the wrong type or out of range
    ///
    /// ## What it does
    /// Compares each value with the JSON Schema of the file.
    ///
    /// ## Why is this bad?
    /// The file cannot be used.
    ///
    /// ## Use instead
    /// What the message says was expected.
    MISMATCH, Error, "mismatch";

    /// A field is missing
    ///
    /// ## What it does
    /// Looks for the fields that the JSON Schema of the file requires.
    ///
    /// ## Why is this bad?
    /// The file cannot be used.
    ///
    /// ## Use instead
    /// The field; the message names one that looks like a misspelling of it.
    MISSING_FIELD, Error, "missing-field";

    /// Fields exclude each other
    ///
    /// ## What it does
    /// Reports, for example, a check with both `match` and `match_regex`.
    ///
    /// ## Why is this bad?
    /// It cannot be told which one is meant.
    ///
    /// ## Use instead
    /// One of them.
    EXCLUSIVE_FIELDS, Error, "exclusive-fields";

    /// A field looks like a misspelling
    ///
    /// ## What it does
    /// Reports fields that nobody reads and that are nearly the name of one that somebody does.
    ///
    /// ## Why is this bad?
    /// It has no effect.
    ///
    /// ## Use instead
    /// The name that the message suggests. Fields of other tools are never reported.
    UNKNOWN_FIELD, Warning, "unknown-field";

    /// A key is there twice in one object
    ///
    /// ## What it does
    /// Compares the keys of every object.
    ///
    /// ## Why is this bad?
    /// Readers of JSON disagree on which one counts.
    ///
    /// ## Use instead
    /// One of the two.
    DUPLICATE_KEY, Error, "duplicate-key";

    /// The file is not JSON
    ///
    /// ## What it does
    /// Parses the file.
    ///
    /// ## Why is this bad?
    /// Nothing in it can be used.
    ///
    /// ## Use instead
    /// What the message says; comments and trailing commas are not JSON.
    SYNTAX, Error, "syntax";

    /// The file ends too early
    ///
    /// ## What it does
    /// Reports a file that ends inside of an object, an array or a string, and where that was opened.
    ///
    /// ## Why is this bad?
    /// Nothing in it can be used.
    ///
    /// ## Use instead
    /// The rest of the file, or the missing bracket.
    TRUNCATED, Error, "truncated";

    /// The file is empty
    ///
    /// ## What it does
    /// Reports a file with nothing but white space.
    ///
    /// ## Why is this bad?
    /// There is nothing to read.
    ///
    /// ## Use instead
    /// `skillgauge init SKILL` makes a suite to begin with.
    EMPTY_FILE, Error, "empty-file";

    /// The file is not UTF-8
    ///
    /// ## What it does
    /// Reports bytes that are not UTF-8.
    ///
    /// ## Why is this bad?
    /// JSON is UTF-8; other readers guess, and guess differently.
    ///
    /// ## Use instead
    /// The file saved as UTF-8.
    NOT_UTF8, Error, "not-utf8";

    /// The file is nested too deeply
    ///
    /// ## What it does
    /// Reports arrays and objects more than 128 levels deep.
    ///
    /// ## Why is this bad?
    /// No file of these kinds looks like that; it is broken or hostile.
    ///
    /// ## Use instead
    /// A flatter file.
    TOO_DEEP, Error, "too-deep";

    /// The file has too many values
    ///
    /// ## What it does
    /// Reports files with more than 4 million values.
    ///
    /// ## Why is this bad?
    /// Memory is bounded.
    ///
    /// ## Use instead
    /// Several files.
    TOO_MANY_VALUES, Error, "too-many-values";

    /// The file is too large
    ///
    /// ## What it does
    /// Reports files of more than 64 MiB.
    ///
    /// ## Why is this bad?
    /// Memory is bounded.
    ///
    /// ## Use instead
    /// Several files.
    TOO_LARGE, Error, "too-large";
}
