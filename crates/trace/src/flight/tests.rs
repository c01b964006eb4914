//! Tests that any events can be written and read back, and that any bytes can be read without a panic.

use super::{FlightError, MOST_EVENTS, Packer, choose, decode};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use crate::snapshot::Snapshot;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use units::Monotonic;

fn encode(events: &[Event]) -> Vec<u8> {
    Packer::default().pack(events)
}

pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    let name = any::<[u8; 16]>().prop_map(Name::from_octets);
    let thread =
        (any::<i32>(), -1_i16..140, name.clone()).prop_map(|(pid, priority, name)| Thread { pid, priority, name });
    let vector = (0_usize..Vector::ALL.len()).prop_map(|index| Vector::ALL[index]);
    let left = prop_oneof![Just(Left::CouldRun), Just(Left::Waits), Just(Left::Stopped)];
    let what = prop_oneof![
        (thread.clone(), left, any::<u16>()).prop_map(|(next, left, previous)| What::Switch {
            next,
            left,
            left_with: None,
            previous
        }),
        thread.prop_map(What::Waking),
        (any::<u32>(), name).prop_map(|(number, name)| What::InterruptEntry { number, name }),
        any::<u32>().prop_map(|number| What::InterruptExit { number }),
        any::<u32>().prop_map(What::SoftirqEntry),
        any::<u32>().prop_map(What::SoftirqExit),
        vector.clone().prop_map(What::VectorEntry),
        vector.prop_map(What::VectorExit),
        any::<Option<i64>>().prop_map(|due_ns| What::TimerEntry { due_ns }),
        Just(What::TimerExit),
        any::<u32>().prop_map(|lasted_ns| What::Nmi { lasted_ns }),
        any::<u32>().prop_map(What::IdleEntry),
        Just(What::IdleExit),
    ];
    (any::<i64>(), any::<u32>(), what).prop_map(|(at, cpu, what)| Event {
        at: Monotonic::from_ns(at),
        cpu,
        what,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(events in proptest::collection::vec(any_event(), 0..200)) {
        prop_assert_eq!(decode(&encode(&events)), Ok(events));
    }

    #[test]
    fn no_octets_make_it_panic(octets in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert_eq!(decode(&octets), Err(FlightError::NotAFlight));
        let _ = decode(&[b"TTFL\x01".as_slice(), &octets].concat());
        let _ = super::code::read(&octets);
    }

    #[test]
    fn a_changed_flight_is_refused_or_read(
        events in proptest::collection::vec(any_event(), 1..20), at in any::<proptest::sample::Index>(), bits in 1_u8..
    ) {
        let mut octets = encode(&events);
        let at = at.index(octets.len());
        octets[at] ^= bits;
        if let Ok(read) = decode(&octets) {
            prop_assert!(read.len() <= MOST_EVENTS);
        }
    }
}

fn idle(at: i64, cpu: u32) -> Event {
    Event {
        at: Monotonic::from_ns(at),
        cpu,
        what: What::IdleEntry(1),
    }
}

#[test]
fn the_widest_events_fit() {
    let widest = |number: i64| Event {
        at: Monotonic::from_ns(if number % 2 == 0 { i64::MIN } else { i64::MAX }),
        cpu: u32::MAX,
        what: What::Switch {
            next: Thread {
                pid: i32::MIN,
                priority: i16::MIN,
                name: "sixteen octets!!".into(),
            },
            left: Left::CouldRun,
            left_with: None,
            previous: u16::MAX,
        },
    };
    let events: Vec<Event> = (0..MOST_EVENTS as i64).map(widest).collect();
    assert_eq!(decode(&encode(&events)), Ok(events));
}

#[test]
fn a_bomb_a_newer_format_and_a_cut_are_refused() {
    let flight = encode(&[idle(1, 0)]);
    assert_eq!(decode(&flight[..3]), Err(FlightError::NotAFlight));
    let mut newer = flight.clone();
    newer[4] = 2;
    assert_eq!(decode(&newer), Err(FlightError::Version(2)));
    assert!(matches!(
        decode(&flight[..flight.len() - 1]),
        Err(FlightError::Damaged(_))
    ));
    let mut bomb = flate2::write::DeflateEncoder::new(b"TTFL\x01".to_vec(), flate2::Compression::best());
    std::io::Write::write_all(&mut bomb, &vec![0; 10 << 20]).expect("memory");
    let bomb = bomb.finish().expect("memory");
    assert_eq!(
        decode(&bomb),
        Err(FlightError::Damaged("it inflates to more than a flight holds"))
    );
}

#[test]
fn the_spikes_cpu_comes_first_and_the_latest_of_the_others() {
    let snapshot = |cpu: u32, count: usize| {
        let events: Vec<Event> = (0..count as i64).map(|at| idle(at, cpu)).collect();
        let (from, to) = (Monotonic::from_ns(0), Monotonic::from_ns(1 << 40));
        Snapshot::of(cpu, from, to, &events, true)
    };
    let chosen = choose(1, &[snapshot(0, 4_000), snapshot(1, 1_000)]);
    assert_eq!(chosen.len(), MOST_EVENTS);
    assert_eq!(chosen.iter().filter(|event| event.cpu == 1).count(), 1_000);
    let first_other = chosen.iter().find(|event| event.cpu == 0).expect("some");
    assert_eq!(first_other.at.as_ns(), 4_000 - 3_096);
    assert!(chosen.is_sorted_by_key(|event| event.at));
}

#[test]
fn chosen_events_of_one_instant_stay_as_they_came() {
    let event = |kind: What| Event {
        what: kind,
        ..idle(7, 0)
    };
    let events = [event(What::IdleExit), event(What::IdleEntry(1)), event(What::TimerExit)];
    let (from, to) = (Monotonic::from_ns(0), Monotonic::from_ns(9));
    assert_eq!(choose(0, &[Snapshot::of(0, from, to, &events, true)]), events);
}
