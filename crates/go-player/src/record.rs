//! Training records: what a search found in a position, and who won in the end.
//!
//! Four forms, all Leela Zero's: the text chunk (`v1`), the binary chunk of its trainer (`v2`), the
//! resumable text of `save_training`, and the debug lines beside a chunk. The text forms are
//! written for any board size: cells go four to a hexadecimal digit, and the one cell that is left
//! over on odd boards is a digit of its own.

use std::fmt::Write as _;

use go::{BoardSize, Color};
use thiserror::Error;

use crate::planes::{BitPlanes, HISTORY, STONE_PLANES};

/// The version number in front of a binary record.
const V2_VERSION: i32 = 1;
/// Lines of a text record.
const V1_LINES: usize = STONE_PLANES + 3;
/// Planes in the text of `save_training`: the stones and two that tell the side to move.
const SAVED_PLANES: usize = STONE_PLANES + 2;
/// The first line of a debug file.
const DEBUG_VERSION: u32 = 2;

/// One searched position.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMove {
    /// The stones of eight positions, seen by the side to move.
    pub planes: BitPlanes,
    /// Who was to move.
    pub to_move: Color,
    /// The share of visits of each point and, last, of passing.
    pub probabilities: Vec<f32>,
    /// The network's winrate for the side to move.
    pub net_winrate: f32,
    /// The search's winrate for the side to move.
    pub root_winrate: f32,
    /// The winrate of the best move for the side to move.
    pub best_winrate: f32,
    /// The visits of the best move.
    pub best_visits: u32,
}

/// Why a record cannot be read.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The text ends inside a record.
    #[error("line {line}: the record is not complete: expected {V1_LINES} lines")]
    Truncated {
        /// The last line there is, from 1.
        line: usize,
    },
    /// A line is not what its place in the record asks for.
    #[error("line {line}: expected {expected}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A binary record is damaged.
    #[error("record {record}: expected {expected}")]
    Binary {
        /// The record, from 1.
        record: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A saved game is damaged.
    #[error("step {step}: expected {expected}")]
    Saved {
        /// The step, from 1.
        step: usize,
        /// What should stand there.
        expected: &'static str,
    },
}

/// A position of a chunk: a step without the search's own figures, and the result.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkRecord {
    /// The stones of eight positions, seen by the side to move.
    pub planes: BitPlanes,
    /// Who was to move.
    pub to_move: Color,
    /// The share of visits of each point and, last, of passing.
    pub probabilities: Vec<f32>,
    /// Whether the side to move won the game.
    pub won: bool,
}

impl RecordedMove {
    /// The step as a chunk holds it.
    pub fn with_result(&self, winner: Color) -> ChunkRecord {
        ChunkRecord {
            planes: self.planes.clone(),
            to_move: self.to_move,
            probabilities: self.probabilities.clone(),
            won: self.to_move == winner,
        }
    }
}

impl ChunkRecord {
    /// Appends the 19 lines of the text form.
    pub fn write_v1(&self, out: &mut String) {
        for plane in 0..STONE_PLANES {
            write_hex(&self.planes, plane, out);
            out.push('\n');
        }
        out.push(if self.to_move == Color::Black {
            '0'
        } else {
            '1'
        });
        out.push('\n');
        for (index, &probability) in self.probabilities.iter().enumerate() {
            if index > 0 {
                out.push(' ');
            }
            out.push_str(&general(f64::from(probability)));
        }
        out.push('\n');
        out.push_str(if self.won { "1\n" } else { "-1\n" });
    }

    /// Appends the binary form: 2176 bytes on a 19x19 board.
    pub fn write_v2(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&V2_VERSION.to_le_bytes());
        for probability in &self.probabilities {
            out.extend_from_slice(&probability.to_le_bytes());
        }
        let area = self.planes.size().area();
        let mut bytes = vec![0u8; (STONE_PLANES * area).div_ceil(8)];
        for plane in 0..STONE_PLANES {
            for cell in 0..area {
                if self.planes.get(plane, cell) {
                    let bit = plane * area + cell;
                    bytes[bit / 8] |= 0x80 >> (bit % 8);
                }
            }
        }
        out.extend_from_slice(&bytes);
        out.push(self.to_move.index() as u8);
        out.push(u8::from(self.won));
    }
}

/// A chunk in its text form.
pub fn write_chunk(records: impl IntoIterator<Item = ChunkRecord>) -> String {
    let mut text = String::new();
    for record in records {
        record.write_v1(&mut text);
    }
    text
}

/// Reads a chunk of either form.
pub fn read_chunk(bytes: &[u8], size: BoardSize) -> Result<Vec<ChunkRecord>, RecordError> {
    if bytes.starts_with(&V2_VERSION.to_le_bytes()) {
        return read_v2(bytes, size);
    }
    read_v1(&String::from_utf8_lossy(bytes), size)
}

