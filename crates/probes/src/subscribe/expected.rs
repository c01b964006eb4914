//! Expected streams, known from a file. A stream that does not come is lost; one that differs from the file is named.

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

/// An expected stream that comes this long after the start is late: a publisher that is started beside the subscriber waits for the next
/// full second.
const LATE_NS: i64 = 1_000_000_000;

/// smpMod of samples a second.
const PER_SECOND: u16 = 1;

/// Expectation that is held against a stream.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    expected: StreamSpec,
    came: bool,
    /// Until it has shown the rate.
    learner: Option<RateLearner>,
    /// Values seen last of what is compared.
    seen: Seen,
}

/// Values that are compared: confRev, ASDUs, octets of seqData, datSet as of [`dat_set`], smpRate as of [`smp_rate`].
type Seen = [u64; 5];

/// No value of any of them.
const NOT_SEEN: Seen = [u64::MAX; 5];

/// smpRate of a frame without one: a value that 16 bits cannot hold.
pub(super) const NO_SMP_RATE: u64 = 1 << 16;

/// Codes of datSet.
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

/// The identity of a stream that is to come.
pub(super) fn id(stream: &StreamSpec) -> StreamId {
    key::stream(stream.destination, stream.vlan, stream.appid, stream.sv_id.as_bytes())
}

impl SvStream {
    /// True if this expected stream has not come yet, and is `stream` but for its VLAN.
    pub(super) fn awaits(&self, stream: &StreamId) -> bool {
        self.watch.as_ref().is_some_and(|watch| !watch.came) && self.id.is_same_but_vlan(stream)
    }

    /// Notes that the stream has come, if it was awaited.
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
        // A tag for the priority alone and no tag at all are the same VLAN.
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

    /// Says what is not as expected, whenever it changes.
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
                    // Its words need the name.
                    Notice::ExpectedDatSet => u64::from(self.number()),
                    _ => wanted[index],
                };
                self.notice(feed, notice, at, a, seen[index]);
            }
        }
    }

    /// Watches the counter until it has shown the rate.
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

    /// At the end: one that never came has lost what was due.
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

/// Code of a frame's datSet, compared with the expected one. A file that names none says nothing about it.
fn dat_set(expected: &StreamSpec, asdu: &Asdu<'_>) -> u64 {
    match (&expected.dat_set, asdu.dat_set()) {
        (Some(_), None) => NO_DAT_SET,
        (Some(expected), Some(seen)) if expected.as_bytes() != seen => OTHER_DAT_SET,
        _ => AS_EXPECTED,
    }
}

/// The smpRate that the frame should have: what the file says, or the rate where the frame counts samples a second. `None`
/// where it is not known.
fn smp_rate(expected: &StreamSpec, asdu: &Asdu<'_>) -> Option<u32> {
    let is_per_second = asdu.smp_rate().is_some() && asdu.smp_mod() == Some(PER_SECOND);
    let stated = expected.smp_rate.map(u32::from);
    stated.or_else(|| is_per_second.then_some(expected.rate))
}

/// That the datSet of expected stream number `number` is absent or another one, as `seen` says.
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

/// The streams that are to come, numbered from 0.
pub(super) fn awaited(config: &SubscribeConfig) -> Vec<SvStream> {
    let numbered = (0..).zip(&config.expected);
    numbered
        .map(|(number, expected)| SvStream::awaited(number, expected, config))
        .collect()
}

/// A destination and APPID, packed by [`key::packed`], and a VLAN.
pub(super) fn whereto(packed: u64, vid: u64) -> String {
    let [a, b, c, d, e, f, high, low] = packed.to_be_bytes();
    let appid = u16::from_be_bytes([high, low]);
    format!("{}, APPID 0x{appid:04X}, {}", Mac([a, b, c, d, e, f]), vlan(vid))
}

/// A VLAN as [`key::vid_code`] packs it.
pub(super) fn vlan(code: u64) -> String {
    match code {
        0 => "without a tag".into(),
        vid => format!("in VLAN {}", vid - 1),
    }
}

/// The number of a stream, by the slot of one of its series. Those that are expected come first.
pub(super) fn number_of_slot(slot: u16) -> Option<usize> {
    let families = Family::ALL.len() as u16;
    Some(usize::from(slot.checked_sub(1)? / families))
}

/// Where an expected stream is from, by the slot of one of its series.
pub(super) fn of_slot(config: &SubscribeConfig, slot: u16) -> Option<&StreamSpec> {
    config.expected.get(number_of_slot(slot)?)
}
