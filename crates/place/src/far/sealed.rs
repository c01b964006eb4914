//! Encryption of the connection to a far machine: bytes in messages of the Noise Protocol Framework. Nobody on the path can read, change, drop,
//! repeat or add messages unnoticed.
//!
//! ```text
//! 0        2         2 + octets
//! octets | payload, encrypted under the message's number, and its tag
//! ```

use super::socket::Patient;
use snow::StatelessTransportState;
use std::io::{self, Error, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Keys of both directions.
pub(super) type Keys = Arc<StatelessTransportState>;

/// Largest size of a message.
pub(super) const LARGEST_MESSAGE: usize = u16::MAX as usize;
/// Bytes of the tag after a payload.
const TAG: usize = 16;

/// Sends messages, each after its length.
#[derive(Debug)]
pub(super) struct Sealed<W> {
    to: W,
    keys: Keys,
    number: u64,
}

impl<W: Write> Sealed<W> {
    /// A sender with these keys.
    pub(super) fn new(to: W, keys: Keys) -> Self {
        Self { to, keys, number: 0 }
    }

    /// Sends an empty message, which carries nothing to the reader: a sign of life.
    pub(super) fn sign(&mut self) -> io::Result<()> {
        self.send(&[])?;
        self.to.flush()
    }

    /// Sends one message with this payload, which fits into it.
    fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        let length = u16::try_from(payload.len() + TAG).unwrap_or(u16::MAX);
        let mut message = vec![0; 2 + usize::from(length)];
        message[..2].copy_from_slice(&length.to_le_bytes());
        let sealed = self.keys.write_message(self.number, payload, &mut message[2..]);
        sealed.map_err(|error| Error::other(error.to_string()))?;
        self.number += 1;
        self.to.write_all(&message)
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let payload = &octets[..octets.len().min(LARGEST_MESSAGE - TAG)];
        self.send(payload)?;
        Ok(payload.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Receives and decrypts messages, and skips empty ones. The rest of a message must arrive soon after its first byte.
#[derive(Debug)]
pub(super) struct Opened<R> {
    from: R,
    keys: Keys,
    number: u64,
    payload: Vec<u8>,
    taken: usize,
}

/// A reader that waits for the first byte with another time limit than for the rest.
pub(super) trait Begins: Read {
    /// Waits for the first byte of a message; `None` at the end of the stream.
    fn begin(&mut self) -> io::Result<Option<u8>>;
}

impl Begins for Patient {
    fn begin(&mut self) -> io::Result<Option<u8>> {
        self.first()
    }
}

impl Opened<Patient> {
    /// From now on only the silence before a message is limited: to this time.
    pub(super) fn may_be_silent(&mut self, limit: Duration) {
        self.from.may_be_silent(limit);
    }
}

impl<R: Begins> Opened<R> {
    /// A receiver with these keys.
    pub(super) fn new(from: R, keys: Keys) -> Self {
        Self {
            from,
            keys,
            number: 0,
            payload: Vec::new(),
            taken: 0,
        }
    }

    /// Reads the next message; `false` at the end of the stream.
    fn next(&mut self) -> io::Result<bool> {
        let Some(first) = self.from.begin()? else {
            return Ok(false);
        };
        let mut length = [first, 0];
        self.from.read_exact(&mut length[1..])?;
        let mut message = vec![0; usize::from(u16::from_le_bytes(length))];
        self.from.read_exact(&mut message)?;
        let mut payload = vec![0; message.len()];
        let opened = self.keys.read_message(self.number, &message, &mut payload);
        let octets = opened.map_err(|_| {
            let why = "a message was changed on the way, or was sent by another program";
            Error::new(ErrorKind::InvalidData, why)
        })?;
        payload.truncate(octets);
        self.number += 1;
        (self.payload, self.taken) = (payload, 0);
        Ok(true)
    }
}

impl<R: Begins> Read for Opened<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.payload.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let left = &self.payload[self.taken..];
        let octets = left.len().min(buffer.len());
        buffer[..octets].copy_from_slice(&left[..octets]);
        self.taken += octets;
        Ok(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::{Begins, Keys, LARGEST_MESSAGE, Opened, Sealed};
    use proptest::prelude::{ProptestConfig, any, prop};
    use proptest::{prop_assert, prop_assert_eq, proptest};
    use snow::{Builder, HandshakeState};
    use std::io::{self, Read, Write};
    use std::sync::Arc;

    impl Begins for &[u8] {
        fn begin(&mut self) -> io::Result<Option<u8>> {
            let first = self.first().copied();
            *self = self.get(1..).unwrap_or_default();
            Ok(first)
        }
    }

    /// Keys of a sending and of a receiving end.
    fn keys() -> (Keys, Keys) {
        let pattern = || "Noise_NN_25519_ChaChaPoly_SHA256".parse().expect("a pattern");
        let mut one = Builder::new(pattern()).build_initiator().expect("an end");
        let mut other = Builder::new(pattern()).build_responder().expect("an end");
        let (mut message, mut nothing) = ([0; 64], [0; 64]);
        let octets = one.write_message(&[], &mut message).expect("said");
        other.read_message(&message[..octets], &mut nothing).expect("heard");
        let octets = other.write_message(&[], &mut message).expect("said");
        one.read_message(&message[..octets], &mut nothing).expect("heard");
        let keys = |end: HandshakeState| Arc::new(end.into_stateless_transport_mode().expect("keys"));
        (keys(one), keys(other))
    }

    fn sent(keys: &Keys, pieces: &[Vec<u8>]) -> Vec<u8> {
        let mut sealed = Sealed::new(Vec::new(), Arc::clone(keys));
        for piece in pieces {
            sealed.write_all(piece).expect("sent");
        }
        sealed.to
    }

    fn came(keys: &Keys, octets: &[u8]) -> (Vec<u8>, Option<String>) {
        let mut all = Vec::new();
        let end = Opened::new(octets, Arc::clone(keys)).read_to_end(&mut all);
        (all, end.err().map(|error| error.to_string()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pieces_come_as_they_went(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 0..5)) {
            let (here, there) = keys();
            prop_assert_eq!(came(&there, &sent(&here, &pieces)), (pieces.concat(), None));
        }

        #[test]
        fn what_is_changed_ends_it(piece in prop::collection::vec(any::<u8>(), 1..60), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let (here, there) = keys();
            let mut octets = sent(&here, &[piece]);
            let at = at.index(octets.len());
            octets[at] ^= flip;
            let (all, error) = came(&there, &octets);
            prop_assert!(all.is_empty() && error.is_some());
        }

        #[test]
        fn anything_at_all_is_refused(octets in prop::collection::vec(any::<u8>(), 1..200)) {
            let (all, error) = came(&keys().1, &octets);
            prop_assert!(all.is_empty() && error.is_some());
        }

        #[test]
        fn pieces_left_out_or_repeated_end_it(piece in prop::collection::vec(any::<u8>(), 1..60)) {
            let (here, there) = keys();
            let one = sent(&here, std::slice::from_ref(&piece));
            let both = sent(&here, &[piece.clone(), piece.clone()]);
            prop_assert_eq!(came(&there, &[one.clone(), one.clone()].concat()).0, piece);
            prop_assert!(came(&there, &both[one.len()..]).0.is_empty());
            prop_assert!(came(&there, &both[..one.len() - 1]).1.is_some());
        }

        #[test]
        fn nobody_reads_it_on_its_way(piece in prop::collection::vec(any::<u8>(), 16..60)) {
            let octets = sent(&keys().0, std::slice::from_ref(&piece));
            prop_assert!(!octets.windows(piece.len()).any(|part| part == piece));
        }
    }

    #[test]
    fn keys_of_others_and_of_the_other_direction_open_nothing() {
        let (here, _) = keys();
        let octets = sent(&here, &[vec![1]]);
        for stranger in [keys().1, here] {
            let error = came(&stranger, &octets).1.expect("refused");
            assert!(error.contains("sent by another program"), "{error}");
        }
    }

    #[test]
    fn data_too_long_for_one_message_go_in_two() {
        let (here, there) = keys();
        let long = vec![5; LARGEST_MESSAGE];
        assert_eq!(came(&there, &sent(&here, std::slice::from_ref(&long))), (long, None));
    }
}
