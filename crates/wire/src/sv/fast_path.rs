//! Receiving: the next frame of a stream differs from the last one only in its counters and samples.

use super::Frame;
use super::parse::Span;
use crate::bytes::{array, be16, slice};
use std::ops::Range;

/// Number of octets compared at a time.
const WORD: usize = 8;

/// Remembers the last accepted frame of one stream and recognises the next one without parsing it.
///
/// A frame is recognised when it equals the remembered one in every octet outside smpCnt, smpSynch, seqData and the
/// fields of an HSR tag, up to the end of Length; everything after that is padding. The compared octets determine the
/// whole structure, so a recognised frame satisfies every rule that the remembered one satisfied. A VLAN tag that
/// `AF_PACKET` stripped is not part of the octets: the caller must compare it if it matters.
#[derive(Debug, Clone, Default)]
pub struct FastPath {
    words: Vec<Word>,
    slots: Vec<Slot>,
    /// The fields of an HSR tag.
    hsr: Range<usize>,
    used: usize,
}

/// Eight octets of the frame and their expected value.
#[derive(Debug, Clone, Copy)]
struct Word {
    at: usize,
    mask: u64,
    expected: u64,
}

/// The changing fields of one ASDU, counted from the start of the frame; smpSynch at 0 when absent.
#[derive(Debug, Clone, Copy)]
struct Slot {
    smp_cnt: usize,
    smp_synch: usize,
    seq_data: usize,
    seq_len: usize,
}

impl FastPath {
    /// Remembers no frame yet, so it recognises none.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts back a value that [`std::mem::take`] took from here for a moment. The current value is empty and owns
    /// nothing, so dropping it costs nothing. Called for every frame.
    #[inline]
    pub fn put_back(&mut self, taken: Self) {
        assert_eq!(self.words.capacity() + self.slots.capacity(), 0, "something was taken");
        std::mem::forget(std::mem::replace(self, taken));
    }

    /// Remembers a frame that the full parse accepted. Allocates the first time; later only for a longer frame.
    pub fn learn(&mut self, frame: &Frame<'_>) {
        // The session around it changes with each datagram, and may hold further messages.
        if frame.ethernet().is_routed() {
            return;
        }
        let octets = frame.used();
        let base = frame.ethernet().payload_offset();
        self.used = octets.len();
        self.hsr = frame.ethernet().hsr_fields();
        self.slots.clear();
        self.slots.extend(frame.asdus().map(|asdu| {
            let Span { at, len } = asdu.layout.seq_data;
            let place = |at: u16| base + asdu.start + usize::from(at);
            Slot {
                smp_cnt: place(asdu.layout.smp_cnt),
                smp_synch: if asdu.layout.smp_synch == 0 {
                    0
                } else {
                    place(asdu.layout.smp_synch)
                },
                seq_data: place(at),
                seq_len: usize::from(len),
            }
        }));
        self.words.clear();
        let mut at = 0;
        while let Some(next) = (at..octets.len()).find(|&at| !self.changes(at)) {
            let start = next.min(octets.len().saturating_sub(WORD));
            let mask = u64::from_ne_bytes(std::array::from_fn(|i| if self.changes(start + i) { 0 } else { 0xff }));
            let expected = u64::from_ne_bytes(array(octets, start)) & mask;
            self.words.push(Word {
                at: start,
                mask,
                expected,
            });
            at = start + WORD;
        }
    }

    /// The counters and samples of a recognised frame; on `None`, the caller must parse the frame in full.
    #[inline]
    pub fn accept<'a>(&'a self, frame: &'a [u8]) -> Option<FastAsdus<'a>> {
        let frame = frame.get(..self.used)?;
        let mut differ = 0;
        for word in &self.words {
            let octets = frame.get(word.at..)?.first_chunk::<WORD>()?;
            differ |= (u64::from_ne_bytes(*octets) & word.mask) ^ word.expected;
        }
        (differ == 0 && self.used != 0).then_some(FastAsdus {
            frame,
            slots: &self.slots,
        })
    }

    /// True when the octet at `at` belongs to smpCnt, smpSynch, seqData or the fields of an HSR tag.
    fn changes(&self, at: usize) -> bool {
        let is_hsr = self.hsr.contains(&at);
        is_hsr
            || self.slots.iter().any(|slot| {
                (slot.smp_cnt..slot.smp_cnt + 2).contains(&at)
                    || (slot.smp_synch != 0 && slot.smp_synch == at)
                    || (slot.seq_data..slot.seq_data + slot.seq_len).contains(&at)
            })
    }
}

/// The ASDUs of a recognised frame, in the order of the frame.
#[derive(Debug, Clone)]
pub struct FastAsdus<'a> {
    frame: &'a [u8],
    slots: &'a [Slot],
}

/// The fields that change from frame to frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastAsdu<'a> {
    /// Sample counter.
    pub smp_cnt: u16,
    /// Synchronisation, if the stream sends it.
    pub smp_synch: Option<u8>,
    /// Dataset members back to back.
    pub seq_data: &'a [u8],
}

impl<'a> Iterator for FastAsdus<'a> {
    type Item = FastAsdu<'a>;

    #[inline]
    fn next(&mut self) -> Option<FastAsdu<'a>> {
        let (slot, rest) = self.slots.split_first()?;
        self.slots = rest;
        Some(FastAsdu {
            smp_cnt: be16(self.frame, slot.smp_cnt),
            smp_synch: if slot.smp_synch == 0 {
                None
            } else {
                self.frame.get(slot.smp_synch).copied()
            },
            seq_data: slice(self.frame, slot.seq_data, slot.seq_len),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.slots.len(), Some(self.slots.len()))
    }
}

impl ExactSizeIterator for FastAsdus<'_> {}
