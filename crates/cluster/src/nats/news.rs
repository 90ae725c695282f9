//! News without asking: plans that change, and jobs that are done.
//!
//! Both are plain messages that nobody keeps. A worker hears of a plan by a broadcast of whoever wrote it. A coordinator
//! listens to the acknowledgements of its plan's jobs: a worker sends them when the result is stored, to the server, and
//! so nobody has to send anything for the coordinator. What is missed is found at the next look.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::NatsFleet;
use super::name::{acknowledgements, plan_news};
use crate::bell::Bell;
use crate::id::PlanId;
use crate::job::Queue;
use crate::lock;
use crate::plan::PlanEntry;

/// What an acknowledgement says when the job is done; a worker that is still at it says something else.
pub(super) const DONE: &str = "+ACK";

#[derive(Debug, Default)]
pub(super) struct News {
    /// Rung when a plan was written.
    plans: Option<Arc<Bell>>,
    /// Rung when a job of this plan was done, and how many rings were heard.
    results: Option<(PlanId, Arc<Bell>, u64)>,
}

impl NatsFleet {
    /// How often plans have changed since this is listened to.
    pub(super) async fn plan_changes(&self) -> Arc<Bell> {
        let bell = {
            let mut news = lock(&self.news);
            if let Some(bell) = &news.plans {
                return Arc::clone(bell);
            }
            Arc::clone(news.plans.insert(Arc::default()))
        };
        self.listen(plan_news("*"), &bell, |_| true).await;
        bell
    }

    pub(super) async fn wait_for_results(&self, id: &PlanId, entry: &PlanEntry, wait: Duration) {
        let (bell, heard, is_new) = {
            let mut news = lock(&self.news);
            match &news.results {
                Some((of, bell, heard)) if of == id => (Arc::clone(bell), *heard, false),
                _ => {
                    let bell = Arc::<Bell>::default();
                    news.results = Some((id.clone(), Arc::clone(&bell), 0));
                    (bell, 0, true)
                }
            }
        };
        if is_new {
            for queue in Queue::ALL {
                let subject = acknowledgements(queue, &entry.class, id);
                self.listen(subject, &bell, |payload| payload == DONE.as_bytes()).await;
            }
        }
        bell.wait_after(heard, wait).await;
        let mut news = lock(&self.news);
        if let Some((_, bell, heard)) = news.results.as_mut().filter(|(of, _, _)| of == id) {
            *heard = bell.rings();
        }
    }

    /// Tells all workers that a plan was written. It is written already, so nothing is lost when this is.
    pub(super) async fn tell_of_plan(&self, id: &PlanId) {
        let _ = self.client.publish(plan_news(id.as_str()), bytes::Bytes::new()).await;
    }

    /// Rings a bell at each message of a subject. One that we may not listen to never rings.
    async fn listen(&self, subject: String, bell: &Arc<Bell>, is_news: fn(&[u8]) -> bool) {
        let Ok(mut messages) = self.client.subscribe(subject).await else { return };
        let bell = Arc::downgrade(bell);
        tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                // Nobody can wait any more.
                let Some(bell) = bell.upgrade() else { return };
                if is_news(&message.payload) {
                    bell.ring();
                }
            }
        });
    }
}
