//! Reading and writing the weights file.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::lines::Text;
use super::number;
use super::{BOARD_SIZES, LeelaNetwork, LeelaShape, LeelaVersion, RowShape};
use crate::file::{LoadError, plain_text, read_unpacked, unreadable};

/// How the lines of a file end; official files use both kinds, and their names are hashes of every byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Lines end in carriage return and line feed.
    pub carriage_returns: bool,
    /// The last line has an end, too.
    pub final_newline: bool,
}

/// Lines of a network without blocks, and lines of a block.
const FIXED_LINES: usize = 19;
const BLOCK_LINES: usize = 8;
/// The longest piece of a bad file that an error repeats.
const QUOTE: usize = 24;

impl LeelaNetwork {
    /// Reads a weights file, plain or gzip, version 1 or 2, and verifies every number of it.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        match plain_text(file)? {
            Some(text) => Self::read(file, text),
            None => Self::parse(file, &read_unpacked(file)?),
        }
    }

    /// Reads the text of a weights file; `file` is only named in errors.
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, LoadError> {
        Self::read(file, Text::Memory(text))
    }

    pub(crate) fn read(file: &Path, text: Text<'_>) -> Result<Self, LoadError> {
        Reader { file, text }.network()
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

    /// How the lines of a weights file end, by its first line, which is short, and its last byte.
    pub(crate) fn of_network(text: Text<'_>) -> io::Result<Self> {
        const VERSION_LINE: usize = 3;
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let first = text.read(0..text.len().min(VERSION_LINE), &mut first)?;
        let last = text.read(text.len().saturating_sub(1)..text.len(), &mut last)?;
        Ok(Self {
            final_newline: last == b"\n",
            ..Self::of(first)
        })
    }
}

/// Reads one text.
struct Reader<'a> {
    /// Named in errors.
    file: &'a Path,
    text: Text<'a>,
}

impl Reader<'_> {
    fn network(&self) -> Result<LeelaNetwork, LoadError> {
        let lines = self
            .text
            .lines()
            .map_err(|reason| self.unreadable(reason))?;
        let Some(first) = lines.first() else {
            return Err(self.fail(1, "an empty file", "a Leela Zero network"));
        };
        let mut buffer = Vec::new();
        let first = self.text.read(first.clone(), &mut buffer);
        let version = match first
            .map_err(|reason| self.unreadable(reason))?
            .trim_ascii()
        {
            b"1" => LeelaVersion::V1,
            b"2" => LeelaVersion::V2,
            other => {
                let expected = "the version, 1 or 2, of a Leela Zero network";
                return Err(self.fail(1, quote(other), expected));
            }
        };
        let shape = self.shape(&lines)?;
        let rows: Vec<Result<Vec<f32>, LoadError>> = shape
            .rows()
            .into_par_iter()
            .zip(lines[1..].par_iter())
            .enumerate()
            .map(|(index, (row, line))| self.row(index + 2, line.clone(), &row))
            .collect();
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(LeelaNetwork::assemble(version, shape, rows))
    }

    /// Works out the shape from the number of lines and the lengths of the bias rows.
    fn shape(&self, lines: &[Range<usize>]) -> Result<LeelaShape, LoadError> {
        let count = lines.len();
        if count < FIXED_LINES || !(count - FIXED_LINES).is_multiple_of(BLOCK_LINES) {
            let found = if count == 1 {
                "a file of 1 line".to_owned()
            } else {
                format!("a file of {count} lines")
            };
            let expected =
                format!("{FIXED_LINES} lines and {BLOCK_LINES} more for each residual block");
            return Err(self.fail(count, found, expected));
        }
        let blocks = (count - FIXED_LINES) / BLOCK_LINES;
        let head = 5 + BLOCK_LINES * blocks;
        let numbers_on = |index: usize, what: &str| {
            let mut count = 0;
            let read = self.text.words(lines[index].clone(), |part| {
                count += tokens(part).count();
                true
            });
            read.map_err(|reason| self.unreadable(reason))?;
            match count {
                0 => Err(self.fail(index + 1, "an empty line", what)),
                count => Ok(count),
            }
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
                self.fail(head + 6, format!("{moves} numbers"), expected)
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

    fn row(&self, line: usize, part: Range<usize>, row: &RowShape) -> Result<Vec<f32>, LoadError> {
        // A file of one long line must not make us reserve by its promise: a number takes at least two bytes.
        let mut numbers = Vec::with_capacity(row.len.min(part.len() / 2 + 1));
        let variance = row.is_variance();
        let mut refused = None;
        let read = self.text.words(part, |words| {
            let read = number::parse_line(words, |number| {
                numbers.push(number);
                number.is_finite() && !(variance && number < 0.0)
            });
            if let Err(token) = read {
                let expected = match number::parse(token) {
                    None => "a number",
                    Some(number) if !number.is_finite() => "a finite number",
                    Some(_) => "a variance of 0 or more",
                };
                let expected = format!("{expected} ({})", row.what);
                refused = Some(self.fail(line, quote(token), expected));
            }
            refused.is_none()
        });
        read.map_err(|reason| self.unreadable(reason))?;
        match refused {
            Some(error) => Err(error),
            None if numbers.len() != row.len => {
                let expected = format!("{} ({})", row.len, row.what);
                Err(self.fail(line, format!("{} numbers", numbers.len()), expected))
            }
            None => Ok(numbers),
        }
    }

    fn fail(
        &self,
        line: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> LoadError {
        LoadError::Content {
            file: self.file.to_owned(),
            line,
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn unreadable(&self, reason: io::Error) -> LoadError {
        unreadable(self.file, reason)
    }
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
