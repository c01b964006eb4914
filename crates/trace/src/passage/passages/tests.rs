use super::{Context, Names, Origin, Served, SkbEnd, What, assemble};
use crate::passage::event::{Event, Follow, FollowedStream};
use crate::passage::summary::summarize;
use std::collections::BTreeMap;
use units::Monotonic;

const RECEIVE: u32 = 0;
const CONSUME: u32 = 1;
const FREE: u32 = 2;
const FUNCTION: u32 = 64;

fn names() -> Names {
    let served = |name: &str| Served {
        name: name.into(),
        frees: name == "consume_skb" || name == "kfree_skb",
        has_reason: name == "kfree_skb",
    };
    Names {
        tracepoints: ["netif_receive_skb", "consume_skb", "kfree_skb"].map(served).to_vec(),
        functions: vec!["packet_rcv".into()],
        reasons: BTreeMap::from([
            (1, "SKB_CONSUMED".to_owned()),
            (3, "SKB_DROP_REASON_NO_SOCKET".to_owned()),
        ]),
        symbols: BTreeMap::from([(0x1000, "br_forward".to_owned()), (0x2000, "veth_xmit".to_owned())]),
        has_context: true,
    }
}

fn event(at_ns: i64, slot: u32, skb: u64) -> Event {
    Event {
        at: Monotonic::from_ns(at_ns),
        skb,
        head: 0x70,
        location: 0,
        pid: 10,
        tid: 11,
        follow: 0,
        slot,
        function: 0,
        cpu: 0,
        ifindex: 2,
        netns: 9,
        reason: 0,
        softirq: Some(3),
        irq: None,
        by_content: true,
        comm: "publish".to_owned(),
        interface: "eth1".to_owned(),
    }
}

fn follows(count: u32) -> BTreeMap<u32, Follow> {
    let stream = FollowedStream {
        sv_id: b"MU01".to_vec(),
        destination: [1; 6],
        source: [2; 6],
        appid: 0x4000,
        vlan: None,
        asdus: 1,
    };
    let follow = |number: u32| Follow {
        stream: stream.clone(),
        smp_cnt: number as u16,
        lost: 0,
    };
    (0..count).map(|number| (number, follow(number))).collect()
}

