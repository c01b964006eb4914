//! The points of a path, in the order in which a frame comes to them.

use super::discover::discover;
use super::found::FoundPoint;
use super::tree::FrameTree;
use crate::hops::{MOST_POINTS, Point, PointKind};
use model::{Fact, hop::HopName};
use std::collections::BTreeMap;
use sys::SysError;

/// Name of the first point.
pub const FIRST: &str = "nic";

/// Group of the inventory for the traced path.
pub const GROUP: &str = "trace";

/// The path of a frame, and its points.
#[derive(Debug, Clone)]
pub struct FramePath {
    /// The interfaces, processes and threads on it, one per line, indented by two spaces per level.
    pub tree: String,
    /// The points, beginning with the first.
    pub points: Vec<Point>,
    /// Parts that are not visible, with the reasons.
    pub unseen: Vec<String>,
    /// Numbers of other network namespaces, by their inode numbers, in the namespace of the first interface.
    pub namespaces: BTreeMap<u32, i32>,
}

impl FramePath {
    /// A path with the first interface alone, after the point `before` if there is one. The interface is in the calling thread's
    /// network namespace.
    ///
    /// # Errors
    /// Finding the interface failed.
    pub fn at(tree: &FrameTree, before: Option<Point>) -> Result<Self, SysError> {
        let mut points: Vec<Point> = before.into_iter().collect();
        points.push(Point::at(FIRST, 0, &tree.root.name, &[PointKind::Receive])?);
        Ok(Self {
            tree: tree.to_string(),
            points,
            unseen: tree.unseen.clone(),
            namespaces: tree.namespaces.clone(),
        })
    }

    /// A known path, which need not be found; `tree` is as in [`FramePath::tree`]. Its namespaces have no numbers.
    pub fn known(tree: String, points: Vec<Point>) -> Self {
        Self {
            tree,
            points,
            unseen: Vec::new(),
            namespaces: BTreeMap::new(),
        }
    }

    /// The path from an interface of the calling thread's network namespace on, with the points found on it.
    ///
    /// # Errors
    /// [`SysError::NoSuchInterface`], or another refusal of the kernel.
    pub fn behind(interface: &str) -> Result<Self, SysError> {
        let tree = discover(interface)?;
        let mut path = Self::at(&tree, None)?;
        path.add_found(&tree);
        Ok(path)
    }

    /// Adds the points found on the tree, as far as there is room.
    pub fn add_found(&mut self, tree: &FrameTree) {
        for found in tree.points() {
            self.add(&found);
        }
    }

    fn add(&mut self, found: &FoundPoint) {
        if self.points.len() == MOST_POINTS {
            let text = format!("{}: there is room for {MOST_POINTS} points", found.name);
            self.unseen.push(text);
            return;
        }
        let before = found.before.as_deref().unwrap_or(FIRST);
        // If there was no room for a point, points after it have no parent.
        let Some(parent) = self.points.iter().position(|point| point.name == before) else {
            return;
        };
        let point = Point::of(&found.name, parent, (found.ifindex, found.netns), found.kinds);
        self.points.push(point);
    }

    /// A short list of the points: `nic (netif_receive_skb), port (net_dev_start_xmit)`.
    pub fn describe(&self) -> String {
        let points = self.points.iter().map(|point| {
            let kinds: Vec<&str> = point.hooks.iter().map(|place| place.kind.tracepoint()).collect();
            format!("{} ({})", point.name, kinds.join(" or "))
        });
        points.collect::<Vec<_>>().join(", ")
    }

    /// Facts about the path for the inventory, in this group.
    pub fn facts(&self, group: &str) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: "/sys/class/net, rtnetlink, /proc".to_owned(),
        };
        let mut facts = vec![fact("way", self.tree.clone()), fact("points", self.describe())];
        if !self.unseen.is_empty() {
            facts.push(fact("not seen", self.unseen.join("; ")));
        }
        facts
    }

    /// Names of the hops between neighbouring points: `nic-to-port`.
    pub fn hops(&self) -> Vec<String> {
        let later = self.points.iter().skip(1);
        later.map(|point| self.hop(point.parent, point)).collect()
    }

    /// Names of all hops with series: between neighbouring points, and from the first one to each further one.
    pub fn all_hops(&self) -> Vec<String> {
        let further = self.points.iter().filter(|point| point.parent > 0);
        let whole = further.map(|point| self.hop(0, point));
        self.hops().into_iter().chain(whole).collect()
    }

    fn hop(&self, from: usize, to: &Point) -> String {
        let name = HopName {
            from: &self.points[from].name,
            to: &to.name,
            stream: "",
        };
        name.way()
    }
}
