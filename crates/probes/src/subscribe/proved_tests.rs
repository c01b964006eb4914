//! Datagrams that are refused for their signatures: they put the stream or the input that they name in doubt, and change nothing else.

use super::notice::Notice;
use super::series::{DELIVERY, slots};
use super::table::StreamTable;
use super::{ForRelay, SubscribeConfig, SuperviseConfig, expected};
use crate::publish::StreamConfig;
use crate::reception::{Account, Arrival};
use run::{Describe, Feed, FeedItem, Heard};
use streamset::StreamSpec;
use units::{Monotonic, Realtime};
use wire::ether::{Mac, VlanTag};
use wire::goose;
use wire::quality::SvQuality;
use wire::routed::Proof;
use wire::sv::{Message, OwnedAsdu};

struct Nameless;

impl Describe for Nameless {
    fn series(&self, _: u16, label: &str) -> model::SeriesSpec {
        model::SeriesSpec::named(label)
    }
}

const VLAN: Option<VlanTag> = Some(VlanTag::new(4, false, 9));

fn spec() -> StreamSpec {
    StreamSpec {
        vlan: None,
        ..StreamConfig::default().spec
    }
}

fn sv_frame(sv_ids: &[&str]) -> Vec<u8> {
    let spec = spec();
    let message = Message {
        dst: spec.destination,
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: spec.appid,
        simulate: false,
        asdus: sv_ids
            .iter()
            .map(|sv_id| OwnedAsdu::new(sv_id, spec.conf_rev, 2, &[(0, SvQuality::GOOD); 8]))
            .collect(),
    };
    message.encode().expect("a frame")
}

fn goose_frame() -> Vec<u8> {
    let message = goose::Message {
        gocb_ref: b"IED1LD0/LLN0$GO$a".to_vec(),
        ..goose::Message::default()
    };
    message.encode().expect("a message")
}

struct Bed {
    table: StreamTable,
    feed: Feed,
    heard: Heard,
}

impl Bed {
    fn of(config: SubscribeConfig) -> Self {
        let (feed, heard) = Heard::of(1 << 10, usize::from(slots(8)) + 8, Box::new(Nameless));
        let awaited = expected::awaited(&config);
        Self {
            table: StreamTable::new(config, awaited, None),
            feed,
            heard,
        }
    }

    fn arrival(ms: i64) -> Arrival {
        Arrival {
            at: Monotonic::from_ns(ms * 1_000_000),
            wall: Realtime::from_ns(ms * 1_000_000),
            kernel: None,
            stamp_ns: None,
            heard: Monotonic::from_ns(ms * 1_000_000),
        }
    }

    fn proved(&mut self, frame: &[u8], vlan: Option<VlanTag>, proof: Proof) {
        self.table.proved(frame, vlan, proof, &Self::arrival(1), &mut self.feed);
    }

    fn take(&mut self, frame: &[u8]) {
        self.table.take(frame, None, &Self::arrival(2), &mut self.feed);
    }

    /// The notices about sampled values so far, with their slots.
    fn told(&mut self) -> Vec<(u16, Notice)> {
        let notice = |item| match item {
            FeedItem::Notice { slot, code, .. } => Some((slot, Notice::of(code)?)),
            _ => None,
        };
        self.heard.take().into_iter().filter_map(notice).collect()
    }

    fn ended(&mut self) -> Vec<(u16, Notice)> {
        self.table.end(Monotonic::from_ns(3_000_000), &mut self.feed);
        self.told()
    }
}

/// A relay with one stream and one input.
fn relay() -> SubscribeConfig {
    SubscribeConfig {
        expected: vec![spec()],
        max_streams: 1,
        relay: Some(ForRelay {
            name: "R1".to_owned(),
            by_task: true,
            gather_ns: None,
            inputs: vec!["IED1LD0/LLN0$GO$a".to_owned()],
        }),
        goose: SuperviseConfig {
            max_blocks: 0,
            ..SuperviseConfig::default()
        },
        ..SubscribeConfig::default()
    }
}

#[test]
fn a_forged_datagram_in_another_vlan_does_not_take_the_place_of_the_expected_stream() {
    let mut bed = Bed::of(SubscribeConfig {
        expected: vec![spec()],
        ..SubscribeConfig::default()
    });
    let frame = sv_frame(&[&spec().sv_id]);
    bed.proved(&frame, VLAN, Proof::Unsigned);
    let told = bed.told();
    assert!(
        told.iter()
            .all(|(slot, notice)| *slot != DELIVERY && *notice == Notice::Proof(Proof::Unsigned)),
        "{told:?}"
    );
    assert!(!told.is_empty(), "the stream that it names is in doubt");
    assert!(!bed.table.streams[0].has_come() && bed.table.streams[0].id.vid.is_none());
    bed.take(&frame);
    assert!(bed.table.streams[0].has_come() && bed.table.streams.len() == 1);
    let told = bed.ended();
    let forbidden = |notice: &Notice| {
        [
            Notice::ExpectedVlan,
            Notice::NotExpected,
            Notice::NeverCame,
            Notice::TooManyStreams,
        ]
        .contains(notice)
    };
    assert!(!told.iter().any(|(_, notice)| forbidden(notice)), "{told:?}");
}

#[test]
fn every_stream_of_a_forged_frame_is_in_doubt_and_a_learned_one_begins_with_its_first_used_frame() {
    let mut bed = Bed::of(SubscribeConfig::default());
    bed.proved(&sv_frame(&["MU01", "MU02", "MU01"]), None, Proof::Wrong);
    let told = bed.told();
    let doubts = told.iter().filter(|(_, notice)| *notice == Notice::Proof(Proof::Wrong));
    let mut slots: Vec<u16> = doubts.map(|(slot, _)| *slot).collect();
    slots.dedup();
    assert_eq!((bed.table.streams.len(), slots.len()), (2, 2), "{told:?}");
    bed.take(&sv_frame(&["MU01"]));
    assert!(!bed.told().iter().any(|(_, notice)| *notice == Notice::SmpSynch));
    assert!(bed.table.streams[0].has_come());
}

#[test]
fn a_relay_tells_forged_inputs_by_name_and_foreign_streams_as_foreign() {
    let mut bed = Bed::of(relay());
    for _ in 0..3 {
        bed.proved(&goose_frame(), None, Proof::Wrong);
    }
    assert_eq!(
        bed.told(),
        [(DELIVERY, Notice::InputProof(Proof::Wrong))],
        "told at once"
    );
    // Signed streams of others, one of them used and counted when it is taken.
    bed.proved(&sv_frame(&["ELSEWHERE"]), None, Proof::NotChecked);
    bed.proved(&sv_frame(&["ELSEWHERE"]), None, Proof::Unsigned);
    let told = bed.ended();
    assert!(told.contains(&(DELIVERY, Notice::InputProof(Proof::Wrong))), "{told:?}");
    assert!(told.contains(&(DELIVERY, Notice::Foreign)), "{told:?}");
    assert!(
        !told.iter().any(|(_, notice)| *notice == Notice::TooManyStreams),
        "{told:?}"
    );
}
