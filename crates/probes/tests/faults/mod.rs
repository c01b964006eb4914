//! Streams of sampled values with faults at known places, and the counts that a subscriber must find.

use crate::common::Numbers;
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Frame, Message, OwnedAsdu, Template};

/// Faults of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One to eighteen frames are never sent.
    Drop,
    /// A frame is sent twice.
    Duplicate,
    /// One to forty consecutive pairs of frames change places.
    Swap,
    /// A frame with a smpCnt beyond the rate is sent between two good ones.
    OutOfRange,
    /// A frame that breaks a rule is sent between two good ones.
    Malformed,
    /// smpSynch changes from here on.
    SmpSynch,
    /// The simulation bit changes from here on.
    Simulation,
    /// smpCnt jumps by half a second or more.
    Restart,
}

impl Fault {
    /// Faults that are reported at once, from the first second of a stream on.
    pub(crate) const AT_ONCE: [Self; 7] = [
        Self::Drop,
        Self::Duplicate,
        Self::Swap,
        Self::OutOfRange,
        Self::Malformed,
        Self::SmpSynch,
        Self::Simulation,
    ];

    /// All faults, for a stream that has wrapped.
    pub(crate) const ALL: [Self; 8] = [
        Self::Drop,
        Self::Duplicate,
        Self::Swap,
        Self::OutOfRange,
        Self::Malformed,
        Self::SmpSynch,
        Self::Simulation,
        Self::Restart,
    ];
}

/// A stream before its first fault.
#[derive(Debug, Clone)]
pub(crate) struct StreamSpec {
    /// Its name in the run file.
    pub(crate) label: String,
    pub(crate) sv_id: String,
    pub(crate) appid: u16,
    pub(crate) destination: Mac,
    pub(crate) vlan: Option<VlanTag>,
    pub(crate) rate: u16,
    pub(crate) asdus: u16,
    /// First smpCnt.
    pub(crate) first: u16,
    /// True if smpCnt has wrapped once before the first fault.
    pub(crate) has_gone_round: bool,
}

impl StreamSpec {
    pub(crate) fn new(sv_id: &str, number: u8) -> Self {
        Self {
            label: sv_id.into(),
            sv_id: sv_id.into(),
            appid: 0x4000 + u16::from(number),
            destination: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, number]),
            vlan: None,
            rate: 4_800,
            asdus: 1,
            first: 100,
            has_gone_round: false,
        }
    }
}

/// The frames of a stream in the order to send, and the expected counts.
pub(crate) struct Script {
    pub(crate) label: String,
    pub(crate) asdus: u64,
    pub(crate) received: u64,
    pub(crate) lost: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
    pub(crate) malformed: u64,
    pub(crate) lowest: u16,
    pub(crate) highest: u16,
    frames: Vec<Vec<u8>>,
    out_of_range: u64,
    first_out_of_range: u16,
    changes: Vec<String>,
    /// smpCnt values after the jumps.
    restarts: Vec<u16>,
}

impl Script {
    /// A stream with `rounds` faults, each of a random kind from `faults`, and 20 to 60 faultless frames around each.
    pub(crate) fn make(spec: &StreamSpec, faults: &[Fault], rounds: u64, seed: u64) -> Self {
        let mut maker = Maker::new(spec, seed);
        if spec.has_gone_round {
            maker.send_sound(u64::from(spec.rate / spec.asdus));
        }
        maker.sound();
        for round in 0..rounds {
            if let Some(last) = (faults.len() as u64).checked_sub(1) {
                // Every kind at least once, then at random.
                let pick = if round <= last {
                    round
                } else {
                    maker.numbers.within(0, last + 1)
                };
                maker.inject(faults[pick as usize]);
            }
            maker.sound();
        }
        maker.script
    }

    /// The frames in order.
    pub(crate) fn frames(&self) -> Vec<Vec<u8>> {
        self.frames.clone()
    }

    /// Events that the run file must contain for the stream, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let label = &self.label;
        let mut events = self.changes.clone();
        events.push(format!("{label}: smpCnt ran from {} to {}", self.lowest, self.highest));
        events
    }

    /// Beginnings of the doubts reported about the stream: at most ten of each kind.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let label = &self.label;
        let jumps = self
            .restarts
            .iter()
            .take(10)
            .map(|_| format!("{label}: smpCnt jumped from "));
        let beyond = (0..self.out_of_range.min(10)).map(|_| format!("{label}: smpCnt "));
        jumps.chain(beyond).collect()
    }
}

/// The frames of all scripts, mixed; the frames of each script keep their order. The first frames come in the order of the
/// scripts, which decides the stream that gets #2.
pub(crate) fn interleave(scripts: &[Script], seed: u64) -> Vec<Vec<u8>> {
    let mut numbers = Numbers(seed);
    let mut rest: Vec<std::slice::Iter<'_, Vec<u8>>> = scripts.iter().map(|script| script.frames.iter()).collect();
    let mut mixed: Vec<Vec<u8>> = rest.iter_mut().filter_map(Iterator::next).cloned().collect();
    while !rest.is_empty() {
        let index = numbers.within(0, rest.len() as u64) as usize;
        match rest[index].next() {
            Some(frame) => mixed.push(frame.clone()),
            None => drop(rest.swap_remove(index)),
        }
    }
    mixed
}

struct Maker {
    script: Script,
    numbers: Numbers,
    template: Template,
    rate: u16,
    /// smpCnt of the next frame's first sample.
    next: u16,
    smp_synch: u8,
    simulate: bool,
}

