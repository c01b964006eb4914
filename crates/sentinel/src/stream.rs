//! The supervision of one stream of sampled values.

use crate::alarm::AlarmKind;
use crate::desk::Desk;
use crate::gaps::Gaps;
use model::{Counter, EventKind};
use units::Ns;
use wire::ether::{Mac, VlanTag};
use wire::sequence::{Accounting, Sample, SampleStep, Sequence};
use wire::sv::{Asdu, Fingerprints, Frame};

/// A stream of another identity takes the place of one that has been silent for so long, in ns.
const REPLACED_NS: i64 = 1_000_000_000;

/// Time between two looks at the counts, in ns.
const LOOK_NS: i64 = 200_000_000;

/// Frames of which none comes before a stream counts as silent, and the shortest time for that.
const SILENT_FRAMES: i64 = 5;
const SILENT_NS: i64 = 100_000_000;

/// Late frames that wait for a look: more than a port gives before one.
const MOST_LATE: usize = 65_536;

/// A stream to supervise.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedStream {
    /// Its svID.
    pub sv_id: String,
    /// Its samples a second; `None` learns them.
    pub rate: Option<u32>,
    /// Its expected configuration revision.
    pub conf_rev: Option<u32>,
    /// Longest time from one frame to the next that is in time, in ns.
    pub within_ns: Option<u64>,
}

/// Sender and configuration of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    source: Mac,
    destination: Mac,
    appid: u16,
    vid: Option<u16>,
}

/// Parts of a stream that are to stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Contents {
    conf_rev: u32,
    simulate: bool,
    smp_synch: Option<u8>,
    octets: usize,
    asdus: usize,
}

/// The supervision of a stream.
#[derive(Debug)]
pub(crate) struct StreamWatch {
    pub(crate) config: WatchedStream,
    subject: usize,
    series: usize,
    begun_ns: i64,
    never_ns: i64,
    identity: Option<Identity>,
    contents: Option<Contents>,
    sequence: Sequence,
    accounting: Accounting,
    prints: Fingerprints,
    restarts: u64,
    out_of_range: u64,
    last_ns: Option<i64>,
    frame_ns: i64,
    looked_ns: i64,
    is_silent: bool,
    /// Instant before which silence proves nothing: the watch itself lost frames.
    excused_ns: i64,
    /// Late frames since the last look, with their spacing: the watch itself may have lost the one before.
    late: Vec<(i64, i64)>,
    pub(crate) gaps: Gaps,
}

impl StreamWatch {
    pub(crate) fn new(config: WatchedStream, [subject, series]: [usize; 2], begun_ns: i64, never_ns: i64) -> Self {
        Self {
            sequence: sequence(config.rate),
            config,
            subject,
            series,
            begun_ns,
            never_ns,
            identity: None,
            contents: None,
            accounting: Accounting::default(),
            prints: Fingerprints::new(),
            restarts: 0,
            out_of_range: 0,
            last_ns: None,
            frame_ns: 0,
            looked_ns: begun_ns,
            is_silent: false,
            excused_ns: begun_ns,
            late: Vec::new(),
            gaps: Gaps::default(),
        }
    }

    /// True while frames of it come.
    pub(crate) fn is_live(&self) -> bool {
        self.last_ns.is_some() && !self.is_silent
    }

