//! Objects: files in chunks, in the layout of NATS's object store.
//!
//! Chunks are read by direct gets: a consumer for each download would live on for half a minute, and a server has only so
//! many. A chunk that is sent twice is stored once, because it carries its number.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skillgauge_core::text::{chain, hex};

use super::NatsFleet;
use super::error::{Rejection, rejection};
use super::name::{Bucket, INPUTS_KEPT};
use crate::fail_point::FailPoint;
use crate::fleet::{Files, FleetError, Results as _};
use crate::id::{AttemptId, PlanId};
use crate::job::{ArchiveName, ArchiveRef, Queue, TidyCount};
use crate::late::remove_late;
use crate::local::measure;
use crate::shared::SharedFolder;

/// Bytes of a chunk: each is acknowledged before the next, so larger ones are faster; a message has at most 1 MB.
const CHUNK: usize = 512 << 10;
/// How long a part is tried to be stored or read that the server should take or have.
const PATIENCE: Duration = Duration::from_mins(1);
/// A follower may not have yet what the leader has.
const CATCH_UP: Duration = Duration::from_secs(10);

/// What the object store keeps about an object.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    name: String,
    bucket: String,
    nuid: String,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    chunks: u64,
    #[serde(default)]
    digest: String,
    mtime: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
}

impl Files for NatsFleet {
    async fn put_input(&self, sha256: &str, file: &Path) -> Result<bool, FleetError> {
        let bucket = Bucket::Inputs;
        // Asked for, so that a server without it is told from one that is away.
        let stream = self.js.get_stream(bucket.stream()).await;
        let stream = stream.map_err(|error| self.failed("looking at a stream", bucket, &error))?;
        let subject = bucket.object(&URL_SAFE.encode(sha256));
        if let Ok(message) = stream.direct_get_last_for_subject(subject).await {
            // One that would be dropped while it is needed is put again.
            let age = age(message.time.unix_timestamp());
            let known: Option<Description> = serde_json::from_slice(&message.payload).ok();
            if age < INPUTS_KEPT / 2 && known.is_some_and(|known| !known.deleted) {
                return Ok(false);
            }
        }
        self.put_object(bucket, sha256, AttemptId::new().as_str(), file).await?;
        Ok(true)
    }

    async fn get_input(&self, sha256: &str, target: &Path) -> Result<(), FleetError> {
        let nuid = self.chunks_of(Bucket::Inputs, sha256).await?;
        self.get_object(Bucket::Inputs, &nuid, sha256, target).await
    }

    async fn put_archive(&self, name: &ArchiveName, file: &Path) -> Result<ArchiveRef, FleetError> {
        let (size, sha256) = measure(file)?;
        if let Some(shared) = self.shared.as_ref().filter(|shared| shared.takes(size)) {
            return shared.put(name, file, (size, sha256)).await;
        }
        self.put_object(Bucket::Archives, &name.text, name.attempt.as_str(), file).await?;
        Ok(ArchiveRef { name: name.text.clone(), size, sha256, uri: None, bytes: None })
    }

    async fn get_archive(&self, archive: &ArchiveRef, target: &Path) -> Result<(), FleetError> {
        if let Some(shared) = self.folder_of(archive)? {
            return shared.get(archive, target).await;
        }
        // The attempt is the last part of the name, so nobody has to be asked where the chunks are.
        let nuid = archive.name.rsplit('/').next().unwrap_or_default();
        self.get_object(Bucket::Archives, nuid, &archive.sha256, target).await
    }

    async fn remove_archive(&self, archive: &ArchiveRef) -> Result<(), FleetError> {
        match self.folder_of(archive)? {
            Some(shared) => shared.remove(archive).await,
            None => self.remove_object(&archive.name).await,
        }
    }

    async fn tidy(&self, id: &PlanId, grace: Duration) -> Result<TidyCount, FleetError> {
        let late = remove_late(self, id).await?;
        let mut count = TidyCount { late, ..self.tidy_archives(id, grace).await? };
        if let Some(shared) = &self.shared {
            let more = shared.tidy(id, self.wanted_archives(id).await?, grace).await?;
            count.archives += more.archives;
            count.uploads += more.uploads;
        }
        Ok(count)
    }
}

