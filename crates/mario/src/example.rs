//! Training examples: `[board, pill, won, cleared, duration, moves]`, as JSON.
//!
//! `moves` is four arrays, one for each number of clockwise turns, of x, y, p triples run
//! together. A double pill is written under a turn and its half turn with half the weight each.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use thiserror::Error;

use crate::board::{Board, HEIGHT, WIDTH};
use crate::cell::Color;
use crate::pill::{Pill, Placement};
use crate::record::{Record, RecordEnd, RecordError};
use crate::symmetry::COLOR_PERMUTATIONS;
use crate::text::TextError;

/// What a stalled game counts as. The design's prose calls it won, its program lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StallCounts {
    /// `won` is -1.
    #[default]
    AsLost,
    /// `won` is 1.
    AsWon,
}

/// One position and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The board before the pill.
    pub board: Board,
    /// The pill to place.
    pub pill: Pill,
    /// 1 if the game was won from here, -1 if not.
    pub won: i8,
    /// Viruses cleared from here to the end.
    pub cleared: u32,
    /// Pills placed from here to the end, this one included.
    pub duration: u32,
    /// The chance of each placement; they sum to 1.
    pub moves: BTreeMap<Placement, f64>,
}

/// Why a JSON value is not an example.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExampleError {
    /// Not JSON at all.
    #[error("not JSON: {0}")]
    Json(String),
    /// A part is missing or of the wrong kind.
    #[error("example {number}: {what}")]
    Shape {
        /// Counted from 1.
        number: usize,
        /// What was expected.
        what: &'static str,
    },
    /// A damaged board or pill.
    #[error("example {number}: {source}")]
    Text {
        /// Counted from 1.
        number: usize,
        source: TextError,
    },
}

impl Example {
    /// The examples of a record, one a move; none from a game that timed out.
    pub fn of_record(record: &Record, stall: StallCounts) -> Result<Vec<Self>, RecordError> {
        if record.end == RecordEnd::Timeout {
            return Ok(Vec::new());
        }
        let boards = record.boards()?;
        let last = boards[boards.len() - 1];
        let won = match record.end {
            RecordEnd::Stall => stall == StallCounts::AsWon,
            _ => last.viruses_left() == 0,
        };
        let examples = record.moves.iter().enumerate().map(|(index, played)| {
            let board = boards[index];
            let pill = played.chosen.content.pill();
            Self {
                board,
                pill,
                won: if won { 1 } else { -1 },
                cleared: board.viruses_left() - last.viruses_left(),
                duration: (record.moves.len() - index) as u32,
                moves: chances(
                    pill,
                    played.weights.iter().filter_map(|&(placed, weight)| {
                        let turns = placed.content.turns_of(pill)?;
                        Some((Placement::new(turns, placed.x, placed.y), weight))
                    }),
                ),
            }
        });
        Ok(examples.collect())
    }

    /// The 12 (double pill) or 24 equivalent examples of each given one, in the order of the
    /// original's file: colours outermost, then example, pill mirror, board mirror.
    pub fn augmented(examples: &[Self]) -> Vec<Self> {
        let mut all = Vec::new();
        for permutation in COLOR_PERMUTATIONS {
            for example in examples {
                let example = example.recolored(permutation);
                all.push(example.clone());
                all.push(example.mirrored());
                if !example.pill.is_double() {
                    let swapped = example.with_pill_swapped();
                    all.push(swapped.clone());
                    all.push(swapped.mirrored());
                }
            }
        }
        all
    }

    /// The same with colours renamed.
    pub fn recolored(&self, to: [Color; 3]) -> Self {
        Self {
            board: self.board.recolored(to),
            pill: self.pill.recolored(to),
            ..self.clone()
        }
    }

    /// The same with the pill's halves exchanged.
    pub fn with_pill_swapped(&self) -> Self {
        Self {
            pill: self.pill.swapped(),
            moves: self
                .moves
                .iter()
                .map(|(at, &p)| (at.for_swapped_pill(), p))
                .collect(),
            ..self.clone()
        }
    }

    /// The same in the mirror; the pill is launched as before.
    pub fn mirrored(&self) -> Self {
        Self {
            board: self.board.mirrored(),
            moves: self
                .moves
                .iter()
                .map(|(at, &p)| (at.mirrored(), p))
                .collect(),
            ..self.clone()
        }
    }

    /// The example as a JSON array.
    pub fn to_json(&self) -> Value {
        let mut moves: [Vec<Value>; 4] = Default::default();
        for (placement, &chance) in &self.moves {
            moves[usize::from(placement.turns)].extend([
                json!(placement.x),
                json!(placement.y),
                json!(chance),
            ]);
        }
        json!([
            self.board.to_string(),
            self.pill.to_string(),
            self.won,
            self.cleared,
            self.duration,
            moves
        ])
    }

    /// The example of a JSON array; `number` is used in complaints.
    pub fn from_json(value: &Value, number: usize) -> Result<Self, ExampleError> {
        let shape = |what| ExampleError::Shape { number, what };
        let text = |source| ExampleError::Text { number, source };
        let parts = value.as_array().map(Vec::as_slice);
        let Some([board, pill, won, cleared, duration, moves]) = parts else {
            return Err(shape(
                "expected [board, pill, won, cleared, duration, moves]",
            ));
        };
        let won = match won.as_f64() {
            Some(1.0) => 1,
            Some(-1.0) => -1,
            _ => return Err(shape("won must be 1 or -1")),
        };
        let whole = |value: &Value| {
            value.as_u64().or_else(|| {
                let whole = value.as_f64().filter(|v| *v >= 0.0 && v.fract() == 0.0)?;
                Some(whole as u64)
            })
        };
        let count = |value: &Value, what| {
            whole(value)
                .and_then(|v| u32::try_from(v).ok())
                .ok_or_else(|| shape(what))
        };
        Ok(Self {
            board: board
                .as_str()
                .ok_or_else(|| shape("the board must be a string"))?
                .parse()
                .map_err(text)?,
            pill: pill
                .as_str()
                .ok_or_else(|| shape("the pill must be a string"))?
                .parse()
                .map_err(text)?,
            won,
            cleared: count(cleared, "cleared must be a whole number of 0 or more")?,
            duration: count(duration, "duration must be a whole number of 0 or more")?,
            moves: moves_from_json(moves).ok_or_else(|| {
                shape("moves must be four arrays of x, y, p triples with 0 <= p <= 1")
            })?,
        })
    }

