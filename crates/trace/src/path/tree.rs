//! The interfaces that a frame can come to.

use super::found::{FoundPoint, found};
use super::holders::Holder;
use std::collections::BTreeMap;
use std::fmt;

/// The path of a frame that arrives on an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameTree {
    pub(super) root: Node,
    /// Parts that are not visible, with the reasons, one sentence each.
    pub(super) unseen: Vec<String>,
    /// Numbers of connected network namespaces in the own one, by their inode numbers.
    pub(super) namespaces: BTreeMap<u32, i32>,
}

/// An interface on the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) ifindex: u32,
    /// Inode number of its network namespace.
    pub(super) netns: u32,
    /// Owner of that namespace; `None`: this process.
    pub(super) namespace: Option<String>,
    /// `bridge`, `veth`, `tun`…; `None` for hardware.
    pub(super) kind: Option<String>,
    /// Holders that take the frames from it, if it is a tap or macvtap.
    pub(super) holders: Vec<Holder>,
    /// The interfaces to which frames go from it.
    pub(super) next: Vec<Node>,
}

impl FrameTree {
    /// Points at which frames can be observed, without the first interface's own reception; each point comes after the one before
    /// it on the path.
    pub(super) fn points(&self) -> Vec<FoundPoint> {
        found(&self.root)
    }

    /// One line for each interface, process and thread, with its level of indentation.
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

impl fmt::Display for FrameTree {
    /// Writes the tree, one entry per line, indented by two spaces per level.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, line) in self.lines() {
            writeln!(f, "{:indent$}{line}", "", indent = 2 * depth)?;
        }
        Ok(())
    }
}
