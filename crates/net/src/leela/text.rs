//! Reading and writing the weights file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::number;
use super::{BOARD_SIZES, LeelaNetwork, LeelaShape, LeelaVersion, RowShape};
use crate::compact::Damage;
use crate::kernels::memory::Bytes;

/// Why a weights file was not loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file system said no.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The bytes are not a network.
    #[error("{}, line {line}: found {found}, expected {expected}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// Counted from 1, the version line included.
        line: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A file in the compact format is damaged.
    #[error("{}, {damage}", file.display())]
    Compact {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        damage: Damage,
    },
}

/// How the lines of a file end; official files use both kinds, and their names are hashes of every byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Lines end in carriage return and line feed.
    pub carriage_returns: bool,
    /// The last line has an end, too.
    pub final_newline: bool,
}

/// The first bytes of a gzip stream and of a zip archive.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";
/// Lines of a network without blocks, and lines of a block.
const FIXED_LINES: usize = 19;
const BLOCK_LINES: usize = 8;
/// The longest piece of a bad file that an error repeats.
const QUOTE: usize = 24;

impl LeelaNetwork {
    /// Reads a weights file, plain or gzip, version 1 or 2, and verifies every number of it.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        Self::parse(file, &read_text(file)?)
    }

    /// Reads the text of a weights file; `file` is only named in errors.
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, LoadError> {
        let lines = split_lines(text);
        let fail = |line: usize, found: String, expected: &str| LoadError::Content {
            file: file.to_owned(),
            line,
            found,
            expected: expected.to_owned(),
        };
        let version = match lines.first().map(|line| line.trim_ascii()) {
            Some(b"1") => LeelaVersion::V1,
            Some(b"2") => LeelaVersion::V2,
            Some(other) => {
                return Err(fail(
                    1,
                    quote(other),
                    "the version, 1 or 2, of a Leela Zero network",
                ));
            }
            None => return Err(fail(1, "an empty file".into(), "a Leela Zero network")),
        };
        let shape =
            read_shape(&lines).map_err(|(line, found, expected)| fail(line, found, &expected))?;
        let rows: Result<Vec<Vec<f32>>, _> = shape
            .rows()
            .into_par_iter()
            .zip(lines[1..].par_iter())
            .enumerate()
            .map(|(index, (row, line))| {
                read_row(line, &row).map_err(|(found, expected)| (index + 2, found, expected))
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        let rows = rows.map_err(|(line, found, expected)| fail(line, found, &expected))?;
        Ok(Self::assemble(version, shape, rows))
    }

    /// The file's text with numbers as the official networks spell them: six significant digits.
    pub fn to_text(&self, style: TextStyle) -> Vec<u8> {
        self.text_with(style, number::write_official)
    }

    /// The file's text with as many digits as it takes to read back the same network, bit for bit.
    pub fn to_exact_text(&self, style: TextStyle) -> Vec<u8> {
        self.text_with(style, |number, text| {
            write!(text, "{number}").expect("writing to memory does not fail");
        })
    }

    fn text_with(&self, style: TextStyle, spell: impl Fn(f32, &mut Vec<u8>) + Sync) -> Vec<u8> {
        let line_end: &[u8] = if style.carriage_returns {
            b"\r\n"
        } else {
            b"\n"
        };
        let spelled: Vec<Vec<u8>> = self
            .rows()
            .into_par_iter()
            .map(|row| {
                let mut line = Vec::with_capacity(row.len() * 11);
                for (index, &number) in row.iter().enumerate() {
                    if index > 0 {
                        line.push(b' ');
                    }
                    spell(number, &mut line);
                }
                line
            })
            .collect();
        let total: usize = spelled.iter().map(|line| line.len() + line_end.len()).sum();
        let mut text = Vec::with_capacity(total + 4);
        text.extend(self.version.number().to_string().into_bytes());
        for line in spelled {
            text.extend(line_end);
            text.extend(line);
        }
        if style.final_newline {
            text.extend(line_end);
        }
        text
    }
}

impl TextStyle {
    /// How the lines of `text` end.
    pub fn of(text: &[u8]) -> Self {
        let first_end = text.iter().position(|&byte| byte == b'\n');
        Self {
            carriage_returns: first_end.is_some_and(|end| end > 0 && text[end - 1] == b'\r'),
            final_newline: text.ends_with(b"\n"),
        }
    }
}

/// The SHA-256 of an uncompressed file, in hexadecimal: the name of an official network.
pub fn sha256_of_text(text: &[u8]) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The bytes of a file, unpacked if it is gzip.
pub(crate) fn read_text(file: &Path) -> Result<Bytes, LoadError> {
    let unreadable = |reason| LoadError::Unreadable {
        file: file.to_owned(),
        reason,
    };
    let bytes = Bytes::read(file).map_err(unreadable)?;
    if bytes.starts_with(&ZIP_MAGIC) {
        return Err(LoadError::Content {
            file: file.to_owned(),
            line: 1,
            found: "a zip archive".into(),
            expected: "text or gzip (unpack the archive first)".into(),
        });
    }
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(bytes);
    }
    // Weights compress to about 40 %: reserving thrice the size avoids most copies.
    let mut text = Vec::with_capacity(bytes.len() * 3);
    match MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text) {
        Ok(_) => Ok(Bytes::Unpacked(text)),
        Err(reason) => Err(LoadError::Content {
            file: file.to_owned(),
            line: text.iter().filter(|&&byte| byte == b'\n').count() + 1,
            found: format!("the end of what can be unpacked ({reason})"),
            expected: "a whole gzip stream (fetch the file again)".into(),
        }),
    }
}

