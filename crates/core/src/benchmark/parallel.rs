//! The same work on many things, by several threads; the results come back in the order of the things.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Things that a thread takes at once: enough to make taking them cheap, few enough to keep all threads busy.
const BATCH: usize = 16;

/// Calls `work` with every item.
pub(super) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    map_with(items, threads, || (), |(), item| work(item))
}

/// Calls `work` with every item, and with what its thread keeps from one item to the next.
pub(super) fn map_with<S, T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.clamp(1, items.len().div_ceil(BATCH).max(1));
    if threads == 1 {
        let mut kept = state();
        return items.iter().map(|item| work(&mut kept, item)).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        let mut kept = state();
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else { return };
            let taken = rest.iter().take(BATCH);
            let results: Vec<R> = taken.map(|item| work(&mut kept, item)).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((start, results));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut batches = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    batches.sort_by_key(|(start, _)| *start);
    batches.into_iter().flat_map(|(_, results)| results).collect()
}

/// Lets several threads make a buffer of each item, and hands the buffers to `take` in the order of the items. The calling
/// thread joins them when it is done with what is to be done `first`.
///
/// A thread waits for its turn before it goes on, so there are never more buffers than threads. The first error ends it.
pub(super) fn in_order<T: Sync, B: Default, E: Send, R>(
    items: &[T],
    threads: usize,
    first: impl FnOnce() -> R,
    make: impl Fn(&T, &mut B) -> Result<(), E> + Sync,
    take: impl FnMut(&B) -> Result<(), E> + Send,
) -> (R, Result<(), E>) {
    /// Whose turn it is, and what became of those before.
    struct Turn<F, E> {
        index: usize,
        take: F,
        result: Result<(), E>,
    }
    let next = AtomicUsize::new(0);
    let turn = Mutex::new(Turn { index: 0, take, result: Ok(()) });
    let changed = Condvar::new();
    let work = || {
        let mut buffer = B::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let outcome = make(item, &mut buffer);
            let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = changed.wait_while(turn, |turn| turn.index != index);
            let mut turn = mine.unwrap_or_else(PoisonError::into_inner);
            if turn.result.is_ok() {
                turn.result = outcome.and_then(|()| (turn.take)(&buffer));
            }
            turn.index += 1;
            changed.notify_all();
        }
    };
    let first = std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(work);
        }
        let first = first();
        work();
        first
    });
    (first, turn.into_inner().unwrap_or_else(PoisonError::into_inner).result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_order_whatever_the_number_of_threads() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 5000] {
            assert_eq!(map(&items, threads, |item| *item), items);
            let mut taken = Vec::new();
            let make = |item: &usize, buffer: &mut usize| -> Result<(), usize> {
                *buffer = *item;
                if *item == 900 { Err(*item) } else { Ok(()) }
            };
            let take = |buffer: &usize| {
                taken.push(*buffer);
                Ok(())
            };
            assert_eq!(in_order(&items, threads, || 1, make, take), (1, Err(900)));
            assert_eq!(taken, items[..900]);
        }
        assert!(map(&[] as &[u8], 4, |item| *item).is_empty());
    }
}
