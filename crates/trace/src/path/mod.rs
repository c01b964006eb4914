//! The path of a frame inside this machine, from an interface on: which bridge, which tap, which process and virtual machine,
//! which container; and the points on it where the frame can be observed.
//!
//! Read from rtnetlink in every network namespace that can be entered, and from `/proc`. Nothing is changed. Parts that cannot be
//! seen are listed: see [`FramePath::unseen`]. Points are found on the path, or somebody names them: see [`Point::read`](crate::hops::Point::read).

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
