//! `tengen fleet ledger|trainer|gateway|check`: the roles of a run past one server machine, over NATS JetStream.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::bail;
use broker::{Checker, LedgerRole, Link, LinkOptions, Remote, RoleOptions, Streams, Trainer};
use fleet::{Beginning, Learner, ServeOptions, Service};
use gateway::{Autogtp, Gateway, Tls};

use super::zero::{parse_set, run_to_end};
use crate::{games::games, interrupt};

/// How often a role that waits looks whether to end.
const GLANCE: Duration = Duration::from_millis(200);

/// Where the broker is, and which run is meant.
#[derive(clap::Args)]
pub struct Broker {
    /// Addresses of the broker's nodes, with commas between them: nats://HOST:PORT or tls://HOST:PORT
    #[arg(long, value_name = "URLS")]
    pub nats: String,
    /// The run's name on the broker
    #[arg(long, value_name = "NAME", default_value = "run")]
    pub run: String,
    /// A file with the nkey seed of this role, if the broker wants one
    #[arg(long, value_name = "FILE")]
    nkey: Option<PathBuf>,
    /// The certificate of the authority that signed the broker's, if it is your own
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Copies of everything on the broker; without it three if three addresses are given, otherwise one
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,
}

impl Broker {
    /// Connects, and makes what is missing on the broker.
    pub fn streams(&self) -> anyhow::Result<Streams> {
        let usual = LinkOptions::new(&self.nats, &self.run);
        let link = Link::connect(LinkOptions {
            nkey: self.nkey.clone(),
            ca: self.ca.clone(),
            replicas: self.replicas.unwrap_or(usual.replicas),
            ..usual
        })?;
        Ok(Streams::open(&link)?)
    }
}

/// Serve a run over a broker: hand out tasks, check and keep games, decide matches
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  tengen fleet ledger go --set size=9 --nats nats://a:4222,nats://b:4222,nats://c:4222 --run go9 --dir runs/go9\n\
    Started a second time elsewhere, it waits as a standby and takes over when the first one is gone."
)]
pub struct Ledger {
    /// The game
    game: String,
    /// The run's folder; on another machine it may be empty, but for fleet/server.key of the first ledger
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    #[command(flatten)]
    broker: Broker,
    /// A setting of a new run, such as size=9; may be given more than once
    #[arg(long, value_name = "SETTING=VALUE")]
    set: Vec<String>,
    /// Let anybody register as a worker; without it workers need a token of `tengen fleet token`
    #[arg(long)]
    open: bool,
    /// Games at once in this process
    #[arg(long, value_name = "N", default_value_t = 0)]
    local_games: usize,
    /// Train in this process instead of leaving it to `tengen fleet trainer`
    #[arg(long)]
    train_here: bool,
    /// Stop after so many trainings
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
}

/// Train for a run over a broker
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  tengen fleet trainer --nats nats://a:4222,nats://b:4222,nats://c:4222 --run go9 --dir runs/train"
)]
pub struct Training {
    /// The trainer's folder: a copy of the games, and checkpoints of the training under way
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    #[command(flatten)]
    broker: Broker,
}

/// Take workers over HTTP for a run over a broker
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  tengen fleet gateway --nats nats://a:4222,nats://b:4222,nats://c:4222 --run go9 --dir gate --listen 0.0.0.0:8470 --tls cert.pem key.pem"
)]
pub struct Gate {
    /// The gateway's folder: its key and networks
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    #[command(flatten)]
    broker: Broker,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8470")]
    listen: SocketAddr,
    /// A certificate and its private key, as PEM files
    #[arg(long, num_args = 2, value_names = ["CERTIFICATE", "KEY"])]
    tls: Option<Vec<PathBuf>>,
}

/// Play sampled games of workers again, and report those that come out differently
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  tengen fleet check --nats nats://a:4222,nats://b:4222,nats://c:4222 --run go9 --dir check"
)]
pub struct Check {
    /// The checker's folder: networks
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    #[command(flatten)]
    broker: Broker,
}

/// Two PEM files as the server wants them.
pub fn tls(files: Option<&[PathBuf]>) -> Option<Tls> {
    let [certificate, key] = files? else {
        return None;
    };
    Some(Tls {
        certificate: certificate.clone(),
        key: key.clone(),
    })
}

