//! Expected streams, known from a file. An expected stream that never comes is lost; differences from the file are reported.

use super::SubscribeConfig;
use super::key;
use super::notice::Notice;
use super::series::{Family, families, slot};
use super::stream::SvStream;
use model::{Counter, StreamId};
use run::Feed;
use streamset::StreamSpec;
use units::Monotonic;
use wire::ether::Mac;
use wire::sequence::RateLearner;
use wire::sv::{Asdu, Frame};

/// Delay after the start from which an expected stream is late. A publisher that is started together with the subscriber waits
/// for the next full second.
const LATE_NS: i64 = 1_000_000_000;

/// smpMod value for samples a second.
const PER_SECOND: u16 = 1;

/// Expectation that a stream is compared with.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    expected: StreamSpec,
    came: bool,
    /// Learns the rate until the stream has shown it.
    learner: Option<RateLearner>,
    /// Latest values of the compared fields.
    seen: Seen,
}

/// Compared values: confRev, ASDUs, octets of seqData, datSet as coded by [`dat_set`], smpRate as given by [`smp_rate`].
type Seen = [u64; 5];

/// No value seen yet for any field.
const NOT_SEEN: Seen = [u64::MAX; 5];

/// smpRate of a frame without that field: a value that 16 bits cannot hold.
pub(super) const NO_SMP_RATE: u64 = 1 << 16;

/// Codes for datSet.
const AS_EXPECTED: u64 = 0;
const NO_DAT_SET: u64 = 1;
const OTHER_DAT_SET: u64 = 2;

impl Watch {
    pub(super) fn new(expected: StreamSpec) -> Self {
        Self {
            expected,
            came: false,
            learner: Some(RateLearner::new()),
            seen: NOT_SEEN,
        }
    }
}

/// Identity of an expected stream.
pub(crate) fn id(stream: &StreamSpec) -> StreamId {
    key::stream(stream.destination, stream.vlan, stream.appid, stream.sv_id.as_bytes())
}

impl SvStream {
    /// True if this expected stream has not come yet and equals `stream` apart from the VLAN.
    pub(super) fn awaits(&self, stream: &StreamId) -> bool {
        self.watch.as_ref().is_some_and(|watch| !watch.came) && self.id.is_same_but_vlan(stream)
    }

    /// Records that the stream has come, if it was expected.
    pub(super) fn note_coming(
        &mut self,
        id: StreamId,
        frame: &Frame<'_>,
        started: Monotonic,
        at: Monotonic,
        feed: &mut Feed,
    ) {
        let Some(watch) = self.watch.as_mut().filter(|watch| !watch.came) else {
            return;
        };
        watch.came = true;
        let vids = [key::vid_code(&self.id), key::vid_code(&id)];
        self.id = id;
        self.begin(frame, at, feed);
        // A tag with only a priority and no tag at all mean the same VLAN.
        if vids[0].max(1) != vids[1].max(1) {
            self.notice(feed, Notice::ExpectedVlan, at, vids[0], vids[1]);
        }
        if at - started > LATE_NS {
            for family in families(self.clock()) {
                let late_ns = (at - started).unsigned_abs();
                feed.notice(slot(self.number(), *family), Notice::CameLate, at, late_ns, 0);
            }
        }
    }

    /// Reports each difference from the expectation whenever it changes.
    pub(super) fn compare(&mut self, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) {
        let Some(watch) = self.watch.as_mut() else { return };
        let Some(asdu) = frame.asdus().next() else { return };
        let seen = [
            u64::from(asdu.conf_rev()),
            frame.asdus().count() as u64,
            asdu.seq_data().len() as u64,
            dat_set(&watch.expected, &asdu),
            asdu.smp_rate().map_or(NO_SMP_RATE, u64::from),
        ];
        let before = std::mem::replace(&mut watch.seen, seen);
        let expected = &watch.expected;
        let wanted = [
            u64::from(expected.conf_rev),
            u64::from(expected.asdus),
            expected.content.octets().map_or(seen[2], |octets| octets as u64),
            AS_EXPECTED,
            smp_rate(expected, &asdu).map_or(seen[4], u64::from),
        ];
        let notices = [
            Notice::ExpectedConfRev,
            Notice::ExpectedAsdus,
            Notice::ExpectedOctets,
            Notice::ExpectedDatSet,
            Notice::ExpectedSmpRate,
        ];
        for (index, notice) in notices.into_iter().enumerate() {
            if seen[index] != wanted[index] && seen[index] != before[index] {
                let a = match notice {
                    // The text needs the name of the expected datSet.
                    Notice::ExpectedDatSet => u64::from(self.number()),
                    _ => wanted[index],
                };
                self.notice(feed, notice, at, a, seen[index]);
            }
        }
    }

