//! Frames of two runs found again: never the wrong one, and every one that can be.

mod bed;
mod clocks;
mod doubts;
mod found;
mod losses;
mod runs;
