//! What a loop shows, in one sentence that is true: what changed on the training queries, what the fresh runs of the
//! held-out ones say, and what would show more. Every surface prints this one.

use skillgauge_format::trigger::{LoopIteration, LoopSummary, TuneProof};

use super::proof::{points, would_show};
use crate::statistics::{SIGNIFICANCE, is_at_most};
use crate::text::{counted, percent, probability};

/// Why the loop ends with the description that it ends with.
pub fn conclusion(summary: &LoopSummary) -> String {
    let Some(first) = summary.iterations.first() else {
        return "no description was measured".to_owned();
    };
    let is_estimate = summary.basis.is_some();
    let Some(proof) = &summary.proof else {
        let best = &summary.best_iteration;
        return if summary.final_description != summary.original_description {
            // The loop of another tool, or of an older version.
            format!(
                "the description of round {} was chosen by its held-out rate ({}/{}), so that rate is optimistic; nothing \
                 proves that it is better",
                best.round, best.test_passed, best.test_total
            )
        } else if summary.partial == Some(true) {
            "the loop was stopped before anything was proven, so the original description stays; run the same command \
             again to resume"
                .to_owned()
        } else {
            let estimated = if is_estimate { "by the estimate, " } else { "" };
            let (passed, total) = (first.train_passed, first.train_total);
            format!(
                "{estimated}no description did better on the training queries than the original ({passed}/{total}), \
                 which stays"
            )
        };
    };
    let train = train(first, &summary.iterations, proof);
    if is_estimate {
        return format!(
            "{train} by the estimate; nothing was measured, so the original description stays; measure the candidate \
             with `skillgauge trigger --description TEXT`, or tune without `--via estimate`"
        );
    }
    let mut text = match (measured(proof), proof.proven) {
        (Some(measured), true) => return format!("better: {measured}; {train}{}", left_out(proof)),
        (Some(measured), false) if is_open(proof) => format!(
            "{train}; {measured}, but runs without a result could turn it: not shown to be better; run the same \
             command again to retry them"
        ),
        (Some(measured), false) => format!("{train}; {measured}: not shown to be better"),
        (None, _) if proof.runs > 0 => {
            format!(
                "{train}; no held-out query had completed runs of both descriptions: not shown to be better"
            )
        }
        (None, _) if first.test_total == 0 => {
            format!(
                "{train}; no queries are held out, so nothing shows that it is better on others"
            )
        }
        (None, _) => {
            let queries = counted(first.test_total, "held-out query", "held-out queries");
            format!("{train}; {queries} can't show any gain")
        }
    };
    text.push_str(&left_out(proof));
    if let Some(needed) = &proof.needed {
        text.push_str("; ");
        text.push_str(&would_show(needed));
    }
    text
}

/// Whether a proof failed only because runs have no result.
pub fn is_open(proof: &TuneProof) -> bool {
    !proof.proven && proof.p.is_some_and(|p| is_at_most(p.as_f64(), SIGNIFICANCE))
}

fn train(first: &LoopIteration, iterations: &[LoopIteration], proof: &TuneProof) -> String {
    let candidate = iterations.iter().find(|iteration| iteration.round == proof.round);
    let candidate = candidate.unwrap_or(first);
    format!(
        "train {}/{} -> {}/{}",
        first.train_passed, first.train_total, candidate.train_passed, candidate.train_total
    )
}

fn measured(proof: &TuneProof) -> Option<String> {
    let [original, candidate, difference, p] =
        [proof.original_rate, proof.candidate_rate, proof.difference, proof.p];
    let (original, candidate) = (original?.as_f64(), candidate?.as_f64());
    let queries = counted(proof.queries, "held-out query", "held-out queries");
    let interval = proof.interval.map_or_else(String::new, |[low, high]| {
        format!("95%: {} to {}, ", points(low.as_f64()), points(high.as_f64()))
    });
    Some(format!(
        "on {queries} {} -> {} of runs right ({} points, {interval}{})",
        percent(original),
        percent(candidate),
        points(difference?.as_f64()),
        probability(p?.as_f64()),
    ))
}

