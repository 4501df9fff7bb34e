//! The connection: calls from ordinary threads, each retried for a while.

use std::{
    future::Future,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::{ConnectOptions, jetstream};
use tokio::runtime::Runtime;

use crate::BrokerError;

/// After a broker's leader died, 5 to 10 seconds pass without an answer; whoever waits longer says so.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two tries.
const RETRY: Duration = Duration::from_millis(250);
/// One answer of JetStream.
const ANSWER: Duration = Duration::from_secs(5);
/// The largest message that a broker must take: a packed game with its headers.
const MOST_PAYLOAD: usize = 3 << 20;
/// Threads that carry messages; blocking work has threads of its own.
const THREADS: usize = 2;

/// How to reach the broker.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// Addresses such as `nats://127.0.0.1:4222` or `tls://a:4222`, with commas between them.
    pub urls: String,
    /// The name of the run among others on the same broker.
    pub run: String,
    /// Copies of everything on the broker; three need three nodes.
    pub replicas: usize,
    /// The file of this role's nkey seed, if the broker wants one.
    pub nkey: Option<PathBuf>,
    /// The certificate of the authority that signed the broker's, if it is not a public one.
    pub ca: Option<PathBuf>,
    /// How long a role is held without renewal.
    pub lease: Duration,
    /// How long a call is retried.
    pub patience: Duration,
    /// Bytes of games that may wait for the ledger; otherwise only their number is limited.
    pub inbox_bytes: Option<i64>,
}

impl LinkOptions {
    /// Usual options: as many copies as there are addresses, at most three.
    pub fn new(urls: &str, run: &str) -> LinkOptions {
        LinkOptions {
            urls: urls.to_owned(),
            run: run.to_owned(),
            replicas: if urls.split(',').count() >= 3 { 3 } else { 1 },
            nkey: None,
            ca: None,
            lease: Duration::from_secs(30),
            patience: PATIENCE,
            inbox_bytes: None,
        }
    }
}

/// A connection to the broker.
#[derive(Clone)]
pub struct Link {
    pub(crate) options: Arc<LinkOptions>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) jetstream: jetstream::Context,
}

impl Link {
    /// Connects; the connection mends itself from then on.
    pub fn connect(options: LinkOptions) -> Result<Link, BrokerError> {
        let is_plain =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if options.run.is_empty() || !options.run.chars().all(is_plain) {
            return Err(BrokerError::Other(format!(
                "--run {:?}: a run's name has letters, digits, - and _ only",
                options.run
            )));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(|error| BrokerError::Other(format!("cannot start threads: {error}")))?;
        let unreachable = |why: String| BrokerError::Unreachable {
            urls: options.urls.clone(),
            why,
        };
        let addresses: Vec<async_nats::ServerAddr> = options
            .urls
            .split(',')
            .map(|url| url.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|error: std::io::Error| unreachable(error.to_string()))?;
        let mut connect = match &options.nkey {
            Some(file) => {
                let seed = std::fs::read_to_string(file).map_err(|source| BrokerError::File {
                    path: file.clone(),
                    source,
                })?;
                ConnectOptions::with_nkey(seed.trim().to_owned())
            }
            None => ConnectOptions::new(),
        };
        if let Some(ca) = &options.ca {
            connect = connect.add_root_certificates(ca.clone());
        }
        let connect = connect
            .name(format!("tengen {}", options.run))
            .request_timeout(Some(ANSWER))
            .ping_interval(Duration::from_secs(5))
            .reconnect_delay_callback(|tries| Duration::from_millis((100 << tries.min(5)) as u64));
        let deadline = Instant::now() + options.patience;
        let client = loop {
            match runtime.block_on(connect.clone().connect(&addresses[..])) {
                Ok(client) => break client,
                Err(error) if Instant::now() >= deadline => {
                    return Err(unreachable(error.to_string()));
                }
                Err(_) => std::thread::sleep(RETRY),
            }
        };
        let payload = client.server_info().max_payload;
        if payload < MOST_PAYLOAD {
            return Err(BrokerError::Other(format!(
                "the broker takes messages of at most {payload} bytes, and games can be larger; write \"max_payload: 4MB\" into its configuration"
            )));
        }
        // Making a context starts a task.
        let mut context = runtime.block_on(async { jetstream::new(client) });
        context.set_timeout(ANSWER);
        Ok(Link {
            options: Arc::new(options),
            runtime: Arc::new(runtime),
            jetstream: context,
        })
    }

    /// Takes a role away from whoever holds it: for an operator who knows that its holder is gone.
    pub fn forget_lease(&self, role: &str) -> Result<(), BrokerError> {
        let streams = crate::Streams::open(self)?;
        self.insist("the lease", || streams.leases.purge(role))
    }

    /// Waits for something asynchronous. Not to be called from an asynchronous task.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.handle().block_on(future)
    }

    /// Tries until it succeeds or patience ends.
    pub(crate) fn insist<T, E: ToString, F: Future<Output = Result<T, E>>>(
        &self,
        what: &str,
        mut call: impl FnMut() -> F,
    ) -> Result<T, BrokerError> {
        let deadline = Instant::now() + self.options.patience;
        loop {
            match self.wait(call()) {
                Ok(done) => return Ok(done),
                Err(error) if Instant::now() >= deadline => {
                    return Err(BrokerError::refused(what, error.to_string()));
                }
                Err(_) => std::thread::sleep(RETRY),
            }
        }
    }

    /// A subject of this run.
    pub(crate) fn subject(&self, name: &str) -> String {
        format!("tengen.{}.{name}", self.options.run)
    }

    /// The name of a stream or bucket of this run.
    pub(crate) fn named(&self, name: &str) -> String {
        format!("TENGEN_{}_{name}", self.options.run)
    }
}