    /// Takes a frame. True if another sender took the place of the one before: all that was known of its samples is over.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, at_ns: i64, desk: &mut Desk) -> bool {
        let is_its = |asdu: &Asdu<'_>| asdu.sv_id() == self.config.sv_id.as_bytes();
        let Some(first) = frame.asdus().find(is_its) else {
            return false;
        };
        // Borrowed from the frame, so that the watch can change meanwhile.
        let sv_id = first.sv_id();
        let identity = Identity {
            source: frame.ethernet().src(),
            destination: frame.ethernet().dst(),
            appid: frame.appid(),
            vid: frame.ethernet().vlan().map(VlanTag::vid),
        };
        let is_replaced = match self.identity {
            Some(known) if known != identity => {
                if !self.replaces(known, identity, at_ns, desk) {
                    return false;
                }
                true
            }
            _ => false,
        };
        self.identity = Some(identity);
        let contents = Contents {
            conf_rev: first.conf_rev(),
            simulate: frame.simulate(),
            smp_synch: first.smp_synch(),
            octets: first.seq_data().len(),
            asdus: frame.asdus().filter(|asdu| asdu.sv_id() == sv_id).count(),
        };
        self.compare(contents, at_ns, desk);
        let last_ns = self.last_ns.unwrap_or(self.begun_ns);
        self.spacing(at_ns, desk);
        for asdu in frame.asdus().filter(|asdu| asdu.sv_id() == sv_id) {
            let step = self.sequence.accept(Sample {
                smp_cnt: asdu.smp_cnt(),
                contents: Some(self.prints.of(asdu.seq_data(), asdu.smp_synch())),
                at_ns: Some(at_ns),
                alone: false,
            });
            // A fault may have begun in samples that did not come.
            if matches!(step, SampleStep::Gap(_) | SampleStep::Restart | SampleStep::First) {
                self.gaps.add(last_ns, at_ns);
            }
            // Told by their counts: a stream is told of each kind ten times only.
            while self.sequence.take_finding().is_some() {}
        }
        is_replaced
    }

    /// Reports a frame of another identity. True if it takes the place of the one that fell silent.
    fn replaces(&mut self, known: Identity, now: Identity, at_ns: i64, desk: &mut Desk) -> bool {
        let silent_ns = self.last_ns.map_or(0, |last| at_ns.saturating_sub(last));
        let what = differs(known, now);
        if silent_ns < REPLACED_NS {
            let text = format!("frames under this svID come from two senders: {what}");
            desk.alarm(AlarmKind::Changed, self.subject, [at_ns, at_ns], text);
            return false;
        }
        let text = format!("the stream is another one since now: {what}");
        desk.event(
            at_ns,
            EventKind::StreamDoubt,
            Some(self.series),
            format!("{}: {text}", self.config.sv_id),
        );
        desk.alarm(AlarmKind::Changed, self.subject, [at_ns, at_ns], text);
        self.counts(at_ns, true, false, desk);
        self.sequence = sequence(self.config.rate);
        self.accounting = Accounting::default();
        (self.restarts, self.out_of_range) = (0, 0);
        self.contents = None;
        true
    }

    fn compare(&mut self, now: Contents, at_ns: i64, desk: &mut Desk) {
        let before = self.contents.replace(now);
        let expected = self.config.conf_rev.filter(|rev| *rev != now.conf_rev);
        let text = match (before, expected) {
            (None, Some(rev)) => format!("confRev is {}, and {rev} is expected", now.conf_rev),
            (Some(before), _) if before != now => changed(before, now),
            _ => return,
        };
        desk.event(
            at_ns,
            EventKind::Stream,
            Some(self.series),
            format!("{}: {text}", self.config.sv_id),
        );
        desk.alarm(AlarmKind::Changed, self.subject, [at_ns, at_ns], text);
    }

    fn spacing(&mut self, at_ns: i64, desk: &mut Desk) {
        let last = self.last_ns.replace(at_ns);
        let Some(last) = last else { return };
        let spacing_ns = at_ns.saturating_sub(last);
        desk.sample(self.series, spacing_ns, at_ns);
        if self.frame_ns == 0 || spacing_ns < self.frame_ns {
            self.frame_ns = spacing_ns.max(1);
        }
        if self.is_silent {
            self.is_silent = false;
            self.gaps.add(last, at_ns);
            let text = format!(
                "{}: frames come again, after {}",
                self.config.sv_id,
                Ns(spacing_ns.unsigned_abs())
            );
            desk.span([last, at_ns], EventKind::StreamDoubt, Some(self.series), text);
            return;
        }
        let is_late = self
            .config
            .within_ns
            .is_some_and(|within| spacing_ns.unsigned_abs() > within);
        if is_late && last >= self.excused_ns && self.late.len() < MOST_LATE {
            self.late.push((at_ns, spacing_ns));
        }
    }

    /// Judges late frames, when it is known that the watch lost none meanwhile.
    fn judge_late(&mut self, desk: &mut Desk) {
        for (at_ns, spacing_ns) in self.late.drain(..) {
            desk.count(self.series, Counter::Late, 1);
            let text = format!("{} passed from one frame to the next", Ns(spacing_ns.unsigned_abs()));
            desk.alarm(AlarmKind::Late, self.subject, [at_ns, at_ns], text);
        }
    }

    /// The watch itself lost frames until `now_ns`: what is missing until then is not the stream's fault.
    pub(crate) fn excuse(&mut self, now_ns: i64) {
        self.late.clear();
        self.excused_ns = self.excused_ns.max(now_ns);
    }

    /// Looks for silence and for losses; every frame that came before `now_ns` was taken.
    pub(crate) fn look(&mut self, now_ns: i64, desk: &mut Desk) {
        self.sequence.look(now_ns);
        while self.sequence.take_finding().is_some() {}
        self.judge_late(desk);
        self.silence(now_ns, desk);
        // A silence that goes on may hide a fault as one that is over may.
        if !self.is_live() {
            self.gaps.add(self.last_ns.unwrap_or(self.begun_ns), now_ns);
        }
        if now_ns.saturating_sub(self.looked_ns) >= LOOK_NS {
            let is_excused = self.looked_ns <= self.excused_ns;
            self.counts(now_ns, false, is_excused, desk);
            self.looked_ns = now_ns;
        }
    }

    fn silence(&mut self, now_ns: i64, desk: &mut Desk) {
        let since_ns = self.last_ns.unwrap_or(self.begun_ns).max(self.excused_ns);
        let allowed_ns = match self.last_ns {
            Some(_) => SILENT_NS.max(self.frame_ns.saturating_mul(SILENT_FRAMES)),
            None => self.never_ns,
        };
        let silent_ns = now_ns.saturating_sub(since_ns);
        if self.is_silent || silent_ns <= allowed_ns {
            return;
        }
        self.is_silent = true;
        let text = match self.last_ns {
            Some(_) => format!("no frame for {}", Ns(silent_ns.unsigned_abs())),
            None => format!("no frame in {} since the watch began", Ns(silent_ns.unsigned_abs())),
        };
        desk.span(
            [since_ns, now_ns],
            EventKind::StreamDoubt,
            Some(self.series),
            format!("{}: {text}", self.config.sv_id),
        );
        desk.alarm(AlarmKind::Silent, self.subject, [since_ns, now_ns], text);
    }

    fn counts(&mut self, now_ns: i64, is_last: bool, is_excused: bool, desk: &mut Desk) {
        let counters = *self.sequence.counters();
        let settled = match is_last {
            true => self.accounting.last_look(&counters),
            false if !self.accounting.is_due(&counters) => return,
            false => self.accounting.look(&counters),
        };
        // A loss of the watch itself is told as such, and is none of the stream.
        let lost = if is_excused { 0 } else { settled.lost };
        for (counter, n) in [
            (Counter::Lost, lost),
            (Counter::Duplicate, settled.duplicates),
            (Counter::Conflicting, settled.conflicting),
            (Counter::Reordered, settled.out_of_order),
        ] {
            desk.count(self.series, counter, n);
        }
        if lost > 0 {
            let text = format!("{lost} samples never came");
            desk.alarm(AlarmKind::Lost, self.subject, [self.looked_ns, now_ns], text);
        }
        let restarts = self.sequence.certain_restarts();
        let strange = [
            (settled.conflicting, "samples contradict others of the same smpCnt"),
            (restarts.saturating_sub(self.restarts), "jumps of smpCnt"),
            (
                counters.out_of_range - self.out_of_range,
                "samples with a smpCnt beyond the rate",
            ),
        ];
        self.restarts = self.restarts.max(restarts);
        self.out_of_range = counters.out_of_range;
        for (n, words) in strange {
            if n > 0 {
                let text = format!("{n} {words}");
                let event = format!("{}: {text}", self.config.sv_id);
                desk.span(
                    [self.looked_ns, now_ns],
                    EventKind::StreamDoubt,
                    Some(self.series),
                    event,
                );
                desk.alarm(AlarmKind::Changed, self.subject, [self.looked_ns, now_ns], text);
            }
        }
    }
}

