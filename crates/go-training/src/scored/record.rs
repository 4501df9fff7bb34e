//! A finished game as it lies in the log: a line of JSON, then the policies of the positions that were searched fully.

use fleet::SelfPlayTask;
use go::BoardSize;
use go_player::selfplay::Finished;
use serde::{Deserialize, Serialize};

/// Ends the line of JSON.
const END_OF_LINE: u8 = b'\n';
/// Chances are kept in steps of this.
const STEPS: f32 = 65535.0;

/// A game with the policies of its searches.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredGame {
    pub head: ScoredHead,
    /// For each of the head's turns: moves and chances. Passing comes after the last point.
    pub policies: Vec<Vec<(u16, f32)>>,
}

/// The game itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoredHead {
    pub number: u64,
    /// The round it was played in.
    pub round: u64,
    /// The network that played.
    pub network: String,
    /// The side of the board.
    pub size: usize,
    /// Points White got.
    pub komi: f32,
    /// The moves as GTP writes them.
    pub moves: Vec<String>,
    /// The result as SGF writes it.
    pub result: String,
    /// The moves played before each full search.
    pub turns: Vec<usize>,
}

impl ScoredGame {
    /// The form of a game that was just played.
    pub fn new(task: &SelfPlayTask<'_>, finished: &Finished) -> ScoredGame {
        let game = &finished.game;
        let policies = finished.steps.iter().map(|step| {
            let chances = (0..).zip(&step.probabilities);
            rounded(chances.map(|(index, &chance)| (index, chance)))
        });
        ScoredGame {
            head: ScoredHead {
                number: task.number,
                round: task.round,
                network: task.network.to_owned(),
                size: game.size().get(),
                komi: game.komi().points_for_white(),
                moves: game.moves().map(|(_, mv)| mv.to_string()).collect(),
                result: finished.result(),
                turns: finished.turns.clone(),
            },
            policies: policies.collect(),
        }
    }

    /// The board, if there is one of this size.
    pub fn size(&self) -> Result<BoardSize, String> {
        let side = self.head.size;
        BoardSize::new(side).ok_or_else(|| format!("there is no board of {side}x{side}"))
    }

    /// The bytes to log.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A struct of strings and numbers always has a JSON form.
        let mut bytes = serde_json::to_vec(&self.head).unwrap_or_default();
        bytes.push(END_OF_LINE);
        for policy in &self.policies {
            bytes.extend((policy.len() as u16).to_le_bytes());
            for &(index, chance) in policy {
                bytes.extend(index.to_le_bytes());
                bytes.extend(((chance * STEPS).round() as u16).to_le_bytes());
            }
        }
        bytes
    }

    /// The game of logged bytes; what is wrong with them otherwise.
    pub fn from_bytes(bytes: &[u8]) -> Result<ScoredGame, String> {
        let end = bytes
            .iter()
            .position(|&byte| byte == END_OF_LINE)
            .ok_or("no line of JSON")?;
        let head: ScoredHead =
            serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
        let (words, rest) = bytes[end + 1..].as_chunks::<2>();
        if !rest.is_empty() {
            return Err("half a number stands at its end".into());
        }
        let mut words = words.iter().map(|&word| u16::from_le_bytes(word));
        let mut next = || words.next().ok_or("its policies end too soon");
        let mut policies = Vec::with_capacity(head.turns.len());
        for _ in &head.turns {
            let mut policy = Vec::new();
            for _ in 0..next()? {
                policy.push((next()?, f32::from(next()?) / STEPS));
            }
            policies.push(policy);
        }
        if words.next().is_some() {
            return Err("something follows its policies".into());
        }
        Ok(ScoredGame { head, policies })
    }
}

/// The chances as they come back from the log; those that round to nothing are left out.
fn rounded(chances: impl Iterator<Item = (u16, f32)>) -> Vec<(u16, f32)> {
    let round = |chance: f32| (chance * STEPS).round() / STEPS;
    chances
        .map(|(index, chance)| (index, round(chance)))
        .filter(|&(_, chance)| chance > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> ScoredGame {
        ScoredGame {
            head: ScoredHead {
                number: 7,
                round: 2,
                network: "abc".into(),
                size: 5,
                komi: 6.5,
                moves: vec!["C3".into(), "pass".into(), "pass".into()],
                result: "B+18.5".into(),
                turns: vec![0, 2],
            },
            policies: vec![
                rounded([(12, 0.75), (6, 0.25), (3, 1e-7)].into_iter()),
                vec![(25, 1.0)],
            ],
        }
    }

    #[test]
    fn a_game_comes_back_from_its_bytes() {
        let game = game();
        assert_eq!(
            game.policies[0].len(),
            2,
            "what rounds to nothing is left out"
        );
        assert_eq!(ScoredGame::from_bytes(&game.to_bytes()).unwrap(), game);
    }

    #[test]
    fn damaged_bytes_are_told_apart() {
        let whole = game().to_bytes();
        let cut = |length: usize| ScoredGame::from_bytes(&whole[..length]).unwrap_err();
        assert_eq!(cut(10), "no line of JSON");
        assert_eq!(cut(whole.len() - 1), "half a number stands at its end");
        assert_eq!(cut(whole.len() - 2), "its policies end too soon");
        let longer = [&whole[..], &[0, 0]].concat();
        let error = ScoredGame::from_bytes(&longer).unwrap_err();
        assert_eq!(error, "something follows its policies");
    }
}
