//! The same generated histories, frame by frame, through the subscriber and through the analysis of a capture; both results are
//! compared with the changes made to the histories.

use super::SubscribeConfig;
use super::notice::Notice;
use super::series::{DELIVERY, Family, slots};
use super::table::StreamTable;
use crate::reception::{Account, Arrival};
use crate::sender::SenderEnd;
use analysis::{Analysis, Config, Event, EventKind, Sink};
use capture::{Frame, LinkType};
use model::{Counter, SeriesClock, SeriesSpec};
use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, prop_assert_eq, prop_assume, proptest};
use run::{Describe, FeedItem, Heard};
use std::collections::BTreeMap;
use testing::histories::{Form, Sent, deeds, ends_early, is_whole, play};
use units::{Monotonic, Realtime};
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

/// Sample rate, low enough for thousands of histories.
const RATE: u32 = 200;

const SECOND_NS: i64 = 1_000_000_000;

/// Start of the histories on the wall clock.
const START_NS: i64 = 1_790_000_000 * SECOND_NS;

/// A frame and the time when the kernel receives it.
type Stamped = (i64, Vec<u8>);

struct Frames {
    templates: BTreeMap<(&'static str, bool), Template>,
}

impl Frames {
    fn new() -> Self {
        Self {
            templates: BTreeMap::new(),
        }
    }

    fn sample(&mut self, sv_id: &'static str, sent: &Sent) -> Vec<u8> {
        let make = || {
            Template::new(&Message {
                dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
                src: Mac([2, 0, 0, 0, 0, if sent.is_foreign { 9 } else { 1 }]),
                tags: Vec::new(),
                appid: 0x4000,
                simulate: false,
                asdus: vec![OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality::GOOD); 2])],
            })
            .expect("encodes")
        };
        let template = self.templates.entry((sv_id, sent.is_foreign)).or_insert_with(make);
        let mut asdu = template.asdu_mut(0).expect("an ASDU");
        asdu.set_smp_cnt(sent.count);
        asdu.seq_data_mut()[..4].copy_from_slice(&sent.contents.to_be_bytes());
        let mut octets = template.bytes().to_vec();
        if sent.form == Form::Broken {
            octets[26] ^= 0x40;
        }
        octets
    }
}

/// The frames of the stream, together with those of a second, faultless stream.
fn frames(stream: &[Sent], end_ns: i64) -> Vec<Stamped> {
    let (mut encode, mut all) = (Frames::new(), Vec::new());
    for sent in stream {
        let sv_id = if sent.form == Form::Renamed { "MU01\0" } else { "MU01" };
        all.push((sent.at_ns, encode.sample(sv_id, sent)));
    }
    let (beside, _) = play(RATE, 0, (end_ns / (SECOND_NS / i64::from(RATE))) as u32, &[]);
    all.extend(
        beside
            .iter()
            .map(|sent| (sent.at_ns + 1_000, encode.sample("MU02", sent))),
    );
    // A publisher that paused sends the rest of its samples after the end of the reception.
    all.retain(|(at_ns, _)| *at_ns < end_ns);
    all.sort_by_key(|(at_ns, _)| *at_ns);
    all
}

/// Findings about a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Said {
    lost: u64,
    conflicting: u64,
    doubts: usize,
}

/// Findings about every stream by its name, and doubts about all of them.
#[derive(Debug, Default)]
struct Verdicts {
    streams: BTreeMap<String, Said>,
    of_all: usize,
}

impl Verdicts {
    fn pass(&self) -> bool {
        self.of_all == 0 && self.streams.values().all(|said| *said == Said::default())
    }

    fn of(&self, sv_id: &str) -> Said {
        self.streams.get(sv_id).cloned().unwrap_or_default()
    }
}

struct Nameless;

impl Describe for Nameless {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            what: String::new(),
            clock: SeriesClock::Realtime,
            interval_ns: None,
            threshold_ns: None,
            settings: Vec::new(),
            ..SeriesSpec::named(label)
        }
    }
}

/// Findings of the subscriber, whose application reads each frame `late_ns` after the kernel received it. Like a capture, it ends
/// with the last frame.
fn live(frames: &[Stamped], rate: Option<u32>, late_ns: i64) -> Verdicts {
    let end_ns = frames.last().map_or(0, |(at_ns, _)| *at_ns);
    live_until(frames, rate, late_ns, (SenderEnd::default(), end_ns))
}

/// The same, until `end_ns`; `sender` gives the end of its publisher.
fn live_until(frames: &[Stamped], rate: Option<u32>, late_ns: i64, (sender, end_ns): (SenderEnd, i64)) -> Verdicts {
    let config = SubscribeConfig {
        rate,
        sender,
        max_streams: 4,
        ..SubscribeConfig::default()
    };
    let (mut feed, mut heard) = Heard::of(1 << 10, usize::from(slots(4)), Box::new(Nameless));
    let mut table = StreamTable::new(config, Vec::new(), None);
    let mut said = Verdicts::default();
    let mut names = BTreeMap::new();
    let mut listen = |heard: &mut Heard, said: &mut Verdicts| {
        names.extend(heard.announced());
        heard.take().iter().for_each(|record| take(record, &names, said));
    };
    for (at_ns, data) in frames {
        let (heard_at, read_at) = (Monotonic::from_ns(*at_ns), Monotonic::from_ns(at_ns + late_ns));
        let arrival = Arrival {
            at: read_at,
            wall: Realtime::from_ns(START_NS + at_ns + late_ns),
            kernel: Some(Realtime::from_ns(START_NS + at_ns)),
            stamp_ns: Some(START_NS + at_ns),
            heard: heard_at,
        };
        table.look(heard_at, &mut feed);
        table.take(data, None, &arrival, &mut feed);
        listen(&mut heard, &mut said);
    }
    table.end(Monotonic::from_ns(end_ns), &mut feed);
    listen(&mut heard, &mut said);
    said
}

