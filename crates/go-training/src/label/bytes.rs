//! Numbers as little-endian bytes.

use go::Color;

/// Bytes that are not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(String);

impl Damaged {
    pub(super) fn new(what: impl Into<String>) -> Damaged {
        Damaged(what.into())
    }
}

pub(super) fn put_u16(to: &mut Vec<u8>, number: usize) {
    debug_assert!(u16::try_from(number).is_ok());
    to.extend((number as u16).to_le_bytes());
}

pub(super) fn put_u64(to: &mut Vec<u8>, number: u64) {
    to.extend(number.to_le_bytes());
}

pub(super) fn put_f32(to: &mut Vec<u8>, number: f32) {
    to.extend(number.to_le_bytes());
}

pub(super) fn put_text(to: &mut Vec<u8>, text: &str) {
    put_u16(to, text.len());
    to.extend(text.as_bytes());
}

/// Reads bytes from front to back.
pub(super) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor(bytes)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (found, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| Damaged::new("it ends too soon"))?;
        self.0 = rest;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Damaged> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Damaged> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Damaged> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number that is neither infinite nor NaN.
    pub(super) fn f32(&mut self) -> Result<f32, Damaged> {
        let number = self.array().map(f32::from_le_bytes)?;
        let is_number = number.is_finite();
        is_number
            .then_some(number)
            .ok_or_else(|| Damaged::new("a number in it is not finite"))
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Damaged> {
        let length = self.u16()?;
        std::str::from_utf8(self.bytes(length.into())?)
            .map_err(|error| Damaged::new(error.to_string()))
    }

    /// A 16-bit number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> Result<usize, Damaged> {
        let number = usize::from(self.u16()?);
        (number < bound)
            .then_some(number)
            .ok_or_else(|| Damaged::new(format!("{number} is not below {bound}")))
    }

    pub(super) fn color(&mut self) -> Result<Color, Damaged> {
        let color = Color::BOTH.get(usize::from(self.u8()?));
        color
            .copied()
            .ok_or_else(|| Damaged::new("there is no such colour"))
    }

    pub(super) fn end(&self) -> Result<(), Damaged> {
        self.0
            .is_empty()
            .then_some(())
            .ok_or_else(|| Damaged::new("something follows its end"))
    }
}
