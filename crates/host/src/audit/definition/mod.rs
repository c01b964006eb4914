//! Definitions that users hand over as files.

pub(super) mod container;
