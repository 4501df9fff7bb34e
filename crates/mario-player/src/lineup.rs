//! The players by name: what a command line or a settings file chooses from.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use net::{Backend, Evaluator, Network, compact};
use thiserror::Error;

use crate::clock::Clock;
use crate::heuristic::{Heuristic, Weights};
use crate::net_judge::NetJudge;
use crate::net_tree::{NetSettings, NetTree};
use crate::network::{DesignNetwork, NetworkError};
use crate::player::Player;
use crate::tree::{Budget, HeuristicTree, RoundZero, TreeSettings};

/// Playouts of the heuristic search that take at most about half a second on one core: a playout
/// took 15 microseconds of processor time on crowded boards, and open ones take longer.
pub const HALF_SECOND_OF_SEARCH: u64 = 20_000;

/// Which player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The heuristic on this pill alone.
    OnePly,
    /// The heuristic on this pill and the next.
    Heuristic,
    /// The heuristic at the leaves of a tree.
    Search,
    /// Random games under UCB1, without any knowledge.
    RoundZero,
    /// A network at the leaves of a tree.
    Network,
}

impl Kind {
    /// All kinds, weakest knowledge first.
    pub const ALL: [Kind; 5] = [
        Kind::RoundZero,
        Kind::OnePly,
        Kind::Heuristic,
        Kind::Search,
        Kind::Network,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::RoundZero => "round0",
            Kind::OnePly => "one-ply",
            Kind::Heuristic => "heuristic",
            Kind::Search => "search",
            Kind::Network => "network",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("{text:?} is no player: expected one of {names}")
            })
    }
}

/// A player's recipe: makes as many equal players as there are games.
#[derive(Clone)]
pub struct Lineup {
    kind: Kind,
    weights: Weights,
    budget: Budget,
    judge: Option<Arc<NetJudge<Arc<dyn Evaluator>>>>,
    /// What the network is called.
    network: String,
    net: NetSettings,
}

/// Why a network cannot play.
#[derive(Debug, Error)]
pub enum LineupError {
    /// The file could not be read.
    #[error("{path}: {source}")]
    Io {
        path: String,
        source: std::io::Error,
    },
    /// The file holds no network for this game.
    #[error("{path}: {source}")]
    Network { path: String, source: NetworkError },
    /// The network player was chosen without a network.
    #[error("the network player needs a network file")]
    NoNetwork,
}

impl Lineup {
    /// A player that needs no network.
    pub fn new(kind: Kind, weights: Weights, budget: Budget) -> Result<Self, LineupError> {
        match kind {
            Kind::Network => Err(LineupError::NoNetwork),
            _ => Ok(Self {
                kind,
                weights,
                budget,
                judge: None,
                network: String::new(),
                net: NetSettings::default(),
            }),
        }
    }

    /// The network player, with the network of a file or, if none is named, the one that comes with the program.
    pub fn network(
        path: Option<&Path>,
        net: NetSettings,
        budget: Budget,
    ) -> Result<Self, LineupError> {
        let name = match path {
            Some(path) => path.display().to_string(),
            None => SHIPPED_NAME.to_owned(),
        };
        let wrong = |source| LineupError::Network {
            path: name.clone(),
            source,
        };
        let network = match path {
            Some(path) => load_network(path)?,
            None => shipped_network().map_err(wrong)?,
        };
        let judge = NetJudge::new(evaluator(&network).map_err(wrong)?).map_err(wrong)?;
        Ok(Self {
            kind: Kind::Network,
            weights: Weights::default(),
            budget,
            judge: Some(Arc::new(judge)),
            network: name,
            net,
        })
    }

    /// A line that says which player this is.
    pub fn describe(&self) -> String {
        let budget = match (self.kind, self.budget) {
            (Kind::OnePly | Kind::Heuristic, _) => String::new(),
            (_, Budget::Playouts(playouts)) => format!(", {playouts} playouts"),
            (_, Budget::Time(time, Clock::Wall)) => format!(", {} s", time.as_secs_f64()),
            (_, Budget::Time(time, Clock::Processor)) => {
                format!(", {} s of processor time", time.as_secs_f64())
            }
        };
        match self.kind {
            Kind::Network => format!("network {}{budget}", self.network),
            kind => format!("{}{budget}", kind.name()),
        }
    }

    /// A new player; what is random in it follows from `seed`.
    pub fn player(&self, seed: u64) -> Box<dyn Player> {
        let weights = self.weights.clone();
        match (self.kind, &self.judge) {
            (Kind::OnePly, _) => Box::new(Heuristic::one_ply(weights)),
            (Kind::RoundZero, _) => Box::new(RoundZero::new(self.budget, seed)),
            (Kind::Search, _) => Box::new(HeuristicTree::new(
                weights,
                TreeSettings::default(),
                self.budget,
                seed,
            )),
            (Kind::Network, Some(judge)) => {
                Box::new(NetTree::new(Arc::clone(judge), self.net, self.budget, seed))
            }
            (Kind::Heuristic | Kind::Network, _) => Box::new(Heuristic::two_plies(weights)),
        }
    }
}

/// A network file, ready to run.
pub fn load_evaluator(path: &Path) -> Result<Arc<dyn Evaluator>, LineupError> {
    evaluator(&load_network(path)?).map_err(|source| LineupError::Network {
        path: path.display().to_string(),
        source,
    })
}

fn evaluator(network: &Network) -> Result<Arc<dyn Evaluator>, NetworkError> {
    let opened = Backend::chosen().open(network);
    opened.map_err(|error| NetworkError::Shape(error.to_string()))
}

/// The network that comes with the program; `nets/mario.md` says how it was made.
const SHIPPED: &[u8] = include_bytes!("../../../nets/mario.net");
const SHIPPED_NAME: &str = "nets/mario.net";

/// Which network plays if the user named none.
pub fn shipped_network() -> Result<Network, NetworkError> {
    compact::read(SHIPPED).map_err(|damage| NetworkError::Shape(damage.to_string()))
}

/// A network file: our JSON form, or the compact format of the `net` crate.
fn load_network(path: &Path) -> Result<Network, LineupError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| LineupError::Io {
        path: name.clone(),
        source,
    })?;
    let wrong = |source| LineupError::Network {
        path: name.clone(),
        source,
    };
    if bytes.trim_ascii_start().starts_with(b"{") {
        let text = String::from_utf8_lossy(&bytes);
        return DesignNetwork::from_json(&text)
            .and_then(|n| n.to_network())
            .map_err(wrong);
    }
    net::load(path).map_err(|error| wrong(NetworkError::Shape(error.to_string())))
}
