//! The server: lines in, lines out, several positions at once.

use std::{
    io::{self, BufRead, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Map, Value, json};

use crate::{
    analyst::{Analyst, Watch},
    answer::{answer, nothing_found},
    query::Perspective,
    queue::{Job, Queue},
    request::{Request, Warning, read_request},
};

/// How a server answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Positions searched at once.
    pub threads: usize,
    /// Whose chances to report unless a query says otherwise.
    pub perspective: Perspective,
    /// Longest principal variation after its first move, unless a query says otherwise.
    pub pv_len: Option<usize>,
    /// Whether fields that mean nothing are named in a warning.
    pub warn_unused: bool,
    /// The version that `query_version` answers.
    pub version: String,
    /// The commit that `query_version` answers.
    pub git_hash: String,
}

/// Answers requests until the input ends and all queries are done. Fails if the output can no longer be written,
/// which stops the searches.
pub fn serve(
    analyst: &dyn Analyst,
    settings: &Settings,
    input: impl BufRead,
    output: impl Write + Send,
) -> io::Result<()> {
    let server = Server {
        analyst,
        settings,
        queue: Queue::default(),
        output: Mutex::new(Ok(output)),
        is_broken: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| server.work());
        }
        let read = server.listen(input);
        server.queue.close();
        read
    })?;
    let output = server.output.into_inner();
    output.unwrap_or_else(PoisonError::into_inner).map(drop)
}

struct Server<'a, W> {
    analyst: &'a dyn Analyst,
    settings: &'a Settings,
    queue: Queue,
    /// The client, or why it cannot be reached any more.
    output: Mutex<io::Result<W>>,
    is_broken: AtomicBool,
}

impl<W: Write + Send> Server<'_, W> {
    fn listen(&self, input: impl BufRead) -> io::Result<()> {
        for line in input.split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            if self.is_broken.load(Ordering::Relaxed) {
                break;
            }
            if !line.trim().is_empty() {
                self.handle(line.trim());
            }
        }
        Ok(())
    }

    fn handle(&self, line: &str) {
        match read_request(line) {
            Err(refusal) => drop(self.send(&refusal.to_json())),
            Ok(Request::Query(query)) => {
                if self.settings.warn_unused {
                    for warning in &query.warnings {
                        self.send(&warning.to_json(&query.id));
                    }
                    if query.human_profile.is_some() && !self.analyst.imitates_people() {
                        self.send(&no_human_network().to_json(&query.id));
                    }
                }
                self.queue.add(Arc::from(query));
            }
            Ok(Request::Version(mut echo)) => {
                echo.insert("version".into(), json!(self.settings.version));
                echo.insert("git_hash".into(), json!(self.settings.git_hash));
                self.send(&Value::Object(echo));
            }
            Ok(Request::Models(mut echo)) => {
                echo.insert("models".into(), self.models());
                self.send(&Value::Object(echo));
            }
            Ok(Request::ClearCache(echo)) => {
                self.analyst.clear_cache();
                self.send(&Value::Object(echo));
            }
            Ok(Request::Terminate {
                target,
                turns,
                echo,
            }) => {
                self.terminate(echo, |job| {
                    job.query.id == target && is_listed(&turns, job.turn)
                });
            }
            Ok(Request::TerminateAll { turns, echo }) => {
                self.terminate(echo, |job| is_listed(&turns, job.turn));
            }
        }
    }

    fn terminate(&self, echo: Map<String, Value>, is_meant: impl Fn(&Job) -> bool) {
        for job in self.queue.stop(is_meant) {
            self.send(&nothing_found(&job.query.id, job.turn));
        }
        self.send(&Value::Object(echo));
    }

    fn models(&self) -> Value {
        let models = self.analyst.models().into_iter().map(|model| {
            json!({
                "name": model.name,
                "internalName": model.internal_name,
                "maxBatchSize": model.max_batch,
                "usesHumanSLProfile": model.imitates_people,
                "usingFP16": "false",
                "version": model.version,
            })
        });
        Value::Array(models.collect())
    }

    fn work(&self) {
        while let Some((number, job)) = self.queue.take() {
            self.analyse(&job);
            self.queue.done(number);
        }
    }

    fn analyse(&self, job: &Job) {
        let Job { query, turn, stop } = job;
        let spell = |is_during_search, findings: &_| {
            answer(self.settings, query, *turn, is_during_search, findings)
        };
        let mut watch = Watch {
            stop,
            on_report: &mut |findings| {
                if !self.send(&spell(true, &findings)) {
                    stop.store(true, Ordering::Relaxed);
                }
            },
        };
        let found = self.analyst.analyse(query, *turn, &mut watch);
        self.send(&match found {
            Ok(findings) if findings.root.visits == 0 => nothing_found(&query.id, *turn),
            Ok(findings) => spell(false, &findings),
            Err(error) => json!({ "error": error, "id": query.id, "turnNumber": turn }),
        });
    }

    /// Writes a line; returns false when the client is gone, and then stops everything.
    fn send(&self, line: &Value) -> bool {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(client) = output.as_mut() else {
            return false;
        };
        let written = writeln!(client, "{line}").and_then(|()| client.flush());
        let Err(error) = written else {
            return true;
        };
        *output = Err(error);
        drop(output);
        self.is_broken.store(true, Ordering::Relaxed);
        self.queue.abandon();
        false
    }
}

fn no_human_network() -> Warning {
    Warning {
        field: "overrideSettings".into(),
        warning: "humanSLProfile means nothing without a human-imitation network: give one with -human-model"
            .into(),
    }
}

fn is_listed(turns: &Option<Vec<usize>>, turn: usize) -> bool {
    turns.as_ref().is_none_or(|turns| turns.contains(&turn))
}
