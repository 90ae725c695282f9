//! Work that is begun as it comes, so much of it at once.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Panicked;

/// Work under way, each with the item that it is about.
#[derive(Debug)]
pub struct Bounded<T, O> {
    permits: Arc<Semaphore>,
    running: JoinSet<(T, Result<O, Panicked>)>,
}

impl<T: Send + 'static, O: Send + 'static> Bounded<T, O> {
    pub fn new(at_once: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once.max(1))), running: JoinSet::new() }
    }

    pub fn begin(&mut self, item: T, work: impl Future<Output = O> + Send + 'static) {
        let permits = Arc::clone(&self.permits);
        self.running.spawn(async move {
            // Only a closed semaphore refuses, and nobody closes ours.
            let _permit = permits.acquire_owned().await;
            // In a task of its own, so that the item of one that panics is known.
            (item, tokio::spawn(work).await.map_err(Panicked::from))
        });
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// What ends next; nothing when all has ended.
    pub async fn next(&mut self) -> Option<(T, Result<O, Panicked>)> {
        // The outer task does not panic, and nobody aborts it.
        self.running.join_next().await?.ok()
    }

    /// All that is under way, in the order of its ends.
    pub async fn all(mut self) -> Vec<(T, Result<O, Panicked>)> {
        let mut ends = Vec::new();
        while let Some(end) = self.next().await {
            ends.push(end);
        }
        ends
    }
}
