//! What went in and came out of the wire.

use lab::fault::{Observer, Side, Way};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use wire::ether::EthernetView;
use wire::sequence::WINDOW;
use wire::sv;
use wire::test_frame::{COUNTS, Kind, TestFrame};

/// One frame at one point.
pub(crate) struct Entry {
    way: Way,
    side: Side,
    wall_ns: i64,
    frame: Vec<u8>,
}

/// Every frame at every point, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Entry>>>);

impl Log {
    /// Writes this log.
    pub(crate) fn observer(&self) -> Observer {
        let log = Arc::clone(&self.0);
        Box::new(move |way, side, frame| {
            let entry = Entry {
                way,
                side,
                wall_ns: sys::clock::realtime().as_ns(),
                frame: frame.to_vec(),
            };
            log.lock().expect("no panic").push(entry);
        })
    }

    fn each(&self, way: Way, side: Side, mut each: impl FnMut(&Entry)) {
        let log = self.0.lock().expect("no panic");
        log.iter()
            .filter(|entry| entry.way == way && entry.side == side)
            .for_each(&mut each);
    }

    /// Measured test frames that went past, by session and number.
    fn probes(&self, way: Way, side: Side) -> Vec<(u32, u64)> {
        let mut probes = Vec::new();
        self.each(way, side, |entry| {
            if let Ok(frame) = EthernetView::parse(&entry.frame).and_then(|ethernet| TestFrame::parse(&ethernet))
                && frame.kind == Kind::Probe
                && frame.flags & COUNTS != 0
            {
                probes.push((frame.session, frame.sequence));
            }
        });
        probes
    }

    /// What an initiator must have counted.
    pub(crate) fn answers(&self) -> Answers {
        let sent = self.probes(Way::ToDevice, Side::Entering);
        let sent: BTreeSet<(u32, u64)> = sent.into_iter().collect();
        let back = self.probes(Way::ToTestSet, Side::Leaving);
        let mut answers = Answers::default();
        let (mut known, mut highest) = (BTreeSet::new(), 0);
        for probe in back.into_iter().filter(|probe| sent.contains(probe)) {
            if !known.insert(probe) {
                answers.duplicate += 1;
                continue;
            }
            answers.received += 1;
            answers.reordered += u64::from(probe.1 < highest);
            highest = highest.max(probe.1);
        }
        answers
    }

    /// What a subscriber must have counted of `sv_id`, in samples.
    pub(crate) fn stream(&self, sv_id: &str, rate: u32) -> Stream {
        let mut stream = Stream::default();
        let mut seen = BTreeSet::new();
        let mut newest = None;
        self.each(Way::ToDevice, Side::Leaving, |entry| {
            for index in indices(entry, sv_id, rate) {
                let first = *stream.first.get_or_insert(index);
                let behind = newest.map_or(0, |newest: i64| newest - index);
                if behind > i64::from(WINDOW) {
                    assert!(!seen.contains(&index), "a copy that comes too late reads as a restart");
                    stream.too_late += 1;
                } else if !seen.insert(index) {
                    stream.duplicate += 1;
                } else {
                    assert!(index >= first, "faults begin behind the first frame");
                    stream.received += 1;
                    stream.reordered += u64::from(behind > 0);
                }
                newest = newest.max(Some(index));
            }
        });
        stream.span = newest
            .zip(stream.first)
            .map_or(0, |(last, first)| (last - first + 1) as u64);
        stream
    }

    /// Samples of `sv_id` that went in.
    pub(crate) fn published(&self, sv_id: &str, rate: u32) -> u64 {
        let mut published = 0;
        self.each(Way::ToDevice, Side::Entering, |entry| {
            published += indices(entry, sv_id, rate).len() as u64;
        });
        published
    }

    /// SV frames that came out, and how many of them break a rule.
    pub(crate) fn sv_frames(&self) -> (u64, u64) {
        let (mut all, mut malformed) = (0, 0);
        self.each(Way::ToDevice, Side::Leaving, |entry| {
            if let Ok(ethernet) = EthernetView::parse(&entry.frame)
                && ethernet.ether_type() == wire::ether::SV
            {
                all += 1;
                malformed += u64::from(sv::Frame::parse(&ethernet).is_err());
            }
        });
        (all, malformed)
    }
}

/// The samples of a frame, if it is one of `sv_id`, numbered from 1970 on: whole seconds by the wall clock, the rest by smpCnt.
/// Right as long as a frame is late by less than half a second.
fn indices(entry: &Entry, sv_id: &str, rate: u32) -> Vec<i64> {
    let Ok(ethernet) = EthernetView::parse(&entry.frame) else {
        return Vec::new();
    };
    let Ok(frame) = sv::Frame::parse(&ethernet) else {
        return Vec::new();
    };
    let rate = i64::from(rate);
    let index = |smp_cnt: u16| {
        let within_ns = i64::from(smp_cnt) * 1_000_000_000 / rate;
        let second = (entry.wall_ns - within_ns + 500_000_000).div_euclid(1_000_000_000);
        second * rate + i64::from(smp_cnt)
    };
    let own = frame.asdus().filter(|asdu| asdu.sv_id() == sv_id.as_bytes());
    own.map(|asdu| index(asdu.smp_cnt())).collect()
}

/// Round trips as the wire saw them.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) received: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
}

/// A stream as it came out of the wire, in samples.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    first: Option<i64>,
    /// From the first to the newest, both included.
    pub(crate) span: u64,
    pub(crate) received: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
    pub(crate) too_late: u64,
}
