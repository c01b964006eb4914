//! The counters of the probes against a wire whose every fault is known.

mod bench;
mod clock_steps;
mod listen;
mod outages;
mod reflect;
mod samples;
mod subscribe;
mod subscribe_ends;
