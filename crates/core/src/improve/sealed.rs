//! Cases that the loop never sees: they only decide.
//!
//! The analyst reads what failed and the loop keeps what scores highest, so the cases of both are an exam whose questions
//! were known. With enough cases some are set apart, by a draw that is written down.

use sha2::{Digest as _, Sha256};

/// From so many cases on some are sealed: fewer leave too little to learn from.
const FEWEST: usize = 10;

/// How many of so many cases are sealed: 30 %.
pub(super) fn sealed_of(cases: usize) -> usize {
    if cases < FEWEST { 0 } else { (cases * 3 + 5) / 10 }
}

/// The fewest cases of a suite of which so many are sealed.
pub(super) fn suite_for(sealed: usize) -> usize {
    (sealed * 10).saturating_sub(5).div_ceil(3).max(FEWEST)
}

/// Draws the sealed cases, in the order of the suite. The same seed and cases give the same.
pub fn seal(cases: &[String], seed: u64) -> Vec<String> {
    let draw = |case: &String| {
        let mut hasher = Sha256::new();
        hasher.update(b"skillgauge sealed 1");
        hasher.update(seed.to_le_bytes());
        hasher.update(case.as_bytes());
        hasher.finalize().to_vec()
    };
    let mut drawn: Vec<&String> = cases.iter().collect();
    drawn.sort_by_cached_key(|case| draw(case));
    drawn.truncate(sealed_of(cases.len()));
    cases.iter().filter(|case| drawn.contains(case)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_ten_are_drawn_and_none_of_fewer_than_ten() {
        let cases = |count: usize| (0..count).map(|case| format!("c{case}")).collect::<Vec<_>>();
        for (count, expected) in [(0, 0), (9, 0), (10, 3), (12, 4), (19, 6), (20, 6), (100, 30)] {
            let sealed = seal(&cases(count), 7);
            assert_eq!(sealed.len(), expected, "{count}");
            assert_eq!(sealed, seal(&cases(count), 7));
            let is_sorted = sealed.windows(2).all(|two| {
                let place = |case: &String| case[1..].parse::<usize>().unwrap();
                place(&two[0]) < place(&two[1])
            });
            assert!(is_sorted, "{sealed:?}");
        }
        assert_eq!((suite_for(3), suite_for(6), suite_for(7)), (10, 19, 22));
        // Every case is drawn by some seed, about equally often.
        let mut counts = vec![0; 10];
        for seed in 0..1000 {
            for case in seal(&cases(10), seed) {
                counts[case[1..].parse::<usize>().unwrap()] += 1;
            }
        }
        assert!(counts.iter().all(|count| (230..370).contains(count)), "{counts:?}");
    }
}
