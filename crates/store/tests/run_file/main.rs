//! The run file from its users' view: written, read, refused, killed, damaged, out of space.

#![forbid(unsafe_code)]

mod budget;
mod causes;
mod damage;
mod full_disk;
mod hostile;
mod killed;
mod live;
mod lone_copy;
mod names;
mod power_cut;
mod refusals;
mod round_trip;
mod segments;
mod spikes;
mod support;
mod view;
