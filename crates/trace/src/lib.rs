//! The flight recorder of scheduler and interrupt events. It explains how the time of a late sample was spent.
//!
//! [`FlightRecorder`] records the events of every CPU into rings that overwrite their oldest events, with eBPF programs. If a
//! sample is late, [`FlightRecorder::explain`] takes the events around it, finds the occupants of the CPU ([`explain()`], which is
//! pure), and packs the events as a [`flight`] for the run file. [`perfetto`] writes flights as a trace that ui.perfetto.dev and
//! chrome://tracing open.
//!
//! [`hops`] times sampled values between points of the kernel, [`path`] finds those points, and [`passage`] lists the tracepoints
//! and functions that single frames pass.
//!
//! In addition, two of the kernel's own tracers are used if they are built in: [`Osnoise`] measures the net time of each
//! interruption of a spinning thread, and [`Hwlat`] looks for gaps while interrupts are off.
//!
//! Structures that eBPF programs and this side both read or write are described once, in `bpf/*_layout.h`, and each side is
//! compiled against them: see `layout`.
//!
//! eBPF needs exactly `CAP_BPF` and `CAP_PERFMON`, and a kernel with BTF. Its cost is measured by [`FlightRecorder::cost`].

#![forbid(unsafe_code)]

mod around;
mod attachment;
mod bpf;
mod error;
mod event;
mod explain;
pub mod flight;
mod flight_recorder;
pub mod hops;
mod kin;
mod layout;
mod occupancy;
pub mod passage;
pub mod path;
pub mod perfetto;
mod snapshot;
mod stream;
mod tracefs;

pub use around::Around;
pub use attachment::Program;
pub use bpf::{Cost, can_run_with, types_missing};
pub use error::TraceError;
pub use event::{Event, Left, Name, REALTIME_BELOW, Thread, Vector, What, softirq_name};
pub use explain::{explain, explain_frame, explain_gap, explain_hop, explain_wakeup};
pub use flight_recorder::{Explained, FlightRecorder};
pub use occupancy::{Segment, Who, segments};
pub use snapshot::{Snapshot, Turn};
pub use tracefs::{Hwlat, HwlatSample, Osnoise, Tracefs, Tracer, Tracers};
