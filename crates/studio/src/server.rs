//! The server: what it holds, how it starts, how it ends.

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    clock,
    desk::Desk,
    document::Document,
    engine::{Engine, Networks, lock},
    graph,
    guard::Key,
    http,
    runs::Runs,
    tab::Tab,
    thinker::Thinker,
    training,
    wire::Failure,
};

/// The port that is tried first.
pub const USUAL_PORT: u16 = 32278;
/// How often changed documents are written.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// Connections that are answered at a time.
pub const MOST_TABS: usize = 64;

/// How the studio is started.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; the usual one or any free one if none is named.
    pub port: Option<u16>,
    /// Threads that search.
    pub threads: usize,
    /// Memory for all trees and opinions together, in MiB.
    pub memory_mib: usize,
    /// Seed of the search.
    pub seed: u64,
    /// Where documents are kept.
    pub state_folder: PathBuf,
    /// Where dropped networks are kept.
    pub cache_folder: PathBuf,
    /// Folders with runs of training.
    pub runs: Vec<PathBuf>,
    /// Folders with networks.
    pub nets: Vec<PathBuf>,
    /// Network files.
    pub weights: Vec<PathBuf>,
    /// Whether address and key are left where a second start finds them.
    pub is_announced: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Settings {
            port: None,
            // One processor stays with the browser, so that it keeps its frames.
            threads: processors.saturating_sub(1).max(1),
            memory_mib: 1024,
            seed: 1,
            state_folder: folder("XDG_STATE_HOME", ".local/state").join("tengen/studio"),
            cache_folder: folder("XDG_CACHE_HOME", ".cache").join("tengen/studio"),
            runs: vec![PathBuf::from("runs")],
            nets: Vec::new(),
            weights: Vec::new(),
            is_announced: true,
        }
    }
}

/// A folder of the user's, by its variable or below the home folder.
fn folder(variable: &str, below_home: &str) -> PathBuf {
    match std::env::var_os(variable).filter(|value| !value.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(below_home),
    }
}

/// Why the studio does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken, or may not be used.
    #[error("cannot listen on 127.0.0.1:{port}: {source}; name another port with --port, or none")]
    Port {
        /// The port that was asked for.
        port: u16,
        source: io::Error,
    },
    /// A folder cannot be made or read.
    #[error("cannot use the folder {}: {source}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    /// The system gives no threads.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    /// A game file cannot be read.
    #[error("{}: {say}", file.display())]
    File { file: PathBuf, say: String },
}

/// Everything the server holds.
pub struct App {
    pub(crate) settings: Settings,
    pub(crate) port: u16,
    pub(crate) key: Key,
    pub(crate) desk: Mutex<Desk>,
    pub(crate) tabs: Mutex<BTreeMap<u64, Arc<Tab>>>,
    pub(crate) networks: Mutex<Networks>,
    pub(crate) runs: Mutex<Runs>,
    pub(crate) started: Mutex<Vec<training::Started>>,
    pub(crate) thinker: Thinker,
    pub(crate) closing: watch::Sender<bool>,
    pub(crate) bodies: tokio::sync::Semaphore,
    /// Visits a second of the search that runs.
    pub(crate) rate: AtomicU64,
    numbers: AtomicU64,
}

impl App {
    /// A number nobody else has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs `look` with a document.
    pub fn with_doc<T>(
        &self,
        id: &str,
        look: impl FnOnce(&mut Document) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        look(lock(&self.desk).get(id)?)
    }

