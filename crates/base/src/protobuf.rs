//! Protocol buffers: the few kinds of fields that event files, TFRecords and ONNX models need.

/// A message in the making.
#[derive(Clone, Debug, Default)]
pub struct Message(Vec<u8>);

/// How a field is laid out on the wire.
mod wire {
    pub(super) const VARINT: u64 = 0;
    pub(super) const BITS_64: u64 = 1;
    pub(super) const LENGTH_DELIMITED: u64 = 2;
    pub(super) const BITS_32: u64 = 5;
}

impl Message {
    /// The bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds an integer field.
    pub fn number(&mut self, field: u64, value: u64) {
        self.key(field, wire::VARINT);
        put_varint(&mut self.0, value);
    }

    /// Adds a packed list of integers.
    pub fn numbers(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Vec::new();
        for value in values {
            put_varint(&mut packed, value);
        }
        self.blob(field, &packed);
    }

    /// Adds a 32-bit float.
    pub fn float(&mut self, field: u64, value: f32) {
        self.key(field, wire::BITS_32);
        self.0.extend(value.to_le_bytes());
    }

    /// Adds a 64-bit float.
    pub fn double(&mut self, field: u64, value: f64) {
        self.key(field, wire::BITS_64);
        self.0.extend(value.to_le_bytes());
    }

    /// Adds bytes.
    pub fn blob(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, wire::LENGTH_DELIMITED);
        put_varint(&mut self.0, bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Adds a string.
    pub fn text(&mut self, field: u64, text: &str) {
        self.blob(field, text.as_bytes());
    }

    /// Adds a message inside this one.
    pub fn message(&mut self, field: u64, message: &Message) {
        self.blob(field, &message.0);
    }

    fn key(&mut self, field: u64, wire_type: u64) {
        put_varint(&mut self.0, field << 3 | wire_type);
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads the fields of a message one after the other. Every method returns `None` where the bytes are not what was
/// asked for.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The fields of the message in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The content of the next field, which must be number `field` and bytes, a string or a message.
    pub fn blob(&mut self, field: u64) -> Option<&'a [u8]> {
        let mut rest = *self;
        if rest.varint()? != field << 3 | wire::LENGTH_DELIMITED {
            return None;
        }
        let length = usize::try_from(rest.varint()?).ok()?;
        let (content, rest) = rest.0.split_at_checked(length)?;
        self.0 = rest;
        Some(content)
    }

    /// The content of the only field, which must be number `field`.
    pub fn only(mut self, field: u64) -> Option<&'a [u8]> {
        let content = self.blob(field)?;
        self.is_empty().then_some(content)
    }

    /// All that is left, as a list of integers of field `field`, packed or one by one.
    pub fn numbers(mut self, field: u64) -> Option<Vec<u64>> {
        let mut values = Vec::new();
        while !self.is_empty() {
            if let Some(packed) = self.blob(field) {
                let mut packed = Self(packed);
                while !packed.is_empty() {
                    values.push(packed.varint()?);
                }
            } else {
                if self.varint()? != field << 3 | wire::VARINT {
                    return None;
                }
                values.push(self.varint()?);
            }
        }
        Some(values)
    }

    #[inline]
    fn varint(&mut self) -> Option<u64> {
        // Most numbers are small: a byte each.
        if let Some((&byte, rest)) = self.0.split_first()
            && byte < 0x80
        {
            self.0 = rest;
            return Some(u64::from(byte));
        }
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_laid_out_as_the_format_says() {
        let mut inner = Message::default();
        inner.numbers(1, [1, 300]);
        let mut message = Message::default();
        message.number(1, 150);
        message.text(2, "testing");
        message.message(3, &inner);
        message.float(4, 1.0);
        message.double(5, 1.0);
        // 150 and "testing" are the examples of the format's own description.
        let mut expected = vec![0x08, 0x96, 0x01, 0x12, 7];
        expected.extend(b"testing");
        expected.extend([0x1a, 5, 0x0a, 3, 1, 0xac, 2]);
        expected.extend([0x25, 0, 0, 0x80, 0x3f]);
        expected.extend([0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(message.bytes(), expected);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in proptest::collection::vec(any::<u64>(), 0..20), text in "[a-z]{0,300}") {
            let mut list = Message::default();
            list.numbers(1, values.iter().copied());
            let mut message = Message::default();
            message.text(7, &text);
            message.message(900, &list);
            let mut fields = Fields::new(message.bytes());
            prop_assert_eq!(fields.blob(8), None);
            prop_assert_eq!(fields.blob(7), Some(text.as_bytes()));
            let list = fields.only(900).unwrap();
            prop_assert_eq!(Fields::new(list).numbers(1), Some(values));
        }

        #[test]
        fn bytes_of_any_kind_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut fields = Fields::new(&bytes);
            while fields.blob(1).is_some() {}
            let _ = fields.numbers(1);
        }
    }
}
