//! The nodes of a redundant network, by their supervision frames.

use super::{Lan, Supervision};
use crate::ether::Mac;

/// A node that announced itself, or for which a redundancy box did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownNode {
    /// Contents of its newest supervision frame.
    pub newest: Supervision,
    /// Source address of that frame.
    pub src: Mac,
    /// Its supervision frames on LAN A and LAN B.
    pub frames: [u64; 2],
    /// Its supervision frames of which the LAN is not known.
    pub without_lan: u64,
    /// Longest time between two of its frames on any LAN, or after the last one up to [`Nodes::end`], in ns.
    pub longest_silence_ns: u64,
    last_ns: i64,
}

impl KnownNode {
    fn is_silent_until(&mut self, at_ns: i64) {
        let silence_ns = u64::try_from(at_ns.saturating_sub(self.last_ns)).unwrap_or(0);
        self.longest_silence_ns = self.longest_silence_ns.max(silence_ns);
    }
}

/// The nodes, in the order of their first frames.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<KnownNode>,
    most: usize,
    /// Supervision frames of nodes beyond the greatest number.
    pub unplaced: u64,
}

impl Nodes {
    /// Makes a list with room for `most` nodes.
    pub fn new(most: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(most),
            most,
            unplaced: 0,
        }
    }

    /// The nodes.
    pub fn known(&self) -> &[KnownNode] {
        &self.nodes
    }

    /// Ends the reception at this instant: a node may be silent since its last frame.
    pub fn end(&mut self, at_ns: i64) {
        for node in &mut self.nodes {
            node.is_silent_until(at_ns);
        }
    }

    /// Takes a supervision frame that came at `at_ns`, of any one clock.
    pub fn take(&mut self, src: Mac, frame: Supervision, lan: Option<Lan>, at_ns: i64) {
        let found = self.nodes.iter().position(|node| node.newest.mac == frame.mac);
        let at = found.unwrap_or(self.nodes.len());
        if found.is_none() {
            if at == self.most {
                self.unplaced += 1;
                return;
            }
            self.nodes.push(KnownNode {
                newest: frame,
                src,
                frames: [0; 2],
                without_lan: 0,
                longest_silence_ns: 0,
                last_ns: at_ns,
            });
        }
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.is_silent_until(at_ns);
        node.last_ns = node.last_ns.max(at_ns);
        (node.newest, node.src) = (frame, src);
        match lan {
            Some(lan) => node.frames[lan.number()] += 1,
            None => node.without_lan += 1,
        }
    }
}
