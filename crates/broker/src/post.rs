//! The ledger's side of the road: games come from the inbox and get receipts, questions get answers, and what the page
//! shows is left where gateways find it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use async_nats::{
    HeaderMap,
    jetstream::{
        AckKind, Message,
        consumer::{AckPolicy, pull},
    },
};
use fleet::{
    Order, Refusal, RefusalKind, Service,
    wire::{Receipt, Task, TaskRequest},
};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{BrokerError, Lease, Streams, lease::Held};

/// A game that the ledger took and did not answer comes again after this: another ledger may have taken over.
const ACK_WAIT: Duration = Duration::from_secs(20);
/// Games fetched at a time, and checked at a time.
const BATCH: usize = 64;
const AT_ONCE: usize = 16;
/// How long one request for games stands.
const PULL: Duration = Duration::from_secs(5);
/// How often it is looked whether to end.
const FETCH: Duration = Duration::from_millis(500);
/// A game that cannot be kept now comes again after this.
const LATER: Duration = Duration::from_secs(3);
/// A game whose check broke down so often is filed and not tried again.
const MOST_BREAKDOWNS: i64 = 2;
/// How often the page's figures are left on the broker.
const BEAT: Duration = Duration::from_secs(3);
/// Between two looks for games to be played again.
const AUDIT_PAUSE: Duration = Duration::from_millis(500);

/// The header with the SHA-256 of the token that a game came with.
pub(crate) const TOKEN_HASH: &str = "Tengen-Token-Hash";
/// The header with the name of an upload: the SHA-256 of its bytes.
pub(crate) const UPLOAD: &str = "Tengen-Upload";

/// What is asked over the broker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    #[serde(default)]
    pub(crate) token: Option<String>,
    pub(crate) body: Value,
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer<T> {
    #[serde(rename = "ok")]
    Done(T),
    #[serde(rename = "refused")]
    Refused(Refusal),
}

impl<T> From<Result<T, Refusal>> for Answer<T> {
    fn from(result: Result<T, Refusal>) -> Answer<T> {
        match result {
            Ok(done) => Answer::Done(done),
            Err(refusal) => Answer::Refused(refusal),
        }
    }
}

