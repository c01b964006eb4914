//! The counters of the probes against a wire whose every fault is known.

mod bench;
mod listen;
mod reflect;
mod subscribe;
