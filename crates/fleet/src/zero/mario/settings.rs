//! The settings of a run that learns Dr. Mario, in one documented file.

use mario::level::LAST_LEVEL;
use mario_player::lineup::Kind;
use serde::{Deserialize, Serialize};

use crate::{
    Elo, Limits, Sprt,
    zero::{BadSetting, Pace},
};

/// Everything that can be chosen about a run; the settings file of a new run says what each part does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MarioSettings {
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
    /// Self-play.
    pub selfplay: SelfPlayPart,
    /// Training.
    pub training: TrainingPart,
    /// The comparison that decides on promotion.
    pub gate: GatePart,
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
    /// Threads.
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

impl Default for MarioSettings {
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

impl MarioSettings {
    /// When self-play pauses.
    pub fn pace(&self) -> Pace {
        Pace {
            first_games: self.round0.games,
            games: self.selfplay.games,
            window: self.training.window,
        }
    }

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

/// The file a new run starts with: the defaults, explained.
pub const TEMPLATE: &str = r#"# Settings of a run of `tengen zero mario`. Values may be changed between two starts of the run,
# except blocks and filters, which the networks already made depend on.

levels = [0, 20]    # lowest and highest level dealt; all of them alike
seed = 1            # fixes everything that is random
blocks = 4          # residual blocks of the network
filters = 32        # filters of each

[round0]            # the games before there is a network
player = "heuristic"  # looks two pills ahead, tuned by hand, quick; search is stronger and takes seconds a game;
                    # round0 plays random games and knows nothing: from it, much longer runs are needed
playouts = 2000     # of a move, for search and round0
games = 2500        # games before the first training
temperature = 0.1   # viruses that make a placement of round0 e times as likely in what is learned; 0: mean utilities
explore = true      # draw one move in five instead of choosing it, so that mistakes are seen, too
passes = 4.0        # how often each of their positions is seen in the first training

[selfplay]
at_once = 64            # games at once; the network sees their positions as one batch for each core
games = 400             # games between two trainings
simulations = 64        # playouts of a move that is recorded
quick_simulations = 16  # of a move that only carries the game on
full_share = 0.5        # share of moves that are recorded
considered = 16         # moves that enter the first round of Gumbel search at the root

[training]
window = 200000     # newest positions that are learned from
passes = 4.0        # how often a position is seen while it is in the window
batch = 128
rate = 0.001        # highest learning rate (Adam)
decay = 0.0001      # weight decay
value_weights = [1.0, 0.25, 0.25]  # of won, cleared and duration beside the moves
threads = 2

[gate]              # new and best network play the same deals; fewer viruses left wins, then fewer pills
simulations = 32    # playouts a move
at_once = 64        # deals at once
min_deals = 40      # the sequential test passes nobody before more deals than this told the two apart
max_deals = 120
pass_share = 0.55   # share of deals that passes at full length
elo = [0.0, 70.0]   # "not stronger" and "stronger" of the sequential test
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_spells_out_the_defaults() {
        assert_eq!(
            toml::from_str::<MarioSettings>(TEMPLATE).unwrap(),
            MarioSettings::default()
        );
        MarioSettings::default().check().unwrap();
    }

    #[test]
    fn impossible_values_are_named() {
        let settings = MarioSettings {
            levels: [3, 2],
            ..MarioSettings::default()
        };
        assert_eq!(
            settings.check().unwrap_err().to_string(),
            "levels is [3, 2]: it must be two levels from 0 to 24, the lower one first"
        );
        let mut settings = MarioSettings::default();
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
