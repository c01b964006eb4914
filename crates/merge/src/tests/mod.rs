//! Matching frames of two runs: never a wrong match, and every possible one.

mod bed;
mod clocks;
mod doubts;
mod found;
mod losses;
mod runs;
