//! The way of a frame inside this machine, from an interface on: which bridge, which tap, which process and virtual machine,
//! which container.
//!
//! Read from rtnetlink in every network namespace that can be entered, and from `/proc`. Nothing is changed.
//! [`Way::unseen`] says what cannot be seen.

mod discover;
mod holders;
mod namespaces;
mod points;

pub use discover::discover;
pub use holders::{Holder, HolderKind, Task};
pub use namespaces::namespace_owners;
pub use points::{PathEvent, PathPoint};

use std::collections::BTreeMap;
use std::fmt;

/// Where a frame that arrives on an interface goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    root: Node,
    unseen: Vec<String>,
    namespaces: BTreeMap<u32, i32>,
}

/// An interface on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) ifindex: u32,
    /// Inode number of its network namespace.
    pub(crate) netns: u32,
    /// Whose that namespace is; `None`: this process's own.
    pub(crate) namespace: Option<String>,
    /// `bridge`, `veth`, `tun`…; `None` for hardware.
    pub(crate) kind: Option<String>,
    /// Who takes the frames from it, if it is a tap or macvtap.
    pub(crate) holders: Vec<Holder>,
    /// Where frames go from it.
    pub(crate) next: Vec<Node>,
}

impl Way {
    /// The interface at its begin.
    pub fn interface(&self) -> &str {
        &self.root.name
    }

    /// What is not seen, and why; one sentence each.
    pub fn unseen(&self) -> Vec<String> {
        self.unseen.clone()
    }

    /// Numbers of other network namespaces in the own one, by their inode numbers: of those that are joined with it.
    pub fn namespaces(&self) -> &BTreeMap<u32, i32> {
        &self.namespaces
    }

    /// Points at which frames can be observed, the first interface's own reception left out; a point comes after the one
    /// before it.
    pub fn points(&self) -> Vec<PathPoint> {
        points::of(&self.root)
    }

    /// One line for each interface, process and thread, with how far it is indented.
    fn lines(&self) -> Vec<(usize, String)> {
        let mut lines = Vec::new();
        self.root.add_lines(0, &mut lines);
        lines
    }
}

impl Node {
    fn add_lines(&self, depth: usize, lines: &mut Vec<(usize, String)>) {
        let kind = match self.kind.as_deref() {
            Some("tun") => "tap",
            Some(kind) => kind,
            None => "network card",
        };
        let place = self
            .namespace
            .as_ref()
            .map_or_else(String::new, |whose| format!(", in the network namespace of {whose}"));
        lines.push((depth, format!("{}: {kind}{place}", self.name)));
        for holder in &self.holders {
            lines.push((depth + 1, holder.to_string()));
            lines.extend(holder.tasks.iter().map(|task| (depth + 2, task.to_string())));
        }
        for next in &self.next {
            next.add_lines(depth + 1, lines);
        }
    }
}

impl fmt::Display for Way {
    /// A tree, a line each, indented by two spaces a level.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, line) in self.lines() {
            writeln!(f, "{:indent$}{line}", "", indent = 2 * depth)?;
        }
        Ok(())
    }
}
