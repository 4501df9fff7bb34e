//! The settings of a run that learns Dr. Mario, in one documented file.

use mario::LAST_LEVEL;
use mario_player::Kind;
use serde::{Deserialize, Serialize};

use fleet::{BadSetting, Elo, Limits, Setting, Sprt};

/// Everything that can be chosen about a run; the settings file of a new run says what each part does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZeroSettings {
    /// Lowest and highest level dealt.
    pub levels: [u8; 2],
    /// Seeds everything that is random.
    pub seed: u64,
    /// The network's residual blocks.
    pub blocks: usize,
    /// The network's filters.
    pub filters: usize,
    /// The games before there is a network.
    pub round0: RoundZeroPart,
    pub selfplay: SelfPlayPart,
    pub training: TrainingPart,
    /// The comparison that decides on promotion.
    pub gate: GatePart,
    /// The deals that measure strength.
    pub rating: RatingPart,
}

/// Who plays the first games, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoundZeroPart {
    /// The player's name.
    pub player: String,
    /// Its playouts for a move.
    pub playouts: u64,
    /// Games before the first training.
    pub games: u64,
    /// How many viruses make a placement of player round0 e times as likely in what is learned; 0 learns mean utilities.
    pub temperature: f64,
    /// Whether one move in five is drawn instead of chosen.
    pub explore: bool,
    /// How often each of their positions is seen in the first training.
    pub passes: f64,
}

/// How games are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfPlayPart {
    /// Games at once.
    pub at_once: usize,
    /// Games between two trainings.
    pub games: u64,
    /// Playouts of a move that is recorded.
    pub simulations: u64,
    /// Playouts of a move that only carries the game on.
    pub quick_simulations: u64,
    /// Share of moves that are recorded.
    pub full_share: f64,
    /// Moves that enter Gumbel search at the root.
    pub considered: usize,
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
    /// Highest learning rate (Adam).
    pub rate: f32,
    /// Weight decay.
    pub decay: f32,
    /// Weights of won, cleared and duration beside the moves.
    pub value_weights: [f32; 3],
    pub threads: usize,
}

/// How a new network proves itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatePart {
    /// Playouts a move.
    pub simulations: u64,
    /// Deals at once.
    pub at_once: usize,
    /// The test passes nobody before more deals than this told the two apart.
    pub min_deals: u32,
    /// The most deals.
    pub max_deals: u32,
    /// The share of deals that passes at full length.
    pub pass_share: f64,
    /// The Elo differences between which the sequential test decides.
    pub elo: [f64; 2],
}

/// How the strength of promoted networks is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatingPart {
    /// Deals against each opponent.
    pub deals: u32,
    /// Older networks.
    pub opponents: usize,
    /// Fixed opponents, by name.
    pub anchors: Vec<String>,
}