#[test]
fn events_are_put_in_order_with_their_names() {
    let free = Event {
        reason: 3,
        location: 0x1010,
        softirq: None,
        irq: Some(24),
        ..event(1_900, FREE, 1)
    };
    let function = Event {
        function: 1,
        location: 0x2000,
        softirq: None,
        ..event(1_500, FUNCTION, 1)
    };
    let unnumbered = Event {
        function: 0,
        ..function.clone()
    };
    let unnumbered = Event {
        at: Monotonic::from_ns(1_600),
        ..unnumbered
    };
    let events = [free, event(1_000, RECEIVE, 1), unnumbered, function];
    let passages = assemble(&follows(2), &events, &names());
    assert_eq!(passages.len(), 1, "the other has no event");
    let steps = &passages[0].steps;
    let seen: Vec<(u64, u64, &str)> = steps
        .iter()
        .map(|step| (step.since_first_ns, step.delta_ns, step.what.name()))
        .collect();
    let expected = [
        (0, 0, "netif_receive_skb"),
        (500, 500, "packet_rcv"),
        (600, 100, "veth_xmit"),
        (900, 300, "kfree_skb"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(steps[1].what, What::Function("packet_rcv".into()));
    let contexts = [
        Context::Softirq(3),
        Context::Thread,
        Context::Thread,
        Context::Interrupt(24),
    ];
    assert!(steps.iter().map(|step| step.context).eq(contexts));
    assert_eq!(steps[3].location.as_deref(), Some("br_forward+0x10"));
    assert_eq!((&steps[1].location, &steps[1].reason), (&None, &None));
    let SkbEnd::Dropped(Some(reason)) = &passages[0].skbs[0].end else {
        panic!("{:?}", passages[0].skbs);
    };
    assert_eq!((reason.number, reason.name.as_deref()), (3, Some("NO_SOCKET")));
}

#[test]
fn clones_share_octets_copies_do_not_and_a_freed_one_stays_what_it_was() {
    let copied = Event {
        head: 0x80,
        ..event(40, RECEIVE, 3)
    };
    let moved = Event {
        head: 0x90,
        ..event(50, RECEIVE, 3)
    };
    let reused = Event {
        head: 0xa0,
        ..event(90, RECEIVE, 1)
    };
    let consumed = Event {
        reason: 1,
        ..event(70, FREE, 2)
    };
    let behind_the_end = Event {
        function: 1,
        ..event(60, FUNCTION, 1)
    };
    let events = [
        event(10, RECEIVE, 1),
        event(20, RECEIVE, 2),
        copied,
        moved,
        event(55, CONSUME, 1),
        behind_the_end,
        consumed,
        reused,
        event(95, RECEIVE, 2),
    ];
    let passages = assemble(&follows(1), &events, &names());
    let numbers: Vec<usize> = passages[0].steps.iter().map(|step| step.skb).collect();
    assert_eq!(numbers, [1, 2, 3, 3, 1, 1, 2, 4, 5]);
    let skbs: Vec<(Origin, &SkbEnd)> = passages[0].skbs.iter().map(|skb| (skb.origin, &skb.end)).collect();
    let expected = [
        (Origin::First, &SkbEnd::Consumed),
        (Origin::CloneOf(1), &SkbEnd::Consumed),
        (Origin::Copy, &SkbEnd::NotSeen),
        (Origin::Copy, &SkbEnd::NotSeen),
        (Origin::CloneOf(1), &SkbEnd::NotSeen),
    ];
    assert_eq!(skbs, expected);
}

#[test]
fn an_interface_that_a_socket_took_away_keeps_its_name() {
    let without = |ifindex| Event {
        interface: String::new(),
        ifindex,
        ..event(20, CONSUME, 1)
    };
    let events = [event(10, RECEIVE, 1), without(2), without(7), without(0)];
    let passages = assemble(&follows(1), &events, &names());
    let interfaces = passages[0].steps.iter().map(|step| step.interface.as_str());
    assert!(interfaces.eq(["eth1", "eth1", "interface 7", ""]));
}

#[test]
fn a_spike_shows_in_the_summary_at_its_place() {
    let mut events = Vec::new();
    for follow in 0..5 {
        let begin = 1_000_000 * i64::from(follow);
        let late = if follow == 3 { 40_000 } else { 0 };
        for (at, slot) in [(0, RECEIVE), (100 + late, RECEIVE), (300 + late, CONSUME)] {
            events.push(Event {
                follow,
                ..event(begin + at, slot, u64::from(follow))
            });
        }
    }
    let passages = assemble(&follows(5), &events, &names());
    assert_eq!(passages.len(), 5);
    let summary = summarize(&passages);
    let figures: Vec<(&str, usize, usize, u64, u64, u64)> = summary
        .iter()
        .map(|step| {
            let (name, since) = (step.what.name(), step.median_since_first_ns);
            (
                name,
                step.occurrence,
                step.count,
                step.median_delta_ns,
                step.max_delta_ns,
                since,
            )
        })
        .collect();
    let expected = [
        ("netif_receive_skb", 1, 5, 0, 0, 0),
        ("netif_receive_skb", 2, 5, 100, 40_100, 100),
        ("consume_skb", 1, 5, 200, 200, 300),
    ];
    assert_eq!(figures, expected);
    assert!(summarize(&[]).is_empty());
}

#[test]
fn what_a_cpu_was_in_the_midst_of_is_unknown_where_it_was_not_watched() {
    let names = Names {
        has_context: false,
        ..names()
    };
    let in_thread = Event {
        softirq: None,
        ..event(2_000, CONSUME, 1)
    };
    let passages = assemble(&follows(1), &[event(1_000, RECEIVE, 1), in_thread], &names);
    let contexts = passages[0].steps.iter().map(|step| step.context);
    assert!(contexts.eq([Context::Unknown, Context::Unknown]));
    assert_eq!(Context::Unknown.to_string(), "unknown");
}
