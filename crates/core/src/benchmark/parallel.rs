//! The same work on many things, by several threads; the results come back in the order of the things.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Lets several threads fill a buffer for each item, and hands the buffers to `take` in the order of the items, from one
/// thread at a time. A buffer that was taken is filled again. The first error ends it.
///
/// Nobody waits: a thread that is ahead leaves its buffer to the one whose turn it is and goes on with the next item.
pub(super) fn in_order<T: Sync, B: Default + Send, E: Send>(
    items: &[T],
    threads: usize,
    fill: impl Fn(&T, &mut B) -> Result<(), E> + Sync,
    take: impl FnMut(&mut B) -> Result<(), E> + Send,
) -> Result<(), E> {
    /// What waits for its turn, and what can be filled again.
    struct Shelf<F, B, E> {
        /// Whose turn it is.
        index: usize,
        filled: BTreeMap<usize, B>,
        empty: Vec<B>,
        /// Absent while a thread takes.
        take: Option<F>,
        result: Result<(), E>,
    }
    let next = AtomicUsize::new(0);
    let shelf = Mutex::new(Shelf {
        index: 0,
        filled: BTreeMap::new(),
        empty: Vec::new(),
        take: Some(take),
        result: Ok(()),
    });
    let lock = || shelf.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let mut spare = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let mut buffer = spare.take().or_else(|| lock().empty.pop()).unwrap_or_default();
            let outcome = fill(item, &mut buffer);
            let mut shelf = lock();
            if let Err(error) = outcome {
                // Those before it are still taken.
                next.store(items.len(), Ordering::Relaxed);
                if shelf.result.is_ok() {
                    shelf.result = Err(error);
                }
                return;
            }
            shelf.filled.insert(index, buffer);
            let Some(mut take) = shelf.take.take() else { continue };
            while let Some(mut buffer) = {
                let turn = shelf.index;
                shelf.filled.remove(&turn)
            } {
                shelf.index += 1;
                drop(shelf);
                let outcome = take(&mut buffer);
                shelf = lock();
                if let Err(error) = outcome {
                    next.store(items.len(), Ordering::Relaxed);
                    shelf.result = Err(error);
                    return;
                }
                shelf.empty.push(buffer);
            }
            shelf.take = Some(take);
            spare = shelf.empty.pop();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    shelf.into_inner().unwrap_or_else(PoisonError::into_inner).result
}

/// Does two things at once.
pub(super) fn both<A, B: Send>(
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_order_whatever_the_number_of_threads() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 5000] {
            let mut taken = Vec::new();
            let fill = |item: &usize, buffer: &mut usize| -> Result<(), usize> {
                *buffer = *item;
                Ok(())
            };
            let take = |buffer: &mut usize| {
                if *buffer == 900 {
                    return Err(*buffer);
                }
                taken.push(*buffer);
                Ok(())
            };
            assert_eq!(in_order(&items, threads, fill, take), Err(900));
            assert_eq!(taken, items[..900]);
            let fill = |item: &usize, _: &mut usize| if *item == 900 { Err(*item) } else { Ok(()) };
            assert_eq!(in_order(&items, threads, fill, |_| Ok(())), Err(900));
        }
    }
}
