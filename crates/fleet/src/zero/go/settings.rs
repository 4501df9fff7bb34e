//! The settings of a run, in one documented file.

use go_player::selfplay::SelfPlay;
use net::leela::BOARD_SIZES;
use serde::{Deserialize, Serialize};

use crate::{Elo, Limits, Sprt, zero::BadSetting};

/// Everything that can be chosen about a run; see [`TEMPLATE`] for what each part does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZeroSettings {
    /// The board.
    pub size: usize,
    /// Seeds everything that is random.
    pub seed: u64,
    /// The network's residual blocks.
    pub blocks: usize,
    /// The network's filters.
    pub filters: usize,
    /// Self-play.
    pub selfplay: SelfPlayPart,
    /// Training.
    pub training: TrainingPart,
    /// The match that decides on promotion.
    pub gate: GatePart,
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
    /// Threads.
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
    /// The file that a new run of this size, blocks and filters starts with.
    pub fn template(&self) -> String {
        let usual = Self::default();
        [
            ("size", usual.size, self.size),
            ("blocks", usual.blocks, self.blocks),
            ("filters", usual.filters, self.filters),
        ]
        .into_iter()
        .fold(TEMPLATE.to_owned(), |text, (name, usual, wanted)| {
            text.replacen(
                &format!("\n{name} = {usual} "),
                &format!("\n{name} = {wanted} "),
                1,
            )
        })
    }

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

/// The file a new run starts with: the defaults, explained.
pub const TEMPLATE: &str = r#"# Settings of a run of `tengen zero go`. Values may be changed between two starts of the run,
# except size, blocks and filters, which the networks already made depend on.

size = 9            # board size
seed = 1            # fixes everything that is random
blocks = 6          # residual blocks of the network
filters = 64        # filters of each

[selfplay]
at_once = 64        # games at once; the network sees their positions as one batch for each core
first_games = 1500  # games of the random network before the first training
games = 750         # games between two trainings

[selfplay.play]
komi = 7.5
simulations = 64          # of a move that is recorded
quick_simulations = 16    # of a move that only carries the game on
full_share = 0.25         # share of moves that are recorded
considered = 16           # moves that enter the first round of Gumbel search at the root
drawn_moves = 4           # moves at the start drawn from the policy
resign_winrate = 0.03     # resign below this, three times in a row
no_resign_share = 0.2     # share of games played to the end all the same
max_length = 2.0          # longest game, in multiples of the board's area

[training]
window = 150000     # newest positions that are learned from
passes = 4.0        # how often a position is seen while it is in the window
batch = 128
rate = 0.02         # learning rate
decay = 0.0001      # weight decay
value_weight = 1.0  # weight of the result beside the policy
threads = 2

[gate]
simulations = 32    # a move
drawn_moves = 6     # moves drawn from the policy, so that games differ
at_once = 64
min_games = 60      # the sequential test passes nobody before
max_games = 200
pass_share = 0.55   # share of wins that passes at full length
elo = [0.0, 35.0]   # "not stronger" and "stronger" of the sequential test
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_spells_out_the_defaults() {
        assert_eq!(
            toml::from_str::<ZeroSettings>(TEMPLATE).unwrap(),
            ZeroSettings::default()
        );
    }

    #[test]
    fn the_template_takes_another_shape() {
        let other = ZeroSettings {
            size: 13,
            blocks: 3,
            filters: 24,
            ..ZeroSettings::default()
        };
        let text = other.template();
        assert_eq!(toml::from_str::<ZeroSettings>(&text).unwrap(), other);
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
