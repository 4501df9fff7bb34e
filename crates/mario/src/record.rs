//! Game records as text: the board, each move with what else was considered, the end.
//!
//! One line a move: the chosen placement, then every explored placement with its weight,
//! `0 1 im 0 1 im 0.9 3 1 qu 0.25`. The last line is `end`, `stall` or `timeout`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::board::Board;
use crate::level::{LAST_LEVEL, board_only};
use crate::pill::{Pill, PillList};
use crate::rng::{FIRST_SEED, Rng};
use crate::text::{Placed, TextError};

/// How a record says its game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordEnd {
    /// Cleared or topped out; the board says which.
    End,
    Stall,
    /// The player ran out of time; such a game teaches nothing.
    Timeout,
}

impl RecordEnd {
    fn word(self) -> &'static str {
        match self {
            RecordEnd::End => "end",
            RecordEnd::Stall => "stall",
            RecordEnd::Timeout => "timeout",
        }
    }
}

/// One move of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordMove {
    /// What was played.
    pub chosen: Placed,
    /// Everything that was explored, with its weight.
    pub weights: Vec<(Placed, f64)>,
}

/// A whole game.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The board at the start.
    pub board: Board,
    /// The moves in order.
    pub moves: Vec<RecordMove>,
    pub end: RecordEnd,
}

/// Why a text is not a record or a game input.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RecordError {
    /// A damaged board, pill or coordinate.
    #[error("line {line}: {source}")]
    Text {
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        source: TextError,
    },
    /// A weight that is no number of zero or more.
    #[error("line {line}: {text:?} is no weight: expected a number of 0 or more")]
    Weight {
        /// Counted from 1.
        line: usize,
        /// What was found.
        text: String,
    },
    /// A line whose parts do not add up to placements and weights.
    #[error(
        "line {line}: expected `x y cc` and then groups of `x y cc weight`, found {words} words"
    )]
    Words {
        /// Counted from 1.
        line: usize,
        /// How many words it has.
        words: usize,
    },
    /// The last line is missing or is not the last.
    #[error("line {line}: expected {expected}")]
    Expected {
        /// Counted from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A pill that overlaps something when replayed.
    #[error("move {number}: {source}")]
    Place {
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        source: crate::place::PlaceError,
    },
}

impl FromStr for Record {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        let (line, first) = lines.next().ok_or(RecordError::Expected {
            line: 1,
            expected: "a board of 128 letters",
        })?;
        let board = first
            .parse()
            .map_err(|source| RecordError::Text { line, source })?;
        let mut moves = Vec::new();
        let mut last_line = line;
        for (line, text) in lines.by_ref() {
            last_line = line;
            let end = [RecordEnd::End, RecordEnd::Stall, RecordEnd::Timeout]
                .into_iter()
                .find(|end| end.word() == text);
            match end {
                None => moves.push(parse_move(line, text)?),
                Some(end) => {
                    return match lines.next() {
                        None => Ok(Self { board, moves, end }),
                        Some((line, _)) => Err(RecordError::Expected {
                            line,
                            expected: "nothing after the last line",
                        }),
                    };
                }
            }
        }
        Err(RecordError::Expected {
            line: last_line + 1,
            expected: "a last line: `end`, `stall` or `timeout`",
        })
    }
}

fn parse_move(line: usize, text: &str) -> Result<RecordMove, RecordError> {
    let words: Vec<&str> = text.split(' ').collect();
    if words.len() < 3 || !(words.len() - 3).is_multiple_of(4) {
        return Err(RecordError::Words {
            line,
            words: words.len(),
        });
    }
    let placed = |words: &[&str]| -> Result<Placed, RecordError> {
        words
            .join(" ")
            .parse()
            .map_err(|source| RecordError::Text { line, source })
    };
    let weights = words[3..]
        .chunks_exact(4)
        .map(|group| {
            let weight: f64 = group[3]
                .parse()
                .ok()
                .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)
                .ok_or_else(|| RecordError::Weight {
                    line,
                    text: group[3].to_owned(),
                })?;
            Ok((placed(&group[..3])?, weight))
        })
        .collect::<Result<_, RecordError>>()?;
    Ok(RecordMove {
        chosen: placed(&words[..3])?,
        weights,
    })
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.board)?;
        for RecordMove { chosen, weights } in &self.moves {
            write!(f, "{chosen}")?;
            for (placed, weight) in weights {
                // `{:?}` keeps the point in whole numbers, as the original's reader expects.
                write!(f, " {placed} {weight:?}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{}", self.end.word())
    }
}

