//! Protocol buffers, written by hand: the few kinds of fields that event files and ONNX models need.

/// A message in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// The bytes so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A whole number.
    pub(crate) fn number(&mut self, field: u64, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    /// A 32-bit float.
    pub(crate) fn float(&mut self, field: u64, value: f32) {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
    }

    /// A 64-bit float.
    pub(crate) fn double(&mut self, field: u64, value: f64) {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    /// Bytes of any meaning.
    pub(crate) fn blob(&mut self, field: u64, bytes: &[u8]) {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// A text.
    pub(crate) fn text(&mut self, field: u64, text: &str) {
        self.blob(field, text.as_bytes());
    }

    /// A message inside the message.
    pub(crate) fn message(&mut self, field: u64, message: &Message) {
        self.blob(field, &message.0);
    }

    fn key(&mut self, field: u64, wire_type: u64) {
        self.varint(field << 3 | wire_type);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
