//! A finished game of self-play as it lies in the log: a line of JSON, then its training records
//! in Leela Zero's binary form.

use go::{BoardSize, Game, Komi};
use go_player::{
    record::{ChunkRecord, read_chunk},
    selfplay::Finished,
};
use serde::{Deserialize, Serialize};

/// Ends the line of JSON.
const END_OF_LINE: u8 = b'\n';

/// A game with its records.
#[derive(Clone, Debug)]
pub struct StoredGame {
    /// What is told about it.
    pub head: Head,
    /// Its training records.
    pub records: Vec<ChunkRecord>,
}

/// The game itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Its number, which fixed its random choices.
    pub number: u64,
    /// The round it was played in.
    pub round: u64,
    /// The network that played.
    pub network: String,
    /// The moves as GTP writes them.
    pub moves: Vec<String>,
    /// The result as SGF writes it.
    pub result: String,
    /// In a game that was played to the end whatever happened: whether the side that would have resigned first won it.
    /// Absent if nobody would have resigned, and in games of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_side_won: Option<bool>,
}

impl StoredGame {
    /// The form of a game that was just played.
    pub fn new(number: u64, round: u64, network: &str, finished: &Finished) -> StoredGame {
        StoredGame {
            head: Head {
                number,
                round,
                network: network.to_owned(),
                moves: finished
                    .game
                    .moves()
                    .map(|(_, mv)| mv.to_string())
                    .collect(),
                result: finished.result(),
                lost_side_won: finished
                    .looked_lost
                    .map(|color| finished.winner == Some(color)),
            },
            records: finished.records().collect(),
        }
    }

    /// The bytes to log.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A struct of strings and numbers always has a JSON form.
        let mut bytes = serde_json::to_vec(&self.head).unwrap_or_default();
        bytes.push(END_OF_LINE);
        for record in &self.records {
            record.write_v2(&mut bytes);
        }
        bytes
    }

    /// The game of logged bytes; what is wrong with them otherwise.
    pub fn from_bytes(bytes: &[u8], size: BoardSize) -> Result<StoredGame, String> {
        let end = bytes
            .iter()
            .position(|&byte| byte == END_OF_LINE)
            .ok_or("no line of JSON")?;
        let head = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
        let binary = &bytes[end + 1..];
        let records = if binary.is_empty() {
            Vec::new()
        } else {
            read_chunk(binary, size).map_err(|error| error.to_string())?
        };
        Ok(StoredGame { head, records })
    }
}

impl Head {
    pub fn replay(&self, size: BoardSize, komi: Komi) -> Game {
        let mut game = Game::new(size, komi);
        for mv in self.moves.iter().map_while(|mv| mv.parse().ok()) {
            if game.play(mv).is_err() {
                break;
            }
        }
        game
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicBool};

    use go_player::{
        Judge,
        selfplay::{SelfPlay, play_game},
    };
    use net::{
        Reference,
        leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    };

    use super::*;

    #[test]
    fn a_game_comes_back_from_its_bytes() {
        let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 2), 3);
        let judge = Judge::new(Arc::new(Reference::new(random.to_network()).unwrap()), 0).unwrap();
        let settings = SelfPlay {
            simulations: 4,
            quick_simulations: 2,
            ..SelfPlay::default()
        };
        let finished = play_game(&judge, &settings, 1, &AtomicBool::new(false))
            .unwrap()
            .unwrap();
        let stored = StoredGame::new(4, 2, "abc", &finished);
        let back = StoredGame::from_bytes(&stored.to_bytes(), judge.size()).unwrap();
        assert_eq!(back.head, stored.head);
        assert_eq!(back.records, stored.records);
        assert!(!back.records.is_empty());
        let replayed = back.head.replay(judge.size(), finished.game.komi());
        assert_eq!(replayed.board().hash(), finished.game.board().hash());
        assert!(StoredGame::from_bytes(b"{}\n", judge.size()).is_err());
    }
}