fn read_v1(text: &str, size: BoardSize) -> Result<Vec<ChunkRecord>, RecordError> {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .chunks(V1_LINES)
        .enumerate()
        .map(|(index, lines)| read_v1_record(lines, index * V1_LINES + 1, size))
        .collect()
}

fn read_v1_record(
    lines: &[&str],
    first_line: usize,
    size: BoardSize,
) -> Result<ChunkRecord, RecordError> {
    let &[.., side, probabilities, result] = lines else {
        return Err(RecordError::Truncated { line: first_line });
    };
    if lines.len() != V1_LINES {
        let line = first_line + lines.len() - 1;
        return Err(RecordError::Truncated { line });
    }
    let wrong = |offset: usize, expected| RecordError::Line {
        line: first_line + offset,
        expected,
    };
    let mut planes = BitPlanes::new(size);
    for (plane, line) in lines[..STONE_PLANES].iter().enumerate() {
        read_hex(line, plane, &mut planes)
            .ok_or_else(|| wrong(plane, "a plane in hexadecimal digits"))?;
    }
    let to_move = match side.trim() {
        "0" => Color::Black,
        "1" => Color::White,
        _ => return Err(wrong(STONE_PLANES, "0 for Black or 1 for White")),
    };
    let expected = "one probability for each point and one for passing";
    let probabilities: Vec<f32> = probabilities
        .split_whitespace()
        .map(|word| word.parse::<f32>().ok().filter(|value| value.is_finite()))
        .collect::<Option<_>>()
        .filter(|values: &Vec<f32>| values.len() == size.area() + 1)
        .ok_or_else(|| wrong(STONE_PLANES + 1, expected))?;
    let won = match result.trim() {
        "1" => true,
        "-1" => false,
        _ => return Err(wrong(STONE_PLANES + 2, "1 or -1")),
    };
    Ok(ChunkRecord {
        planes,
        to_move,
        probabilities,
        won,
    })
}

fn read_v2(bytes: &[u8], size: BoardSize) -> Result<Vec<ChunkRecord>, RecordError> {
    let area = size.area();
    let planes_at = 4 + 4 * (area + 1);
    let side_at = planes_at + (STONE_PLANES * area).div_ceil(8);
    let length = side_at + 2;
    let mut records = Vec::with_capacity(bytes.len() / length);
    for (index, row) in bytes.chunks(length).enumerate() {
        let wrong = |expected| RecordError::Binary {
            record: index + 1,
            expected,
        };
        if row.len() != length {
            return Err(wrong("a whole record"));
        }
        if row[..4] != V2_VERSION.to_le_bytes() {
            return Err(wrong("version 1"));
        }
        let probabilities: Vec<f32> = row[4..planes_at]
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        if probabilities.iter().any(|value| !value.is_finite()) {
            return Err(wrong("finite probabilities"));
        }
        let mut planes = BitPlanes::new(size);
        for bit in 0..STONE_PLANES * area {
            if row[planes_at + bit / 8] & (0x80 >> (bit % 8)) != 0 {
                planes.set(bit / area, bit % area);
            }
        }
        let to_move = match row[side_at] {
            0 => Color::Black,
            1 => Color::White,
            _ => return Err(wrong("0 for Black or 1 for White")),
        };
        let won = match row[side_at + 1] {
            0 => false,
            1 => true,
            _ => return Err(wrong("0 for a loss or 1 for a win")),
        };
        records.push(ChunkRecord {
            planes,
            to_move,
            probabilities,
            won,
        });
    }
    Ok(records)
}

/// The text of `dump_debug`: how sure the network and the search were, step by step.
pub fn write_debug(steps: &[RecordedMove], resign_percent: i32, network: &str) -> String {
    let mut text = format!("{DEBUG_VERSION}\n{resign_percent} {network}\n");
    for step in steps {
        let _ = writeln!(
            text,
            "{} {} {} {}",
            general(f64::from(step.net_winrate)),
            general(f64::from(step.root_winrate)),
            general(f64::from(step.best_winrate)),
            step.best_visits
        );
    }
    text
}

