//! What dynamic komi keeps beside a plain player, from move to move.

use go::Symmetry;
use search::Search;

use super::{Assessment, Collector, KomiLeaves, Settings, TurnKomi};
use crate::{leaves::Leaves, position::Position};

/// The state of dynamic komi. Without a mode it does nothing.
pub(crate) struct Controller {
    /// The options, with the trust that the network deserves.
    pub settings: Settings,
    /// The komi the network is told. It belongs to the player, not to a position: taking a move
    /// back does not lose what was learnt about the game.
    pub komi: TurnKomi,
    /// Positions for the next adjustment.
    pub collector: Collector,
    /// The tree of second looks, at the komi that is played for.
    pub guard: Search<Position>,
    /// What a test of the network found.
    pub assessment: Option<Assessment>,
}

impl Controller {
    pub fn new(settings: Settings, seed: u64) -> Controller {
        Controller {
            komi: settings.initial_komi(),
            settings,
            collector: Collector::default(),
            guard: Search::new(seed),
            assessment: None,
        }
    }

    /// Takes other settings; positions that were collected under the old ones are dropped.
    pub fn set_settings(&mut self, settings: Settings) {
        let plays_for_another = settings.target_komi != self.settings.target_komi
            || settings.mode != self.settings.mode;
        if plays_for_another {
            self.komi = settings.initial_komi();
        }
        self.settings = settings;
        self.collector.clear();
    }

    /// Forgets a game.
    pub fn forget_adjustments(&mut self) {
        self.komi = self.settings.initial_komi();
        self.collector.clear();
    }

    /// The way the board is always seen, if the options say so.
    pub fn fixed_symmetry(&self) -> Option<Symmetry> {
        let number = self.settings.fixed_symmetry?;
        Symmetry::new(usize::from(number))
    }

    /// Leaves as they are judged under dynamic komi.
    pub fn leaves<'a>(&'a self, plain: Leaves<'a>) -> KomiLeaves<'a> {
        KomiLeaves {
            plain,
            collector: &self.collector,
        }
    }
}
