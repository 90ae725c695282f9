//! A model that is asked at a steady pace: a token bucket in front of it, for services that allow so many calls a minute.
//!
//! Invariant: in any span of time no more asks begin than the pace allows in it, and its burst.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::name::ModelName;
use super::request::Request;
use super::{Answering, Model};

/// So many calls a minute. All that share it are asked at this pace together.
#[derive(Debug)]
pub struct Pace {
    interval: Duration,
    /// By how much a call may come before its time: what makes a burst.
    slack: Duration,
    /// When the next call is due if all come one after the other.
    due: Mutex<Option<Instant>>,
}

impl Pace {
    /// At most so many calls a minute; a tenth of them, and always one, may come at once after a pause.
    pub fn per_minute(calls: NonZeroU32) -> Self {
        let interval = Duration::from_mins(1) / calls.get();
        let slack = interval * (calls.get() / 10).saturating_sub(1);
        Self { interval, slack, due: Mutex::default() }
    }

    /// Waits until a call may begin. Whoever gives up waiting has used up the call.
    pub async fn turn(&self) {
        let now = Instant::now();
        let due = {
            let mut next = self.due.lock().unwrap_or_else(PoisonError::into_inner);
            let due = next.unwrap_or(now).max(now);
            *next = Some(due + self.interval);
            due
        };
        if let Some(wait) = (due - now).checked_sub(self.slack) {
            sleep_until(now + wait).await;
        }
    }
}

/// The model, asked at a pace.
pub fn paced(model: Arc<dyn Model>, pace: Arc<Pace>) -> Arc<dyn Model> {
    Arc::new(PacedModel { model, pace })
}

#[derive(Debug)]
struct PacedModel {
    model: Arc<dyn Model>,
    pace: Arc<Pace>,
}

impl Model for PacedModel {
    fn name(&self) -> &ModelName {
        self.model.name()
    }

    fn answer<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(async {
            self.pace.turn().await;
            self.model.answer(request).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of so many calls began, in milliseconds of a clock that only waiting moves.
    async fn turns(pace: &Pace, calls: usize) -> Vec<u128> {
        let began = Instant::now();
        let mut at = Vec::new();
        for _ in 0..calls {
            pace.turn().await;
            at.push(began.elapsed().as_millis());
        }
        at
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_may_begin_at_once_and_the_rest_in_its_turn_and_a_pause_allows_another_burst() {
        let pace = Pace::per_minute(NonZeroU32::new(30).unwrap());
        assert_eq!(turns(&pace, 6).await, [0, 0, 0, 2000, 4000, 6000]);
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(turns(&pace, 4).await, [0, 0, 0, 2000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_pace_has_no_burst() {
        let pace = Pace::per_minute(NonZeroU32::MIN);
        assert_eq!(turns(&pace, 3).await, [0, 60_000, 120_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_ask_at_the_same_time_take_turns() {
        let pace = Pace::per_minute(NonZeroU32::new(6).unwrap());
        let began = Instant::now();
        let one = async {
            pace.turn().await;
            began.elapsed().as_secs()
        };
        let other = async {
            pace.turn().await;
            began.elapsed().as_secs()
        };
        assert_eq!(tokio::join!(one, other), (0, 10));
    }
}
