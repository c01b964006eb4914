//! Tracing in real guests: frames that a host passes to a virtual machine and that its application receives, and ways that need kernel modules which
//! the test machine may lack. Also control groups of version 2, which it may lack, too.

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
