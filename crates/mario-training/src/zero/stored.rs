//! A finished game of self-play as it lies in the log: a line of JSON, then its record as text.

use mario::{Example, Game, Record, RecordMove, StallCounts};
use mario_player::{Finish, GameResult};
use serde::{Deserialize, Serialize};

/// Ends the line of JSON.
const END_OF_LINE: char = '\n';

/// A game with its record.
#[derive(Clone, Debug, PartialEq)]
pub struct MarioGame {
    /// What is told about it.
    pub head: MarioHead,
    /// Every move, with what was weighed; nothing was noted where a quick search decided.
    pub record: Record,
}

/// The game itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarioHead {
    /// Its number, which fixed its random choices.
    pub number: u64,
    /// The round it was played in.
    pub round: u64,
    /// The network that played; empty for none.
    pub network: String,
    /// The level dealt.
    pub level: u8,
    /// How it went.
    #[serde(flatten)]
    pub result: GameResult,
}

impl MarioGame {
    /// Whether the board was cleared.
    pub fn is_won(&self) -> bool {
        self.head.result.ending == Finish::Cleared
    }

    /// The form of a game that was just played.
    pub fn new(
        [number, round]: [u64; 2],
        network: &str,
        (level, seed): (u8, u16),
        record: Record,
        game: &Game,
    ) -> Self {
        MarioGame {
            head: MarioHead {
                number,
                round,
                network: network.to_owned(),
                level,
                result: GameResult::of(game, seed, 0.0),
            },
            record,
        }
    }

    /// The bytes to log.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A struct of strings and numbers always has a JSON form.
        let mut text = serde_json::to_string(&self.head).unwrap_or_default();
        text.push(END_OF_LINE);
        text += &self.record.to_string();
        text.into_bytes()
    }

    /// The game of logged bytes; what is wrong with them otherwise.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let (head, record) = text.split_once(END_OF_LINE).ok_or("no line of JSON")?;
        Ok(MarioGame {
            head: serde_json::from_str(head).map_err(|error| error.to_string())?,
            record: record
                .parse()
                .map_err(|error: mario::RecordError| error.to_string())?,
        })
    }

    /// What can be learned from it: the moves whose weights were noted.
    /// An error says why the record cannot be played again.
    pub fn examples(&self) -> Result<Vec<Example>, String> {
        let all = Example::of_record(&self.record, StallCounts::AsLost)
            .map_err(|error| error.to_string())?;
        let noted = |played: &RecordMove| !played.weights.is_empty();
        Ok(all
            .into_iter()
            .zip(&self.record.moves)
            .filter(|(_, played)| noted(played))
            .map(|(example, _)| example)
            .collect())
    }

    /// The board before each move and after the last, and the pill placed between, for the page.
    pub fn film(&self) -> serde_json::Value {
        let boards = self.record.boards().unwrap_or_default();
        let moves = self.record.moves.iter();
        serde_json::json!({
            "head": self.head,
            "boards": boards.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "pills": moves
                .map(|played| {
                    let placed = played.chosen;
                    (placed.x, placed.y, u8::from(placed.content.vertical))
                })
                .collect::<Vec<_>>(),
        })
    }
}