    /// Follows the counter until it has shown the rate.
    #[inline]
    pub(super) fn watch_rate(&mut self, smp_cnt: u16, at: Monotonic, feed: &mut Feed) {
        let Some(watch) = self.watch.as_mut() else { return };
        let Some(rate) = watch.learner.as_mut().and_then(|learner| learner.observe(smp_cnt)) else {
            return;
        };
        watch.learner = None;
        let expected = watch.expected.rate;
        if rate != expected {
            self.notice(feed, Notice::ExpectedRate, at, u64::from(expected), u64::from(rate));
        }
    }

    /// At the end, counts the due samples of a stream that never came as lost.
    pub(super) fn account_for_absence(&self, started: Monotonic, now: Monotonic, feed: &mut Feed) {
        let Some(watch) = self.watch.as_ref().filter(|_| !self.has_come()) else {
            return;
        };
        let silent_ns = (now - started).max(0).unsigned_abs();
        let due = u128::from(silent_ns) * u128::from(watch.expected.rate) / 1_000_000_000;
        let lost = u64::try_from(due).unwrap_or(u64::MAX);
        for family in families(self.clock()) {
            feed.count(slot(self.number(), *family), Counter::Lost, now, lost);
        }
        self.notice(feed, Notice::NeverCame, now, silent_ns, lost);
    }
}

/// Compares a frame's datSet with the expected one; returns a code. A file without a datSet expects nothing.
fn dat_set(expected: &StreamSpec, asdu: &Asdu<'_>) -> u64 {
    match (&expected.dat_set, asdu.dat_set()) {
        (Some(_), None) => NO_DAT_SET,
        (Some(expected), Some(seen)) if expected.as_bytes() != seen => OTHER_DAT_SET,
        _ => AS_EXPECTED,
    }
}

/// Expected smpRate of the frame: from the file, otherwise the rate if the frame counts samples a second. `None` if neither is
/// known.
fn smp_rate(expected: &StreamSpec, asdu: &Asdu<'_>) -> Option<u32> {
    let is_per_second = asdu.smp_rate().is_some() && asdu.smp_mod() == Some(PER_SECOND);
    let stated = expected.smp_rate.map(u32::from);
    stated.or_else(|| is_per_second.then_some(expected.rate))
}

/// Text for an absent or different datSet of expected stream number `number`; `seen` is the code.
pub(super) fn dat_set_text(config: &SubscribeConfig, stream: &str, number: u64, seen: u64) -> String {
    let expected = usize::try_from(number)
        .ok()
        .and_then(|number| config.expected.get(number));
    let name = expected
        .and_then(|expected| expected.dat_set.as_deref())
        .unwrap_or_default();
    match seen {
        NO_DAT_SET => format!("{stream}: has no datSet, expected {name}"),
        _ => format!("{stream}: datSet is not {name} as expected"),
    }
}

/// The expected streams, numbered from 0.
pub(super) fn awaited(config: &SubscribeConfig) -> Vec<SvStream> {
    let numbered = (0..).zip(&config.expected);
    numbered
        .map(|(number, expected)| SvStream::awaited(number, expected, config))
        .collect()
}

/// Text for a destination and APPID, packed by [`key::packed`], and a VLAN.
pub(super) fn whereto(packed: u64, vid: u64) -> String {
    let [a, b, c, d, e, f, high, low] = packed.to_be_bytes();
    let appid = u16::from_be_bytes([high, low]);
    format!("{}, APPID 0x{appid:04X}, {}", Mac([a, b, c, d, e, f]), vlan(vid))
}

/// Text for a VLAN packed by [`key::vid_code`].
pub(super) fn vlan(code: u64) -> String {
    match code {
        0 => "without a tag".into(),
        vid => format!("in VLAN {}", vid - 1),
    }
}

/// Number of a stream, from the slot of one of its series. Expected streams come first.
pub(super) fn number_of_slot(slot: u16) -> Option<usize> {
    let families = Family::ALL.len() as u16;
    Some(usize::from(slot.checked_sub(1)? / families))
}

/// Expectation of a stream, from the slot of one of its series.
pub(super) fn of_slot(config: &SubscribeConfig, slot: u16) -> Option<&StreamSpec> {
    config.expected.get(number_of_slot(slot)?)
}
