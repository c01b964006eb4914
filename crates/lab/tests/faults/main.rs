//! The counters of the probes against a wire whose every fault is known.

mod bench;
mod listen;
mod outages;
mod reflect;
mod subscribe;
