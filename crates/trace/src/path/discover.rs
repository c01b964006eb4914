//! Follows the path of a frame from one interface to the next.

use super::holders::{HeldTaps, Holder, held};
use super::namespaces::{Namespace, all};
use super::tree::{FrameTree, Node};
use std::path::Path;
use sys::SysError;
use sys::link::{Below, LinkInfo, find};

/// Kinds of interface that are made on another one and take frames from it.
const MADE_ON: [&str; 5] = ["macvlan", "macvtap", "ipvlan", "ipvtap", "vlan"];

/// Longest path: a longer one would be a circle.
const LONGEST: usize = 8;

/// Finds where frames that arrive on `interface` go.
///
/// # Errors
/// [`SysError::NoSuchInterface`], or another refusal of the kernel.
pub fn discover(interface: &str) -> Result<FrameTree, SysError> {
    let link = find(interface)?;
    let (namespaces, refused) = all()?;
    let held = held(Path::new("/proc"));
    let mut search = Search {
        namespaces: &namespaces,
        held: &held,
        unseen: refused.into_iter().collect(),
    };
    let own = &namespaces[0];
    let mut root = search.node(&link, own);
    root.next = search.behind(&link, own, 0);
    if let Some(program) = link.xdp_program {
        search.unseen.push(format!(
            "XDP program {program} on {interface} may take frames before the first point"
        ));
    }
    for holder in &held.passed_through {
        search.unseen.push(format!(
            "{holder} has a device of its own: its frames do not pass this kernel; trace inside it"
        ));
    }
    Ok(FrameTree {
        root,
        unseen: search.unseen,
        namespaces: own.others.iter().map(|(number, inode)| (*inode, *number)).collect(),
    })
}

struct Search<'a> {
    namespaces: &'a [Namespace],
    held: &'a HeldTaps,
    unseen: Vec<String>,
}

impl Search<'_> {
    fn node(&self, link: &LinkInfo, namespace: &Namespace) -> Node {
        Node {
            name: link.name.clone(),
            ifindex: link.index,
            netns: namespace.inode,
            namespace: namespace.whose.clone(),
            kind: link.kind.clone(),
            holders: self.holders(link, namespace),
            next: Vec::new(),
        }
    }

    /// Finds where frames that arrive on this interface go: to its bridge if it is a port, and to interfaces made on it.
    fn behind(&mut self, link: &LinkInfo, namespace: &Namespace, depth: usize) -> Vec<Node> {
        let mut next = Vec::new();
        if depth >= LONGEST {
            return next;
        }
        let master = link
            .master
            .and_then(|index| namespace.links.iter().find(|other| other.index == index));
        if let Some(master) = master {
            next.push(self.switch(master, link, namespace, depth));
        }
        for other in self.namespaces {
            for upper in &other.links {
                if is_made_on(upper, other, link, namespace) {
                    let mut node = self.node(upper, other);
                    node.next = self.behind(upper, other, depth + 1);
                    self.miss_holder(&node);
                    next.push(node);
                }
            }
        }
        next
    }

    /// A bridge, with its ports except the one that the frames came from.
    fn switch(&mut self, master: &LinkInfo, from: &LinkInfo, namespace: &Namespace, depth: usize) -> Node {
        let mut node = self.node(master, namespace);
        if master.kind.as_deref() == Some("openvswitch") {
            self.unseen.push(format!(
                "the Open vSwitch bridges of {}: all ports of its datapath are shown",
                master.name
            ));
        }
        let ports = namespace
            .links
            .iter()
            .filter(|port| port.master == Some(master.index) && port.index != from.index);
        for port in ports {
            let mut port_node = self.node(port, namespace);
            port_node.next = self.across(port, namespace, depth + 1);
            self.miss_holder(&port_node);
            node.next.push(port_node);
        }
        node
    }

    /// Finds where frames that are sent on this interface go: for a veth, to its peer.
    fn across(&mut self, link: &LinkInfo, namespace: &Namespace, depth: usize) -> Vec<Node> {
        if link.kind.as_deref() != Some("veth") {
            return Vec::new();
        }
        let found = match link.below {
            Below::Here(index) => Some((namespace, index)),
            Below::Elsewhere { index, namespace: id } => {
                let inode = namespace.others.get(&id);
                let there = self.namespaces.iter().find(|other| Some(&other.inode) == inode);
                there.map(|there| (there, index))
            }
            Below::Nothing => None,
        };
        let peer = found.and_then(|(there, index)| Some((there, there.links.iter().find(|link| link.index == index)?)));
        let Some((there, peer)) = peer else {
            self.unseen.push(format!(
                "the peer of {}: it is in a network namespace that cannot be found or entered",
                link.name
            ));
            return Vec::new();
        };
        let mut node = self.node(peer, there);
        node.next = self.behind(peer, there, depth + 1);
        vec![node]
    }

    fn holders(&self, link: &LinkInfo, namespace: &Namespace) -> Vec<Holder> {
        let name = match link.kind.as_deref() {
            Some("tun") => link.name.clone(),
            Some("macvtap" | "ipvtap") => format!("#{}", link.index),
            _ => return Vec::new(),
        };
        let named: Vec<_> = self.held.taps.iter().filter(|tap| tap.interface == name).collect();
        // A holder may have moved its tap to another namespace, as libvirt's helpers do; a name that is held only once is this tap.
        let here = named.iter().filter(|tap| tap.netns == Some(namespace.inode));
        let mut holders: Vec<Holder> = here.map(|tap| tap.holder.clone()).collect();
        if let (true, [only]) = (holders.is_empty(), named.as_slice()) {
            holders.push(only.holder.clone());
        }
        holders
    }

    fn miss_holder(&mut self, node: &Node) {
        if matches!(node.kind.as_deref(), Some("tun" | "macvtap")) && node.holders.is_empty() {
            self.unseen.push(format!(
                "the process that reads the frames of {}: no such process is visible from here",
                node.name
            ));
        }
    }
}

/// True if `upper` takes frames from `lower`.
fn is_made_on(upper: &LinkInfo, its: &Namespace, lower: &LinkInfo, there: &Namespace) -> bool {
    if !upper.kind.as_deref().is_some_and(|kind| MADE_ON.contains(&kind)) {
        return false;
    }
    match upper.below {
        Below::Here(index) => its.inode == there.inode && index == lower.index,
        Below::Elsewhere { index, namespace } => {
            its.others.get(&namespace) == Some(&there.inode) && index == lower.index
        }
        Below::Nothing => false,
    }
}
