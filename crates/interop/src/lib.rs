//! Files of other latency tools, both ways.

#![forbid(unsafe_code)]