/// The text of `save_training`: every figure of every step, to be read again by [`read_saved`].
pub fn write_saved(steps: &[RecordedMove]) -> String {
    let mut text = format!("{} ", steps.len());
    for step in steps {
        let area = step.planes.size().area();
        let _ = write!(text, "{SAVED_PLANES} ");
        for plane in 0..SAVED_PLANES {
            for cell in (0..area).rev() {
                let is_set = match plane.checked_sub(STONE_PLANES) {
                    None => step.planes.get(plane, cell),
                    Some(side) => step.to_move.index() == side,
                };
                text.push(if is_set { '1' } else { '0' });
            }
            text.push(' ');
        }
        let _ = write!(text, "{} ", step.probabilities.len());
        for &probability in &step.probabilities {
            text.push_str(&general(f64::from(probability)));
            text.push(' ');
        }
        let _ = writeln!(
            text,
            "{} {} {} {} {}",
            step.to_move.index(),
            general(f64::from(step.net_winrate)),
            general(f64::from(step.root_winrate)),
            general(f64::from(step.best_winrate)),
            step.best_visits
        );
    }
    text
}

/// Reads the text of [`write_saved`].
pub fn read_saved(text: &str, size: BoardSize) -> Result<Vec<RecordedMove>, RecordError> {
    let mut words = text.split_whitespace();
    let count: usize = number(words.next(), 0, "the number of steps")?;
    (1..=count)
        .map(|step| read_saved_step(&mut words, step, size))
        .collect()
}

fn read_saved_step<'a>(
    words: &mut impl Iterator<Item = &'a str>,
    step: usize,
    size: BoardSize,
) -> Result<RecordedMove, RecordError> {
    let area = size.area();
    let wrong = |expected| RecordError::Saved { step, expected };
    if number::<usize>(words.next(), step, "18 planes")? != SAVED_PLANES {
        return Err(wrong("18 planes"));
    }
    let mut planes = BitPlanes::new(size);
    for plane in 0..SAVED_PLANES {
        let expected = "a plane of zeros and ones, one for each point";
        let bits = words.next().ok_or_else(|| wrong(expected))?;
        if bits.len() != area || !bits.bytes().all(|bit| matches!(bit, b'0' | b'1')) {
            return Err(wrong(expected));
        }
        for (cell, bit) in bits.bytes().rev().enumerate() {
            if plane < STONE_PLANES && bit == b'1' {
                planes.set(plane, cell);
            }
        }
    }
    let expected = "one probability for each point and one for passing";
    if number::<usize>(words.next(), step, expected)? != area + 1 {
        return Err(wrong(expected));
    }
    let probabilities = (0..=area)
        .map(|_| number(words.next(), step, expected))
        .collect::<Result<_, _>>()?;
    let to_move = match words.next() {
        Some("0") => Color::Black,
        Some("1") => Color::White,
        _ => return Err(wrong("0 for Black or 1 for White")),
    };
    let expected = "three winrates and a number of visits";
    Ok(RecordedMove {
        planes,
        to_move,
        probabilities,
        net_winrate: number(words.next(), step, expected)?,
        root_winrate: number(words.next(), step, expected)?,
        best_winrate: number(words.next(), step, expected)?,
        best_visits: number(words.next(), step, expected)?,
    })
}

fn number<N: std::str::FromStr>(
    word: Option<&str>,
    step: usize,
    expected: &'static str,
) -> Result<N, RecordError> {
    word.and_then(|word| word.parse().ok())
        .ok_or(RecordError::Saved { step, expected })
}

fn write_hex(planes: &BitPlanes, plane: usize, out: &mut String) {
    let area = planes.size().area();
    let whole = area / 4 * 4;
    for first in (0..whole).step_by(4) {
        let digit = (first..first + 4).fold(0, |digit, cell| {
            digit << 1 | u32::from(planes.get(plane, cell))
        });
        out.extend(char::from_digit(digit, 16));
    }
    for cell in whole..area {
        out.push(if planes.get(plane, cell) { '1' } else { '0' });
    }
}

fn read_hex(line: &str, plane: usize, planes: &mut BitPlanes) -> Option<()> {
    let area = planes.size().area();
    let whole = area / 4;
    let line = line.trim();
    if line.len() != whole + area % 4 || !line.is_ascii() {
        return None;
    }
    for (index, character) in line.chars().enumerate() {
        if index < whole {
            let digit = character.to_digit(16)?;
            for bit in 0..4 {
                if digit & (8 >> bit) != 0 {
                    planes.set(plane, index * 4 + bit);
                }
            }
        } else {
            match character {
                '0' => {}
                '1' => planes.set(plane, whole * 4 + index - whole),
                _ => return None,
            }
        }
    }
    Some(())
}