impl Default for RatingPart {
    fn default() -> Self {
        Self {
            deals: 40,
            opponents: 2,
            anchors: ["random", "one-ply", "heuristic", "inside"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

impl Default for ZeroSettings {
    fn default() -> Self {
        Self {
            levels: [0, 20],
            seed: 1,
            blocks: 4,
            filters: 32,
            round0: RoundZeroPart::default(),
            selfplay: SelfPlayPart::default(),
            training: TrainingPart::default(),
            gate: GatePart::default(),
            rating: RatingPart::default(),
        }
    }
}

impl Default for RoundZeroPart {
    fn default() -> Self {
        Self {
            player: Kind::Heuristic.name().to_owned(),
            playouts: 2000,
            games: 2500,
            temperature: 0.1,
            explore: true,
            passes: 4.0,
        }
    }
}

impl Default for SelfPlayPart {
    fn default() -> Self {
        Self {
            at_once: 64,
            games: 400,
            simulations: 64,
            quick_simulations: 16,
            full_share: 0.5,
            considered: 16,
        }
    }
}

impl Default for TrainingPart {
    fn default() -> Self {
        Self {
            window: 200_000,
            passes: 4.0,
            batch: 128,
            rate: 1e-3,
            decay: 1e-4,
            value_weights: [1.0, 0.25, 0.25],
            threads: 2,
        }
    }
}

impl Default for GatePart {
    fn default() -> Self {
        Self {
            simulations: 32,
            at_once: 64,
            min_deals: 40,
            max_deals: 120,
            pass_share: 0.55,
            elo: [0.0, 70.0],
        }
    }
}

impl GatePart {
    /// The rule that decides.
    pub fn sprt(&self) -> Sprt {
        Sprt {
            elo_fail: Elo(self.elo[0]),
            elo_pass: Elo(self.elo[1]),
            limits: Some(Limits {
                min_games: self.min_deals,
                max_games: self.max_deals,
                full_length_winrate: self.pass_share,
            }),
            ..Sprt::default()
        }
    }
}

impl ZeroSettings {
    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<(), BadSetting> {
        let [lowest, highest] = self.levels;
        let count = BadSetting::count;
        let player = self.round0.player.parse();
        let knows_nothing = player.is_ok_and(|kind: Kind| kind != Kind::Network);
        BadSetting::first([
            (
                "levels",
                format!("[{lowest}, {highest}]"),
                lowest <= highest && highest <= LAST_LEVEL,
                "two levels from 0 to 24, the lower one first",
            ),
            (
                "round0.player",
                format!("{:?}", self.round0.player),
                knows_nothing,
                "round0, one-ply, heuristic or search",
            ),
            (
                "round0.temperature",
                self.round0.temperature.to_string(),
                self.round0.temperature >= 0.0,
                "at least 0",
            ),
            count("filters", self.filters as u64),
            count("round0.playouts", self.round0.playouts),
            count("round0.games", self.round0.games),
            count("selfplay.at_once", self.selfplay.at_once as u64),
            count("selfplay.games", self.selfplay.games),
            count("selfplay.simulations", self.selfplay.simulations),
            count(
                "selfplay.quick_simulations",
                self.selfplay.quick_simulations,
            ),
            count("gate.simulations", self.gate.simulations),
            count("gate.at_once", self.gate.at_once as u64),
            count("training.window", self.training.window as u64),
            count("training.batch", self.training.batch as u64),
            count("training.threads", self.training.threads as u64),
            BadSetting::share("selfplay.full_share", self.selfplay.full_share),
            BadSetting::rate("training.rate", self.training.rate),
            BadSetting::share("gate.pass_share", self.gate.pass_share),
        ])
    }
}

/// What every setting does.
pub const SETTINGS: &[Setting] = &[
    Setting {
        path: "levels",
        about: "lowest and highest level dealt; all of them alike",
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
    Setting {
        path: "round0",
        about: "the games before there is a network",
    },
    Setting {
        path: "round0.player",
        about: "heuristic looks two pills ahead and is quick; search is stronger and takes seconds a game; round0 plays random games and knows nothing: from it, much longer runs are needed",
    },
    Setting {
        path: "round0.playouts",
        about: "of a move, for search and round0",
    },
    Setting {
        path: "round0.games",
        about: "games before the first training",
    },
    Setting {
        path: "round0.temperature",
        about: "viruses that make a placement of round0 e times as likely in what is learned; 0: mean utilities",
    },
    Setting {
        path: "round0.explore",
        about: "draw one move in five instead of choosing it, so that mistakes are seen, too",
    },
    Setting {
        path: "round0.passes",
        about: "how often each of their positions is seen in the first training",
    },
    Setting {
        path: "selfplay.at_once",
        about: "games at once; the network sees their positions as one batch for each core",
    },
    Setting {
        path: "selfplay.games",
        about: "games between two trainings",
    },
    Setting {
        path: "selfplay.simulations",
        about: "playouts of a move that is recorded",
    },
    Setting {
        path: "selfplay.quick_simulations",
        about: "of a move that only carries the game on",
    },
    Setting {
        path: "selfplay.full_share",
        about: "share of moves that are recorded",
    },
    Setting {
        path: "selfplay.considered",
        about: "moves that enter the first round of Gumbel search at the root",
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
        about: "highest learning rate (Adam)",
    },
    Setting {
        path: "training.decay",
        about: "weight decay",
    },
    Setting {
        path: "training.value_weights",
        about: "of won, cleared and duration beside the moves",
    },
    Setting {
        path: "training.threads",
        about: "threads of the training",
    },
    Setting {
        path: "gate",
        about: "new and best network play the same deals; fewer viruses left wins, then fewer pills",
    },
    Setting {
        path: "gate.simulations",
        about: "playouts a move",
    },
    Setting {
        path: "gate.at_once",
        about: "deals at once",
    },
    Setting {
        path: "gate.min_deals",
        about: "the sequential test passes nobody before more deals than this told the two apart",
    },
    Setting {
        path: "gate.max_deals",
        about: "the most deals",
    },
    Setting {
        path: "gate.pass_share",
        about: "share of deals that passes at full length",
    },
    Setting {
        path: "gate.elo",
        about: "\"not stronger\" and \"stronger\" of the sequential test",
    },
    Setting {
        path: "rating",
        about: "deals of a promoted network that only measure its strength",
    },
    Setting {
        path: "rating.deals",
        about: "against each opponent; 0 for no ratings beyond the gate",
    },
    Setting {
        path: "rating.opponents",
        about: "older networks: 2, 4, 8 and so on promotions back",
    },
    Setting {
        path: "rating.anchors",
        about: "fixed opponents: random, inside, round0, one-ply, heuristic, search",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_explained_in_the_file_of_a_new_run() {
        fleet::check_settings_table::<crate::DrMario>();
        ZeroSettings::default().check().unwrap();
    }

    #[test]
    fn impossible_values_are_named() {
        let settings = ZeroSettings {
            levels: [3, 2],
            ..ZeroSettings::default()
        };
        assert_eq!(
            settings.check().unwrap_err().to_string(),
            "levels is [3, 2]: it must be two levels from 0 to 24, the lower one first"
        );
        let mut settings = ZeroSettings::default();
        settings.round0.player = "network".into();
        assert!(
            settings
                .check()
                .unwrap_err()
                .to_string()
                .contains("round0.player")
        );
    }
}