fn sequence(rate: Option<u32>) -> Sequence {
    rate.map_or_else(Sequence::learning, Sequence::checking).comparing()
}

fn differs(before: Identity, now: Identity) -> String {
    let vid = |vid: Option<u16>| vid.map_or_else(|| "no VLAN".to_owned(), |vid| format!("VLAN {vid}"));
    let mut parts = Vec::new();
    if before.source != now.source {
        parts.push(format!("source {} and {}", before.source, now.source));
    }
    if before.destination != now.destination {
        parts.push(format!("destination {} and {}", before.destination, now.destination));
    }
    if before.appid != now.appid {
        parts.push(format!("APPID 0x{:04x} and 0x{:04x}", before.appid, now.appid));
    }
    if before.vid != now.vid {
        parts.push(format!("{} and {}", vid(before.vid), vid(now.vid)));
    }
    parts.join(", ")
}

fn changed(before: Contents, now: Contents) -> String {
    let synch = |synch: Option<u8>| synch.map_or_else(|| "none".to_owned(), |synch| synch.to_string());
    let mut parts = Vec::new();
    if before.conf_rev != now.conf_rev {
        parts.push(format!("confRev from {} to {}", before.conf_rev, now.conf_rev));
    }
    if before.simulate != now.simulate {
        parts.push(format!("simulation bit from {} to {}", before.simulate, now.simulate));
    }
    if before.smp_synch != now.smp_synch {
        parts.push(format!(
            "smpSynch from {} to {}",
            synch(before.smp_synch),
            synch(now.smp_synch)
        ));
    }
    if before.octets != now.octets {
        parts.push(format!("seqData from {} to {} octets", before.octets, now.octets));
    }
    if before.asdus != now.asdus {
        parts.push(format!("ASDUs in a frame from {} to {}", before.asdus, now.asdus));
    }
    parts.join(", ")
}
