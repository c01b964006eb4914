//! Structures that the flight recorder's programs and this side both know; as in `bpf/flight_layout.h`.

use crate::event::{TAG_MASK, Vector};
use zerocopy::{FromBytes, Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/flight_layout.rs"));

/// Something that happened on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Event {
    /// `CLOCK_MONOTONIC`, in ns.
    pub(super) at: u64,
    /// Kind (8 bits), lap (8), argument (16), identifier (32), from the lowest.
    pub(super) word: u64,
    /// A name, or for a timer the instant it was due; of a switch the last octet is not the name's.
    pub(super) name: [u64; 2],
}

/// How far a CPU's ring has come.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Head {
    /// Events written on the CPU since the start.
    pub(super) written: u64,
    unused: [u64; 7],
}

// The codes are those of flights in run files, too, and so stand by themselves.
const _: () = assert!(
    Vector::LocalTimer.code() == LOCAL_TIMER
        && Vector::Reschedule.code() == RESCHEDULE
        && Vector::CallFunction.code() == CALL_FUNCTION
        && Vector::CallFunctionSingle.code() == CALL_FUNCTION_SINGLE
        && Vector::IrqWork.code() == IRQ_WORK
);
const _: () = assert!(TAG_MASK == PREVIOUS_MASK);
