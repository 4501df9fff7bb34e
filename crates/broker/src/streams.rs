//! What lies on the broker: streams, buckets and the store of networks, made when they are missing.

use std::time::Duration;

use async_nats::jetstream::{
    Message,
    consumer::{AckPolicy, pull},
    kv, object_store,
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
};
use fleet::wire::sha256_hex;
use futures_util::StreamExt;
use tokio::io::AsyncReadExt;

use crate::{BrokerError, Link};

/// Values of a key that are kept.
const RUN_HISTORY: i64 = 64;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long a role waits for a task before it looks around.
const MOMENT: Duration = Duration::from_secs(2);
/// The window of message ids; nothing relies on it.
const ID_WINDOW: Duration = Duration::from_secs(600);
/// Games that may wait for the ledger; more are refused for the time being.
const MOST_WAITING: i64 = 200_000;

/// The run's streams and buckets.
#[derive(Clone)]
pub struct Streams {
    pub(crate) link: Link,
    /// Trainings and games to be played again, until somebody has done them.
    pub(crate) tasks: Stream,
    /// Games that were handed in, until the ledger has them.
    pub(crate) inbox: Stream,
    /// The history of the run: every record of its logs, in order.
    pub(crate) accepted: Stream,
    /// What nobody could deal with, for the operator.
    pub(crate) dead: Stream,
    /// Small values: the state, the settings, the best network.
    pub(crate) run: kv::Store,
    /// Who holds a role.
    pub(crate) leases: kv::Store,
    pub(crate) networks: object_store::ObjectStore,
}

/// What is chosen about a stream; the rest is the same for all.
struct Plan {
    name: &'static str,
    subjects: &'static [&'static str],
    retention: RetentionPolicy,
    discard: DiscardPolicy,
    most_age: Duration,
    most_per_subject: i64,
}

const PLANS: [Plan; 5] = [
    Plan {
        name: "TASKS",
        subjects: &["tasks.train", "tasks.audit"],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        most_age: Duration::ZERO,
        most_per_subject: 1024,
    },
    Plan {
        name: "INBOX",
        subjects: &["inbox.*"],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        most_age: Duration::ZERO,
        most_per_subject: -1,
    },
    Plan {
        name: "ACCEPTED",
        subjects: &[
            "accepted.game",
            "accepted.match",
            "accepted.revoke",
            "accepted.fence",
        ],
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        most_age: Duration::ZERO,
        most_per_subject: -1,
    },
    Plan {
        name: "RECEIPTS",
        subjects: &["receipts.*"],
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        most_age: DAY.saturating_mul(3),
        most_per_subject: 10_000,
    },
    Plan {
        name: "DEAD",
        subjects: &["dead.*"],
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        most_age: DAY.saturating_mul(30),
        most_per_subject: -1,
    },
];

impl Streams {
    /// Opens what the run has on the broker, and makes what is missing.
    pub fn open(link: &Link) -> Result<Streams, BrokerError> {
        let stream = |plan: &Plan, most_messages: i64, most_bytes: i64| {
            let config = Config {
                name: link.named(plan.name),
                subjects: plan
                    .subjects
                    .iter()
                    .map(|name| link.subject(name))
                    .collect(),
                retention: plan.retention,
                discard: plan.discard,
                max_messages: most_messages,
                // The broker would set so many bytes aside, for this stream alone.
                max_bytes: most_bytes,
                max_age: plan.most_age,
                max_messages_per_subject: plan.most_per_subject,
                discard_new_per_subject: false,
                storage: StorageType::File,
                num_replicas: link.options.replicas,
                duplicate_window: ID_WINDOW,
                allow_direct: true,
                ..Config::default()
            };
            link.insist(&format!("the stream {}", config.name), || {
                link.jetstream.get_or_create_stream(&config)
            })
        };
        let [tasks, inbox, accepted, receipts, dead] = &PLANS;
        stream(receipts, -1, -1)?;
        Ok(Streams {
            tasks: stream(tasks, -1, -1)?,
            inbox: stream(inbox, MOST_WAITING, link.options.inbox_bytes.unwrap_or(-1))?,
            accepted: stream(accepted, -1, -1)?,
            dead: stream(dead, -1, -1)?,
            run: bucket(link, "RUN", RUN_HISTORY, Duration::ZERO)?,
            leases: bucket(link, "LEASES", 1, link.options.lease)?,
            networks: objects(link)?,
            link: link.clone(),
        })
    }

