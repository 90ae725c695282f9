//! The fleet over NATS JetStream.
//!
//! The server owns queues, leases, redelivery and storage. What is decided here is small: one message per subject is one
//! job, the first message of a result's subject is the result, and every other answer of the server may be wrong or late.
//!
//! Keys and objects have the layout of NATS's own key-value and object stores, so that its tools can look at them; they
//! are read with direct gets, which leave no consumer behind.

mod batch;
mod connect;
mod error;
mod init;
mod name;
mod news;
mod object;
mod plan;
mod queue;
mod result;
mod role;

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;

pub use connect::{Connect, Credentials, without_login};
pub use init::{InitSettings, OLDEST_SERVER, StreamState};
pub use role::{WORKER_PUBLISHES, server_config};

use crate::fail_point::FailPoint;
use crate::fleet::FleetError;
use crate::id::PlanId;
use crate::job::Queue;
use crate::shared::SharedFolder;
use connect::Notices;
use news::News;
use plan::KnownPlans;
pub use queue::NatsTicket;

/// A fleet on a NATS server.
#[derive(Debug)]
pub struct NatsFleet {
    client: Client,
    js: Context,
    heard: Notices,
    /// Its address, without a login.
    url: String,
    fail_point: Option<FailPoint>,
    shared: Option<SharedFolder>,
    known: Mutex<KnownPlans>,
    looking: tokio::sync::Mutex<()>,
    news: Mutex<News>,
    /// The place of the last report of this process, if nothing went wrong with it.
    reported: Mutex<Option<u64>>,
    consumers: Mutex<BTreeMap<(Queue, PlanId), PullConsumer>>,
}

impl NatsFleet {
    /// Connects, and refuses a server that is too old or keeps nothing. Nothing is made there.
    pub async fn connect(connect: &Connect) -> Result<Self, FleetError> {
        let (client, heard) = connect.open().await?;
        let fleet = Self {
            js: async_nats::jetstream::new(client.clone()),
            client,
            heard,
            url: connect.shown(),
            fail_point: None,
            shared: None,
            known: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            news: Mutex::default(),
            reported: Mutex::default(),
            consumers: Mutex::default(),
        };
        fleet.check_version()?;
        fleet.check_jetstream().await?;
        Ok(fleet)
    }

    /// Lets this process die at a named place, for tests.
    #[must_use]
    pub fn dying_at(mut self, point: Option<FailPoint>) -> Self {
        self.fail_point = point;
        self
    }

    /// Large archives go to a folder that all machines share, and come from there.
    #[must_use]
    pub fn sharing(mut self, folder: Option<SharedFolder>) -> Self {
        self.shared = folder;
        self
    }

    /// Publishes a message, and waits until the server has stored it.
    async fn send(
        &self,
        subject: String,
        message: PublishMessage,
    ) -> Result<PublishAck, PublishError> {
        self.js.send_publish(subject, message).await?.await
    }
}
