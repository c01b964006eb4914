//! The agent's stream, starting at its greeting.

use super::super::message::GREETING;
use std::io::{self, Read};

/// A stream that skips all data before the greeting: the rest of messages for an earlier client.
pub(super) struct FromGreeting<R> {
    from: R,
    /// The start of a greeting, as far as received; `None` once it was passed on.
    sought: Option<Vec<u8>>,
    /// Bytes to be passed on first.
    first: Vec<u8>,
}

/// Mark, version, kind and call of a greeting's frame.
fn beginning() -> [u8; 8] {
    let [a, b, c, d] = GREETING.to_le_bytes();
    [b'T', b'G', 1, 1, a, b, c, d]
}

impl<R: Read> FromGreeting<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            sought: Some(Vec::new()),
            first: Vec::new(),
        }
    }
}

impl<R: Read> Read for FromGreeting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(sought) = &mut self.sought {
            let mut octet = [0];
            if self.from.read(&mut octet)? == 0 {
                return Ok(0);
            }
            sought.push(octet[0]);
            if sought.len() > beginning().len() {
                sought.remove(0);
            }
            if sought[..] == beginning() {
                self.first = self.sought.take().unwrap_or_default();
            }
        }
        if self.first.is_empty() {
            return self.from.read(buffer);
        }
        let octets = buffer.len().min(self.first.len());
        buffer[..octets].copy_from_slice(&self.first[..octets]);
        self.first.drain(..octets);
        Ok(octets)
    }
}

#[cfg(test)]
mod tests {
    use super::FromGreeting;
    use crate::guest::frame::{self, Frame, FrameKind};
    use std::io::Read;

    fn octets(call: u32, text: &str) -> Vec<u8> {
        let frame = Frame {
            kind: FrameKind::Message,
            call,
            payload: text.as_bytes().to_vec(),
        };
        let mut octets = Vec::new();
        frame::write(&mut octets, &frame).expect("written");
        octets
    }

    #[test]
    fn what_was_meant_for_another_is_left_out() {
        // The end of one frame, and a whole frame of an older call.
        let stale = [&octets(7, "a long line of a run file")[9..], &octets(9, "an older one")].concat();
        let all = [stale.clone(), octets(0, "up"), octets(8, "more")].concat();
        let mut from = FromGreeting::new(&all[..]);
        for (call, text) in [(0, "up"), (8, "more")] {
            let frame = frame::read(&mut from).expect("a frame");
            assert_eq!((frame.call, &frame.payload[..]), (call, text.as_bytes()));
        }
        let mut nothing = Vec::new();
        FromGreeting::new(&stale[..])
            .read_to_end(&mut nothing)
            .expect("its end");
        assert!(nothing.is_empty());
    }
}
