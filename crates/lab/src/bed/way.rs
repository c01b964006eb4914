//! The way of a frame to the device under test inside this kernel, and the points where it can be traced.

use super::{Bed, DEVICE_IF, Place, TEST_SET_IF, kernel};
use host::path::{PathEvent, PathPoint, Way, discover};
use model::{Fact, hop::HopName};
use std::collections::BTreeMap;
use sys::SysError;
use sys::link::find;
use sys::netns::NetNs;
use trace::hops::{MOST_POINTS, Place as At, Point, PointKind};

/// Name of the first point.
pub const FIRST: &str = "nic";

/// Name of the point at which a program that forwards has taken the frame.
const TAKEN_BY_SWITCH: &str = "switch";

/// Where frames to the device under test come in.
#[derive(Debug)]
pub(super) enum Entry {
    /// At the device's own interface: nothing of this machine is before it, or nothing of it is known.
    Device,
    /// At this port of the switch, from which on the way is found.
    Switch(&'static str),
    /// Here, and a program forwards them, so that the way cannot be found by looking for it.
    Known(FramePath),
}

/// A way and its points.
#[derive(Debug, Clone)]
pub struct FramePath {
    /// The way, a line for each interface, process and thread, indented by two spaces a level.
    pub way: String,
    /// The points, the first one first.
    pub points: Vec<Point>,
    /// What is not seen, and why.
    pub unseen: Vec<String>,
    /// Numbers of other network namespaces, by their inode numbers, in that of the interface at its begin.
    pub namespaces: BTreeMap<u32, i32>,
}

impl FramePath {
    /// The interface of a way alone, behind the point `before` if there is one. It is of the calling thread's network namespace.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn at(way: &Way, before: Option<Point>) -> Result<Self, SysError> {
        let mut points: Vec<Point> = before.into_iter().collect();
        points.push(point(FIRST, 0, way.interface(), &[PointKind::Receive])?);
        Ok(Self {
            way: way.to_string(),
            points,
            unseen: way.unseen(),
            namespaces: way.namespaces().clone(),
        })
    }

    /// Adds the points that are found on the way, as many as there is room for.
    pub fn add_found(&mut self, way: &Way) {
        for found in way.points() {
            self.add(&found);
        }
    }

    fn add(&mut self, found: &PathPoint) {
        if self.points.len() == MOST_POINTS {
            let text = format!("{}: there is room for {MOST_POINTS} points", found.name);
            self.unseen.push(text);
            return;
        }
        let before = found.before.as_deref().unwrap_or(FIRST);
        // A point behind one that there was no room for hangs on nothing.
        let Some(parent) = self.points.iter().position(|point| point.name == before) else {
            return;
        };
        let place = |kind: &PointKind| At {
            ifindex: found.ifindex,
            netns: found.netns,
            kind: *kind,
        };
        self.points.push(Point {
            name: found.name.clone(),
            places: kinds(found.event).iter().map(place).collect(),
            parent,
        });
    }

    /// The points in a few words: `nic (netif_receive_skb), port (net_dev_start_xmit)`.
    pub fn describe(&self) -> String {
        let points = self.points.iter().map(|point| {
            let kinds: Vec<&str> = point.places.iter().map(|place| place.kind.tracepoint()).collect();
            format!("{} ({})", point.name, kinds.join(" or "))
        });
        points.collect::<Vec<_>>().join(", ")
    }

    /// What is to be known of it in the inventory, in this group.
    pub fn facts(&self, group: &str) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: "/sys/class/net, rtnetlink, /proc".to_owned(),
        };
        let mut facts = vec![fact("way", self.way.clone()), fact("points", self.describe())];
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

    /// Names of all hops that have series: between neighbouring points, and from the first one to each further away.
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

