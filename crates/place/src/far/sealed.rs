//! The way to a far machine: octets in pieces, each with a tag that only who knows the secret can make. They can be read on their way, and
//! neither changed, left out, repeated nor added.
//!
//! ```text
//! 0        4         4 + octets
//! octets | payload | tag of the piece's number, octets, payload: 32 octets
//! ```

use super::secret::{Tag, is_same, tag};
use super::socket::Patient;
use std::io::{self, Error, ErrorKind, Read, Write};

/// The most that one piece carries: a frame and its header.
const LARGEST: usize = (1 << 20) + 64;
/// Octets of a tag.
const TAG: usize = 32;

/// Sends pieces, each with its length and a tag.
#[derive(Debug)]
pub(super) struct Sealed<W> {
    to: W,
    key: Tag,
    number: u64,
}

impl<W: Write> Sealed<W> {
    /// Sends with this key.
    pub(super) fn new(to: W, key: Tag) -> Self {
        Self { to, key, number: 0 }
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let payload = &octets[..octets.len().min(LARGEST)];
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
        let tag = tag(&self.key, &[&self.number.to_le_bytes(), &length, payload]);
        self.number += 1;
        self.to.write_all(&[&length, payload, &tag].concat())?;
        Ok(payload.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Receives pieces, and checks their tags. A piece that has begun has to come soon; until it begins, one may wait for ever.
#[derive(Debug)]
pub(super) struct Opened<R> {
    from: R,
    key: Tag,
    number: u64,
    payload: Vec<u8>,
    taken: usize,
}

/// Something that can be waited for, and then not any longer.
pub(super) trait Begins: Read {
    /// The octet that comes next begins something; `None`: there is no more.
    fn begin(&mut self) -> io::Result<Option<u8>>;
}

impl Begins for Patient {
    fn begin(&mut self) -> io::Result<Option<u8>> {
        self.first()
    }
}

impl<R: Begins> Opened<R> {
    /// Of what was sent with this key.
    pub(super) fn new(from: R, key: Tag) -> Self {
        Self {
            from,
            key,
            number: 0,
            payload: Vec::new(),
            taken: 0,
        }
    }

    /// Takes the next piece; `false`: there is none.
    fn next(&mut self) -> io::Result<bool> {
        let Some(first) = self.from.begin()? else {
            return Ok(false);
        };
        let mut length = [first, 0, 0, 0];
        self.from.read_exact(&mut length[1..])?;
        let octets = u32::from_le_bytes(length) as usize;
        if octets > LARGEST {
            let why = format!("a piece of {octets} octets, and {LARGEST} are the most: something else writes there");
            return Err(Error::new(ErrorKind::InvalidData, why));
        }
        let mut payload = vec![0; octets];
        self.from.read_exact(&mut payload)?;
        let mut found = [0; TAG];
        self.from.read_exact(&mut found)?;
        let due = tag(&self.key, &[&self.number.to_le_bytes(), &length, &payload]);
        if !is_same(&found, &due) {
            let why = "a piece that was changed on its way, or is from somebody else";
            return Err(Error::new(ErrorKind::InvalidData, why));
        }
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
    use super::{Begins, LARGEST, Opened, Sealed};
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert, prop_assert_eq, proptest};
    use std::io::{self, Read, Write};

    impl Begins for &[u8] {
        fn begin(&mut self) -> io::Result<Option<u8>> {
            let first = self.first().copied();
            *self = self.get(1..).unwrap_or_default();
            Ok(first)
        }
    }

    fn sent(pieces: &[Vec<u8>]) -> Vec<u8> {
        let mut sealed = Sealed::new(Vec::new(), [7; 32]);
        for piece in pieces {
            sealed.write_all(piece).expect("sent");
        }
        sealed.to
    }

    fn came(octets: &[u8], key: u8) -> (Vec<u8>, Option<String>) {
        let mut all = Vec::new();
        let end = Opened::new(octets, [key; 32]).read_to_end(&mut all);
        (all, end.err().map(|error| error.to_string()))
    }

    proptest! {
        #[test]
        fn pieces_come_as_they_went(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 0..5)) {
            prop_assert_eq!(came(&sent(&pieces), 7), (pieces.concat(), None));
        }

        #[test]
        fn what_is_changed_ends_it(piece in prop::collection::vec(any::<u8>(), 1..60), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let mut octets = sent(&[piece]);
            let at = at.index(octets.len());
            octets[at] ^= flip;
            let (all, error) = came(&octets, 7);
            prop_assert!(all.is_empty() && error.is_some());
        }

        #[test]
        fn anything_at_all_is_refused(octets in prop::collection::vec(any::<u8>(), 1..200)) {
            let (all, error) = came(&octets, 7);
            prop_assert!(all.is_empty() && error.is_some());
        }

        #[test]
        fn pieces_left_out_or_repeated_end_it(piece in prop::collection::vec(any::<u8>(), 1..60)) {
            let one = sent(std::slice::from_ref(&piece));
            let both = sent(&[piece.clone(), piece.clone()]);
            prop_assert_eq!(came(&[one.clone(), one.clone()].concat(), 7).0, piece);
            prop_assert!(came(&both[one.len()..], 7).0.is_empty());
            prop_assert!(came(&both[..one.len() - 1], 7).1.is_some());
        }
    }

    #[test]
    fn another_key_and_a_huge_length_are_refused_in_words() {
        let said = |octets: &[u8], key: u8| came(octets, key).1.expect("refused");
        assert!(said(&sent(&[vec![1]]), 8).contains("from somebody else"));
        assert!(said(&[0xff; 64], 7).contains("something else writes there"));
        // Data too long for one piece goes in two.
        let long = vec![5; LARGEST + 1];
        assert_eq!(came(&sent(std::slice::from_ref(&long)), 7), (long, None));
    }
}
