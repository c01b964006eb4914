//! Tests of rings that are full.

use super::{Between, CHANGES, Changed, Given, INPUTS, OutputEnd, ReceiveEnd, Rings};
use crate::relay::RelayConfig;
use crate::relay::functions::Functions;
use crate::relay::receiving::Came;
use crate::relay::series::use_slot;
use crate::relay::task::Ends;
use crate::relay::words::Notice;
use crate::subscribe::ClockRelation;
use ::relay::config::parse;
use ::relay::{Engine, Sample};
use model::{Counter, SeriesSpec, kind};
use run::{Describe, Feed, FeedItem, Heard};
use sys::thread::Policy;
use units::{Monotonic, Realtime};
use wire::quality::SvQuality;

const FILE: &str = include_str!("../../../../../tests/data/relay.toml");

/// Time from one sample to the next.
const SAMPLE_NS: i64 = 250_000;

struct Nameless;

impl Describe for Nameless {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        SeriesSpec::of(&kind::TASK, label, "x")
    }
}

/// A relay whose threads are run by a test, one after the other.
struct Played {
    receive: ReceiveEnd,
    functions: Functions,
    between: Between,
    output: OutputEnd,
    feed: Feed,
    heard: Heard,
}

impl Played {
    fn new() -> Self {
        let config = RelayConfig {
            relay: parse(FILE, "relay.toml").expect("a relay"),
            clock: ClockRelation::SameHost,
            duration_ns: None,
            policy: Policy::Other,
            spin_ahead_ns: 0,
            records: None,
            stream_labels: Vec::new(),
            ptp: None,
            beside: Vec::new(),
        };
        let Rings {
            receive,
            functions,
            output,
        } = Rings::of(&config.relay);
        let (feed, heard) = Heard::of(1 << 16, 16, Box::new(Nameless));
        Self {
            receive,
            between: Between::new(functions, config.relay.streams.len()),
            functions: Functions::new(&config, None).expect("functions"),
            output,
            feed,
            heard,
        }
    }

    fn give(&mut self, number: u16) {
        let at = Monotonic::from_ns(i64::from(number) * SAMPLE_NS);
        let sample = Sample {
            smp_cnt: number,
            values: [0.0; 8],
            quality: [SvQuality::GOOD; 8],
            smp_synch: 2,
            simulated: false,
            conflicting: false,
        };
        let came = Came {
            at,
            heard: at,
            stamp: Realtime::from_ns(at.as_ns()),
            age_ns: Some(1),
        };
        self.receive.0.push(Given::Sample {
            stream: 0,
            sample,
            came,
        });
    }

    /// Runs a cycle when sample `now` is due, in which the functions changed these control blocks.
    fn cycle(&mut self, now: u16, changed: u64) -> Vec<FeedItem> {
        let Self {
            functions,
            between,
            feed,
            heard,
            ..
        } = self;
        between.receive(functions, feed).expect("it receives");
        let now = Monotonic::from_ns(i64::from(now) * SAMPLE_NS);
        let mut decided = functions.decide(now, feed);
        decided.changed = changed;
        between.send(functions, &decided, feed).expect("it sends");
        heard.take()
    }

    /// Control blocks that the output received since the last call.
    fn told(&mut self) -> Vec<u64> {
        let all = std::iter::from_fn(|| self.output.from.pop());
        all.filter_map(|changed| match changed {
            Changed::Blocks { blocks, .. } => Some(blocks),
            Changed::Member(_) => None,
        })
        .collect()
    }
}

fn refused(items: &[FeedItem]) -> Vec<u64> {
    let notices = items.iter().filter_map(|item| match item {
        FeedItem::Notice { code, a, .. } => (Notice::of(*code) == Some(Notice::Refused)).then_some(*a),
        _ => None,
    });
    notices.collect()
}

/// Number of ages and of losses of the first stream.
fn used(items: &[FeedItem]) -> (usize, u64) {
    let (mut ages, mut losses) = (0, 0);
    for item in items {
        match item {
            FeedItem::Sample { slot, .. } => ages += usize::from(*slot == use_slot(0)),
            FeedItem::Count { slot, counter, n, .. } if *slot == use_slot(0) => {
                assert_eq!(*counter, Counter::Lost);
                losses += n;
            }
            _ => {}
        }
    }
    (ages, losses)
}

#[test]
fn samples_without_room_are_lost_in_what_the_functions_use_and_told() {
    let mut played = Played::new();
    let room = (Engine::KEPT as usize + INPUTS) as u16;
    (0..4).for_each(|number| played.give(number));
    let items = played.cycle(4, 0);
    assert_eq!((used(&items), refused(&items)), ((4, 0), vec![]));
    // The functions are held up: samples without room are lost, in the ring or at the functions themselves.
    (4..4 + room + 6).for_each(|number| played.give(number));
    let items = played.cycle(4 + room + 6, 0);
    assert_eq!(refused(&items), [6]);
    let (ages, _) = used(&items);
    assert_eq!(ages, Engine::KEPT as usize);
    let next = 4 + room + 6;
    (next..next + 8).for_each(|number| played.give(number));
    let (_, lost) = used(&[items, played.cycle(next + 8, 0)].concat());
    assert_eq!(lost, u64::from(next) - 4 - Engine::KEPT);
    let mut feed = played.feed;
    played.between.end(&mut feed).expect("it ends");
    assert!(refused(&played.heard.take()).is_empty(), "reported once");
}

#[test]
fn a_change_without_room_is_told_as_soon_as_there_is_some() {
    let mut played = Played::new();
    for _ in 0..CHANGES {
        played.cycle(0, 1);
    }
    played.cycle(0, 1);
    assert_eq!(played.told(), vec![1; CHANGES]);
    assert_eq!(played.output.from.refused(), 1);
    played.cycle(0, 0);
    assert_eq!(played.told(), [1], "put off, not lost");
    played.cycle(0, 0);
    assert!(played.told().is_empty());
}
