//! The same work on many things, by several threads; the results come back in the order of the things.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Things that a thread takes at once: enough to make taking them cheap, few enough to keep all threads busy.
const BATCH: usize = 16;

/// Calls `work` with every item.
pub(super) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.clamp(1, items.len().div_ceil(BATCH).max(1));
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(BATCH, Ordering::Relaxed);
                    let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else {
                        return;
                    };
                    let results: Vec<R> = rest.iter().take(BATCH).map(&work).collect();
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((start, results));
                }
            });
        }
    });
    let mut batches = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    batches.sort_by_key(|(start, _)| *start);
    batches.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_order_whatever_the_number_of_threads() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 5000] {
            assert_eq!(map(&items, threads, |item| *item), items);
        }
        assert!(map(&[] as &[u8], 4, |item| *item).is_empty());
    }
}
