//! Rules for suites, in both dialects.

use crate::suite_lint::rule::lint_rules;

lint_rules! { Suite:
    /// The suite has fewer than 6 cases
    ///
    /// ## What it does
    /// Counts the cases of the suite.
    ///
    /// ## Why is this bad?
    /// Fewer than 6 cases get an answer for these cases only. How the skill does on other tasks is judged case by case: when
    /// all of 5 cases get better by chance alone, that has the probability 2/32 = 0.0625, so no such difference can be
    /// significant at 0.05, however many runs are made.
    ///
    /// ## Use instead
    /// At least 6 different tasks, better 10 to 20. More runs of the same case make the answer for these cases surer, and say
    /// nothing about others.
    FEW_CASES, Warning, "few-cases";

    /// A case has nothing to be graded by
    ///
    /// ## What it does
    /// Reports a case without expectations, structural checks, rubric and `expected_output`, unless `primary_outcome` is
    /// `preference`: then its runs are compared in pairs, and need none of them.
    ///
    /// ## Why is this bad?
    /// It would be run and paid for, and tell nothing. `run` refuses it before the first call.
    ///
    /// ## Use instead
    /// At least one of them; the shortest is a sentence about what a good result is.
    /// ```json
    /// {"id": 1, "prompt": "...", "expected_output": "A table with one row for each month and its total"}
    /// ```
    NOTHING_TO_GRADE, Error, "nothing-to-grade";

    /// The suite has no such outcome
    ///
    /// ## What it does
    /// Compares `primary_outcome` with what the runs of the suite have: a rubric, criteria from 1 to 5, or neither.
    ///
    /// ## Why is this bad?
    /// Nothing could decide. `run` refuses the suite before the first call.
    ///
    /// ## Use instead
    /// An outcome that the suite has, or none: then the default decides.
    /// ```json
    /// {"eval_config": {"primary_outcome": "pass_rate"}}
    /// ```
    MISSING_OUTCOME, Error, "missing-outcome";

    /// A count has no operator
    ///
    /// ## What it does
    /// Reports a `file_count` without `operator`.
    ///
    /// ## Why is this bad?
    /// It means "exactly as many" here and "at least as many" in the checker that such suites were first written for, so the
    /// same suite passes there and fails here.
    ///
    /// ## Use instead
    /// `"operator": ">="` for at least as many, `"=="` for exactly as many.
    NO_OPERATOR, Warning, "no-operator";

    /// A case passes when the agent does nothing
    ///
    /// ## What it does
    /// Reports a case that only a program decides and whose checks all pass on an empty answer, such as
    /// `file_not_contains`, `file_absent` or `no_errors` alone. With `--reference` the empty answer is really tried, so
    /// that scripts count, too.
    ///
    /// ## Why is this bad?
    /// The case passes with the skill, without the skill and without an agent. It measures nothing and lifts every rate.
    ///
    /// ## Use instead
    /// Add what must be there to what must not be there.
    /// ```json
    /// {"id": "S1", "type": "file_exists", "pattern": "report.md", "description": "The report is written"}
    /// ```
    PASSES_EMPTY, Error, "passes-empty";

    /// A check can never fail
    ///
    /// ## What it does
    /// Reports a `file_count` of `>= 0`, a `max_tokens` of 10 million or more, a `max_seconds` of a day or more, a script
    /// that always exits with 0 (`true`, `... || true`), a `diff_scope` that allows everything, and a `match_regex` that
    /// every text matches.
    ///
    /// ## Why is this bad?
    /// It counts as passed in every run and hides the checks that tell something.
    ///
    /// ## Use instead
    /// A limit that a bad run would miss; or leave the check out.
    VACUOUS_CHECK, Warning, "vacuous-check";

    /// A check cannot be carried out
    ///
    /// ## What it does
    /// Compiles every structural check as `run` and `check` do: globs, regular expressions as Python has them, JSON
    /// Schemas, paths.
    ///
    /// ## Why is this bad?
    /// `run` refuses the suite before anything is run.
    ///
    /// ## Use instead
    /// What the message says; docs/checks.md lists the types of checks with an example each.
    BAD_CHECK, Error, "bad-check";

    /// An expectation stands in the prompt
    ///
    /// ## What it does
    /// Compares the words of each expectation with those of the prompt: at least 4 words, and 8 of 10 sequences of three
    /// words are in the prompt, too.
    ///
    /// ## Why is this bad?
    /// The agent is told what the judge looks for, so that it passes with and without the skill. What the skill adds
    /// cannot be seen.
    ///
    /// ## Use instead
    /// A prompt as a user would write it, and an expectation that says what a good result has beyond that.
    LEAKED_EXPECTATION, Warning, "leaked-expectation";

    /// An expectation states nothing that could be checked
    ///
    /// ## What it does
    /// Reports an expectation without a single word that is particular to its case: "The output is correct", "It works",
    /// "The task was completed successfully".
    ///
    /// ## Why is this bad?
    /// A judge has nothing to hold the result against, and tends to say yes.
    ///
    /// ## Use instead
    /// What a person would look at to decide: a name, a number, a section, an order.
    /// ```json
    /// "totals.csv has one row for each of the 12 months"
    /// ```
    UNCHECKABLE, Warning, "uncheckable";

    /// Two cases are the same
    ///
    /// ## What it does
    /// Compares the prompts of all cases, without regard to case, punctuation and spaces, and their input files.
    ///
    /// ## Why is this bad?
    /// The task counts twice, and the statistics take one observation for two.
    ///
    /// ## Use instead
    /// One case with the expectations of both. Repetition is what `--runs` is for.
    DUPLICATE_CASE, Warning, "duplicate-case";

    /// Two cases are nearly the same
    ///
    /// ## What it does
    /// Reports cases with the same input files of whose pairs of neighbouring words 4 in 5 are the same. Only the first
    /// 1,000 cases are compared.
    ///
    /// ## Why is this bad?
    /// Such cases pass and fail together; they count as independent and make an interval look narrower than it is.
    ///
    /// ## Use instead
    /// Another task, another input file, or one of the two.
    SIMILAR_CASES, Warning, "similar-cases";

    /// A case has an expectation twice
    ///
    /// ## What it does
    /// Reports expectations of one case that have the same words, apart from their order, articles and punctuation, and
    /// checks that differ in nothing but `id` and `description`.
    ///
    /// ## Why is this bad?
    /// The same thing counts twice in the pass rate.
    ///
    /// ## Use instead
    /// One of the two. What matters more can have a higher weight in a rubric, or be `critical`.
    DUPLICATE_EXPECTATION, Warning, "duplicate-expectation";

    /// An input file cannot be used
    ///
    /// ## What it does
    /// Looks for each of a case's `files`: in the `evals` dialect relative to the skill, in the `cases` dialect relative
    /// to the workspace, and then in the other one. Reports what is not there and links that lead out of both.
    ///
    /// ## Why is this bad?
    /// The case cannot be run.
    ///
    /// ## Use instead
    /// A file below `evals/files/` of the skill, named `evals/files/NAME` in the suite; the agent finds it as `NAME`.
    MISSING_INPUT, Error, "missing-input";

    /// The suite names another skill
    ///
    /// ## What it does
    /// Compares `skill_name`, or the last part of `skill`, with the name of the skill and of its folder.
    ///
    /// ## Why is this bad?
    /// The suite was probably copied, and its cases test something else; reports carry the wrong name.
    ///
    /// ## Use instead
    /// The name that stands in the front matter of SKILL.md.
    OTHER_SKILL, Warning, "other-skill";
}