fn left_out(proof: &TuneProof) -> String {
    if proof.left_out.is_empty() || proof.queries == 0 {
        return String::new();
    }
    let queries = counted(proof.left_out.len(), "query", "queries");
    format!("; {queries} left out, because no run of one of the descriptions completed")
}

#[cfg(test)]
mod tests {
    use skillgauge_format::Number;
    use skillgauge_format::trigger::ProofDesign;

    use super::*;

    fn summary(proof: Option<TuneProof>) -> LoopSummary {
        let iteration = |round, train_passed| LoopIteration {
            round,
            train_passed,
            train_total: 12,
            test_total: 8,
            ..LoopIteration::default()
        };
        LoopSummary {
            iterations: vec![iteration(1, 5), iteration(4, 12)],
            proof,
            ..LoopSummary::default()
        }
    }

    fn proof(candidate: f64, p: f64) -> TuneProof {
        TuneProof {
            round: 4,
            queries: 8,
            runs: 5,
            original_rate: Some(Number::Float(0.75)),
            candidate_rate: Some(Number::Float(candidate)),
            difference: Some(Number::Float(candidate - 0.75)),
            interval: Some([Number::Float(-0.004), Number::Float(0.21)]),
            p: Some(Number::Float(p)),
            proven: p <= 0.05,
            needed: (p > 0.05).then(|| ProofDesign {
                queries: 12,
                runs: 5,
                difference: Number::Float(0.25),
                ..ProofDesign::default()
            }),
            ..TuneProof::default()
        }
    }

    #[test]
    fn the_sentence_names_train_held_out_and_what_would_show_it() {
        assert_eq!(
            conclusion(&summary(Some(proof(0.75, 0.62)))),
            "train 5/12 -> 12/12; on 8 held-out queries 75 % -> 75 % of runs right (+0 points, 95%: +0 to +21, \
             p = 0.62): not shown to be better; 12 held-out queries x 5 runs would show +25 points"
        );
        assert_eq!(
            conclusion(&summary(Some(proof(0.95, 0.0021)))),
            "better: on 8 held-out queries 75 % -> 95 % of runs right (+20 points, 95%: +0 to +21, p = 0.0021); \
             train 5/12 -> 12/12"
        );
        let mut lost = proof(0.75, 0.62);
        lost.left_out = vec!["q".to_owned()];
        assert!(conclusion(&summary(Some(lost))).contains("; 1 query left out, because no run "));
    }

    #[test]
    fn what_was_not_asked_is_not_said_to_be_measured() {
        let mut unasked = TuneProof { round: 4, ..TuneProof::default() };
        let text = conclusion(&summary(Some(unasked.clone())));
        assert_eq!(text, "train 5/12 -> 12/12; 8 held-out queries can't show any gain");
        unasked.runs = 5;
        assert!(
            conclusion(&summary(Some(unasked))).contains("no held-out query had completed runs")
        );
        let mut stopped = summary(None);
        stopped.partial = Some(true);
        assert!(conclusion(&stopped).contains("stopped before anything was proven"));
        assert!(conclusion(&summary(None)).contains("than the original (5/12), which stays"));
        let mut estimate = summary(Some(TuneProof { round: 4, ..TuneProof::default() }));
        estimate.basis = Some("estimate".to_owned());
        let text = conclusion(&estimate);
        assert!(
            text.starts_with("train 5/12 -> 12/12 by the estimate; nothing was measured"),
            "{text}"
        );
        assert_eq!(conclusion(&LoopSummary::default()), "no description was measured");
        let mut foreign = summary(None);
        foreign.final_description = "Another".to_owned();
        assert!(conclusion(&foreign).ends_with("nothing proves that it is better"));
    }
}
