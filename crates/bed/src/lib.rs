//! A test bed and its parts: its networks, faults on its wire, loads during a measurement, CPUs reserved for a measurement.
//!
//! The bed itself is a [`Bed`]; its ends are connected by a [`Network`].

#![forbid(unsafe_code)]

mod bed;
pub mod disturb;
pub mod fault;
pub mod kernel_threads;
pub mod load;
pub mod loads;
pub mod partition;
pub mod program;

pub use bed::{
    Bed, BedError, Card, DEVICE_IF, DeviceEnd, End, EndInterface, FaultBed, Management, NEEDS, NEEDS_OF_PORT, Network,
    Seat, SecondCard, Stands, StationWay, TEST_SET_IF, behind, device_end, device_if, mac_on, named, tap_of_guest,
    that_is_up, vswitch,
};
