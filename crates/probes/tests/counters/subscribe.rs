//! Every counter of `subscribe`, against frames that were lost, doubled, swapped and broken on purpose.

use crate::bench::{Bench, Recorded, Recording};
use probes::ProbeError;
use probes::reflect::Receive;
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options, start};
use store::model::Counters;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::Policy;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

const RATE: u32 = 4_000;

fn config() -> SubscribeConfig {
    SubscribeConfig {
        rate: Some(RATE),
        max_streams: 8,
        clock: ClockRelation::SameHost,
        receive: Receive::Block,
        duration_ns: None,
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    }
}

fn template(sv_id: &str, asdus: usize, tag: Option<VlanTag>) -> Template {
    let asdu = OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality::GOOD); 8]);
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 9]),
        tags: tag.into_iter().collect(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu; asdus],
    };
    Template::new(&message).expect("a valid message")
}

/// A sender that breathes now and then, so that no socket on the way overflows.
struct Sender {
    port: PacketPort,
    sent: u32,
}

impl Sender {
    fn frame(&mut self, frame: &[u8]) {
        self.port.send(frame).expect("sent");
        self.sent += 1;
        if self.sent.is_multiple_of(50) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// One frame whose ASDUs count up from `first`.
    fn counts(&mut self, template: &mut Template, first: u16) {
        for index in 0..template.asdu_count() {
            let count = (u32::from(first) + u32::try_from(index).expect("few")) % RATE;
            template
                .asdu_mut(index)
                .expect("an ASDU")
                .set_smp_cnt(u16::try_from(count).expect("16 bits"));
        }
        self.frame(template.bytes());
    }
}

/// Runs a subscriber while `send` sends.
fn subscribed(config: &SubscribeConfig, send: impl FnOnce(&mut Sender)) -> Result<Recorded, ProbeError> {
    let bench = Bench::build();
    let mut recording = Recording::start();
    let near = bench.near(&port_options());
    let subscription = start(config, near, &mut recording.recorder, &recording.stop)?;
    let port = bench.far(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    send(&mut Sender { port, sent: 0 });
    std::thread::sleep(std::time::Duration::from_millis(300));
    recording.stop.request();
    subscription.running.join()?;
    recording.finish()
}

fn counted(received: u64, lost: u64, duplicate: u64, reordered: u64) -> Counters {
    Counters {
        expected: received + lost,
        received,
        lost,
        duplicate,
        reordered,
        ..Counters::default()
    }
}

/// The ages are those of made-up instants, so some lie outside a histogram: that is not what is tested here.
fn without_clipped(mut counters: Counters) -> Counters {
    counters.clipped = 0;
    counters
}

#[test]
fn faults_in_any_mixture_are_counted_exactly() {
    let recorded = subscribed(&config(), |sender| {
        let mut stream = template("MU01", 1, None);
        // Two and a half seconds of counts, across two wraps.
        let mut counts: Vec<u16> = (0..10_000_u32)
            .map(|n| u16::try_from(n % RATE).expect("16 bits"))
            .collect();
        // Swapped neighbours at 100 places, then 60 losses, then 40 doubled.
        for place in (0..10_000).skip(50).step_by(99).take(100) {
            counts.swap(place, place + 1);
        }
        for (index, count) in counts.iter().enumerate() {
            let lost = index % 163 == 23 && index / 163 < 60 && !(index % 99).abs_diff(50).lt(&3);
            if !lost {
                sender.counts(&mut stream, *count);
            }
            if index % 211 == 7 && index / 211 < 40 && !lost {
                sender.counts(&mut stream, *count);
            }
        }
    });
    let recorded = recorded.expect("traffic came");
    let lost = (0..10_000_usize)
        .filter(|index| index % 163 == 23 && index / 163 < 60 && (index % 99).abs_diff(50) >= 3)
        .count() as u64;
    let doubled = (0..10_000_usize)
        .filter(|index| index % 211 == 7 && index / 211 < 40)
        .filter(|index| !(index % 163 == 23 && index / 163 < 60 && (index % 99).abs_diff(50) >= 3))
        .count() as u64;
    assert!(lost > 50 && doubled > 30, "{lost} lost, {doubled} doubled");
    let age = without_clipped(recorded.counters("age/MU01"));
    assert_eq!(age, counted(10_000 - lost, lost, doubled, 100));
    assert_eq!(without_clipped(recorded.counters("arrival/MU01")), age);
    let spacing = without_clipped(recorded.counters("spacing/MU01"));
    assert_eq!(
        spacing,
        counted(10_000 - lost - 1, lost, doubled, 100),
        "n frames have n - 1 spacings"
    );
}

#[test]
fn streams_are_told_apart_by_sv_id_and_vlan() {
    let recorded = subscribed(&config(), |sender| {
        let mut one = template("MU01", 1, None);
        let mut two = template("MU02", 2, None);
        let mut tagged = template("MU01", 1, Some(VlanTag::new(4, false, 7)));
        for count in 0..1_000_u16 {
            if count % 100 != 5 {
                sender.counts(&mut one, count);
            }
            sender.counts(&mut two, count * 2);
            if count % 10 != 3 {
                sender.counts(&mut tagged, count);
            }
        }
    });
    let recorded = recorded.expect("traffic came");
    assert_eq!(without_clipped(recorded.counters("age/MU01")), counted(990, 10, 0, 0));
    assert_eq!(
        without_clipped(recorded.counters("age/MU02")),
        counted(2_000, 0, 0, 0),
        "two samples a frame"
    );
    assert_eq!(
        without_clipped(recorded.counters("age/MU01#2")),
        counted(900, 100, 0, 0)
    );
    assert_eq!(recorded.counters("delivery/subscribe").received, 990 + 1_000 + 900);
}

#[test]
fn changes_in_a_stream_are_events() {
    let recorded = subscribed(&config(), |sender| {
        let mut stream = template("MU01", 1, None);
        for count in 0..100 {
            sender.counts(&mut stream, count);
        }
        stream.asdu_mut(0).expect("an ASDU").set_smp_synch(0);
        for count in 100..200 {
            sender.counts(&mut stream, count);
        }
        stream.set_simulate(true);
        for count in 200..300 {
            sender.counts(&mut stream, count);
        }
        for beyond in [4_000, 4_001, 9_999] {
            stream.asdu_mut(0).expect("an ASDU").set_smp_cnt(beyond);
            sender.frame(stream.bytes());
        }
        for count in 2_900..3_000 {
            sender.counts(&mut stream, count);
        }
        let mut broken = stream.bytes().to_vec();
        broken.truncate(60);
        for _ in 0..4 {
            sender.frame(&broken);
        }
    });
    let recorded = recorded.expect("traffic came");
    assert_eq!(recorded.said("smpSynch"), ["MU01: smpSynch changed from 2 to 0"]);
    assert_eq!(
        recorded.said("simulation"),
        ["MU01: simulation bit changed from 0 to 1"]
    );
    assert_eq!(recorded.said("restarted").len(), 1, "{:?}", recorded.events());
    assert_eq!(
        recorded.said("beyond the rate"),
        ["MU01: 3 samples with a smpCnt beyond the rate (first: 4000)"]
    );
    assert_eq!(recorded.said("malformed").len(), 1);
    assert!(recorded.said("malformed")[0].starts_with("4 malformed"));
    assert_eq!(without_clipped(recorded.counters("age/MU01")), counted(400, 0, 0, 0));
}

#[test]
fn without_a_clock_relation_there_are_no_one_way_figures() {
    let unknown = SubscribeConfig {
        clock: ClockRelation::Unknown,
        rate: None,
        ..config()
    };
    let recorded = subscribed(&unknown, |sender| {
        let mut stream = template("MU01", 1, None);
        for count in 0..9_000_u32 {
            sender.counts(&mut stream, u16::try_from(count % RATE).expect("16 bits"));
        }
    });
    let recorded = recorded.expect("traffic came");
    assert_eq!(recorded.names(), ["delivery/subscribe", "spacing/MU01"]);
    assert_eq!(
        recorded.said("learned"),
        ["MU01: 4000 samples/s, learned from where smpCnt wraps"]
    );
    assert_eq!(recorded.counters("spacing/MU01").lost, 0);
}

#[test]
fn silence_is_said_not_counted_as_good() {
    let silent = subscribed(&config(), |_| {});
    assert!(matches!(silent, Err(ProbeError::NoTraffic(text)) if text.contains("near0")));
}
