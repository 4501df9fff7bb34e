//! The settings of a run, in one documented file.

use go_player::selfplay::SelfPlay;
use net::leela::BOARD_SIZES;
use serde::{Deserialize, Serialize};

use fleet::{BadSetting, Elo, Limits, Setting, Sprt};

/// Everything that can be chosen about a run; the table `SETTINGS` says what each part does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZeroSettings {
    pub size: usize,
    /// Seeds everything that is random.
    pub seed: u64,
    /// The network's residual blocks.
    pub blocks: usize,
    /// The network's filters.
    pub filters: usize,
    pub selfplay: SelfPlayPart,
    pub training: TrainingPart,
    /// The match that decides on promotion.
    pub gate: GatePart,
    /// The games that measure strength.
    pub rating: RatingPart,
}

/// How games are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfPlayPart {
    /// Games at once.
    pub at_once: usize,
    /// Games before the first training.
    pub first_games: u64,
    /// Games between two trainings.
    pub games: u64,
    /// How each is played.
    pub play: SelfPlay,
}

/// How the network learns from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingPart {
    /// The newest positions that are learned from.
    pub window: usize,
    /// How often each new position is seen, on average, while it is in the window.
    pub passes: f64,
    /// Samples a step.
    pub batch: usize,
    /// Learning rate.
    pub rate: f32,
    /// Weight decay.
    pub decay: f32,
    /// Weight of the result beside the policy.
    pub value_weight: f32,
    pub threads: usize,
}

/// How a new network proves itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatePart {
    /// Simulations a move.
    pub simulations: u64,
    /// Moves drawn from the policy, so that games differ.
    pub drawn_moves: usize,
    /// Games at once.
    pub at_once: usize,
    /// A match is never shorter than this many games, and one more.
    pub min_games: u32,
    /// The longest match.
    pub max_games: u32,
    /// The share of games that passes when the match goes the full length.
    pub pass_share: f64,
    /// The Elo differences between which the sequential test decides.
    pub elo: [f64; 2],
}

/// How the strength of promoted networks is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatingPart {
    /// Games against each opponent.
    pub games: u32,
    /// Older networks.
    pub opponents: usize,
    /// Fixed opponents, by name.
    pub anchors: Vec<String>,
}

