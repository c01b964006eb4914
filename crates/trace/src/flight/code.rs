//! Encodes events as bytes: numbers in groups of seven bits (LEB128), instants as differences.

use super::{FlightError, MOST_EVENTS};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use units::Monotonic;

pub(super) fn write(events: &[Event]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(events.len() * 24);
    put(&mut octets, events.len() as u64);
    let mut last = 0;
    for event in events {
        let at = event.at.as_ns();
        put_signed(&mut octets, at.wrapping_sub(last));
        last = at;
        put(&mut octets, u64::from(event.cpu));
        put_what(&mut octets, &event.what);
    }
    octets
}

pub(super) fn read(octets: &[u8]) -> Result<Vec<Event>, FlightError> {
    let mut from = Reader { octets };
    let count = from.number()?;
    if count > MOST_EVENTS as u64 {
        return Err(FlightError::Damaged("it has more events than a flight holds"));
    }
    let mut at = 0_i64;
    let events = (0..count).map(|_| {
        at = at.wrapping_add(from.signed()?);
        Ok(Event {
            at: Monotonic::from_ns(at),
            cpu: from.small()?,
            what: from.what()?,
        })
    });
    let events: Vec<Event> = events.collect::<Result<_, FlightError>>()?;
    if from.octets.is_empty() {
        Ok(events)
    } else {
        Err(FlightError::Damaged("bytes follow the last event"))
    }
}

fn put(octets: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        octets.push(value as u8 | 0x80);
        value >>= 7;
    }
    octets.push(value as u8);
}

/// Numbers near zero, negative or positive, become small: 0, -1, 1, -2 become 0, 1, 2, 3.
fn put_signed(octets: &mut Vec<u8>, value: i64) {
    put(octets, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn put_what(octets: &mut Vec<u8>, what: &What) {
    match *what {
        What::Switch {
            next, left, previous, ..
        } => {
            octets.push(match left {
                Left::CouldRun => 1,
                Left::Waits => 2,
                Left::Stopped => 16,
            });
            put_thread(octets, &next);
            put(octets, previous.into());
        }
        What::Waking(thread) => {
            octets.push(3);
            put_thread(octets, &thread);
        }
        What::InterruptEntry { number, name } => {
            put_small(octets, 4, number);
            put_name(octets, &name);
        }
        What::InterruptExit { number } => put_small(octets, 5, number),
        What::SoftirqEntry(number) => put_small(octets, 6, number),
        What::SoftirqExit(number) => put_small(octets, 7, number),
        What::VectorEntry(vector) => put_small(octets, 8, vector.code()),
        What::VectorExit(vector) => put_small(octets, 9, vector.code()),
        What::TimerEntry { due_ns: None } => octets.push(10),
        What::TimerEntry { due_ns: Some(due) } => {
            octets.push(11);
            put_signed(octets, due);
        }
        What::TimerExit => octets.push(12),
        What::Nmi { lasted_ns } => put_small(octets, 13, lasted_ns),
        What::IdleEntry(state) => put_small(octets, 14, state),
        What::IdleExit => octets.push(15),
    }
}

fn put_small(octets: &mut Vec<u8>, kind: u8, number: u32) {
    octets.push(kind);
    put(octets, u64::from(number));
}

fn put_thread(octets: &mut Vec<u8>, thread: &Thread) {
    put_signed(octets, i64::from(thread.pid));
    put_signed(octets, i64::from(thread.priority));
    put_name(octets, &thread.name);
}

fn put_name(octets: &mut Vec<u8>, name: &Name) {
    let name = name.octets();
    octets.push(name.len() as u8);
    octets.extend(name);
}

/// The bytes that are still to be read.
struct Reader<'a> {
    octets: &'a [u8],
}

impl Reader<'_> {
    fn octet(&mut self) -> Result<u8, FlightError> {
        let (first, rest) = self.octets.split_first().ok_or(CUT_OFF)?;
        self.octets = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64, FlightError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let octet = self.octet()?;
            value |= u64::from(octet & 0x7f) << shift;
            if octet & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(FlightError::Damaged("a number is too long"))
    }

    fn signed(&mut self) -> Result<i64, FlightError> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn small(&mut self) -> Result<u32, FlightError> {
        u32::try_from(self.number()?).map_err(|_| TOO_LARGE)
    }

    fn name(&mut self) -> Result<Name, FlightError> {
        let length = usize::from(self.octet()?);
        let mut octets = [0; 16];
        let kept = octets
            .get_mut(..length)
            .ok_or(FlightError::Damaged("a name is too long"))?;
        let (name, rest) = self.octets.split_at_checked(length).ok_or(CUT_OFF)?;
        kept.copy_from_slice(name);
        self.octets = rest;
        Ok(Name::from_octets(octets))
    }

    fn thread(&mut self) -> Result<Thread, FlightError> {
        Ok(Thread {
            pid: i32::try_from(self.signed()?).map_err(|_| TOO_LARGE)?,
            priority: i16::try_from(self.signed()?).map_err(|_| TOO_LARGE)?,
            name: self.name()?,
        })
    }

    fn vector(&mut self) -> Result<Vector, FlightError> {
        Vector::from_code(self.small()?).ok_or(FlightError::Damaged("an interrupt vector is unknown"))
    }

    fn what(&mut self) -> Result<What, FlightError> {
        Ok(match self.octet()? {
            kind @ (1 | 2 | 16) => What::Switch {
                next: self.thread()?,
                left: match kind {
                    1 => Left::CouldRun,
                    2 => Left::Waits,
                    _ => Left::Stopped,
                },
                left_with: None,
                previous: u16::try_from(self.number()?).map_err(|_| TOO_LARGE)?,
            },
            3 => What::Waking(self.thread()?),
            4 => What::InterruptEntry {
                number: self.small()?,
                name: self.name()?,
            },
            5 => What::InterruptExit { number: self.small()? },
            6 => What::SoftirqEntry(self.small()?),
            7 => What::SoftirqExit(self.small()?),
            8 => What::VectorEntry(self.vector()?),
            9 => What::VectorExit(self.vector()?),
            10 => What::TimerEntry { due_ns: None },
            11 => What::TimerEntry {
                due_ns: Some(self.signed()?),
            },
            12 => What::TimerExit,
            13 => What::Nmi {
                lasted_ns: self.small()?,
            },
            14 => What::IdleEntry(self.small()?),
            15 => What::IdleExit,
            _ => return Err(FlightError::Damaged("a kind of event is unknown")),
        })
    }
}

const CUT_OFF: FlightError = FlightError::Damaged("it is cut off");
const TOO_LARGE: FlightError = FlightError::Damaged("a number is too large");
