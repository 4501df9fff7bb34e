//! Who plays in the learning loop: networks, and players without one.

use std::{path::Path, sync::Arc};

use fleet::GameError;
use mario::{Placement, flood};
use mario_player::{
    Budget, Decision, EvaluateError, Kind, Lineup, NetJudge, NetSettings, NetTree, Player, View,
    Weights, load_evaluator, shipped_network,
};
use net::{Evaluator, Gather};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A player of the loop, from which as many equal players are made as there are games.
pub enum MarioPlayer {
    /// A network with a small search; positions of many games are evaluated together.
    Network(NetworkPlayer),
    /// A player without a network.
    Lineup(Box<Lineup>, Kind, Budget),
    /// Places pills anywhere.
    Random,
}

type Gathered = Arc<Gather<Arc<dyn Evaluator>>>;

/// A network that plays many games at once.
pub struct NetworkPlayer {
    pub(crate) gather: Gathered,
    pub(crate) judge: Arc<NetJudge<Gathered>>,
}

impl MarioPlayer {
    /// The network of a file, with batches of `rows` positions.
    pub(crate) fn network(file: &Path, rows: usize) -> Result<MarioPlayer, GameError> {
        let player = NetworkPlayer::new(load_evaluator(file)?, rows);
        player
            .map(MarioPlayer::Network)
            .map_err(|error| format!("{}: {error}", file.display()).into())
    }

    /// A player that needs no network.
    pub(crate) fn without_network(kind: Kind, budget: Budget) -> Result<MarioPlayer, GameError> {
        let lineup = Lineup::new(kind, Weights::default(), budget)?;
        Ok(MarioPlayer::Lineup(Box::new(lineup), kind, budget))
    }

    /// The player called `name`: `random`, `inside` for the network inside the program, or one of the players of
    /// `tengen mario`.
    pub(crate) fn anchor(name: &str, rows: usize, budget: Budget) -> Option<MarioPlayer> {
        match name {
            "random" => Some(MarioPlayer::Random),
            "inside" => {
                let network = shipped_network().ok()?;
                let evaluator = net::Backend::Cpu.open(&network).ok()?;
                NetworkPlayer::new(evaluator, rows)
                    .ok()
                    .map(MarioPlayer::Network)
            }
            name => MarioPlayer::without_network(name.parse().ok()?, budget).ok(),
        }
    }

    /// A player for one match game.
    pub(crate) fn for_match(
        &self,
        search: NetSettings,
        budget: Budget,
        seed: u64,
    ) -> Box<dyn Player + '_> {
        match self {
            MarioPlayer::Network(network) => {
                Box::new(NetTree::new(network.judge.clone(), search, budget, seed))
            }
            MarioPlayer::Lineup(lineup, ..) => lineup.player(seed),
            MarioPlayer::Random => Box::new(Random(Xoshiro256PlusPlus::seed_from_u64(seed))),
        }
    }
}

impl NetworkPlayer {
    fn new(evaluator: Arc<dyn Evaluator>, rows: usize) -> Result<NetworkPlayer, GameError> {
        let gather = Arc::new(Gather::new(evaluator, rows));
        let judge = Arc::new(NetJudge::new(gather.clone())?);
        Ok(NetworkPlayer { gather, judge })
    }
}

/// Places every pill at random.
struct Random(Xoshiro256PlusPlus);

impl Player for Random {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        let placements: Vec<Placement> = flood(&view.board).placements(view.pill).collect();
        if placements.is_empty() {
            return Ok(None);
        }
        Ok(Some(Decision {
            placement: placements[self.0.random_range(0..placements.len())],
            weights: Vec::new(),
            positions: 0,
        }))
    }
}
