//! Reads the events that `bpf/flight.bpf.c` writes.

use super::layout;
use super::layout::{
    ARGUMENT_BIT, COULD_RUN_BIT, IDENTIFIER_BIT, IDLE, IRQ_ENTRY, IRQ_EXIT, LAP_BIT, LEFT_WITH_BIT, NAME_END_BIT, NMI,
    PREVIOUS_BIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT, STOPPED, SWITCH, TIMER_ENTRY, TIMER_EXIT, VECTOR_ENTRY, VECTOR_EXIT,
    WAKING,
};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use units::Monotonic;

/// The lap of the event in a slot.
pub(super) fn lap_of(slot: &layout::Event) -> u8 {
    (slot.word >> LAP_BIT) as u8
}

/// The instant of the event in a slot.
pub(super) fn instant(slot: &layout::Event) -> Option<Monotonic> {
    i64::try_from(slot.at).ok().map(Monotonic::from_ns)
}

/// The event in a slot; `None` if its kind is unknown to this version.
pub(super) fn decode(cpu: u32, slot: &layout::Event) -> Option<Event> {
    let layout::Event {
        word,
        name: [name0, name1],
        ..
    } = *slot;
    let argument = (word >> ARGUMENT_BIT) as u16;
    let id = (word >> IDENTIFIER_BIT) as u32;
    let name = || Name::from_octets(octets(name0, name1));
    let thread = || Thread {
        pid: id.cast_signed(),
        priority: priority(argument as u8),
        name: name(),
    };
    let what = match u32::from(word as u8) {
        SWITCH => What::Switch {
            next: Thread {
                pid: (id & ((1 << LEFT_WITH_BIT) - 1)).cast_signed(),
                name: Name::from_octets(octets(name0, name1 & ((1 << NAME_END_BIT) - 1))),
                ..thread()
            },
            left: left(argument, id),
            left_with: Some(priority((id >> LEFT_WITH_BIT) as u8)),
            previous: argument >> PREVIOUS_BIT << 8 | (name1 >> NAME_END_BIT) as u16,
        },
        WAKING => What::Waking(thread()),
        IRQ_ENTRY => What::InterruptEntry {
            number: id,
            name: name(),
        },
        IRQ_EXIT => What::InterruptExit { number: id },
        SOFTIRQ_ENTRY => What::SoftirqEntry(id),
        SOFTIRQ_EXIT => What::SoftirqExit(id),
        VECTOR_ENTRY => What::VectorEntry(Vector::from_code(id)?),
        VECTOR_EXIT => What::VectorExit(Vector::from_code(id)?),
        TIMER_ENTRY => What::TimerEntry {
            due_ns: Some(name0.cast_signed()),
        },
        TIMER_EXIT => What::TimerExit,
        NMI => What::Nmi { lasted_ns: id },
        IDLE if id == u32::MAX => What::IdleExit,
        IDLE => What::IdleEntry(id),
        _ => return None,
    };
    Some(Event {
        at: instant(slot)?,
        cpu,
        what,
    })
}

fn left(argument: u16, id: u32) -> Left {
    if argument >> COULD_RUN_BIT & 1 == 1 {
        Left::CouldRun
    } else if id & STOPPED != 0 {
        Left::Stopped
    } else {
        Left::Waits
    }
}

/// The kernel's priority from its lowest byte: 0 to 139, and -1 for the deadline policy.
fn priority(octet: u8) -> i16 {
    if octet == u8::MAX { -1 } else { i16::from(octet) }
}

fn octets(low: u64, high: u64) -> [u8; 16] {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&low.to_le_bytes());
    octets[8..].copy_from_slice(&high.to_le_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::{decode, layout};
    use crate::event::{Left, Thread, Vector, What};

    fn what(kind: u64, argument: u64, id: u64, name: &[u8; 16]) -> Option<What> {
        let word = kind | 0x7700 | argument << 16 | id << 32;
        let name = [0, 8].map(|at| u64::from_le_bytes(name[at..at + 8].try_into().expect("eight")));
        let slot = layout::Event { at: 1_000, word, name };
        decode(3, &slot).map(|event| {
            assert_eq!((event.at.as_ns(), event.cpu), (1_000, 3));
            event.what
        })
    }

    #[test]
    fn every_kind_is_read_back() {
        let name = *b"a name of sixtee";
        let thread = |priority| Thread {
            pid: 42,
            priority,
            name: "a name of sixtee".into(),
        };
        assert_eq!(
            what(1, 0xfeff, 98 << 22 | 42, b"fifteen octets.\x34"),
            Some(What::Switch {
                next: Thread {
                    name: "fifteen octets.".into(),
                    ..thread(-1)
                },
                left: Left::Waits,
                left_with: Some(98),
                previous: 0x7f34,
            })
        );
        assert_eq!(what(2, 139, 42, &name), Some(What::Waking(thread(139))));
        assert!(matches!(
            what(1, 0, 1 << 31 | 0xff << 22 | 42, &[0; 16]),
            Some(What::Switch {
                next: Thread { pid: 42, .. },
                left: Left::Stopped,
                left_with: Some(-1),
                ..
            })
        ));
        let entry = What::InterruptEntry {
            number: 24,
            name: "a name of sixtee".into(),
        };
        assert_eq!(what(3, 0, 24, &name), Some(entry));
        assert_eq!(what(7, 0, 1, &[0; 16]), Some(What::VectorEntry(Vector::LocalTimer)));
        let due = *b"\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(what(9, 0, 0, &due), Some(What::TimerEntry { due_ns: Some(16) }));
        assert_eq!(what(12, 0, u64::from(u32::MAX), &[0; 16]), Some(What::IdleExit));
        assert_eq!(what(12, 0, 2, &[0; 16]), Some(What::IdleEntry(2)));
        for unknown in [what(0, 0, 0, &name), what(13, 0, 0, &name), what(8, 0, 6, &name)] {
            assert_eq!(unknown, None);
        }
    }
}