/// A number with six significant digits, as C's `%g` prints it: what the trainers' readers know.
pub fn general(value: f64) -> String {
    const SIGNIFICANT: i32 = 6;
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{value:.*e}", SIGNIFICANT as usize - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..SIGNIFICANT).contains(&exponent) {
        let decimals = (SIGNIFICANT - 1 - exponent) as usize;
        trim_zeros(&format!("{value:.decimals$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
    }
}

fn trim_zeros(digits: &str) -> &str {
    if !digits.contains('.') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}

// The planes of a record are the eight positions of each side.
const _: () = assert!(STONE_PLANES == 2 * HISTORY);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(size: BoardSize, cells: &[(usize, usize)]) -> RecordedMove {
        let mut planes = BitPlanes::new(size);
        for &(plane, cell) in cells {
            planes.set(plane, cell);
        }
        let mut probabilities = vec![0.0; size.area() + 1];
        probabilities[3] = 0.2;
        probabilities[size.area()] = 0.8;
        RecordedMove {
            planes,
            to_move: Color::White,
            probabilities,
            net_winrate: 0.676592,
            root_winrate: 0.467652,
            best_winrate: 0.430553,
            best_visits: 1,
        }
    }

    #[test]
    fn numbers_print_as_c_prints_them() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.2, "0.2"),
            (0.333333333, "0.333333"),
            (0.000123456789, "0.000123457"),
            (0.00001234567, "1.23457e-05"),
            (123456.7, "123457"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (0.00009999999, "0.0001"),
            (-0.5, "-0.5"),
        ] {
            assert_eq!(general(value), expected);
        }
    }

    #[test]
    fn the_first_cell_of_four_is_the_high_bit_and_the_last_cell_stands_alone() {
        // Cell 111 (R6) alone sets digit 27 to 1; cell 360 (T19) is the 91st character.
        let record =
            step(BoardSize::NINETEEN, &[(8, 111), (0, 360), (1, 0)]).with_result(Color::Black);
        let mut text = String::new();
        record.write_v1(&mut text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), V1_LINES);
        assert!(lines[..STONE_PLANES].iter().all(|line| line.len() == 91));
        assert_eq!(lines[8].find('1'), Some(27));
        assert_eq!(lines[0].find('1'), Some(90));
        assert_eq!(lines[1].find('8'), Some(0));
        assert_eq!(lines[16], "1");
        assert!(lines[17].starts_with("0 0 0 0.2 0"));
        assert!(lines[17].ends_with(" 0.8"));
        assert_eq!(lines[18], "-1");
    }

    #[test]
    fn a_binary_record_has_2176_bytes() {
        let record = step(BoardSize::NINETEEN, &[(0, 0)]).with_result(Color::White);
        let mut bytes = Vec::new();
        record.write_v2(&mut bytes);
        assert_eq!(bytes.len(), 2176);
        assert_eq!(bytes[4 + 362 * 4], 0x80);
        assert_eq!(&bytes[2174..], &[1, 1]);
    }

    #[test]
    fn damaged_records_are_refused_with_their_line() {
        let size = BoardSize::NINE;
        let text = write_chunk([step(size, &[]).with_result(Color::Black)]);
        assert!(matches!(
            read_chunk(&text.as_bytes()[..text.len() - 3], size),
            Err(RecordError::Truncated { line: 18 })
        ));
        let bad_result = text.replace("-1\n", "2\n");
        assert_eq!(
            read_chunk(bad_result.as_bytes(), size),
            Err(RecordError::Line {
                line: 19,
                expected: "1 or -1"
            })
        );
        let bad_hex = text.replacen('0', "x", 1);
        assert!(matches!(
            read_chunk(bad_hex.as_bytes(), size),
            Err(RecordError::Line { line: 1, .. })
        ));
        assert!(read_saved("1 18 0", size).is_err());
        assert!(read_saved("", size).is_err());
    }

    fn any_step() -> impl Strategy<Value = RecordedMove> {
        (2usize..=25)
            .prop_flat_map(|side| {
                let area = side * side;
                (
                    Just(BoardSize::new(side).unwrap()),
                    prop::collection::vec((0..STONE_PLANES, 0..area), 0..40),
                    any::<bool>(),
                    0u32..1000,
                )
            })
            .prop_map(|(size, cells, black, visits)| {
                let mut step = step(size, &cells);
                step.to_move = if black { Color::Black } else { Color::White };
                step.best_visits = visits;
                step
            })
    }

    proptest! {
        #[test]
        fn every_form_reads_back_what_was_written(step in any_step(), black_won: bool) {
            let size = step.planes.size();
            let winner = if black_won { Color::Black } else { Color::White };
            let record = step.with_result(winner);
            let text = write_chunk([record.clone(), record.clone()]);
            prop_assert_eq!(read_chunk(text.as_bytes(), size).unwrap(), vec![record.clone(); 2]);
            let mut bytes = Vec::new();
            record.write_v2(&mut bytes);
            prop_assert_eq!(read_chunk(&bytes, size).unwrap(), vec![record]);
            let saved = write_saved(&[step.clone(), step.clone()]);
            prop_assert_eq!(read_saved(&saved, size).unwrap(), vec![step; 2]);
        }
    }
}