impl NatsFleet {
    /// The folder that an archive is in, if it is in one.
    fn folder_of(&self, archive: &ArchiveRef) -> Result<Option<&SharedFolder>, FleetError> {
        match (&archive.uri, &self.shared) {
            (None, _) => Ok(None),
            (Some(_), Some(shared)) => Ok(Some(shared)),
            (Some(_), None) => Err(FleetError::NoFolder { name: archive.name.clone() }),
        }
    }

    async fn remove_object(&self, name: &str) -> Result<(), FleetError> {
        let bucket = Bucket::Archives;
        let stream = self.stream(bucket).await?;
        let nuid = name.rsplit('/').next().unwrap_or_default();
        for subject in [bucket.object(&URL_SAFE.encode(name)), bucket.chunks(nuid)] {
            let purged = stream.purge().filter(subject).await;
            purged.map_err(|error| self.failed("removing an object", bucket, &error))?;
        }
        Ok(())
    }

    async fn put_object(
        &self,
        bucket: Bucket,
        name: &str,
        nuid: &str,
        file: &Path,
    ) -> Result<(), FleetError> {
        let mut file = fs_err::File::open(file)?;
        let mut hasher = Sha256::new();
        let (mut size, mut chunks) = (0, 0);
        loop {
            let mut buffer = Vec::with_capacity(CHUNK);
            std::io::Read::take(&mut file, CHUNK as u64).read_to_end(&mut buffer)?;
            if buffer.is_empty() {
                break;
            }
            hasher.update(&buffer);
            size += buffer.len() as u64;
            let part = Part { subject: bucket.chunks(nuid), id: Some(format!("{nuid}-{chunks}")) };
            self.store(bucket, part, buffer.into()).await?;
            chunks += 1;
            FailPoint::MidUpload.reach(self.fail_point);
        }
        let description = Description {
            name: name.to_owned(),
            bucket: bucket.short().to_owned(),
            nuid: nuid.to_owned(),
            size,
            chunks,
            digest: format!("SHA-256={}", URL_SAFE.encode(hasher.finalize())),
            mtime: skillgauge_run::now().to_string(),
            deleted: false,
        };
        let payload = serde_json::to_vec(&description).map_err(std::io::Error::from)?;
        let part = Part { subject: bucket.object(&URL_SAFE.encode(name)), id: None };
        self.store(bucket, part, payload.into()).await
    }

