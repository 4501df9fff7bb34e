//! The network that is asked, on any board.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use go::{BoardSize, Game, Komi, Symmetry};
use go_player::{Assumptions, Judge, LoadedNetwork, Opinion, Position};
use rand::{Rng, RngExt};

use super::{file::LabelError, record::Label};

/// A teacher network, laid out for every board size it is asked about.
pub struct Teacher {
    network: LoadedNetwork,
    judges: Mutex<HashMap<BoardSize, Arc<Judge>>>,
}

impl Teacher {
    /// A teacher with this network, which must say score and ownership.
    pub fn new(network: LoadedNetwork) -> Teacher {
        Teacher {
            network,
            judges: Mutex::default(),
        }
    }

    /// What the teacher says about positions of one size, each seen through a symmetry drawn at random.
    pub fn opinions(
        &self,
        size: BoardSize,
        games: &[&Game],
        rng: &mut impl Rng,
    ) -> Result<Vec<Opinion>, LabelError> {
        if games.is_empty() {
            return Ok(Vec::new());
        }
        let judge = self.judge(size)?;
        let positions: Vec<Position> = games
            .iter()
            .map(|game| Position::new(game, Assumptions::default()))
            .collect();
        let asked: Vec<(&Position, Symmetry)> = positions
            .iter()
            .map(|position| {
                let symmetry = Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)];
                (position, symmetry)
            })
            .collect();
        judge
            .evaluate_anew(&asked)
            .map_err(|error| LabelError::Teacher(error.to_string()))
    }

    fn judge(&self, size: BoardSize) -> Result<Arc<Judge>, LabelError> {
        let mut judges = self.judges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(judge) = judges.get(&size) {
            return Ok(judge.clone());
        }
        let network = self.network.for_size(size).ok_or_else(|| {
            LabelError::Settings(format!(
                "{} cannot play on {size}x{size}: a teacher must play on every board, as KataGo's networks do",
                self.network.name(),
                size = size.get(),
            ))
        })?;
        // Every position is asked about once, so nothing is remembered.
        let judge = Arc::new(network.judge(0));
        judges.insert(size, judge.clone());
        Ok(judge)
    }
}

/// The label of an opinion.
pub(super) fn label(turn: usize, komi: Komi, opinion: &Opinion) -> Result<Label, LabelError> {
    let (Some(score), Some(ownership)) = (&opinion.score, &opinion.ownership) else {
        let what = "this network does not say score and ownership, which a teacher must; give a KataGo network";
        return Err(LabelError::Settings(what.into()));
    };
    Ok(Label {
        turn,
        komi,
        policy: opinion.policy.clone(),
        winrate: opinion.winrate,
        lead: score.lead,
        score: score.mean,
        spread: score.spread(),
        ownership: ownership.clone(),
    })
}
