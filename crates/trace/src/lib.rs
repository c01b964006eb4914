//! Flight recorder of scheduler and interrupt events; where the time of a late sample went.

#![forbid(unsafe_code)]