/// The lines, found by all cores.
fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    /// Bytes a core looks through at a time, and at once.
    const PIECE: usize = 4 << 20;
    const GLANCE: usize = 4 << 10;
    if text.is_empty() {
        return Vec::new();
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let glances = text.par_chunks(GLANCE).with_min_len(PIECE / GLANCE);
    // Most lines are long: to know that a stretch has no end of a line is much faster than to look for one.
    let ends = glances.enumerate().flat_map_iter(|(index, stretch)| {
        let looked_through = if stretch.contains(&b'\n') {
            stretch
        } else {
            &[]
        };
        let ends = looked_through.iter().enumerate();
        ends.filter(|(_, byte)| **byte == b'\n')
            .map(move |(at, _)| index * GLANCE + at)
    });
    let ends: Vec<usize> = ends.collect();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let ends = ends.iter().copied().chain([text.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &text[start..end])
        .collect()
}

type Mismatch = (usize, String, String);

/// Works out the shape from the number of lines and the lengths of the bias rows.
fn read_shape(lines: &[&[u8]]) -> Result<LeelaShape, Mismatch> {
    let count = lines.len();
    if count < FIXED_LINES || !(count - FIXED_LINES).is_multiple_of(BLOCK_LINES) {
        let found = if count == 1 {
            "a file of 1 line".to_owned()
        } else {
            format!("a file of {count} lines")
        };
        return Err((
            count,
            found,
            format!("{FIXED_LINES} lines and {BLOCK_LINES} more for each residual block"),
        ));
    }
    let blocks = (count - FIXED_LINES) / BLOCK_LINES;
    let head = 5 + BLOCK_LINES * blocks;
    let numbers_on = |index: usize, what: &str| match tokens(lines[index]).count() {
        0 => Err((index + 1, "an empty line".to_owned(), what.to_owned())),
        count => Ok(count),
    };
    let moves = numbers_on(head + 5, "the policy dense layer bias")?;
    let size = BOARD_SIZES
        .into_iter()
        .find(|size| size * size + 1 == moves)
        .ok_or_else(|| {
            let (least, most) = BOARD_SIZES.into_inner();
            let expected = format!(
                "size x size + 1 (policy dense layer bias) for a board size of {least} to {most}"
            );
            (head + 6, format!("{moves} numbers"), expected)
        })?;
    Ok(LeelaShape {
        size,
        blocks,
        filters: numbers_on(2, "the input convolution bias")?,
        policy_planes: numbers_on(head + 1, "the policy convolution bias")?,
        value_planes: numbers_on(head + 7, "the value convolution bias")?,
        value_hidden: numbers_on(head + 11, "the value hidden layer bias")?,
    })
}

fn read_row(line: &[u8], row: &RowShape) -> Result<Vec<f32>, (String, String)> {
    // A file of one long line must not make us reserve by its promise: a number takes at least two bytes.
    let mut numbers = Vec::with_capacity(row.len.min(line.len() / 2 + 1));
    let variance = row.is_variance();
    let read = number::parse_line(line, |number| {
        numbers.push(number);
        number.is_finite() && !(variance && number < 0.0)
    });
    if let Err(token) = read {
        let expected = match number::parse(token) {
            None => "a number",
            Some(number) if !number.is_finite() => "a finite number",
            Some(_) => "a variance of 0 or more",
        };
        return Err((quote(token), format!("{expected} ({})", row.what)));
    }
    if numbers.len() != row.len {
        return Err((
            format!("{} numbers", numbers.len()),
            format!("{} ({})", row.len, row.what),
        ));
    }
    Ok(numbers)
}

fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace())
        .filter(|token| !token.is_empty())
}

fn quote(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(QUOTE)];
    let dots = if bytes.len() > QUOTE { "..." } else { "" };
    format!("`{}{dots}`", short.escape_ascii())
}
