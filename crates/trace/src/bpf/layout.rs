//! Structures shared with the flight recorder's programs; as in `bpf/flight_layout.h`.

use crate::event::{TAG_MASK, Vector};
use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/flight_layout.rs"));

/// An event on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Event {
    /// `CLOCK_MONOTONIC`, in ns.
    pub(super) at: u64,
    /// Kind (8 bits), lap (8), argument (16), identifier (32), from the lowest.
    pub(super) word: u64,
    /// A name, or for a timer the instant at which it was due; for a switch the last byte does not belong to the name.
    pub(super) name: [u64; 2],
}

/// Write position of a CPU's ring.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Head {
    /// Number of events written on the CPU since the start.
    pub(super) written: u64,
    unused: [u64; 7],
}

// The codes are also those of flights in run files, so they are defined independently.
const _: () = assert!(
    Vector::LocalTimer.code() == LOCAL_TIMER
        && Vector::Reschedule.code() == RESCHEDULE
        && Vector::CallFunction.code() == CALL_FUNCTION
        && Vector::CallFunctionSingle.code() == CALL_FUNCTION_SINGLE
        && Vector::IrqWork.code() == IRQ_WORK
);
const _: () = assert!(TAG_MASK == PREVIOUS_MASK);