    /// A small value of the run.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, BrokerError> {
        let found = self.link.insist(key, || self.run.get(key))?;
        Ok(found.map(|bytes| bytes.to_vec()))
    }

    /// Sets a small value of the run.
    pub(crate) fn set(&self, key: &str, value: &[u8]) -> Result<(), BrokerError> {
        let put = || self.run.put(key, value.to_vec().into());
        self.link.insist(key, put)?;
        Ok(())
    }

    /// Puts a network's file where everybody finds it, and reads it back.
    pub(crate) fn put_network(&self, file: &str, bytes: &[u8]) -> Result<(), BrokerError> {
        if self.has_network(file, bytes.len()) {
            return Ok(());
        }
        let what = format!("the network {file}");
        self.link.insist(&what, || async {
            self.networks
                .put(file, &mut &bytes[..])
                .await
                .map_err(|error| error.to_string())?;
            let back = read_object(&self.networks, file).await?;
            if back.as_deref() == Some(bytes) {
                return Ok(());
            }
            Err("it came back with other bytes".to_owned())
        })
    }

    fn has_network(&self, file: &str, bytes: usize) -> bool {
        let info = self.link.wait(self.networks.info(file));
        info.is_ok_and(|info| !info.deleted && info.size == bytes)
    }

    /// A network's file, if the broker has it whole.
    pub(crate) fn network(&self, file: &str) -> Result<Option<Vec<u8>>, BrokerError> {
        let what = format!("the network {file}");
        self.link
            .insist(&what, || read_object(&self.networks, file))
    }

    /// The next task of a kind for a role, if one comes within a moment. It goes to another process if it is not
    /// acknowledged in time.
    pub(crate) fn next_task(
        &self,
        role: &str,
        kind: &str,
        ack_wait: Duration,
    ) -> Result<Option<Message>, BrokerError> {
        let config = pull::Config {
            durable_name: Some(role.to_owned()),
            filter_subject: self.link.subject(&format!("tasks.{kind}")),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            ..pull::Config::default()
        };
        let consumer = self.link.insist("the queue of tasks", || {
            self.tasks.create_consumer(config.clone())
        })?;
        Ok(self.link.wait(async {
            let fetch = consumer.fetch().max_messages(1).expires(MOMENT);
            fetch.messages().await.ok()?.next().await?.ok()
        }))
    }

    /// Files something that nobody can deal with.
    pub(crate) fn bury(&self, reason: &str, why: &str, body: &[u8]) -> Result<(), BrokerError> {
        let subject = self.link.subject(&format!("dead.{reason}"));
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Tengen-Why", why.replace(['\r', '\n'], " "));
        self.link.insist("the stream DEAD", || {
            let (subject, headers) = (subject.clone(), headers.clone());
            let body = body.to_vec().into();
            let jetstream = &self.link.jetstream;
            async move {
                let ack = jetstream
                    .publish_with_headers(subject, headers, body)
                    .await
                    .map_err(|error| error.to_string())?;
                ack.await.map_err(|error| error.to_string())
            }
        })?;
        Ok(())
    }

    /// The game of the run, once a ledger has said it.
    pub fn game(&self) -> Result<Option<String>, BrokerError> {
        let found = self.get("game")?;
        Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The settings of the run as TOML, once a ledger has said them.
    pub fn settings(&self) -> Result<Option<String>, BrokerError> {
        let found = self.get("settings")?;
        Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The process that holds a role now.
    pub fn holder(&self, role: &str) -> Option<String> {
        let entry = self.link.wait(self.leases.entry(role)).ok()??;
        let text = String::from_utf8_lossy(&entry.value).into_owned();
        Some(text.split(' ').next()?.to_owned())
    }

    /// The node of the broker that leads the history.
    pub fn leader(&self) -> Option<String> {
        let info = self.link.wait(self.accepted.get_info()).ok()?;
        info.cluster?.leader
    }

    /// What lies unfinished: messages in the inbox, tasks, and what nobody could deal with.
    pub(crate) fn lengths(&self) -> Option<[u64; 3]> {
        let length = |stream: &Stream| {
            let info = self.link.wait(stream.get_info());
            info.ok().map(|info| info.state.messages)
        };
        Some([
            length(&self.inbox)?,
            length(&self.tasks)?,
            length(&self.dead)?,
        ])
    }
}

async fn read_object(
    networks: &object_store::ObjectStore,
    file: &str,
) -> Result<Option<Vec<u8>>, String> {
    use object_store::GetErrorKind;
    let mut object = match networks.get(file).await {
        Ok(object) => object,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let digest = object.info().digest.clone();
    let mut bytes = Vec::new();
    object
        .read_to_end(&mut bytes)
        .await
        .map_err(|error| error.to_string())?;
    if bytes.len() != object.info().size || digest.is_none() {
        return Err(format!("{file} came in part"));
    }
    Ok(Some(bytes))
}

/// A bucket of keys, made by hand: version 2.9 of the server does not say what the client asks before it makes one.
fn bucket(
    link: &Link,
    name: &str,
    history: i64,
    most_age: Duration,
) -> Result<kv::Store, BrokerError> {
    let name = link.named(name);
    let config = Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: history,
        max_age: most_age,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        num_replicas: link.options.replicas,
        duplicate_window: if most_age.is_zero() {
            ID_WINDOW
        } else {
            most_age.min(ID_WINDOW)
        },
        ..Config::default()
    };
    link.insist(&format!("the bucket {name}"), || async {
        let jetstream = &link.jetstream;
        jetstream
            .get_or_create_stream(config.clone())
            .await
            .map_err(|error| error.to_string())?;
        jetstream
            .get_key_value(&name)
            .await
            .map_err(|error| error.to_string())
    })
}

fn objects(link: &Link) -> Result<object_store::ObjectStore, BrokerError> {
    let name = link.named("NETWORKS");
    link.insist(&format!("the store {name}"), || async {
        let jetstream = &link.jetstream;
        if let Ok(found) = jetstream.get_object_store(&name).await {
            return Ok(found);
        }
        let config = object_store::Config {
            bucket: name.clone(),
            num_replicas: link.options.replicas,
            storage: StorageType::File,
            ..object_store::Config::default()
        };
        jetstream
            .create_object_store(config)
            .await
            .map_err(|error| error.to_string())
    })
}

/// The name of a network's file on the broker.
pub(crate) fn network_file(name: &str, extension: &str) -> String {
    format!("{name}.{extension}")
}

/// A short name of bytes, for message ids.
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    sha256_hex(bytes)[..16].to_owned()
}
