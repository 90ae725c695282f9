//! The server as it is, past the commands: what is stored, queued and left over.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::jetstream::Context;
use futures_util::StreamExt as _;
use skillgauge_cluster::{
    ArchiveRef, Connect, Credentials, Files as _, NatsFleet, PlanId, Queue, ResultRecord,
    Results as _, Revision, TidyCount,
};

/// A connection of the test's own.
pub(crate) struct Raw {
    runtime: tokio::runtime::Runtime,
    pub(crate) js: Context,
    pub(crate) fleet: NatsFleet,
}

impl Raw {
    pub(crate) fn open(url: &str, creds: Option<&Path>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let credentials = match creds {
            Some(file) => Credentials::File(file.to_owned()),
            None => Credentials::None,
        };
        let (url, name) = (url.to_owned(), "test".to_owned());
        let connect = Connect { url, name, credentials, ..Connect::default() };
        let url = &connect.url;
        // The client has no use for a login in an address.
        let (login, addresses) = match url.trim_start_matches("nats://").rsplit_once('@') {
            Some((login, host)) => (Some(login), vec![format!("nats://{host}")]),
            None => (None, url.split(',').map(ToOwned::to_owned).collect()),
        };
        let options = match login.and_then(|login| login.split_once(':')) {
            Some((user, password)) => {
                ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned())
            }
            None => ConnectOptions::new(),
        };
        let options = match creds.map(|file| fs_err::read_to_string(file).unwrap()) {
            Some(text) => options.credentials(&text).unwrap(),
            None => options,
        };
        let (js, fleet) = runtime.block_on(async {
            let client = options.connect(addresses).await.unwrap();
            let mut js = async_nats::jetstream::new(client);
            js.set_timeout(Duration::from_secs(5));
            (js, NatsFleet::connect(&connect).await.unwrap())
        });
        Self { runtime, js, fleet }
    }

    pub(crate) fn wait<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    /// The results of a queue that can be read now; fewer while the server is away.
    pub(crate) fn results(&self, queue: Queue, id: &PlanId) -> Vec<ResultRecord> {
        self.wait(async {
            let (mut found, mut after) = (Vec::new(), Revision::default());
            while let Ok(page) = self.fleet.results(queue, id, after).await {
                let Some(last) = page.last() else { break };
                after = last.revision;
                found.extend(page.into_iter().map(|stored| stored.record));
            }
            found
        })
    }

    /// The subjects of a stream that hold something, and how much.
    pub(crate) fn subjects(&self, stream: &str, filter: &str) -> BTreeMap<String, usize> {
        self.wait(async {
            let stream = self.js.get_stream(stream).await.unwrap();
            let subjects = stream.info_with_subjects(filter).await.unwrap();
            subjects.map(Result::unwrap).collect().await
        })
    }

    /// How many messages a stream has.
    pub(crate) fn messages(&self, stream: &str) -> u64 {
        self.wait(async { self.js.get_stream(stream).await.unwrap().cached_info().state.messages })
    }

    /// How many consumers a stream has.
    pub(crate) fn consumers(&self, stream: &str) -> usize {
        self.wait(async {
            self.js.get_stream(stream).await.unwrap().cached_info().state.consumer_count
        })
    }

    /// The name of the server that leads a stream.
    pub(crate) fn leader(&self, stream: &str) -> Option<String> {
        self.wait(async {
            let stream = self.js.get_stream(stream).await.ok()?;
            stream.cached_info().cluster.as_ref()?.leader.clone()
        })
    }

    pub(crate) fn delete_stream(&self, stream: &str) {
        self.wait(self.js.delete_stream(stream)).unwrap();
    }

    pub(crate) fn streams(&self) -> Vec<String> {
        self.wait(self.js.stream_names().map(Result::unwrap).collect())
    }

    pub(crate) fn archive(&self, archive: &ArchiveRef, target: &Path) {
        self.wait(archive.fetch(&self.fleet, target)).unwrap();
    }

    /// The janitor, for whom everything is old enough.
    pub(crate) fn tidy(&self, id: &PlanId) -> TidyCount {
        self.wait(self.fleet.tidy(id, Duration::ZERO)).unwrap()
    }
}
