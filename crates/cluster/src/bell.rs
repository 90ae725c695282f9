//! A bell: rung when something has changed, so that whoever waits need not sleep until it looks again anyway.
//!
//! Nobody relies on it. A ring may be missed, on the way or by a listener that is busy, and then the next look finds what
//! there is to find.

use std::time::Duration;

use tokio::sync::watch;

#[derive(Debug)]
pub(crate) struct Bell(watch::Sender<u64>);

impl Default for Bell {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.0.send_modify(|rings| *rings += 1);
    }

    /// How often it was rung.
    pub(crate) fn rings(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until it has been rung more often than `heard`, or for so long.
    pub(crate) async fn wait_after(&self, heard: u64, wait: Duration) {
        let mut listener = self.0.subscribe();
        // The sender is ours, so it does not go away; a wait that is over is what we want, too.
        let _ = tokio::time::timeout(wait, listener.wait_for(|rings| *rings > heard)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the clock stopped, a wait that is not ended by a ring would end by its own time and be seen as long.
    #[tokio::test(start_paused = true)]
    async fn a_ring_ends_a_wait_and_one_that_came_before_is_not_missed() {
        let bell = Bell::default();
        let hour = Duration::from_hours(1);
        let began = tokio::time::Instant::now();
        bell.ring();
        bell.wait_after(0, hour).await;
        tokio::join!(bell.wait_after(bell.rings(), hour), async { bell.ring() });
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(bell.rings(), 2);
        bell.wait_after(2, hour).await;
        assert_eq!(began.elapsed(), hour, "nobody rang");
    }
}