impl Default for RatingPart {
    fn default() -> Self {
        Self {
            games: 20,
            opponents: 2,
            anchors: ["random", "gnugo:1", "gnugo:10", "inside"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

impl Default for ZeroSettings {
    fn default() -> Self {
        Self {
            size: 9,
            seed: 1,
            blocks: 6,
            filters: 64,
            selfplay: SelfPlayPart::default(),
            training: TrainingPart::default(),
            gate: GatePart::default(),
            rating: RatingPart::default(),
        }
    }
}

impl Default for SelfPlayPart {
    fn default() -> Self {
        Self {
            at_once: 64,
            first_games: 1500,
            games: 750,
            play: SelfPlay::default(),
        }
    }
}

impl Default for TrainingPart {
    fn default() -> Self {
        Self {
            window: 150_000,
            passes: 4.0,
            batch: 128,
            rate: 0.02,
            decay: 1e-4,
            value_weight: 1.0,
            threads: 2,
        }
    }
}

impl Default for GatePart {
    fn default() -> Self {
        Self {
            simulations: 32,
            drawn_moves: 6,
            at_once: 64,
            min_games: 60,
            max_games: 200,
            pass_share: 0.55,
            elo: [0.0, 35.0],
        }
    }
}

impl GatePart {
    /// The rule that decides the match.
    pub fn sprt(&self) -> Sprt {
        Sprt {
            elo_fail: Elo(self.elo[0]),
            elo_pass: Elo(self.elo[1]),
            limits: Some(Limits {
                min_games: self.min_games,
                max_games: self.max_games,
                full_length_winrate: self.pass_share,
            }),
            ..Sprt::default()
        }
    }

    /// How the games of the match are played.
    pub fn play(&self, selfplay: &SelfPlay) -> SelfPlay {
        SelfPlay {
            simulations: self.simulations,
            full_share: 1.0,
            drawn_moves: self.drawn_moves,
            no_resign_share: 0.0,
            ..*selfplay
        }
    }
}

impl ZeroSettings {
    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<(), BadSetting> {
        let play = &self.selfplay.play;
        let count = BadSetting::count;
        BadSetting::first([
            (
                "size",
                self.size.to_string(),
                BOARD_SIZES.contains(&self.size),
                "from 2 to 25",
            ),
            (
                "selfplay.play.simulations",
                play.simulations.to_string(),
                play.simulations > 1,
                "at least 2",
            ),
            (
                "selfplay.play.komi",
                play.komi.to_string(),
                play.komi.is_finite(),
                "a finite number",
            ),
            (
                "gate.pass_share",
                self.gate.pass_share.to_string(),
                (0.0..=1.0).contains(&self.gate.pass_share),
                "from 0 to 1",
            ),
            count("filters", self.filters as u64),
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
pub(crate) const SETTINGS: [Setting; OWN_SETTINGS.len() + SHARED_SETTINGS.len()] =
    joined(OWN_SETTINGS, SHARED_SETTINGS);

/// One table after the other.
pub(crate) const fn joined<const A: usize, const B: usize, const N: usize>(
    first: [Setting; A],
    second: [Setting; B],
) -> [Setting; N] {
    assert!(A + B == N);
    let mut all = [second[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < A { first[at] } else { second[at - A] };
        at += 1;
    }
    all
}

const OWN_SETTINGS: [Setting; 4] = [
    Setting {
        path: "size",
        about: "board size",
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
        path: "filters",
        about: "filters of each",
    },
];

/// Those that every run of Go has.
pub(crate) const SHARED_SETTINGS: [Setting; 32] = [
    Setting {
        path: "selfplay.at_once",
        about: "games at once; the network sees their positions as one batch for each core",
    },
    Setting {
        path: "selfplay.first_games",
        about: "games of the random network before the first training",
    },
    Setting {
        path: "selfplay.games",
        about: "games between two trainings",
    },
    Setting {
        path: "selfplay.play.komi",
        about: "points that White gets",
    },
    Setting {
        path: "selfplay.play.simulations",
        about: "of a move that is recorded",
    },
    Setting {
        path: "selfplay.play.quick_simulations",
        about: "of a move that only carries the game on",
    },
    Setting {
        path: "selfplay.play.full_share",
        about: "share of moves that are recorded",
    },
    Setting {
        path: "selfplay.play.considered",
        about: "moves that enter the first round of Gumbel search at the root",
    },
    Setting {
        path: "selfplay.play.drawn_moves",
        about: "moves at the start drawn from the policy",
    },
    Setting {
        path: "selfplay.play.resign_winrate",
        about: "resign below this, three times in a row",
    },
    Setting {
        path: "selfplay.play.no_resign_share",
        about: "share of games played to the end all the same",
    },
    Setting {
        path: "selfplay.play.clear_winrate",
        about: "with less for a side, three moves in a row, fewer moves are recorded; 0: never",
    },
    Setting {
        path: "selfplay.play.max_length",
        about: "longest game, in multiples of the board's area",
    },
    Setting {
        path: "training.window",
        about: "newest positions that are learned from",
    },
    Setting {
        path: "training.passes",
        about: "how often a position is seen while it is in the window",
    },
    Setting {
        path: "training.batch",
        about: "samples a step",
    },
    Setting {
        path: "training.rate",
        about: "learning rate",
    },
    Setting {
        path: "training.decay",
        about: "weight decay",
    },
    Setting {
        path: "training.value_weight",
        about: "weight of the result beside the policy",
    },
    Setting {
        path: "training.threads",
        about: "threads of the training",
    },
    Setting {
        path: "gate",
        about: "the match that a new network must win",
    },
    Setting {
        path: "gate.simulations",
        about: "of every move",
    },
    Setting {
        path: "gate.drawn_moves",
        about: "moves drawn from the policy, so that games differ",
    },
    Setting {
        path: "gate.at_once",
        about: "match games at once",
    },
    Setting {
        path: "gate.min_games",
        about: "the sequential test passes nobody before",
    },
    Setting {
        path: "gate.max_games",
        about: "the longest match",
    },
    Setting {
        path: "gate.pass_share",
        about: "share of wins that passes at full length",
    },
    Setting {
        path: "gate.elo",
        about: "\"not stronger\" and \"stronger\" of the sequential test",
    },
    Setting {
        path: "rating",
        about: "games of a promoted network that only measure its strength",
    },
    Setting {
        path: "rating.games",
        about: "against each opponent; 0 for no ratings beyond the gate",
    },
    Setting {
        path: "rating.opponents",
        about: "older networks: 2, 4, 8 and so on promotions back",
    },
    Setting {
        path: "rating.anchors",
        about: "fixed opponents where they can play: random, inside, gnugo:LEVEL or a GTP command",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_explained_in_the_file_of_a_new_run() {
        fleet::check_settings_table::<crate::Go>();
    }

    #[test]
    fn the_file_of_a_new_run_says_what_its_settings_are() {
        let other = ZeroSettings {
            size: 13,
            blocks: 3,
            filters: 24,
            ..ZeroSettings::default()
        };
        let text = fleet::settings_file::<crate::Go>(&other);
        assert_eq!(toml::from_str::<ZeroSettings>(&text).unwrap(), other);
        let line = text.lines().find(|line| line.starts_with("size = 13"));
        assert!(
            line.is_some_and(|line| line.ends_with("# board size")),
            "{text}"
        );
    }

    #[test]
    fn impossible_values_are_named() {
        let settings = ZeroSettings {
            size: 1,
            ..ZeroSettings::default()
        };
        assert_eq!(
            settings.check().unwrap_err().to_string(),
            "size is 1: it must be from 2 to 25"
        );
        assert!(
            toml::from_str::<ZeroSettings>("sise = 9")
                .unwrap_err()
                .to_string()
                .contains("sise")
        );
    }
}
