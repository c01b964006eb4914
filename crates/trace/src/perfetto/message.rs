//! Protocol buffers on the wire: the three forms of field that a trace needs.
//!
//! Source: protobuf.dev/programming-guides/encoding.

const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;

/// A message under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    octets: Vec<u8>,
}

impl Message {
    /// Adds a whole number.
    pub(super) fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Adds a text.
    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.delimited(field, text.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(self, field: u64, message: &Self) -> Self {
        self.delimited(field, &message.octets)
    }

    /// What has been added, as octets.
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets
    }

    fn delimited(mut self, field: u64, octets: &[u8]) -> Self {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(octets.len() as u64);
        self.octets.extend(octets);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.octets.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.octets.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    /// The examples of protobuf.dev/programming-guides/encoding.
    #[test]
    fn fields_are_encoded_as_the_specification_shows() {
        let inner = Message::default().number(1, 150);
        assert_eq!(inner.octets(), [0x08, 0x96, 0x01]);
        assert_eq!(
            Message::default().text(2, "testing").octets(),
            [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        assert_eq!(
            Message::default().message(3, &inner).octets(),
            [0x1a, 0x03, 0x08, 0x96, 0x01]
        );
    }
}