    /// Stores one message, again and again if the server does not answer.
    async fn store(&self, bucket: Bucket, part: Part, payload: Bytes) -> Result<(), FleetError> {
        let (began, mut pause) = (Instant::now(), Duration::from_millis(50));
        loop {
            let message = PublishMessage::build().payload(payload.clone());
            let message = match &part.id {
                Some(id) => message.message_id(id),
                None => message.header("Nats-Rollup", "sub"),
            };
            let sent = self.send(part.subject.clone(), message).await;
            let Err(error) = sent else { return Ok(()) };
            let is_final = rejection(&chain(&error)) == Rejection::Full;
            if is_final || self.heard.denied(bucket).is_some() || began.elapsed() > PATIENCE {
                return Err(self.failed("storing an object", bucket, &error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }

    /// Where the chunks of an object are.
    async fn chunks_of(&self, bucket: Bucket, name: &str) -> Result<String, FleetError> {
        let stream = self.stream(bucket).await?;
        let subject = bucket.object(&URL_SAFE.encode(name));
        let message = stream.get_last_raw_message_by_subject(&subject).await;
        let message =
            message.map_err(|error| self.failed("looking for an object", bucket, &error))?;
        let found: Description = serde_json::from_slice(&message.payload)
            .map_err(|error| FleetError::damaged(name, error))?;
        if found.deleted {
            return Err(FleetError::damaged(name, "it was removed"));
        }
        Ok(found.nuid)
    }

    /// Reads chunks until they have the digest; a file that never has it is damaged.
    async fn get_object(
        &self,
        bucket: Bucket,
        nuid: &str,
        sha256: &str,
        target: &Path,
    ) -> Result<(), FleetError> {
        let stream = self.stream(bucket).await?;
        let subject = bucket.chunks(nuid);
        let mut file = fs_err::File::create(target)?;
        let mut hasher = Sha256::new();
        let (mut sequence, mut waiting) = (0, Instant::now());
        loop {
            match stream.direct_get_next_for_subject(subject.as_str(), Some(sequence + 1)).await {
                Ok(message) => {
                    sequence = message.sequence;
                    hasher.update(&message.payload);
                    file.write_all(&message.payload)?;
                    waiting = Instant::now();
                }
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
                    let found = hex(hasher.clone().finalize());
                    if found == sha256 {
                        return Ok(());
                    }
                    if waiting.elapsed() > CATCH_UP {
                        let reason = format!("its SHA-256 is {found} instead of {sha256}");
                        return Err(FleetError::damaged(nuid, reason));
                    }
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(error) if waiting.elapsed() > PATIENCE => {
                    return Err(self.failed("reading an object", bucket, &error));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
            }
        }
    }

    /// Removes archives of a plan that no result points at, and chunks that no archive points at. The names of both are
    /// listed at once: the bucket holds the archives of all plans, and looking at each would take a request for each.
    async fn tidy_archives(&self, id: &PlanId, grace: Duration) -> Result<TidyCount, FleetError> {
        let bucket = Bucket::Archives;
        let stream = self.stream(bucket).await?;
        // Chunks first: an upload that ends meanwhile is among the descriptions then.
        let uploads = self.last_tokens(bucket.chunks(">")).await?;
        let objects = self.last_tokens(bucket.object(">")).await?;
        let (mut count, mut described) = (TidyCount::default(), BTreeSet::new());
        if uploads.is_empty() && objects.is_empty() {
            return Ok(count);
        }
        let wanted = self.wanted_archives(id).await?;
        for encoded in objects {
            let name = URL_SAFE.decode(&encoded).ok().and_then(|name| String::from_utf8(name).ok());
            let Some(name) = name else { continue };
            let is_ours = name.split('/').next() == Some(id.as_str());
            if is_ours
                && !wanted.contains(&name)
                && self.is_old(bucket.object(&encoded), grace).await?
            {
                self.remove_object(&name).await?;
                count.archives += 1;
            }
            described.extend(name.rsplit('/').next().map(ToOwned::to_owned));
        }
        for nuid in uploads.difference(&described) {
            if self.is_old(bucket.chunks(nuid), grace).await? {
                let purged = stream.purge().filter(bucket.chunks(nuid)).await;
                purged.map_err(|error| self.failed("removing an upload", bucket, &error))?;
                count.uploads += 1;
            }
        }
        Ok(count)
    }

    /// Whether the last message of a subject is so old; not if it is gone.
    async fn is_old(&self, subject: String, grace: Duration) -> Result<bool, FleetError> {
        let last = self.stream(Bucket::Archives).await?.direct_get_last_for_subject(subject).await;
        Ok(last.is_ok_and(|last| age(last.time.unix_timestamp()) >= grace))
    }

    async fn wanted_archives(&self, id: &PlanId) -> Result<BTreeSet<String>, FleetError> {
        let mut wanted = BTreeSet::new();
        for queue in Queue::ALL {
            let mut after = crate::job::Revision::default();
            loop {
                let page = self.results(queue, id, after).await?;
                let Some(last) = page.last() else { break };
                after = last.revision;
                let archives = page.into_iter().filter_map(|stored| stored.record.archive);
                wanted.extend(archives.map(|archive| archive.name));
            }
        }
        Ok(wanted)
    }

    /// The last parts of all subjects that hold something.
    async fn last_tokens(&self, filter: String) -> Result<BTreeSet<String>, FleetError> {
        let bucket = Bucket::Archives;
        let failed = |error| self.failed("listing uploads", bucket, &error);
        let stream = self.stream(bucket).await?;
        let mut subjects = stream.info_with_subjects(filter).await.map_err(failed)?;
        let mut names = BTreeSet::new();
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.map_err(failed)?;
            names.extend(subject.rsplit('.').next().map(ToOwned::to_owned));
        }
        Ok(names)
    }
}

/// One message of an object: a chunk with its number, or the description.
struct Part {
    subject: String,
    id: Option<String>,
}

/// How long ago a time of the server was, by our clock.
fn age(seconds: i64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}
