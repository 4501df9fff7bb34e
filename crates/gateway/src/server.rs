//! The server: how it starts, and how it ends.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use axum::{
    Router,
    routing::{any, get, post, put},
};
use fleet::{Service, wire};
use tokio::sync::{Semaphore, oneshot};

use crate::{
    autogtp::Autogtp,
    page,
    tls::{Tls, TlsListener},
    v1,
};

/// Threads that answer; blocking work has threads of its own.
const THREADS: usize = 2;
/// Requests that are worked on at a time; others wait.
const MOST_AT_ONCE: usize = 256;
/// How long the auditor sleeps when no game waits for it.
const AUDIT_PAUSE: Duration = Duration::from_millis(500);

/// How a run is served.
pub struct Settings {
    /// Where to listen.
    pub address: SocketAddr,
    /// Where the address and the operator's token are left for operators on this machine.
    pub announce_in: Option<PathBuf>,
    /// What serves Leela Zero's own client, if the run can.
    pub autogtp: Option<Autogtp>,
    /// The certificate, unless a proxy before this server has one.
    pub tls: Option<Tls>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or may not be used.
    #[error("cannot listen on {address}: {source}; name another address with --serve")]
    Address {
        address: SocketAddr,
        source: io::Error,
    },
    /// A certificate or a key that is none.
    #[error("{}: {why}; --tls wants a certificate and its private key as PEM files", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The system gives no threads.
    #[error("cannot start the server: {0}")]
    Runtime(io::Error),
    /// The operator's token cannot be made or kept.
    #[error("{0}")]
    Operator(String),
}

/// What all handlers share.
pub(crate) struct Shared {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) operator_token: String,
    pub(crate) autogtp: Option<Autogtp>,
    pub(crate) at_once: Semaphore,
}

/// The server of a run.
pub struct Gateway;

/// A server that answers until it is dropped.
pub struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    quit: Option<oneshot::Sender<()>>,
    threads: Vec<thread::JoinHandle<()>>,
    announced: Option<PathBuf>,
}

impl Gateway {
    /// Starts to answer, in threads of its own.
    pub fn start(service: Arc<dyn Service>, settings: Settings) -> Result<Running, StartError> {
        let address = settings.address;
        let acceptor = settings.tls.as_ref().map(Tls::acceptor).transpose()?;
        let is_tls = acceptor.is_some();
        let listener = TcpListener::bind(address)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|source| StartError::Address { address, source })?;
        let address = listener.local_addr().map_err(StartError::Runtime)?;
        let token = wire::random_bytes::<32>()
            .map(|bytes| wire::hex(&bytes))
            .map_err(|error| StartError::Operator(error.to_string()))?;
        let announced = settings.announce_in.map(|dir| dir.join("server.json"));
        if let Some(file) = &announced {
            announce(file, address, &token, is_tls)?;
        }
        let shared = Arc::new(Shared {
            service: service.clone(),
            operator_token: token,
            autogtp: settings.autogtp,
            at_once: Semaphore::new(MOST_AT_ONCE),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(StartError::Runtime)?;
        let (quit, wait) = oneshot::channel::<()>();
        let stop = Arc::new(AtomicBool::new(false));
        let server = thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                    return;
                };
                let serving = async move {
                    match acceptor {
                        None => axum::serve(listener, router(shared)).await,
                        Some(acceptor) => {
                            let listener = TlsListener::start(listener, acceptor)?;
                            axum::serve(listener, router(shared)).await
                        }
                    }
                };
                tokio::select! {
                    _ = serving => {}
                    _ = wait => {}
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        });
        let auditor = {
            let stop = stop.clone();
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if !service.audit(&stop) {
                        thread::sleep(AUDIT_PAUSE);
                    }
                }
            })
        };
        Ok(Running {
            address,
            stop,
            quit: Some(quit),
            threads: vec![server, auditor],
            announced,
        })
    }
}

impl Running {
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(quit) = self.quit.take() {
            let _ = quit.send(());
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        if let Some(file) = &self.announced {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Leaves the address and the operator's token in a file that only its owner can read.
fn announce(
    file: &std::path::Path,
    address: SocketAddr,
    token: &str,
    is_tls: bool,
) -> Result<(), StartError> {
    use std::io::Write;
    let text = serde_json::json!({ "address": address.to_string(), "token": token, "tls": is_tls });
    let text = text.to_string();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(file)
        .and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(|error| StartError::Operator(format!("{}: {error}", file.display())))
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/report.html", get(page::report))
        .route("/elo.svg", get(page::elo))
        .route("/metrics", get(page::metrics))
        .route("/v1/hello", get(v1::hello))
        .route("/v1/register", post(v1::register))
        .route("/v1/tasks", post(v1::tasks))
        .route("/v1/tasks/renew", post(v1::renew))
        .route("/v1/tasks/give-back", post(v1::give_back))
        .route("/v1/games/{id}", put(v1::hand_in))
        .route("/v1/networks/{hash}", get(v1::network))
        .route("/v1/status.json", get(v1::status))
        .route("/v1/networks.json", get(v1::networks))
        .route("/v1/matches.json", get(v1::matches))
        .route("/v1/elo.json", get(v1::elo))
        .route("/v1/feed", get(v1::feed))
        .route("/v1/workers/{file}", get(v1::worker))
        .route("/v1/operate", post(v1::operate))
        .route("/get-task/{*versions}", get(crate::autogtp::get_task))
        .route("/networks/{file}", get(crate::autogtp::network))
        .route("/best-network-hash", get(crate::autogtp::best_network_hash))
        .route("/best-network", get(crate::autogtp::best_network))
        .route("/submit", post(crate::autogtp::submit))
        .route("/submit-match", post(crate::autogtp::submit_match))
        .fallback(any(page::not_found))
        .with_state(shared)
}
