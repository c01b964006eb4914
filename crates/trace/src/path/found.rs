//! Finds the points on a frame's path at which it can be observed.

use super::tree::Node;
use crate::hops::PointKind;

/// The holder of the tap has taken the frame.
const TAKEN: &[PointKind] = &[PointKind::Consume];
/// The kernel passes the frame to the interface.
const TRANSMIT: &[PointKind] = &[PointKind::Transmit];
/// The kernel receives the frame on the interface.
const RECEIVE: &[PointKind] = &[PointKind::Receive];

/// A point on the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundPoint {
    /// Name of the point: `tap`, `vhost`, `edge`, `app`; followed by the interface if there are several of a kind.
    pub(super) name: String,
    /// Name of the point before it; `None`: the first interface.
    pub(super) before: Option<String>,
    /// Number of the interface.
    pub(super) ifindex: u32,
    /// Inode number of its network namespace.
    pub(super) netns: u32,
    /// Events that may happen there: the first of these that a frame comes to counts.
    pub(super) kinds: &'static [PointKind],
}

/// The points after the first interface.
pub(super) fn found(root: &Node) -> Vec<FoundPoint> {
    let mut points = Vec::new();
    let is_root_leaf = root.next.is_empty();
    if root.holders.is_empty() {
        behind(root, None, is_root_leaf, &mut points);
    } else {
        points.push(point("vhost", root, TAKEN, None));
    }
    name_apart(&mut points);
    points.into_iter().map(|named| named.point).collect()
}

/// A point, with the interface that distinguishes it from others of its name.
struct Named {
    point: FoundPoint,
    interface: String,
    /// Position of the point before it.
    before: Option<usize>,
}

fn behind(node: &Node, before: Option<usize>, is_leaf: bool, points: &mut Vec<Named>) {
    if is_leaf && node.kind.as_deref() != Some("bridge") {
        points.push(point("app", node, &PointKind::APPLICATION, before));
    }
    for next in &node.next {
        match next.kind.as_deref() {
            // A bridge passes frames on to its ports; it is not a point.
            Some("bridge" | "openvswitch" | "vlan") => {
                behind(next, before, next.kind.as_deref() == Some("vlan"), points);
            }
            Some("tun") => {
                points.push(point("tap", next, TRANSMIT, before));
                let tap = Some(points.len() - 1);
                if !next.holders.is_empty() {
                    let name = holder_name(next);
                    points.push(point(name, next, TAKEN, tap));
                }
            }
            Some("macvtap" | "ipvtap") => points.push(point(holder_name(next), next, TAKEN, before)),
            // A veth port: its peer gets the frames that it sends.
            Some("veth") if !next.next.is_empty() => {
                points.push(point("port", next, TRANSMIT, before));
                let port = Some(points.len() - 1);
                for peer in &next.next {
                    edge(peer, port, points);
                }
            }
            Some("macvlan" | "ipvlan") => edge(next, before, points),
            _ => points.push(point("port", next, TRANSMIT, before)),
        }
    }
}

/// Adds the point at which a frame enters another namespace, and the points after it.
fn edge(node: &Node, before: Option<usize>, points: &mut Vec<Named>) {
    points.push(point("edge", node, RECEIVE, before));
    let edge = Some(points.len() - 1);
    behind(node, edge, node.next.is_empty(), points);
}

/// Name of the point at which a tap is emptied: by a vhost thread, or by the process itself.
fn holder_name(node: &Node) -> &'static str {
    let has_vhost = node.holders.iter().any(|holder| !holder.tasks.is_empty());
    if has_vhost { "vhost" } else { "taken" }
}

fn point(name: &str, node: &Node, kinds: &'static [PointKind], before: Option<usize>) -> Named {
    Named {
        point: FoundPoint {
            name: name.to_owned(),
            before: None,
            ifindex: node.ifindex,
            netns: node.netns,
            kinds,
        },
        interface: node.name.clone(),
        before,
    }
}

/// Makes equal names unique: appends the interface, or a number if that is not enough.
fn name_apart(points: &mut [Named]) {
    let names: Vec<String> = points.iter().map(|named| named.point.name.clone()).collect();
    let mut taken: Vec<String> = Vec::new();
    for (number, named) in points.iter_mut().enumerate() {
        let name = &names[number];
        if names.iter().filter(|other| *other == name).count() > 1 {
            named.point.name = format!("{name}-{}", named.interface);
        }
        if taken.contains(&named.point.name) {
            named.point.name = format!("{}-{number}", named.point.name);
        }
        taken.push(named.point.name.clone());
        named.point.before = named.before.map(|before| taken[before].clone());
    }
}

#[cfg(test)]
mod tests {
    use super::{PointKind, found};
    use crate::path::holders::{Holder, HolderKind, Task};
    use crate::path::tree::Node;

    fn node(name: &str, kind: &str, next: Vec<Node>) -> Node {
        Node {
            name: name.to_owned(),
            ifindex: 1,
            netns: 1,
            namespace: None,
            kind: (!kind.is_empty()).then(|| kind.to_owned()),
            holders: Vec::new(),
            next,
        }
    }

    fn names(root: &Node) -> Vec<(String, Option<String>)> {
        let points = found(root);
        points.into_iter().map(|point| (point.name, point.before)).collect()
    }

    fn pair(name: &str, before: Option<&str>) -> (String, Option<String>) {
        (name.to_owned(), before.map(str::to_owned))
    }

    #[test]
    fn a_bridge_with_a_machine_and_a_container() {
        let mut tap = node("vnet0", "tun", Vec::new());
        tap.holders.push(Holder {
            pid: 7,
            kind: HolderKind::VirtualMachine("relay".to_owned()),
            tasks: vec![Task {
                id: 8,
                name: "vhost-7".to_owned(),
                cpus: "2".to_owned(),
                policy: "fifo:50".to_owned(),
            }],
        });
        let container = node("veth1", "veth", vec![node("eth0", "veth", Vec::new())]);
        let root = node("eth1", "", vec![node("br0", "bridge", vec![tap, container])]);
        let wanted = [
            pair("tap", None),
            pair("vhost", Some("tap")),
            pair("port", None),
            pair("edge", Some("port")),
            pair("app", Some("edge")),
        ];
        assert_eq!(names(&root), wanted);
    }

    #[test]
    fn several_of_a_kind_are_told_apart_by_their_interface() {
        let taps = ["vnet0", "vnet1"].map(|name| node(name, "tun", Vec::new()));
        let root = node("eth1", "", vec![node("br0", "bridge", taps.to_vec())]);
        assert_eq!(names(&root), [pair("tap-vnet0", None), pair("tap-vnet1", None)]);
    }

    #[test]
    fn an_interface_of_its_own_leads_to_the_application() {
        let points = found(&node("eth0", "", Vec::new()));
        assert_eq!(points.len(), 1);
        assert_eq!(
            (points[0].name.as_str(), points[0].kinds),
            ("app", &PointKind::APPLICATION[..])
        );
    }
}
