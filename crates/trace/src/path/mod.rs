//! The path of a frame inside this machine, from an interface on: its bridge, tap, process and virtual machine or container, and
//! the points on the path at which the frame can be observed.
//!
//! Read from rtnetlink in every network namespace that can be entered, and from `/proc`. Nothing is changed. Parts that are not
//! visible are listed: see [`FramePath::unseen`]. Points are found on the path, or given by the user: see
//! [`Point::read`](crate::hops::Point::read).

mod discover;
mod found;
mod frame_path;
mod holders;
mod namespaces;
mod point;
mod tree;

pub use discover::discover;
pub use frame_path::{FIRST, FramePath, GROUP};
pub use namespaces::namespace_owners;
pub use point::PointError;
pub use tree::FrameTree;