/// Runs a ledger until it is stopped, or overtaken.
pub fn ledger(args: &Ledger) -> anyhow::Result<ExitCode> {
    let games = games();
    let Some(game) = games.iter().find(|game| game.name == args.game) else {
        let names: Vec<&str> = games.iter().map(|game| game.name).collect();
        bail!(
            "there is no game {}; choose {}",
            args.game,
            names.join(" or ")
        );
    };
    let values = args.set.iter().map(|pair| parse_set(pair));
    let values = values
        .collect::<Result<Vec<_>, String>>()
        .map_err(anyhow::Error::msg)?;
    let beginning = Beginning { from: None, values };
    let options = RoleOptions {
        serve: ServeOptions {
            is_open: args.open,
            local_games: Some(args.local_games),
            engine: worker::engine(),
            ..ServeOptions::default()
        },
        trains_elsewhere: !args.train_here,
    };
    let streams = args.broker.streams()?;
    (game.ledger)(&streams, &args.dir, &beginning, options, args.rounds)
}

/// A ledger of a game.
pub fn run_ledger<L: Learner>(
    streams: &Streams,
    dir: &Path,
    beginning: &Beginning,
    options: RoleOptions,
    rounds: Option<u64>,
) -> anyhow::Result<ExitCode> {
    let stop = interrupt::stop_flag()?;
    let taken = LedgerRole::<L>::take(streams, dir, beginning, options, stop, &mut say)?;
    let Some(LedgerRole {
        run,
        ledger,
        mut guard,
    }) = taken
    else {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    };
    println!("active ledger; the run's key is {}", ledger.public_key());
    guard.watch(stop);
    let ended = run_to_end(run, rounds);
    if guard.is_lost() {
        bail!(
            "another ledger has taken over, or the broker did not answer for too long; this one wrote nothing more. Started again it waits as a standby"
        );
    }
    ended
}

/// Runs a trainer until it is stopped.
pub fn trainer(args: &Training) -> anyhow::Result<ExitCode> {
    let streams = args.broker.streams()?;
    (game_of(&streams)?.trainer)(&streams, &args.dir)
}

/// A trainer of a game.
pub fn run_trainer<L: Learner>(streams: &Streams, dir: &Path) -> anyhow::Result<ExitCode> {
    let stop = interrupt::stop_flag()?;
    Trainer::<L>::new(streams, dir).run(stop, &mut say)?;
    Ok(ended(stop))
}

/// Runs a checker until it is stopped.
pub fn check(args: &Check) -> anyhow::Result<ExitCode> {
    let streams = args.broker.streams()?;
    (game_of(&streams)?.check)(&streams, &args.dir)
}

/// A checker of a game.
pub fn run_checker<L: Learner>(streams: &Streams, dir: &Path) -> anyhow::Result<ExitCode> {
    let stop = interrupt::stop_flag()?;
    Checker::<L>::new(streams, dir, &worker::engine()).run(stop, &mut say)?;
    Ok(ended(stop))
}

/// Runs a gateway until it is stopped.
pub fn gateway(args: &Gate) -> anyhow::Result<ExitCode> {
    let stop = interrupt::stop_flag()?;
    let streams = args.broker.streams()?;
    let tls = tls(args.tls.as_deref());
    if tls.is_none() && !args.listen.ip().is_loopback() {
        eprintln!(
            "tengen: {} can be reached by others without TLS; put a proxy with TLS before it, or name a certificate with --tls",
            args.listen
        );
    }
    let _lock = base::LockedFolder::take(&args.dir)?;
    let Some(remote) = Remote::open(&streams, &args.dir, stop, &mut say)? else {
        return Ok(ended(stop));
    };
    let account = format!(
        "autogtp-{}",
        &remote.voice().map_or(String::new(), |voice| voice.key)[..8]
    );
    let service: Arc<dyn Service> = Arc::new(remote);
    let stock = game_of(&streams)?.stock;
    let settings = streams.settings()?.unwrap_or_default();
    let autogtp = stock(&settings)
        .map(|games| Autogtp::open(&args.dir.join("autogtp"), &account, &*service, games))
        .transpose()?;
    let folder = args.dir.join("fleet");
    std::fs::create_dir_all(&folder)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let running = Gateway::start(
        service,
        gateway::Settings {
            address: args.listen,
            announce_in: Some(folder),
            autogtp,
            tls,
        },
    )?;
    println!("serving {scheme}://{}", running.address());
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(GLANCE);
    }
    drop(running);
    Ok(ended(stop))
}

/// The game of the run on the broker.
fn game_of(streams: &Streams) -> anyhow::Result<crate::games::Entry> {
    let Some(name) = streams.game()? else {
        bail!(
            "there is no run of this name on the broker yet; start its ledger first, or name another with --run"
        );
    };
    let found = games().into_iter().find(|game| game.name == name);
    found.ok_or_else(|| anyhow::anyhow!("the run plays {name}, which this program cannot"))
}

fn say(text: &str) {
    println!("{text}");
}

fn ended(stop: &AtomicBool) -> ExitCode {
    match stop.load(Ordering::Relaxed) {
        true => ExitCode::from(interrupt::EXIT_INTERRUPTED),
        false => ExitCode::SUCCESS,
    }
}
