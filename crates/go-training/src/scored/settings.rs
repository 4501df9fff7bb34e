//! The settings of a run with scores.

use fleet::{BadSetting, Setting};
use go::BoardSize;
use go_player::selfplay::SelfPlay;
use serde::{Deserialize, Serialize};

use crate::zero::{GatePart, RatingPart, SHARED_SETTINGS, SelfPlayPart, TrainingPart, joined};

/// Everything that can be chosen about a run; the table `SETTINGS` says what each part does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScoredSettings {
    pub sizes: Vec<usize>,
    /// Seeds everything that is random.
    pub seed: u64,
    pub blocks: usize,
    pub channels: usize,
    /// In points.
    pub komi_spread: f32,
    pub selfplay: SelfPlayPart,
    pub training: TrainingPart,
    /// The match that decides on promotion.
    pub gate: GatePart,
    /// The games that measure strength.
    pub rating: RatingPart,
}

impl Default for ScoredSettings {
    fn default() -> ScoredSettings {
        ScoredSettings {
            sizes: vec![9],
            seed: 1,
            blocks: 6,
            channels: 64,
            komi_spread: 1.5,
            selfplay: SelfPlayPart {
                first_games: 600,
                games: 400,
                play: SelfPlay {
                    komi: 7.0,
                    // Score and owners are learned from counted games only.
                    resign_winrate: 0.0,
                    no_resign_share: 0.0,
                    clear_winrate: 0.05,
                    ..SelfPlay::default()
                },
                ..SelfPlayPart::default()
            },
            training: TrainingPart {
                batch: 64,
                rate: 2e-3,
                ..TrainingPart::default()
            },
            gate: GatePart::default(),
            rating: RatingPart::default(),
        }
    }
}

impl ScoredSettings {
    /// The boards of the run.
    pub fn boards(&self) -> impl Iterator<Item = BoardSize> + '_ {
        self.sizes.iter().filter_map(|&side| BoardSize::new(side))
    }

    /// The network.
    #[cfg(feature = "trainer")]
    pub(super) fn shape(&self) -> crate::student::StudentShape {
        crate::student::StudentShape {
            blocks: self.blocks,
            channels: self.channels,
        }
    }

    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<(), BadSetting> {
        let play = &self.selfplay.play;
        let count = BadSetting::count;
        let every_side = self
            .sizes
            .iter()
            .all(|&side| BoardSize::new(side).is_some());
        BadSetting::first([
            (
                "sizes",
                format!("{:?}", self.sizes),
                every_side && !self.sizes.is_empty(),
                "a list of sizes from 2 to 25",
            ),
            (
                "komi_spread",
                self.komi_spread.to_string(),
                self.komi_spread.is_finite() && self.komi_spread >= 0.0,
                "0 or more",
            ),
            (
                "selfplay.play.komi",
                play.komi.to_string(),
                play.komi.is_finite(),
                "a finite number",
            ),
            (
                "selfplay.play.simulations",
                play.simulations.to_string(),
                play.simulations > 1,
                "at least 2",
            ),
            (
                "selfplay.play.resign_winrate",
                play.resign_winrate.to_string(),
                play.resign_winrate == 0.0,
                "0: score and owners are learned from games that are played to the end",
            ),
            (
                "gate.pass_share",
                self.gate.pass_share.to_string(),
                (0.0..=1.0).contains(&self.gate.pass_share),
                "from 0 to 1",
            ),
            count("blocks", self.blocks as u64),
            count("channels", self.channels as u64),
            count("selfplay.at_once", self.selfplay.at_once as u64),
            count("selfplay.first_games", self.selfplay.first_games),
            count("selfplay.games", self.selfplay.games),
            count("selfplay.play.quick_simulations", play.quick_simulations),
            count("training.window", self.training.window as u64),
            count("training.batch", self.training.batch as u64),
            count("training.threads", self.training.threads as u64),
            count("gate.simulations", self.gate.simulations),
            count("gate.at_once", self.gate.at_once as u64),
            BadSetting::share("selfplay.play.full_share", play.full_share),
            BadSetting::rate("training.rate", self.training.rate),
        ])
    }
}

/// What every setting does.
pub(super) const SETTINGS: [Setting; OWN_SETTINGS.len() + SHARED_SETTINGS.len()] =
    joined(OWN_SETTINGS, SHARED_SETTINGS);

const OWN_SETTINGS: [Setting; 5] = [
    Setting {
        path: "sizes",
        about: "boards that games are played on, each as often as any other",
    },
    Setting {
        path: "seed",
        about: "fixes everything that is random",
    },
    Setting {
        path: "blocks",
        about: "residual blocks of the network",
    },
    Setting {
        path: "channels",
        about: "channels of each",
    },
    Setting {
        path: "komi_spread",
        about: "how far komi strays from selfplay.play.komi, as a standard deviation",
    },
];