fn kinds(event: PathEvent) -> &'static [PointKind] {
    match event {
        PathEvent::Receive => &[PointKind::Receive],
        PathEvent::Transmit => &[PointKind::Transmit],
        PathEvent::Taken => &[PointKind::Consume],
        PathEvent::Application => &[PointKind::Read, PointKind::Consume],
    }
}

/// A point at an interface of the calling thread's network namespace, behind point number `parent`.
fn point(name: &str, parent: usize, interface: &str, kinds: &[PointKind]) -> Result<Point, SysError> {
    let (ifindex, netns) = (find(interface)?.index, NetNs::current()?.inode()?);
    let place = |kind: &PointKind| At {
        ifindex,
        netns,
        kind: *kind,
    };
    Ok(Point {
        name: name.to_owned(),
        places: kinds.iter().map(place).collect(),
        parent,
    })
}

/// The end of every way: the device's interface behind point number `parent`, and who receives there.
fn device(namespace: &NetNs, parent: usize) -> Result<[Point; 2], SysError> {
    namespace.run(|| {
        Ok([
            point("edge", parent, DEVICE_IF, &[PointKind::Receive])?,
            point("app", parent + 1, DEVICE_IF, &[PointKind::Read, PointKind::Consume])?,
        ])
    })?
}

/// The way over two taps: the test set's has the frame, the switch has taken it, and gives it to the device's.
pub(super) fn over_taps(test_set: &NetNs, device_end: &NetNs) -> Result<FramePath, SysError> {
    let [first, taken] = test_set.run(|| {
        Ok::<_, SysError>([
            point(FIRST, 0, TEST_SET_IF, &[PointKind::Transmit])?,
            point(TAKEN_BY_SWITCH, 0, TEST_SET_IF, &[PointKind::Consume])?,
        ])
    })??;
    let [edge, app] = device(device_end, 1)?;
    let process = std::process::id();
    Ok(FramePath {
        way: format!(
            "{TEST_SET_IF}: tap, in the network namespace of the test set\n  process triptime (pid {process}), which forwards\n    \
             {DEVICE_IF}: tap, in the network namespace of the device under test\n"
        ),
        points: vec![first, taken, edge, app],
        unseen: Vec::new(),
        namespaces: BTreeMap::new(),
    })
}

/// The way over a switch in user space that takes frames from one veth port and gives them to the other.
pub(super) fn over_ports(switch: &NetNs, program: &str, device_end: &NetNs) -> Result<FramePath, SysError> {
    let (from, to) = (kernel::TEST_SET_PORT, kernel::DEVICE_PORT);
    let [first, taken, port] = switch.run(|| {
        Ok::<_, SysError>([
            point(FIRST, 0, from, &[PointKind::Receive])?,
            point(TAKEN_BY_SWITCH, 0, from, &[PointKind::Read, PointKind::Consume])?,
            point("port", 1, to, &[PointKind::Transmit])?,
        ])
    })??;
    let [edge, app] = device(device_end, 2)?;
    Ok(FramePath {
        way: format!(
            "{from}: veth\n  process {program}, which forwards\n    {to}: veth\n      {DEVICE_IF}: veth, in the network namespace of \
             the device under test\n"
        ),
        points: vec![first, taken, port, edge, app],
        unseen: Vec::new(),
        namespaces: BTreeMap::new(),
    })
}

impl Bed {
    /// The way of frames from the test set to the device under test, and where on it they can be traced.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn way(&self) -> Result<FramePath, SysError> {
        let found = |interface: &str| {
            let way = discover(interface)?;
            let mut path = FramePath::at(&way, None)?;
            path.add_found(&way);
            Ok(path)
        };
        match (&self.entry, &self.switch) {
            (Entry::Known(path), _) => Ok(path.clone()),
            (Entry::Switch(port), Some(switch)) => switch.run(|| found(port))?,
            (Entry::Switch(_), None) | (Entry::Device, _) => {
                let Place { interface, .. } = &self.device;
                self.device.run(|| found(interface))
            }
        }
    }
}
