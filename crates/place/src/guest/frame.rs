//! Frames of the channel between host and guest. A serial port delivers a stream of bytes, and may lose or insert some. So each frame has a start
//! mark, a length and a checksum.
//!
//! ```text
//! 0  2  3     4      8        12       16
//! TG | 1 | kind | call | octets | crc32 | payload
//! ```
//!
//! Numbers are little-endian. The checksum covers the first 12 bytes and the payload.

use std::io::{self, ErrorKind, Read, Write};

const MARK: [u8; 2] = *b"TG";
/// Version of this format. Both ends are the same program, unless an image is older than its host.
const VERSION: u8 = 1;
const HEADER: usize = 16;
/// Largest payload in bytes.
pub(crate) const LARGEST: usize = 1 << 20;

/// Kind of a frame's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// A message, as JSON.
    Message,
    /// Bytes of a file.
    Octets,
}

impl FrameKind {
    fn number(self) -> u8 {
        match self {
            Self::Message => 1,
            Self::Octets => 2,
        }
    }

    fn of(number: u8) -> Option<Self> {
        [Self::Message, Self::Octets]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Kind of its content.
    pub(crate) kind: FrameKind,
    /// Number of its call: all frames of a call have the same number.
    pub(crate) call: u32,
    /// At most [`LARGEST`] bytes.
    pub(crate) payload: Vec<u8>,
}

/// Reasons why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The other end closed the channel between two frames.
    #[error("the other end has closed it")]
    Closed,
    /// The other end closed the channel within a frame.
    #[error("it ended within a frame")]
    Cut,
    /// Another program writes to the port, or bytes were lost.
    #[error("{0:02x?} does not begin a frame: something else writes there, or bytes were lost")]
    NotAFrame([u8; 2]),
    /// A frame of another version.
    #[error("the other end speaks version {0} of the channel, and this is {VERSION}: the image is of another triptime")]
    Version(u8),
    /// A kind that this version does not have.
    #[error("a frame of the unknown kind {0}")]
    Kind(u8),
    /// Longer than [`LARGEST`].
    #[error("frame of {0} bytes exceeds the maximum of {LARGEST}")]
    TooLong(usize),
    /// Bytes were changed or lost on the way.
    #[error("wrong checksum of a frame of {0} bytes")]
    Checksum(usize),
    /// Error of the kernel.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Waits for a frame and reads it.
///
/// # Errors
/// Other data than a frame came. The start of the next frame is then unknown.
pub(crate) fn read(from: &mut impl Read) -> Result<Frame, FrameError> {
    let mut header = [0; HEADER];
    fill(from, &mut header, FrameError::Closed)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if header[..2] != MARK {
        return Err(FrameError::NotAFrame([header[0], header[1]]));
    }
    if header[2] != VERSION {
        return Err(FrameError::Version(header[2]));
    }
    let kind = FrameKind::of(header[3]).ok_or(FrameError::Kind(header[3]))?;
    let length = number(8) as usize;
    if length > LARGEST {
        return Err(FrameError::TooLong(length));
    }
    let mut payload = vec![0; length];
    fill(from, &mut payload, FrameError::Cut)?;
    if checksum(&header[..12], &payload) != number(12) {
        return Err(FrameError::Checksum(length));
    }
    Ok(Frame {
        kind,
        call: number(4),
        payload,
    })
}

/// Writes a frame with one call.
///
/// # Errors
/// A payload that is too long, or an error of the kernel.
pub(crate) fn write(to: &mut impl Write, frame: &Frame) -> Result<(), FrameError> {
    let length = u32::try_from(frame.payload.len()).ok();
    let length = length.filter(|length| *length as usize <= LARGEST);
    let length = length.ok_or(FrameError::TooLong(frame.payload.len()))?;
    let mut octets = Vec::with_capacity(HEADER + frame.payload.len());
    octets.extend_from_slice(&MARK);
    octets.extend_from_slice(&[VERSION, frame.kind.number()]);
    octets.extend_from_slice(&frame.call.to_le_bytes());
    octets.extend_from_slice(&length.to_le_bytes());
    let sum = checksum(&octets, &frame.payload);
    octets.extend_from_slice(&sum.to_le_bytes());
    octets.extend_from_slice(&frame.payload);
    to.write_all(&octets)?;
    Ok(to.flush()?)
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

/// Fills the buffer; returns the error `nothing` if the stream ends before the first byte.
fn fill(from: &mut impl Read, buffer: &mut [u8], nothing: FrameError) -> Result<(), FrameError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Err(nothing),
            Ok(0) => return Err(FrameError::Cut),
            Ok(octets) => filled += octets,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Frame, FrameError, FrameKind, HEADER, LARGEST, read, write};
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
    use proptest::{prop_assert, prop_assert_eq, proptest};