impl Maker {
    fn new(spec: &StreamSpec, seed: u64) -> Self {
        let asdu = OwnedAsdu::new(&spec.sv_id, 1, 2, &[(0, SvQuality::GOOD); 8]);
        let message = Message {
            dst: spec.destination,
            src: Mac([2, 0, 0, 0, 0, 1]),
            tags: spec.vlan.into_iter().collect(),
            appid: spec.appid,
            simulate: false,
            asdus: vec![asdu; usize::from(spec.asdus)],
        };
        Self {
            script: Script {
                label: spec.label.clone(),
                asdus: u64::from(spec.asdus),
                received: 0,
                lost: 0,
                duplicate: 0,
                reordered: 0,
                malformed: 0,
                lowest: u16::MAX,
                highest: 0,
                frames: Vec::new(),
                out_of_range: 0,
                first_out_of_range: 0,
                changes: Vec::new(),
                restarts: Vec::new(),
            },
            numbers: Numbers(seed),
            template: Template::new(&message).expect("the stream can be encoded"),
            rate: spec.rate,
            next: spec.first,
            smp_synch: 2,
            simulate: false,
        }
    }

    /// Adds 20 to 60 faultless frames.
    fn sound(&mut self) {
        let frames = self.numbers.within(20, 60);
        self.send_sound(frames);
    }

    fn send_sound(&mut self, frames: u64) {
        for _ in 0..frames {
            let frame = self.take();
            self.send(frame);
            self.script.received += self.script.asdus;
        }
    }

    fn inject(&mut self, fault: Fault) {
        let asdus = self.script.asdus;
        match fault {
            Fault::Drop => {
                for _ in 0..self.numbers.within(1, 19) {
                    self.take();
                    self.script.lost += asdus;
                }
            }
            Fault::Duplicate => {
                let frame = self.take();
                self.send(frame.clone());
                self.send(frame);
                self.script.received += asdus;
                self.script.duplicate += asdus;
            }
            Fault::Swap => {
                for _ in 0..self.numbers.within(1, 41) {
                    let (early, late) = (self.take(), self.take());
                    self.send(late);
                    self.send(early);
                    self.script.received += 2 * asdus;
                    self.script.reordered += asdus;
                }
            }
            Fault::OutOfRange => self.out_of_range(),
            Fault::Malformed => self.malformed(),
            Fault::SmpSynch => {
                let before = self.smp_synch;
                self.smp_synch = (before + 1) % 3;
                self.change(&format!("smpSynch changed from {before} to {}", self.smp_synch));
            }
            Fault::Simulation => {
                let before = u8::from(self.simulate);
                self.simulate = !self.simulate;
                self.change(&format!("simulation bit changed from {before} to {}", 1 - before));
            }
            Fault::Restart => {
                let half = u64::from(self.rate) / 2;
                let jump = self.numbers.within(half, half + half / 2);
                self.next = ((u64::from(self.next) + jump) % u64::from(self.rate)) as u16;
                self.script.restarts.push(self.next);
            }
        }
    }

    fn out_of_range(&mut self) {
        let first = self.numbers.within(u64::from(self.rate), 65_000) as u16;
        let frame = self.frame(|asdu| first + asdu);
        self.send(frame);
        if self.script.out_of_range == 0 {
            self.script.first_out_of_range = first;
        }
        self.script.out_of_range += self.script.asdus;
    }

    /// Adds the next frame, made invalid in one of three ways; the valid frame is still to be sent.
    fn malformed(&mut self) {
        let (next, rate) = (self.next, self.rate);
        let mut frame = self.frame(|asdu| (next + asdu) % rate);
        // The savPdu tag follows the Ethernet header and APPID, Length, Reserved1 and Reserved2.
        let sav_pdu = frame.iter().position(|octet| *octet == 0x60).expect("a savPdu");
        match self.numbers.within(0, 3) {
            0 => frame.truncate(sav_pdu + 20),
            1 => frame[sav_pdu] = 0x61,
            // noASDU, the first element in savPdu: one more than the real number.
            _ => {
                let count = frame.windows(2).position(|pair| pair == [0x80, 0x01]).expect("noASDU") + 2;
                frame[count] += 1;
            }
        }
        self.send(frame);
        self.script.malformed += 1;
    }

    fn change(&mut self, text: &str) {
        let text = format!("{}: {text}", self.script.label);
        self.script.changes.push(text);
    }

    /// Makes the next frame and advances the stream. The caller decides whether it is sent.
    fn take(&mut self) -> Vec<u8> {
        let (next, rate) = (self.next, self.rate);
        self.next = (next + self.script.asdus as u16) % rate;
        self.frame(|asdu| (next + asdu) % rate)
    }

    fn frame(&mut self, smp_cnt: impl Fn(u16) -> u16) -> Vec<u8> {
        self.template.set_simulate(self.simulate);
        for asdu in 0..self.script.asdus as u16 {
            let mut place = self.template.asdu_mut(usize::from(asdu)).expect("an ASDU");
            place.set_smp_cnt(smp_cnt(asdu));
            place.set_smp_synch(self.smp_synch);
            place.set_member(0, self.numbers.next() as i32, SvQuality::GOOD);
        }
        self.template.bytes().to_vec()
    }

    fn send(&mut self, frame: Vec<u8>) {
        let counts: Vec<u16> = EthernetView::parse(&frame)
            .and_then(|ethernet| Frame::parse(&ethernet))
            .map(|frame| frame.asdus().map(|asdu| asdu.smp_cnt()).collect())
            .unwrap_or_default();
        for smp_cnt in counts {
            self.script.lowest = self.script.lowest.min(smp_cnt);
            self.script.highest = self.script.highest.max(smp_cnt);
        }
        self.script.frames.push(frame);
    }
}
