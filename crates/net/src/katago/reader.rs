//! Reading a file as a stream, one token or block of floats at a time.

use std::io::{self, BufRead};

use thiserror::Error;

use super::model::{Decimal, KataNetwork};
use super::tape::{self, Passed, Tape};
use crate::weights::Weights;

/// Why bytes are not a KataGo network.
#[derive(Debug, Error)]
pub enum KataDamage {
    /// A layer does not say what it should.
    #[error("layer {layer}: found {found}, expected {expected}")]
    Layer {
        /// The layer's own name, or that of the last one before the damage.
        layer: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// The bytes could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

/// How binary floats start.
pub(super) const BINARY: &[u8; 5] = b"@BIN@";
/// White space that may stand before binary floats.
const MOST_SPACE: usize = 100;
const LONGEST_TOKEN: usize = 1024;
/// Floats that are read at a time.
const FLOATS_AT_ONCE: usize = 1 << 16;
/// Floats that room is made for before they are seen, so that a size that lies reserves little. Most layers have fewer, and
/// memory that never grows goes back to the system whole.
const FLOATS_RESERVED: usize = 1 << 20;
/// The longest piece of a bad file that an error repeats.
const QUOTE: usize = 24;

impl KataNetwork {
    /// Reads an unpacked stream to its end.
    pub fn read(stream: impl BufRead) -> Result<Self, KataDamage> {
        let mut reader = Reader {
            stream,
            layer: "header".into(),
            bytes: Vec::new(),
        };
        let mut network = Self::default();
        tape::network(&mut reader, &mut network)?;
        reader.end()?;
        Ok(network)
    }
}

struct Reader<R> {
    stream: R,
    /// The last name that was read.
    layer: String,
    /// Floats before they are numbers.
    bytes: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    fn peek(&mut self) -> Result<Option<u8>, KataDamage> {
        let ahead = self.stream.fill_buf();
        match ahead {
            Ok(bytes) => Ok(bytes.first().copied()),
            Err(reason) => Err(self.failed(reason)),
        }
    }

    /// A gzip stream that ends early or does not fit its checksum is damage, not a failure of the system.
    fn failed(&self, reason: io::Error) -> KataDamage {
        match reason.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData => self.wrong(
                format!("the end of what can be unpacked ({reason})"),
                "a whole gzip stream (fetch the file again)".into(),
            ),
            _ => KataDamage::Unreadable(reason),
        }
    }

    fn skip_space(&mut self, most: usize) -> Result<(), KataDamage> {
        for _ in 0..most {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.stream.consume(1),
                _ => return Ok(()),
            }
        }
        Err(self.wrong(
            format!("{most} bytes of white space"),
            "the next token".into(),
        ))
    }

    fn token(&mut self, what: &str) -> Result<String, KataDamage> {
        self.skip_space(LONGEST_TOKEN)?;
        let mut token = Vec::new();
        while let Some(byte) = self.peek()? {
            if byte.is_ascii_whitespace() {
                break;
            }
            token.push(byte);
            self.stream.consume(1);
            if token.len() > LONGEST_TOKEN {
                return Err(self.wrong("a token without end".into(), what.into()));
            }
        }
        if token.is_empty() {
            return Err(self.wrong("the end of the file".into(), what.into()));
        }
        match String::from_utf8(token) {
            Ok(token) => Ok(token),
            Err(token) => {
                let token = token.into_bytes();
                let short = &token[..token.len().min(QUOTE)];
                let found = format!("`{}`", short.escape_ascii());
                Err(self.wrong(found, what.into()))
            }
        }
    }

    fn read_binary(&mut self, what: &str, len: usize, numbers: &mut Vec<f32>) -> Passed {
        for &expected in BINARY {
            let found = self.peek()?;
            if found != Some(expected) {
                let found = found.map_or("the end of the file".into(), |byte| {
                    format!("byte `{}`", byte.escape_ascii())
                });
                return Err(self.wrong(found, format!("@BIN@ and {len} {what}")));
            }
            self.stream.consume(1);
        }
        let mut left = len;
        while left > 0 {
            let part = left.min(FLOATS_AT_ONCE);
            self.bytes.resize(part * size_of::<f32>(), 0);
            let mut got = 0;
            while got < self.bytes.len() {
                match self.stream.read(&mut self.bytes[got..]) {
                    Ok(0) => {
                        let floats = len - left + got / size_of::<f32>();
                        let found = format!("the end of the file after {floats} {what}");
                        return Err(self.wrong(found, len.to_string()));
                    }
                    Ok(more) => got += more,
                    Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                    Err(reason) => return Err(self.failed(reason)),
                }
            }
            let (floats, _) = self.bytes.as_chunks::<{ size_of::<f32>() }>();
            numbers.extend(floats.iter().map(|&bytes| f32::from_le_bytes(bytes)));
            left -= part;
        }
        Ok(())
    }

    fn end(&mut self) -> Passed {
        self.skip_space(LONGEST_TOKEN)?;
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.wrong("more bytes".into(), "the end of the file".into())),
        }
    }
}

impl<R: BufRead> Tape for Reader<R> {
    fn name(&mut self, name: &mut String) -> Passed {
        *name = self.token("a layer's name")?;
        self.layer.clone_from(name);
        Ok(())
    }

    fn word(&mut self, what: &str, word: &mut String) -> Passed {
        *word = self.token(what)?;
        Ok(())
    }

    fn whole(&mut self, what: &str, number: &mut usize) -> Passed {
        let token = self.token(what)?;
        match token.parse() {
            Ok(parsed) => {
                *number = parsed;
                Ok(())
            }
            Err(_) => Err(self.wrong(quote(&token), format!("{what}, a whole number"))),
        }
    }

    fn decimal(&mut self, what: &str, number: &mut Decimal) -> Passed {
        let token = self.token(what)?;
        match token.parse() {
            Ok(value) => {
                *number = Decimal { text: token, value };
                Ok(())
            }
            Err(_) => Err(self.wrong(quote(&token), format!("{what}, a decimal number"))),
        }
    }

    fn floats(&mut self, what: &str, len: usize, numbers: &mut Weights) -> Passed {
        let mut read = Vec::with_capacity(len.min(FLOATS_RESERVED));
        self.skip_space(MOST_SPACE)?;
        if self.peek()? == Some(BINARY[0]) {
            self.read_binary(what, len, &mut read)?;
        } else {
            for _ in 0..len {
                let token = self.token(what)?;
                match token.parse() {
                    Ok(number) => read.push(number),
                    Err(_) => {
                        let expected = format!("one of {len} {what}, a decimal number");
                        return Err(self.wrong(quote(&token), expected));
                    }
                }
            }
        }
        if let Some(number) = read.iter().find(|number| !number.is_finite()) {
            let found = format!("{number} among its {what}");
            return Err(self.wrong(found, "finite numbers".into()));
        }
        *numbers = read.into();
        Ok(())
    }

    fn wrong(&self, found: String, expected: String) -> KataDamage {
        KataDamage::Layer {
            layer: quote(&self.layer),
            found,
            expected,
        }
    }
}

fn quote(token: &str) -> String {
    if token.chars().count() <= 2 * QUOTE {
        return format!("`{}`", token.escape_debug());
    }
    let short: String = token.chars().take(QUOTE).collect();
    format!("`{}...`", short.escape_debug())
}
