//! Writing a file, one token a line.

use std::io::Write;

use super::model::{Decimal, KataNetwork};
use super::reader::{BINARY, KataDamage};
use super::tape::{self, Passed, Tape};
use crate::weights::Weights;

/// How floats are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FloatStyle {
    /// As raw bytes: files that end in `.bin` or `.bin.gz`.
    #[default]
    Binary,
    /// As decimals with as many digits as it takes to read them back: `.txt` or `.txt.gz`.
    Text,
}

impl KataNetwork {
    /// The unpacked bytes of its file. A file that was written by KataGo's own tools comes back byte for byte.
    pub fn to_bytes(&self, style: FloatStyle) -> Vec<u8> {
        let mut writer = Writer {
            bytes: Vec::new(),
            style,
        };
        // The walk fills in what is missing when it reads; when it writes, nothing changes.
        let mut network = self.clone();
        tape::network(&mut writer, &mut network)
            .expect("a network that was checked can be written");
        writer.bytes.push(b'\n');
        // Binary floats end in a newline of their own.
        if style == FloatStyle::Binary {
            writer.bytes.pop();
        }
        writer.bytes
    }
}

struct Writer {
    bytes: Vec<u8>,
    style: FloatStyle,
}

impl Writer {
    fn line(&mut self, token: &str) -> Passed {
        self.bytes.extend(token.as_bytes());
        self.bytes.push(b'\n');
        Ok(())
    }
}

impl Tape for Writer {
    fn name(&mut self, name: &mut String) -> Passed {
        self.line(name)
    }

    fn word(&mut self, _what: &str, word: &mut String) -> Passed {
        self.line(word)
    }

    fn whole(&mut self, _what: &str, number: &mut usize) -> Passed {
        self.line(&number.to_string())
    }

    fn decimal(&mut self, _what: &str, number: &mut Decimal) -> Passed {
        self.line(&number.text)
    }

    fn floats(&mut self, _what: &str, _len: usize, numbers: &mut Weights) -> Passed {
        match self.style {
            FloatStyle::Binary => {
                self.bytes.extend(BINARY);
                self.bytes
                    .extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            FloatStyle::Text => {
                for (index, number) in numbers.iter().enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    write!(self.bytes, "{space}{number}").expect("writing to memory does not fail");
                }
            }
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    fn wrong(&self, found: String, expected: String) -> KataDamage {
        KataDamage::Layer {
            layer: String::new(),
            found,
            expected,
        }
    }
}