    fn frames() -> impl Strategy<Value = Frame> {
        let kind = prop_oneof![Just(FrameKind::Message), Just(FrameKind::Octets)];
        (kind, any::<u32>(), prop::collection::vec(any::<u8>(), 0..200)).prop_map(|(kind, call, payload)| Frame {
            kind,
            call,
            payload,
        })
    }

    fn written(frames: &[Frame]) -> Vec<u8> {
        let mut octets = Vec::new();
        for frame in frames {
            write(&mut octets, frame).expect("written");
        }
        octets
    }

    proptest! {
        #[test]
        fn frames_come_as_they_went(all in prop::collection::vec(frames(), 0..5)) {
            let octets = written(&all);
            let mut rest = octets.as_slice();
            for frame in &all {
                prop_assert_eq!(&read(&mut rest).expect("a frame"), frame);
            }
            prop_assert!(matches!(read(&mut rest), Err(FrameError::Closed)));
        }

        #[test]
        fn a_changed_octet_is_never_taken_for_a_frame(frame in frames(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let mut octets = written(&[frame]);
            let at = at.index(octets.len());
            octets[at] ^= flip;
            prop_assert!(read(&mut octets.as_slice()).is_err());
        }

        #[test]
        fn a_lost_octet_is_never_taken_for_a_frame(frame in frames(), at in any::<prop::sample::Index>()) {
            let mut octets = written(&[frame.clone(), frame]);
            octets.remove(at.index(octets.len() / 2));
            let mut rest = octets.as_slice();
            // If two neighbouring bytes are equal, it is unknown which was lost; the frame is cut in any case.
            prop_assert!(read(&mut rest).and_then(|_| read(&mut rest)).is_err());
        }

        #[test]
        fn anything_at_all_ends_in_a_frame_or_an_error(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(frame) = read(&mut octets.as_slice()) {
                prop_assert!(frame.payload.len() + HEADER <= octets.len());
            }
        }
    }

    #[test]
    fn errors_say_what_came() {
        let frame = Frame {
            kind: FrameKind::Octets,
            call: 7,
            payload: vec![1, 2, 3],
        };
        let octets = written(&[frame]);
        let with = |at: usize, octet: u8| {
            let mut octets = octets.clone();
            octets[at] = octet;
            read(&mut octets.as_slice()).expect_err("refused").to_string()
        };
        assert!(with(0, b'[').contains("something else writes there"));
        assert!(with(2, 9).contains("version 9"));
        assert!(with(3, 8).contains("unknown kind 8"));
        assert!(with(11, 1).contains("exceeds the maximum"));
        assert!(with(18, 0).contains("checksum"));
        assert!(matches!(read(&mut &octets[..5]), Err(FrameError::Cut)));
        assert!(matches!(read(&mut &octets[..17]), Err(FrameError::Cut)));
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        let frame = Frame {
            kind: FrameKind::Octets,
            call: 0,
            payload: vec![0; LARGEST + 1],
        };
        let mut octets = Vec::new();
        assert!(matches!(write(&mut octets, &frame), Err(FrameError::TooLong(_))));
        assert!(octets.is_empty());
    }
}
