//! Tracing in real guests: what a host hands to a virtual machine and what comes out at its application, and ways that take
//! kernel modules which the machine that runs the tests may not have. Control groups of version 2, which it may not have either.

mod cpu_sets;
mod delivery;
mod image;
mod machine;
mod merged;
mod nic_stamps;
mod oldest;
mod round_trip;
mod runs;
mod ways;
