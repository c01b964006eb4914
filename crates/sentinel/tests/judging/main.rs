//! The judgement of relays and streams: what is told, and what is not known.

mod bay;
mod relays;
mod streams;
