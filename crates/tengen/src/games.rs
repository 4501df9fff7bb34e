//! The games that can be learned. A new game is one line in [`games`].

use std::{net::SocketAddr, path::Path, process::ExitCode, sync::Arc};

use broker::{RoleOptions, Streams};
use fleet::{Beginning, Game, Learner, Run, ServeOptions, Service, StockGames, settings_file};
use gateway::{Autogtp, Gateway, Running, Tls};

use crate::commands::{
    roles::{run_checker, run_ledger, run_trainer},
    zero::run_to_end,
};

/// Every game that `tengen zero` learns.
pub fn games() -> Vec<Entry> {
    vec![
        Entry::new::<go_training::Go>(GO, |settings| {
            Some(Box::new(go_training::StockGo::new(settings.clone())))
        })
        .with_option("size", "Board size of a new run."),
        Entry::new::<go_training::ScoredGo>(SCORED_GO, |_| None),
        Entry::new::<mario_training::DrMario>(MARIO, |_| None),
    ]
}

const GO: &str = "Learn Go from nothing: self-play, training, a match, promotion, again and again.

Everything is kept in one folder, and the same command resumes after a stop of any kind. The settings are in settings.toml \
there, explained; report.html shows how the run goes.

Example: tengen zero go --size 9 --dir runs/go9
Example: tengen zero go --from trained.txt.gz --dir runs/on";

const SCORED_GO: &str = "Learn Go with scores: one network for every board, which learns winner, score and owners of all points.

Games are played to their end, with a komi that differs from game to game, and counted. The network is of the kind that is \
inside the program: it knows komi and plays on boards of every size. Everything is kept in one folder, and the same command \
resumes after a stop of any kind. The settings are in settings.toml there, explained; report.html shows how the run goes.

Example: tengen zero scored-go --set sizes=[9] --dir runs/nine
Example: tengen zero scored-go --set sizes=[7,9] --from nets/go.net --dir runs/on";

const MARIO: &str = "Learn Dr. Mario: self-play, training, a comparison on equal deals, promotion, again and again.

The first games are played without a network. Everything is kept in one folder, and the same command resumes after a stop \
of any kind. The settings are in settings.toml there, explained; report.html shows how the run goes.

Example: tengen zero mario --dir runs/mario";

/// Opens or begins the run in a folder and runs it for so many trainings, served or not.
type Start = dyn Fn(&Path, &Beginning, Option<u64>, Option<&Serving>) -> anyhow::Result<ExitCode>;

/// A game on the command line.
pub struct Entry {
    /// The name of the subcommand.
    pub name: &'static str,
    /// Its help: a sentence, then the rest.
    pub help: &'static str,
    /// Settings with an option of their own: the setting and its help.
    pub options: Vec<(&'static str, &'static str)>,
    /// Opens or begins the run in a folder and runs it for so many trainings.
    pub run: Box<Start>,
    /// The settings file of a new run.
    pub settings: fn() -> String,
    /// The roles of a run over a broker.
    pub ledger: StartLedger,
    pub trainer: StartRole,
    pub check: StartRole,
    /// What Leela Zero's own client plays under settings, if it can.
    pub stock: Box<Stock>,
}

type StartLedger =
    fn(&Streams, &Path, &Beginning, RoleOptions, Option<u64>) -> anyhow::Result<ExitCode>;
type StartRole = fn(&Streams, &Path) -> anyhow::Result<ExitCode>;
type Stock = dyn Fn(&str) -> Option<Box<dyn StockGames>>;

impl Entry {
    fn new<L: Learner>(
        help: &'static str,
        stock_games: fn(&L::Settings) -> Option<Box<dyn StockGames>>,
    ) -> Entry {
        Entry {
            name: L::NAME,
            help,
            options: Vec::new(),
            run: Box::new(move |dir, beginning, rounds, serving| {
                let mut run = Run::<L>::open(dir, beginning)?;
                let stock = stock_games(run.settings());
                let running = serving.map(|serving| serving.start(&mut run, dir, stock));
                let _running = running.transpose()?;
                run_to_end(run, rounds)
            }),
            settings: || settings_file::<L>(&<L as Game>::Settings::default()),
            ledger: run_ledger::<L>,
            trainer: run_trainer::<L>,
            check: run_checker::<L>,
            stock: Box::new(move |settings| stock_games(&toml::from_str(settings).ok()?)),
        }
    }

    fn with_option(mut self, setting: &'static str, help: &'static str) -> Entry {
        self.options.push((setting, help));
        self
    }
}

/// How a run takes workers.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where to listen.
    pub address: SocketAddr,
    /// Whether anybody may register.
    pub is_open: bool,
    /// Games at once in this process; those of the settings if it is not said.
    pub local_games: Option<usize>,
    /// The certificate, if this server speaks TLS itself.
    pub tls: Option<Tls>,
}

impl Serving {
    fn start<L: Learner>(
        &self,
        run: &mut Run<L>,
        dir: &Path,
        stock: Option<Box<dyn StockGames>>,
    ) -> anyhow::Result<Running> {
        let ledger = run.serve(ServeOptions {
            // On this machine only, whoever gets in may have the folder, too.
            is_open: self.is_open || self.address.ip().is_loopback(),
            local_games: self.local_games,
            engine: worker::engine(),
            ..ServeOptions::default()
        })?;
        let service: Arc<dyn Service> = ledger;
        let folder = dir.join("fleet");
        let autogtp = stock
            .map(|games| Autogtp::open(&folder.join("autogtp"), "autogtp", &*service, games))
            .transpose()?;
        let settings = gateway::Settings {
            address: self.address,
            announce_in: Some(folder),
            autogtp,
            tls: self.tls.clone(),
        };
        let key = service.public_key();
        let running = Gateway::start(service, settings)?;
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        println!(
            "serving {scheme}://{}; the server's key is {key}",
            running.address()
        );
        if self.tls.is_none() && !self.address.ip().is_loopback() {
            eprintln!(
                "tengen: {} can be reached by others without TLS; put a proxy with TLS before it, or name a certificate with --tls",
                self.address
            );
        }
        Ok(running)
    }
}
