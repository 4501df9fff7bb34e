//! How a game is played: by whom, with which network, how hard, against which clock.

use serde::{Deserialize, Serialize};

use crate::clock::Control;

/// Whom the engine leaves to the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum You {
    /// The user plays Black, the engine White.
    Black,
    /// The other way round.
    White,
    /// The user plays both: a board to analyse on.
    #[default]
    Both,
    /// The engine plays both.
    None,
}

/// How hard the engine thinks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Visits a move.
    Visits(u64),
    /// Seconds a move.
    Seconds(f64),
    /// The network's first choice, without search.
    Policy,
}

/// How a game is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Who plays.
    #[serde(default)]
    pub you: You,
    /// The network's id.
    #[serde(default = "inside")]
    pub net: String,
    /// How hard it thinks.
    #[serde(default = "usual_level")]
    pub level: Level,
    /// Komi that follows: `none`, `handicap`, `nonslack`.
    #[serde(default = "no_mode")]
    pub mode: String,
    /// The clock, if the game is timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Control>,
    /// Whether this is a life-and-death problem, and its target and zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemMarks>,
}

/// What is marked in a problem: vertices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProblemMarks {
    /// Blocks in question.
    #[serde(default)]
    pub target: Vec<String>,
    /// The zone, if it was chosen by hand.
    #[serde(default)]
    pub zone: Vec<String>,
}

fn inside() -> String {
    crate::engine::INSIDE.to_owned()
}

fn usual_level() -> Level {
    Level::Visits(200)
}

fn no_mode() -> String {
    "none".to_owned()
}

impl Default for Table {
    fn default() -> Table {
        Table {
            you: You::Both,
            net: inside(),
            level: usual_level(),
            mode: no_mode(),
            clock: None,
            problem: None,
        }
    }
}
