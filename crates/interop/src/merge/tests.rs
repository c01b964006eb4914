//! Frames of two runs found again: never the wrong one, and every one that can be.

mod found;
mod runs;