    /// Reads a file's worth: a JSON array of examples.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ExampleError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ExampleError::Json(error.to_string()))?;
        let values = value.as_array().ok_or(ExampleError::Shape {
            number: 1,
            what: "expected an array of examples",
        })?;
        values
            .iter()
            .enumerate()
            .map(|(index, value)| Self::from_json(value, index + 1))
            .collect()
    }
}

/// Weights made into chances that sum to 1, doubles split over both half turns. When all the
/// weights are zero, every placement is as likely as the next.
pub fn chances(
    pill: Pill,
    weights: impl Iterator<Item = (Placement, f64)>,
) -> BTreeMap<Placement, f64> {
    let weights: Vec<(Placement, f64)> = weights.collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut chances = BTreeMap::new();
    for &(placement, weight) in &weights {
        let chance = if total > 0.0 {
            weight / total
        } else {
            1.0 / weights.len() as f64
        };
        if pill.is_double() {
            for turns in [placement.turns & 1, placement.turns & 1 | 2] {
                *chances
                    .entry(Placement { turns, ..placement })
                    .or_insert(0.0) += chance / 2.0;
            }
        } else {
            *chances.entry(placement).or_insert(0.0) += chance;
        }
    }
    chances
}

fn moves_from_json(value: &Value) -> Option<BTreeMap<Placement, f64>> {
    let arrays = value.as_array().filter(|arrays| arrays.len() == 4)?;
    let mut moves = BTreeMap::new();
    for (turns, array) in arrays.iter().enumerate() {
        let numbers: Vec<f64> = array
            .as_array()?
            .iter()
            .map(Value::as_f64)
            .collect::<Option<_>>()?;
        if !numbers.len().is_multiple_of(3) {
            return None;
        }
        for triple in numbers.chunks_exact(3) {
            let [x, y, chance] = *triple else { return None };
            let inside = |value: f64, size: u8| {
                value.fract() == 0.0 && (0.0..f64::from(size)).contains(&value)
            };
            if !inside(x, WIDTH) || !inside(y, HEIGHT) || !(0.0..=1.0).contains(&chance) {
                return None;
            }
            moves.insert(Placement::new(turns as u8, x as u8, y as u8), chance);
        }
    }
    Some(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The design document's own array of moves.
    #[test]
    fn the_published_sparse_moves_read_and_print() {
        let board = "d".repeat(120) + "addbdddd";
        let text = format!(r#"[["{board}","qv",1,2,4,[[3,5,0.5],[6,7,0.2,2,4,0.3],[],[]]]]"#);
        let examples = Example::read_all(&text).unwrap();
        assert_eq!(examples[0].moves[&Placement::new(1, 2, 4)], 0.3);
        let again = Example::from_json(&examples[0].to_json(), 1).unwrap();
        assert_eq!(again, examples[0]);
    }

    /// The worked example: weights 0.9, 0.1, 0.25 of a double pill.
    #[test]
    fn a_double_pill_is_split_over_both_half_turns() {
        let pill = Pill::new(Color::Red, Color::Red);
        let weights = [
            (Placement::new(1, 0, 1), 0.9),
            (Placement::new(1, 3, 1), 0.1),
            (Placement::new(0, 3, 1), 0.25),
        ];
        let chances = chances(pill, weights.into_iter());
        let expected = [(0, 3, 0.1), (1, 0, 0.36), (1, 3, 0.04)];
        assert_eq!(chances.len(), 6);
        for (turns, x, chance) in expected {
            for half in [0, 2] {
                let found = chances[&Placement::new(turns + half, x, 1)];
                assert!((found - chance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn damaged_examples_are_refused_with_a_reason() {
        let board = "d".repeat(128);
        for (text, complaint) in [
            ("[".to_owned(), "not JSON"),
            ("{}".to_owned(), "example 1: expected an array"),
            ("[[1]]".to_owned(), "example 1: expected [board"),
            (
                format!(r#"[["{board}","im",1,0,1,[[],[],[],[]]]]"#),
                "example 1: \"im\" is an upright",
            ),
            (
                format!(r#"[["{board}","qv",0,0,1,[[],[],[],[]]]]"#),
                "example 1: won",
            ),
            (
                format!(r#"[["{board}","qv",1,-1,1,[[],[],[],[]]]]"#),
                "example 1: cleared",
            ),
            (
                format!(r#"[["{board}","qv",1,0,1,[[],[],[8,0,1],[]]]]"#),
                "example 1: moves",
            ),
            (
                format!(r#"[["{board}","qv",1,0,1,[[0,0],[],[],[]]]]"#),
                "example 1: moves",
            ),
            (
                format!(r#"[["{board}","qv",1,0,1,[[],[],[]]]]"#),
                "example 1: moves",
            ),
        ] {
            let error = Example::read_all(&text).unwrap_err().to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
    }
}
