//! Loads do work where they should and nowhere else, and leave nothing behind. A test binary of its own, because it counts
//! the threads and descriptors of its process.

mod command;
mod interrupts;
mod management;
mod refusals;
mod support;
mod threads;