/// Adds the findings of a record, for the stream of its spacing series.
fn take(record: &FeedItem, names: &BTreeMap<u16, String>, said: &mut Verdicts) {
    match *record {
        FeedItem::Notice {
            slot: DELIVERY, code, ..
        } => {
            let of_all = [Notice::Malformed, Notice::TooManyStreams].map(Some);
            said.of_all += usize::from(of_all.contains(&Notice::of(code)));
        }
        FeedItem::Notice { slot, code, .. } if is_spacing(slot) => {
            let is_doubt = matches!(Notice::of(code), Some(Notice::Found(what)) if what.is_doubt());
            said.streams.entry(names[&slot].clone()).or_default().doubts += usize::from(is_doubt);
        }
        FeedItem::Count { slot, counter, n, .. } if is_spacing(slot) => {
            let stream = said.streams.entry(names[&slot].clone()).or_default();
            match counter {
                Counter::Lost => stream.lost += n,
                Counter::Conflicting => stream.conflicting += n,
                _ => {}
            }
        }
        _ => {}
    }
}

fn is_spacing(slot: u16) -> bool {
    slot > DELIVERY && (slot - 1) % Family::ALL.len() as u16 == Family::Spacing as u16
}

#[derive(Default)]
struct Doubts(BTreeMap<usize, usize>);

impl Sink for Doubts {
    fn event(&mut self, event: Event) {
        let is_doubt = matches!(event.kind, EventKind::Doubt | EventKind::Uncountable);
        *self.0.entry(event.stream).or_default() += usize::from(is_doubt);
    }
}

/// Findings of the analysis of a capture with the same stamps.
fn captured(frames: &[Stamped], rate: Option<u32>) -> Verdicts {
    let config = Config {
        rate,
        max_streams: 4,
        window_ns: None,
        port_mbit: None,
    };
    let mut doubts = Doubts::default();
    let mut analysis = Analysis::new(config, &mut doubts);
    for (number, (at_ns, data)) in (1..).zip(frames) {
        analysis.frame(&Frame {
            number,
            time_ns: Some(START_NS + at_ns),
            data,
            original_len: data.len() as u32,
            link_type: LinkType::ETHERNET,
            interface: 0,
            interface_name: None,
        });
    }
    let summary = analysis.finish();
    let said = summary.streams.iter().enumerate().map(|(at, stream)| {
        let said = Said {
            lost: stream.tally.counters.lost,
            conflicting: stream.tally.counters.conflicting,
            doubts: doubts.0.get(&at).copied().unwrap_or_default(),
        };
        (stream.identity.plain_label(), said)
    });
    Verdicts {
        streams: said.collect(),
        of_all: (summary.malformed + summary.unplaced) as usize,
    }
}

#[test]
fn nothing_is_due_when_the_publisher_of_the_run_has_ended() {
    let (stream, end_ns) = play(RATE, 0, 2 * RATE, &[]);
    let (frames, later_ns) = (frames(&stream, end_ns), end_ns + 3 * SECOND_NS);
    let sender = SenderEnd::default();
    let stopped = live_until(&frames, Some(RATE), 0, (sender.clone(), later_ns));
    assert_eq!(stopped.of("MU01").lost, 3 * u64::from(RATE));
    sender.tell(Monotonic::from_ns(end_ns));
    let ended = live_until(&frames, Some(RATE), 0, (sender, later_ns));
    assert!(ended.pass(), "{ended:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_and_captured_a_pass_was_whole_and_both_count_alike(
        first in 0..RATE,
        seconds in 3_u32..6,
        deeds in deeds(RATE),
        learns in any::<bool>(),
        late_ns in 0..3 * SECOND_NS,
    ) {
        let (stream, end_ns) = play(RATE, first, seconds * RATE, &deeds);
        // A stream that never came is known only if it is expected.
        prop_assume!(stream.iter().any(|sent| sent.form == Form::Whole) && !ends_early(&stream, RATE, end_ns));
        let rate = (!learns).then_some(RATE);
        let frames = frames(&stream, end_ns);
        let (live, captured) = (live(&frames, rate, late_ns), captured(&frames, rate));
        let is_whole = is_whole(&stream, seconds * RATE, &deeds);
        for (how, said) in [("live", &live), ("captured", &captured)] {
            prop_assert!(!said.pass() || is_whole, "{} passes: {:?}", how, deeds);
            prop_assert!(said.pass() || !deeds.is_empty(), "{}: a whole stream does not: {:?}", how, said);
            prop_assert_eq!(said.of("MU02"), Said::default(), "{}: the second stream", how);
        }
        let [alive, caught] = [&live, &captured].map(|said| said.of("MU01"));
        prop_assert_eq!((alive.lost, alive.conflicting), (caught.lost, caught.conflicting), "{:?}", deeds);
        prop_assert_eq!(alive.doubts > 0, caught.doubts > 0, "{:?}", deeds);
    }
}