    /// Changes a document and tells every tab that looks at it.
    pub fn change<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Document) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let outcome = self.with_doc(id, change)?;
        self.tell_doc(id);
        Ok(outcome)
    }

    /// Sends the state of a document to the tabs that look at it.
    pub fn tell_doc(&self, id: &str) {
        let (state, graph) = {
            let desk = lock(&self.desk);
            let Some(document) = desk.peek(id) else {
                return;
            };
            let state = document
                .to_json()
                .unwrap_or_else(|failure| json!({ "on": "failed", "err": failure.to_json() }));
            (state.to_string(), graph::to_json(document).to_string())
        };
        for tab in self.tabs_at(id) {
            tab.show("doc", state.clone());
            tab.show("graph", graph.clone());
        }
    }

    /// Sends the graph of a document.
    pub fn tell_graph(&self, id: &str) {
        let graph = {
            let desk = lock(&self.desk);
            let Some(document) = desk.peek(id) else {
                return;
            };
            graph::to_json(document).to_string()
        };
        for tab in self.tabs_at(id) {
            tab.show("graph", graph.clone());
        }
    }

    /// The tabs that look at a document.
    pub fn tabs_at(&self, id: &str) -> Vec<Arc<Tab>> {
        let tabs = lock(&self.tabs);
        tabs.values().filter(|tab| tab.sees(id)).cloned().collect()
    }

    /// Whether a tab in sight looks at a document.
    pub fn is_watched(&self, id: &str) -> bool {
        self.tabs_at(id).iter().any(|tab| tab.is_in_sight())
    }

    /// A tab by its number.
    pub fn tab(&self, number: u64) -> Option<Arc<Tab>> {
        lock(&self.tabs).get(&number).cloned()
    }

    /// What the engine is doing.
    pub fn engine_state(&self) -> Value {
        match self.thinker.running() {
            Some(label) => json!({
                "on": "engine", "state": "thinking", "what": label.what, "doc": label.doc, "tab": label.tab,
                "per_second": self.rate.load(Ordering::Relaxed),
            }),
            None => json!({ "on": "engine", "state": "idle" }),
        }
    }

    /// Tells every tab what the engine is doing.
    pub fn tell_engine(&self) {
        let state = self.engine_state().to_string();
        for tab in lock(&self.tabs).values() {
            tab.show("engine", state.clone());
        }
    }

    /// Asks the program to end.
    pub fn close(&self) {
        let _ = self.closing.send(true);
    }
}

pub struct Studio;

/// A studio that runs.
pub struct Running {
    app: Arc<App>,
    runtime: tokio::runtime::Runtime,
    server: tokio::task::JoinHandle<io::Result<()>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Studio {
    /// Starts the studio; it listens when this returns.
    pub fn start(settings: Settings) -> Result<Running, StartError> {
        let listener = listen(settings.port)?;
        let port = listener.local_addr().map_err(StartError::Runtime)?.port();
        let desk = Desk::open(&settings.state_folder).map_err(|source| StartError::Folder {
            folder: settings.state_folder.clone(),
            source,
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(StartError::Runtime)?;
        let engine = Engine::new(settings.threads, settings.memory_mib, settings.seed);
        let mut networks = Networks::new();
        networks.look_around(&settings);
        let app = Arc::new(App {
            port,
            key: Key::kept_in(&settings.state_folder),
            desk: Mutex::new(desk),
            tabs: Mutex::default(),
            networks: Mutex::new(networks),
            runs: Mutex::default(),
            started: Mutex::default(),
            thinker: Thinker::default(),
            closing: watch::channel(false).0,
            bodies: tokio::sync::Semaphore::new(4),
            rate: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            settings,
        });
        let threads = vec![
            Thinker::start(&app, engine),
            save_regularly(&app),
            training::watch(&app),
            clock::watch(&app),
        ];
        let router = http::router(&app);
        let mut closing = app.closing.subscribe();
        let server = runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router)
                .with_graceful_shutdown(async move {
                    let _ = closing.wait_for(|&is_closing| is_closing).await;
                })
                .await
        });
        if app.settings.is_announced {
            announce::write(&app);
        }
        Ok(Running {
            app,
            runtime,
            server,
            threads,
        })
    }
}

fn listen(port: Option<u16>) -> Result<TcpListener, StartError> {
    let bind = |port| {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        Ok::<_, io::Error>(listener)
    };
    match port {
        Some(port) => bind(port).map_err(|source| StartError::Port { port, source }),
        None => bind(USUAL_PORT)
            .or_else(|_| bind(0))
            .map_err(|source| StartError::Port { port: 0, source }),
    }
}

impl Running {
    /// The address to open, with its key.
    pub fn address(&self) -> String {
        format!(
            "http://127.0.0.1:{}/#key={}",
            self.app.port,
            self.app.key.text()
        )
    }

