//! Paced streams with faults at known places, and the counts that a listener must find.

// Every test program that includes this file uses a part of it.
#![allow(dead_code)]

use crate::common::Numbers;
use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{self, Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};
use wire::test_frame::{self, TestFrame, TestFrameKind};

/// Marks in the flags of a test frame, as `talk` sets them.
pub(crate) const BEGIN: u16 = 1;
pub(crate) const END: u16 = 2;

const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 7]);

/// A frame of our own talker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    pub(crate) session: u32,
    pub(crate) sequence: u64,
    pub(crate) flags: u16,
}

impl Own {
    fn fields(self) -> [u8; test_frame::HEADER] {
        let fields = TestFrame {
            kind: TestFrameKind::Stream,
            flags: self.flags,
            session: self.session,
            sequence: self.sequence,
            sent_ns: 0,
        };
        fields.fields()
    }

    pub(crate) fn test(self, vlan: Option<VlanTag>) -> Vec<u8> {
        let mut frame = Vec::new();
        let tags: Vec<VlanTag> = vlan.into_iter().collect();
        ether::write_header(&mut frame, Mac::BROADCAST, SOURCE, &tags, test_frame::ETHER_TYPE);
        frame.extend_from_slice(&self.fields());
        frame.resize(64, 0);
        frame
    }

    pub(crate) fn avtp(self) -> Vec<u8> {
        audio(self.sequence as u8, false, &self.fields())
    }

    pub(crate) fn sv(self) -> Vec<u8> {
        samples("OWN", (self.sequence % 8_000) as u16, 1, &self.fields())
    }
}

/// A frame of an AVTP stream.
pub(crate) fn audio(number: u8, restarted: bool, data: &[u8]) -> Vec<u8> {
    let mut template = AafTemplate::new(&AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 1]),
        src: SOURCE,
        tags: Vec::new(),
        unique_id: 9,
    });
    template.set_sequence_num(number);
    template.data_mut()[..data.len()].copy_from_slice(data);
    let mut frame = template.bytes().to_vec();
    // The bit that reports a restart of the media clock.
    frame[15] |= u8::from(restarted) << 3;
    frame
}

/// A frame of a stream of sampled values.
pub(crate) fn samples(sv_id: &str, smp_cnt: u16, asdus: u16, data: &[u8]) -> Vec<u8> {
    let asdu = OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality::GOOD); 8]);
    let mut template = Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 3]),
        src: SOURCE,
        tags: Vec::new(),
        appid: 0x4001,
        simulate: false,
        asdus: vec![asdu; usize::from(asdus)],
    })
    .expect("encodes");
    for index in 0..asdus {
        let mut asdu = template.asdu_mut(usize::from(index)).expect("an ASDU");
        asdu.set_smp_cnt(smp_cnt + index);
        asdu.seq_data_mut()[..data.len()].copy_from_slice(data);
    }
    template.bytes().to_vec()
}

/// Expected counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Expected {
    pub(crate) received: u64,
    pub(crate) lost: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
}

/// The numbers of a stream with losses, duplicates and swaps, and their expected counts. The stream begins and ends without
/// faults.
pub(crate) fn faulty(seed: u64, faults: u64, longest_loss: u64) -> (Vec<u64>, u64, Expected) {
    let mut numbers = Numbers(seed);
    let (mut sent, mut next, mut expected) = (Vec::new(), 0, Expected::default());
    for _ in 0..faults {
        for _ in 0..numbers.within(20, 60) {
            sent.push(next);
            next += 1;
        }
        match numbers.within(0, 3) {
            0 => {
                let missing = numbers.within(1, longest_loss);
                expected.lost += missing;
                next += missing;
            }
            1 => {
                sent.extend([next, next, next]);
                expected.duplicate += 2;
                next += 1;
            }
            _ => {
                let ahead = numbers.within(1, 10);
                // One frame comes this many places late.
                sent.extend(next + 1..=next + ahead);
                sent.push(next);
                expected.reordered += 1;
                next += ahead + 1;
            }
        }
    }
    sent.extend(next..next + 40);
    next += 40;
    expected.received = next - expected.lost;
    (sent, next, expected)
}
