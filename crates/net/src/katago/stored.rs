//! A KataGo network inside our compact format: every token of its file, and the floats in few bits.
//!
//! With 32 bits nothing is lost, so that the KataGo file comes back byte for byte. With fewer only weights are rounded, in
//! stretches with a scale of their own where they become integers; statistics, scales and biases are few and stay as they
//! are.

use super::model::{Decimal, KataNetwork};
use super::reader::KataDamage;
use super::tape::{self, Passed, Tape};
use crate::compact::{Precision, pack_row, unpack_row};
use crate::weights::Weights;

/// What the floats are called that are rounded.
const ROUNDED: &str = "weights";
/// Weights that share a scale.
const STRETCH: usize = 64;
const END_OF_TOKEN: u8 = b'\n';

impl KataNetwork {
    /// The network in our compact format, without magic and checksum.
    pub(crate) fn store(&self, precision: Precision, bytes: &mut Vec<u8>) {
        let mut store = Store { bytes, precision };
        // The walk fills in what is missing when it reads; when it writes, nothing changes.
        let mut network = self.clone();
        tape::network(&mut store, &mut network).expect("a network that was checked can be written");
    }

    /// The network in bytes of [`store`](Self::store); where it ends or what is wrong is said by the number of bytes read.
    pub(crate) fn restore(bytes: &[u8], precision: Precision) -> (Result<Self, KataDamage>, usize) {
        let mut restore = Restore {
            bytes,
            at: 0,
            precision,
            layer: "header".to_owned(),
        };
        let mut network = Self::default();
        let passed = tape::network(&mut restore, &mut network);
        (passed.map(|()| network), restore.at)
    }
}

fn precision_of(what: &str, precision: Precision) -> Precision {
    match what {
        ROUNDED => precision,
        _ => Precision::F32,
    }
}

struct Store<'a> {
    bytes: &'a mut Vec<u8>,
    precision: Precision,
}

impl Store<'_> {
    fn token(&mut self, token: &str) -> Passed {
        self.bytes.extend(token.as_bytes());
        self.bytes.push(END_OF_TOKEN);
        Ok(())
    }
}

impl Tape for Store<'_> {
    fn name(&mut self, name: &mut String) -> Passed {
        self.token(name)
    }

    fn word(&mut self, _what: &str, word: &mut String) -> Passed {
        self.token(word)
    }

    fn whole(&mut self, _what: &str, number: &mut usize) -> Passed {
        self.token(&number.to_string())
    }

    fn decimal(&mut self, _what: &str, number: &mut Decimal) -> Passed {
        self.token(&number.text)
    }

    fn floats(&mut self, what: &str, _len: usize, numbers: &mut Weights) -> Passed {
        let precision = precision_of(what, self.precision);
        for stretch in numbers.chunks(STRETCH) {
            pack_row(stretch, precision, self.bytes);
        }
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

struct Restore<'a> {
    bytes: &'a [u8],
    at: usize,
    precision: Precision,
    /// The last name that was read.
    layer: String,
}

impl Restore<'_> {
    fn token(&mut self, what: &str) -> Result<String, KataDamage> {
        let rest = &self.bytes[self.at..];
        let Some(len) = rest.iter().position(|&byte| byte == END_OF_TOKEN) else {
            return Err(self.wrong("the end of the file".into(), what.into()));
        };
        match std::str::from_utf8(&rest[..len]) {
            Ok(token) => {
                self.at += len + 1;
                Ok(token.to_owned())
            }
            Err(_) => Err(self.wrong("bytes that are not text".into(), what.into())),
        }
    }

    fn parsed<T: std::str::FromStr>(&mut self, what: &str) -> Result<(String, T), KataDamage> {
        let token = self.token(what)?;
        match token.parse() {
            Ok(parsed) => Ok((token, parsed)),
            Err(_) => Err(self.wrong(format!("`{}`", token.escape_debug()), what.into())),
        }
    }
}

impl Tape for Restore<'_> {
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
        (_, *number) = self.parsed(what)?;
        Ok(())
    }

    fn decimal(&mut self, what: &str, number: &mut Decimal) -> Passed {
        let (text, value) = self.parsed(what)?;
        *number = Decimal { text, value };
        Ok(())
    }

    fn floats(&mut self, what: &str, len: usize, numbers: &mut Weights) -> Passed {
        let precision = precision_of(what, self.precision);
        let mut read = Vec::new();
        while read.len() < len {
            let stretch = STRETCH.min(len - read.len());
            let taken = precision.row_bytes(stretch);
            let end = taken.map(|taken| self.at + taken);
            let Some(row) = end.and_then(|end| self.bytes.get(self.at..end)) else {
                let found = format!("the end of the file after {} {what}", read.len());
                return Err(self.wrong(found, len.to_string()));
            };
            unpack_row(row, precision, stretch, &mut read);
            self.at += row.len();
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
            layer: format!("`{}`", self.layer.escape_debug()),
            found,
            expected,
        }
    }
}
