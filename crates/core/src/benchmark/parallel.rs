//! The same work on many things, by several threads; the results come back in the order of the things.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many buffers may wait for their turn, for each thread; what waits takes memory.
const AHEAD: usize = 4;

/// Lets several threads fill a buffer for each item, and hands the buffers to `take` in the order of the items, from one
/// thread at a time. A buffer that was taken is filled again. The first error ends it.
///
/// A thread that is ahead leaves its buffer to the one whose turn it is and goes on with the next item. It waits only
/// when much is waiting already: an item that takes long must not fill the memory with all that come after it.
pub(super) fn in_order<T: Sync, B: Default + Send, E: Send>(
    items: &[T],
    threads: usize,
    fill: impl Fn(&T, &mut B) -> Result<(), E> + Sync,
    take: impl FnMut(&mut B) -> Result<(), E> + Send,
) -> Result<(), E> {
    let threads = threads.clamp(1, items.len().max(1));
    let pipeline = Pipeline {
        waiting: Mutex::new(Waiting {
            next: 0,
            turn: 0,
            filled: BTreeMap::new(),
            empty: Vec::new(),
            take: Some(take),
            error: None,
            is_over: false,
        }),
        changed: Condvar::new(),
        items: items.len(),
        ahead: AHEAD * threads,
    };
    let work = || {
        let _alarm = Alarm(&pipeline);
        while let Some((index, mut buffer)) = pipeline.begin() {
            match fill(&items[index], &mut buffer) {
                Ok(()) => pipeline.pass_on(index, buffer),
                Err(error) => pipeline.fail(error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let waiting = pipeline.waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
    waiting.error.map_or(Ok(()), Err)
}

struct Pipeline<F, B, E> {
    waiting: Mutex<Waiting<F, B, E>>,
    /// There is space again, or it is over.
    changed: Condvar,
    items: usize,
    ahead: usize,
}

/// What waits for its turn, and what can be filled again.
struct Waiting<F, B, E> {
    /// The first item that nobody has begun.
    next: usize,
    turn: usize,
    filled: BTreeMap<usize, B>,
    empty: Vec<B>,
    /// Absent while a thread takes.
    take: Option<F>,
    error: Option<E>,
    is_over: bool,
}

impl<F: FnMut(&mut B) -> Result<(), E>, B: Default, E> Pipeline<F, B, E> {
    fn lock(&self) -> MutexGuard<'_, Waiting<F, B, E>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next item and a buffer for it; waits while too much is waiting. Whoever has the item whose turn it is never
    /// waits here before it is passed on, so somebody always goes on.
    fn begin(&self) -> Option<(usize, B)> {
        let mut waiting = self.lock();
        while waiting.filled.len() >= self.ahead && !waiting.is_over {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let index = waiting.next;
        if waiting.is_over || index >= self.items {
            return None;
        }
        waiting.next += 1;
        Some((index, waiting.empty.pop().unwrap_or_default()))
    }

    /// Puts a buffer where it waits for its turn, and takes all whose turn it is unless another thread does.
    fn pass_on(&self, index: usize, buffer: B) {
        let mut waiting = self.lock();
        waiting.filled.insert(index, buffer);
        let Some(mut take) = waiting.take.take() else { return };
        while let Some(mut buffer) = {
            let turn = waiting.turn;
            waiting.filled.remove(&turn)
        } {
            waiting.turn += 1;
            drop(waiting);
            let outcome = take(&mut buffer);
            if let Err(error) = outcome {
                // Without `take` nothing is taken any more.
                return self.fail(error);
            }
            waiting = self.lock();
            waiting.empty.push(buffer);
            self.changed.notify_all();
        }
        waiting.take = Some(take);
    }

    /// Begins nothing more. What was begun before is still taken, up to the item that failed.
    fn fail(&self, error: E) {
        self.lock().error.get_or_insert(error);
        self.end();
    }

    fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
}

/// Ends everything when a thread panics: nobody waits for an item that never comes.
struct Alarm<'c, F: FnMut(&mut B) -> Result<(), E>, B: Default, E>(&'c Pipeline<F, B, E>);

impl<F: FnMut(&mut B) -> Result<(), E>, B: Default, E> Drop for Alarm<'_, F, B, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
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
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

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

    #[test]
    fn an_item_that_takes_long_does_not_fill_the_memory_with_those_after_it() {
        let (items, threads): (Vec<usize>, usize) = ((0..1000).collect(), 3);
        let (begun, most) = (AtomicUsize::new(0), 2 * threads + AHEAD * threads);
        let fill = |item: &usize, _: &mut usize| -> Result<(), Infallible> {
            begun.fetch_add(1, Ordering::SeqCst);
            if *item == 0 {
                // Until the others can go no further, or have gone too far.
                while begun.load(Ordering::SeqCst) < AHEAD * threads {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(50));
                assert!(begun.load(Ordering::SeqCst) <= most, "{begun:?} were begun");
            }
            Ok(())
        };
        let mut taken = 0;
        let Ok(()) = in_order(&items, threads, fill, |_| {
            taken += 1;
            Ok(())
        });
        assert_eq!(taken, items.len());
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let items: Vec<usize> = (0..1000).collect();
        for panics_in_fill in [true, false] {
            let fill = |item: &usize, buffer: &mut usize| -> Result<(), Infallible> {
                *buffer = *item;
                if *item == 0 {
                    std::thread::sleep(Duration::from_millis(20));
                    assert!(!panics_in_fill, "as the test wants it");
                }
                Ok(())
            };
            let ended = std::panic::catch_unwind(|| {
                in_order(&items, 3, fill, |buffer| {
                    assert!(*buffer < 500, "as the test wants it");
                    Ok(())
                })
            });
            assert!(ended.is_err());
        }
    }
}