/// The ledger's side of the road, until it is dropped.
pub struct Post {
    stop: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Post {
    /// Starts to take games and questions for a service.
    pub fn start(
        streams: &Streams,
        service: Arc<dyn Service>,
        lease: &Lease,
    ) -> Result<Post, BrokerError> {
        let link = &streams.link;
        let config = pull::Config {
            durable_name: Some("ledger".into()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: 4 * BATCH as i64,
            ..pull::Config::default()
        };
        link.insist("the consumer of the inbox", || {
            streams.inbox.create_consumer(config.clone())
        })?;
        streams.set("hello", service.hello().to_string().as_bytes())?;
        let stop = Arc::new(AtomicBool::new(false));
        let office = Office {
            streams: streams.clone(),
            service,
            stop: stop.clone(),
            held: lease.held(),
        };
        let run = |work: fn(Office)| {
            let office = office.clone();
            thread::spawn(move || work(office))
        };
        let threads = vec![
            run(Office::take_games),
            run(Office::answer),
            run(Office::beat),
            run(Office::send_audits),
        ];
        Ok(Post { stop, threads })
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[derive(Clone)]
struct Office {
    streams: Streams,
    service: Arc<dyn Service>,
    stop: Arc<AtomicBool>,
    held: Arc<Held>,
}

impl Office {
    fn is_ending(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.held.check().is_err()
    }

    /// Takes games from the inbox, many at a time.
    fn take_games(self) {
        let link = self.streams.link.clone();
        link.wait(async {
            let seats = Arc::new(Semaphore::new(AT_ONCE));
            let mut under_way = JoinSet::new();
            while !self.is_ending() {
                let Ok(consumer) = self
                    .streams
                    .inbox
                    .get_consumer::<pull::Config>("ledger")
                    .await
                else {
                    tokio::time::sleep(FETCH).await;
                    continue;
                };
                let incoming = consumer.stream().max_messages_per_batch(BATCH);
                let Ok(mut incoming) = incoming.expires(PULL).messages().await else {
                    continue;
                };
                let mut quiet_since = Instant::now();
                // A consumer that brings nothing for a while is asked for anew: its broker may be gone.
                while !self.is_ending() && quiet_since.elapsed() < 2 * PULL {
                    let next = tokio::time::timeout(FETCH, incoming.next()).await;
                    let message = match next {
                        Ok(Some(Ok(message))) => message,
                        Ok(Some(Err(_)) | None) => break,
                        Err(_) => continue,
                    };
                    quiet_since = Instant::now();
                    let Ok(seat) = seats.clone().acquire_owned().await else {
                        return;
                    };
                    let office = self.clone();
                    under_way.spawn(async move {
                        office.take_game(message).await;
                        drop(seat);
                    });
                    while under_way.try_join_next().is_some() {}
                }
            }
            while under_way.join_next().await.is_some() {}
        });
    }

    /// Checks and keeps one game, sends the receipt, and only then takes the game out of the inbox.
    async fn take_game(&self, message: Message) {
        let header = |name: &str| {
            let value = message.headers.as_ref().and_then(|all| all.get(name));
            value.map_or(String::new(), |value| value.as_str().to_owned())
        };
        let (token_hash, upload) = (header(TOKEN_HASH), header(UPLOAD));
        let worker = header(crate::follow::WORKER);
        let (service, body) = (self.service.clone(), message.payload.clone());
        let judged =
            tokio::task::spawn_blocking(move || service.hand_in_by(&token_hash, &body)).await;
        let answer = match judged {
            Ok(Err(Refusal {
                kind: RefusalKind::Later(_),
                ..
            })) => {
                let _ = message.ack_with(AckKind::Nak(Some(LATER))).await;
                return;
            }
            Ok(result) => Answer::<Receipt>::from(result),
            Err(broken) => {
                let times = message.info().map_or(1, |info| info.delivered);
                if times < MOST_BREAKDOWNS {
                    let _ = message.ack_with(AckKind::Nak(None)).await;
                    return;
                }
                let why = format!("its check broke down {times} times: {broken}");
                let (streams, body) = (self.streams.clone(), message.payload.clone());
                let filed = why.clone();
                let buried = tokio::task::spawn_blocking(move || {
                    streams.bury("breakdown", &filed, &body).is_ok()
                });
                if !buried.await.unwrap_or(false) {
                    return;
                }
                Answer::Refused(Refusal::new(RefusalKind::Bad, why))
            }
        };
        // Nobody who lost the role tells anybody anything.
        if self.held.check().is_err() {
            return;
        }
        let mut headers = HeaderMap::new();
        headers.insert(UPLOAD, upload);
        let name = receipt_name(&worker);
        let subject = self.streams.link.subject(&format!("receipts.{name}"));
        let payload = serde_json::to_vec(&answer).unwrap_or_default();
        let jetstream = &self.streams.link.jetstream;
        // A receipt that does not arrive is asked for again by handing the game in again.
        if let Ok(sent) = jetstream
            .publish_with_headers(subject, headers, payload.into())
            .await
        {
            let _ = sent.await;
        }
        let _ = message.ack().await;
    }

    /// Answers questions that are not worth a queue: whoever gets no answer asks again.
    fn answer(self) {
        let link = self.streams.link.clone();
        let subject = link.subject("ask.*");
        link.wait(async {
            let client = self.streams.link.jetstream.client();
            let Ok(mut questions) = client.subscribe(subject).await else {
                return;
            };
            let seats = Arc::new(Semaphore::new(AT_ONCE));
            while !self.is_ending() {
                let next = tokio::time::timeout(FETCH, questions.next()).await;
                let Ok(Some(message)) = next else { continue };
                let (office, client) = (self.clone(), client.clone());
                let Ok(seat) = seats.clone().acquire_owned().await else {
                    return;
                };
                tokio::spawn(async move {
                    let _seat = seat;
                    let about = message
                        .subject
                        .rsplit('.')
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    let payload = message.payload.clone();
                    let answer = tokio::task::spawn_blocking(move || {
                        let answer = office.reply(&about, &payload);
                        office.held.check().ok().map(|()| answer)
                    });
                    if let (Ok(Some(answer)), Some(reply)) = (answer.await, message.reply) {
                        let bytes = serde_json::to_vec(&Answer::from(answer)).unwrap_or_default();
                        let _ = client.publish(reply, bytes.into()).await;
                    }
                });
            }
        });
    }

    fn reply(&self, about: &str, payload: &[u8]) -> Result<Value, Refusal> {
        let question: Question = parse(payload)?;
        let token = question.token.as_deref();
        let known = token.unwrap_or_default();
        let (body, service) = (question.body, &self.service);
        Ok(match about {
            "hello" => service.hello(),
            "status" => self.status(),
            "networks" => service.networks(),
            "matches" => service.matches(),
            "voice" => json!(service.appoint(body.as_str().unwrap_or_default())),
            "register" => {
                let text = |name: &str| body[name].as_str().unwrap_or_default();
                let (name, token) = service.register(token, text("name"), text("key"))?;
                json!({ "name": name, "token": token })
            }
            "tasks" => json!(service.tasks(known, &read::<TaskRequest>(body)?)?),
            "renew" => json!(service.renew(known, &read::<Vec<Task>>(body)?)?),
            "give_back" => json!(service.give_back(known, &read::<Vec<Task>>(body)?)?),
            "operate" => json!(service.operate(&read::<Order>(body)?)?),
            "audited" => {
                let number = body["number"].as_u64().unwrap_or_default();
                let worker = body["worker"].as_str().unwrap_or_default();
                service.audited(worker, number, body["is_same"] == true);
                Value::Null
            }
            "report" => {
                let report = service
                    .report()
                    .and_then(|file| std::fs::read_to_string(file).ok());
                json!(report)
            }
            _ => {
                let why = format!("this ledger cannot be asked about {about}");
                return Err(Refusal::new(RefusalKind::Bad, why));
            }
        })
    }

    fn status(&self) -> Value {
        let mut status = self.service.status();
        if let Some([inbox, tasks, dead]) = self.streams.lengths() {
            status["broker"] = json!({ "inbox": inbox, "tasks": tasks, "dead": dead });
        }
        status
    }

    /// Leaves what the page shows where gateways find it, also while no ledger answers.
    fn beat(self) {
        let mut last: Option<Instant> = None;
        while !self.is_ending() {
            thread::sleep(FETCH);
            if last.is_some_and(|last| last.elapsed() < BEAT) {
                continue;
            }
            last = Some(Instant::now());
            let values = [
                ("status", self.status()),
                ("networks", self.service.networks()),
                ("matches", self.service.matches()),
            ];
            for (key, value) in values {
                let put = self.streams.run.put(key, value.to_string().into());
                let _ = self.streams.link.wait(put);
            }
        }
    }

    /// Gives games that are to be played again to checkers.
    fn send_audits(self) {
        let subject = self.streams.link.subject("tasks.audit");
        while !self.is_ending() {
            thread::sleep(AUDIT_PAUSE);
            while let Some(envelope) = self.service.next_audit() {
                let sent = self.streams.link.wait(async {
                    let jetstream = &self.streams.link.jetstream;
                    jetstream
                        .publish(subject.clone(), envelope.into())
                        .await?
                        .await
                });
                // A sample that is lost is made up for by the next one.
                if sent.is_err() {
                    break;
                }
            }
        }
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(bytes).map_err(|error| bad(&error))
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| bad(&error))
}

fn bad(error: &serde_json::Error) -> Refusal {
    Refusal::new(RefusalKind::Bad, format!("no such question: {error}"))
}

/// A worker's name as a part of a subject, where dots part.
pub(crate) fn receipt_name(worker: &str) -> String {
    match worker {
        "" => "nobody".to_owned(),
        worker => worker.replace('.', "="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_dots_is_one_part_of_a_subject() {
        assert_eq!(receipt_name("ann.b-1"), "ann=b-1");
        assert_eq!(receipt_name(""), "nobody");
    }
}