impl Record {
    /// The board before each move and after the last one.
    pub fn boards(&self) -> Result<Vec<Board>, RecordError> {
        let mut board = self.board;
        let mut boards = vec![board];
        for (index, RecordMove { chosen, .. }) in self.moves.iter().enumerate() {
            board
                .place(chosen.content, chosen.x, chosen.y)
                .map_err(|source| RecordError::Place {
                    number: index + 1,
                    source,
                })?;
            boards.push(board);
        }
        Ok(boards)
    }
}

/// What a game starts from: a board and pills in full, or a level and a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct GameInput {
    pub board: Board,
    /// The pills in order.
    pub pills: PillList,
}

/// Pills in each game of the round-0 corpus.
const CORPUS_PILLS: usize = 256;

impl GameInput {
    /// A game of the round-0 corpus: viruses straight from `seed`, and pills whose colours are
    /// independent draws from the same stream of `seed`.
    pub fn corpus(seed: u16, level: u8) -> Self {
        let pills =
            PillList::independent(&mut Rng::new(seed), CORPUS_PILLS).expect("the corpus has pills");
        Self {
            board: board_only(seed, level),
            pills,
        }
    }

    /// The file name of game `number` of a level in the corpus.
    pub fn corpus_name(level: u8, number: u32) -> String {
        format!("lev-{level:02}-no-{number}.in")
    }
}

/// A board line and a colour pair a line, or a level line and a seed line.
impl FromStr for GameInput {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let lines: Vec<&str> = text.lines().collect();
        let number = |line: usize, largest: u16| -> Option<u16> {
            lines
                .get(line)?
                .parse()
                .ok()
                .filter(|&value| value <= largest)
        };
        if let Some(level) = number(0, u16::from(LAST_LEVEL)) {
            let seed = number(1, u16::MAX)
                .filter(|&seed| seed >= FIRST_SEED)
                .ok_or(RecordError::Expected {
                    line: 2,
                    expected: "a seed, 2..=65535",
                })?;
            return Ok(Self::corpus(seed, level as u8));
        }
        let [first, rest @ ..] = &lines[..] else {
            return Err(RecordError::Expected {
                line: 1,
                expected: "a board or a level 0..=24",
            });
        };
        let board = first
            .parse()
            .map_err(|source| RecordError::Text { line: 1, source })?;
        let pills: Vec<Pill> = rest
            .iter()
            .enumerate()
            .map(|(index, line)| {
                Pill::from_letters(line).map_err(|source| RecordError::Text {
                    line: index + 2,
                    source,
                })
            })
            .collect::<Result<_, _>>()?;
        let pills = PillList::new(&pills).ok_or(RecordError::Expected {
            line: 2,
            expected: "a colour pair, like `rb`",
        })?;
        Ok(Self { board, pills })
    }
}

impl fmt::Display for GameInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.board)?;
        for pill in self.pills.as_slice() {
            writeln!(f, "{}", pill.letters())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> String {
        let board = "d".repeat(120) + "addbdddd";
        format!("{board}\n0 1 im 0 1 im 0.9 3 1 im 0.1 3 1 qu 0.25\n3 1 rv 3 1 rv 1.0\nstall\n")
    }

    #[test]
    fn a_record_prints_as_it_was_read() {
        let record: Record = sample().parse().unwrap();
        assert_eq!(record.moves.len(), 2);
        assert_eq!(record.moves[0].weights[2].1, 0.25);
        assert_eq!(record.end, RecordEnd::Stall);
        assert_eq!(record.to_string(), sample());
        assert_eq!(record.boards().unwrap().len(), 3);
    }

    #[test]
    fn damage_is_named_by_line() {
        let good = sample();
        for (from, to, complaint) in [
            ("stall\n", "", "line 4: expected a last line"),
            ("stall\n", "stall\nmore\n", "line 5: expected nothing after"),
            ("0.25", "-1", "line 2: \"-1\" is no weight"),
            ("0.25", "nan", "line 2: \"nan\" is no weight"),
            (" 0.25", "", "line 2: expected `x y cc`"),
            ("3 1 rv 3", "9 1 rv 3", "line 3: \"9\" is no column"),
            ("addb", "addh", "line 1: letter 124"),
        ] {
            let error = good
                .replace(from, to)
                .parse::<Record>()
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
        let overlapping = good.replace("\n3 1 rv", "\n0 1 rv");
        let error = overlapping
            .parse::<Record>()
            .unwrap()
            .boards()
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("move 2: a pill at (0, 1)"), "{error}");
    }

    #[test]
    fn game_inputs_read_in_both_forms() {
        let full = GameInput::corpus(77, 5);
        assert_eq!(full.to_string().parse::<GameInput>(), Ok(full.clone()));
        assert_eq!("5\n77\n".parse::<GameInput>(), Ok(full));
        assert!("5\n1\n".parse::<GameInput>().is_err());
        assert!("".parse::<GameInput>().is_err());
        assert_eq!(GameInput::corpus_name(3, 12), "lev-03-no-12.in");
    }
}