    pub fn port(&self) -> u16 {
        self.app.port
    }

    /// The key alone.
    pub fn key(&self) -> &str {
        self.app.key.text()
    }

    /// Opens a game file; returns the path of its page.
    pub fn open_file(&self, file: &std::path::Path) -> Result<String, StartError> {
        let refuse = |say: String| StartError::File {
            file: file.to_owned(),
            say,
        };
        let bytes = std::fs::read(file).map_err(|error| refuse(error.to_string()))?;
        let ids = lock(&self.app.desk)
            .read(&bytes)
            .map_err(|failure| refuse(failure.say))?;
        let id = ids.first().ok_or_else(|| refuse("no game in it".into()))?;
        Ok(format!("/go/{id}"))
    }

    /// Asks it to end.
    pub fn stop(&self) {
        self.app.close();
    }

    /// Returns when somebody asked the studio to end: Ctrl-C, the page, or [`Running::stop`]. Everything is saved then.
    pub fn wait(self) {
        let app = self.app.clone();
        self.runtime.block_on(async {
            let mut closing = app.closing.subscribe();
            tokio::select! {
                _ = closing.wait_for(|&is_closing| is_closing) => {}
                _ = tokio::signal::ctrl_c() => app.close(),
            }
        });
        app.thinker.close();
        if app.settings.is_announced {
            announce::remove(&app);
        }
        let server = self.server;
        self.runtime.block_on(async {
            let _ = tokio::time::timeout(Duration::from_millis(800), server).await;
        });
        for thread in self.threads {
            let _ = thread.join();
        }
        lock(&app.desk).save();
        self.runtime.shutdown_timeout(Duration::from_millis(100));
    }
}

/// Writes changed documents every two seconds until the program ends.
fn save_regularly(app: &Arc<App>) -> thread::JoinHandle<()> {
    let app = app.clone();
    thread::spawn(move || {
        let mut last = Instant::now();
        while !*app.closing.borrow() {
            thread::sleep(Duration::from_millis(50));
            if last.elapsed() >= SAVE_EVERY {
                let files = lock(&app.desk).take_unsaved();
                for (file, text) in files {
                    let _ = base::write_whole(&file, text.as_bytes());
                }
                last = Instant::now();
            }
        }
    })
}

/// Where a second start finds the running studio.
pub mod announce {
    use std::{
        fs,
        io::{Read, Write},
        net::{Ipv4Addr, TcpStream},
        path::PathBuf,
        time::Duration,
    };

    use super::App;

    fn file() -> Option<PathBuf> {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty())?;
        Some(PathBuf::from(folder).join("tengen-studio.json"))
    }

    /// Leaves address and key for this user alone.
    pub(super) fn write(app: &App) {
        let Some(file) = file() else { return };
        let text = serde_json::json!({ "port": app.port, "key": app.key.text() }).to_string();
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let _ = fs::remove_file(&file);
            options.mode(0o600);
        }
        if let Ok(mut open) = options.open(file) {
            let _ = open.write_all(text.as_bytes());
        }
    }

    pub(super) fn remove(app: &App) {
        if let Some(file) = file()
            && fs::read_to_string(&file).is_ok_and(|text| text.contains(app.key.text()))
        {
            let _ = fs::remove_file(file);
        }
    }

    /// The address of a studio of this user that runs already.
    pub fn running() -> Option<String> {
        let text = fs::read_to_string(file()?).ok()?;
        let found: serde_json::Value = serde_json::from_str(&text).ok()?;
        let port = u16::try_from(found.get("port")?.as_u64()?).ok()?;
        let key = found.get("key")?.as_str()?;
        let wait = Duration::from_millis(500);
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let mut stream = TcpStream::connect_timeout(&address, wait).ok()?;
        stream.set_read_timeout(Some(wait)).ok()?;
        let ask = format!(
            "GET /api/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(ask.as_bytes()).ok()?;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
            .contains("\"program\":\"tengen studio\"")
            .then(|| format!("http://127.0.0.1:{port}/#key={key}"))
    }
}
