//! The events as `bpf/flight.bpf.c` writes them: four words of 64 bits, little-endian as every machine this runs on.
//!
//! | word | holds |
//! | --- | --- |
//! | 0 | instant, `CLOCK_MONOTONIC`, ns |
//! | 1 | kind (8 bits), lap (8), argument (16), identifier (32), from the lowest |
//! | 2, 3 | name, or for a timer the instant it was due; of a switch the last octet is not the name's |

use crate::event::{Event, Left, Name, Thread, Vector, What};
use units::Monotonic;

/// Words in an event.
pub(super) const WORDS: usize = 4;

/// The lap a slot holds, of its word 1.
pub(super) fn lap_of(word: u64) -> u8 {
    (word >> 8) as u8
}

/// The instant of the event in a slot.
pub(super) fn instant(words: &[u64; WORDS]) -> Option<Monotonic> {
    i64::try_from(words[0]).ok().map(Monotonic::from_ns)
}

/// The event in a slot; `None` when it holds none that this version knows.
pub(super) fn decode(cpu: u32, words: &[u64; WORDS]) -> Option<Event> {
    let [_, word, name0, name1] = *words;
    let argument = (word >> 16) as u16;
    let id = (word >> 32) as u32;
    let name = || Name::from_octets(octets(name0, name1));
    let thread = || Thread {
        pid: id.cast_signed(),
        priority: priority(argument as u8),
        name: name(),
    };
    let what = match word as u8 {
        1 => What::Switch {
            next: Thread {
                pid: (id & !STOPPED).cast_signed(),
                name: Name::from_octets(octets(name0, name1 & u64::MAX >> 8)),
                ..thread()
            },
            left: left(argument, id),
            previous: argument >> 9 << 8 | (name1 >> 56) as u16,
        },
        2 => What::Waking(thread()),
        3 => What::InterruptEntry {
            number: id,
            name: name(),
        },
        4 => What::InterruptExit { number: id },
        5 => What::SoftirqEntry(id),
        6 => What::SoftirqExit(id),
        7 => What::VectorEntry(Vector::from_code(id)?),
        8 => What::VectorExit(Vector::from_code(id)?),
        9 => What::TimerEntry {
            due_ns: Some(name0.cast_signed()),
        },
        10 => What::TimerExit,
        11 => What::Nmi { lasted_ns: id },
        12 if id == u32::MAX => What::IdleExit,
        12 => What::IdleEntry(id),
        _ => return None,
    };
    Some(Event {
        at: instant(words)?,
        cpu,
        what,
    })
}

/// In the identifier of a switch: the thread before was stopped. Numbers of threads have at most 22 bits.
const STOPPED: u32 = 1 << 31;

fn left(argument: u16, id: u32) -> Left {
    if argument >> 8 & 1 == 1 {
        Left::CouldRun
    } else if id & STOPPED != 0 {
        Left::Stopped
    } else {
        Left::Waits
    }
}

/// The kernel's priority from its lowest octet: 0 to 139, and -1 of the deadline policy.
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
    use super::decode;
    use crate::event::{Left, Thread, Vector, What};

    fn what(kind: u64, argument: u64, id: u64, name: &[u8; 16]) -> Option<What> {
        let word = kind | 0x7700 | argument << 16 | id << 32;
        let [low, high] = [0, 8].map(|at| u64::from_le_bytes(name[at..at + 8].try_into().expect("eight")));
        decode(3, &[1_000, word, low, high]).map(|event| {
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
            what(1, 0xfeff, 42, b"fifteen octets.\x34"),
            Some(What::Switch {
                next: Thread {
                    name: "fifteen octets.".into(),
                    ..thread(-1)
                },
                left: Left::Waits,
                previous: 0x7f34,
            })
        );
        assert_eq!(what(2, 139, 42, &name), Some(What::Waking(thread(139))));
        assert!(matches!(
            what(1, 0, 1 << 31 | 42, &[0; 16]),
            Some(What::Switch {
                next: Thread { pid: 42, .. },
                left: Left::Stopped,
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
