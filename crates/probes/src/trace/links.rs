//! State of the points' interfaces: present or removed, up or down.

use ::trace::hops::Point;
use std::collections::BTreeMap;
use sys::link::{CarrierChange, LinkInfo, find, find_index};

/// The interfaces of the points that can be queried.
#[derive(Debug)]
pub(super) struct Links {
    watched: Vec<Watched>,
    unwatched: Vec<String>,
}

/// An interface with points.
#[derive(Debug)]
struct Watched {
    points: Vec<usize>,
    ifindex: u32,
    /// Number of its namespace, as known in this one; `None` for this namespace.
    namespace: Option<i32>,
    /// State of the interface at the last check.
    before: LinkInfo,
    is_gone: bool,
    /// True if it was reported that another interface has taken its name.
    is_replaced: bool,
}

/// Change of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The points at this interface.
    pub(super) points: Vec<usize>,
    /// Description of the change.
    pub(super) text: String,
    /// True if frames may have been lost or may have taken another path because of the change.
    pub(super) is_doubt: bool,
}

impl Links {
    /// The interfaces of these points. `own` is the inode number of the calling thread's network namespace; `others` maps the
    /// inode numbers of other namespaces to their numbers in this one.
    pub(super) fn new(points: &[Point], own: u32, others: &BTreeMap<u32, i32>) -> Self {
        let mut links = Self {
            watched: Vec::new(),
            unwatched: Vec::new(),
        };
        for (number, point) in points.iter().enumerate() {
            for place in &point.hooks {
                let namespace = (place.netns != own).then(|| others.get(&place.netns).copied());
                links.add(number, &point.name, place.ifindex, namespace);
            }
        }
        links
    }

    /// `namespace` is `None` for this namespace; a namespace without a number cannot be queried.
    fn add(&mut self, point: usize, name: &str, ifindex: u32, namespace: Option<Option<i32>>) {
        let known = namespace.is_none_or(|number| number.is_some());
        let namespace = namespace.flatten();
        let same = |other: &&mut Watched| (other.ifindex, other.namespace) == (ifindex, namespace);
        match self.watched.iter_mut().find(same).filter(|_| known) {
            Some(watched) if watched.points.contains(&point) => {}
            Some(watched) => watched.points.push(point),
            None => match find_index(ifindex, namespace) {
                Ok(Some(before)) if known => self.watched.push(Watched {
                    points: vec![point],
                    ifindex,
                    namespace,
                    before,
                    is_gone: false,
                    is_replaced: false,
                }),
                _ if self.unwatched.iter().any(|other| other == name) => {}
                _ => self.unwatched.push(name.to_owned()),
            },
        }
    }

    /// Points whose interfaces cannot be queried from this namespace.
    pub(super) fn unwatched(&self) -> &[String] {
        &self.unwatched
    }

    /// Returns the changes since the last check.
    pub(super) fn look(&mut self) -> Vec<Change> {
        self.watched.iter_mut().filter_map(Watched::look).collect()
    }
}

impl Watched {
    fn look(&mut self) -> Option<Change> {
        if self.is_gone {
            return self.look_for_another();
        }
        let (text, is_doubt) = match find_index(self.ifindex, self.namespace).ok()? {
            Some(now) => {
                let found = change(&self.before, &now);
                self.before = now;
                found?
            }
            None => {
                self.is_gone = true;
                (
                    format!("{} is gone: no frames are traced there any more", self.before.name),
                    true,
                )
            }
        };
        Some(self.tell(text, is_doubt))
    }

    /// Reports another interface that has the name of a removed one.
    fn look_for_another(&mut self) -> Option<Change> {
        if self.is_replaced || self.namespace.is_some() {
            return None;
        }
        let other = find(&self.before.name).ok()?;
        self.is_replaced = true;
        let text = format!(
            "another interface now has the name {} (number {}, before {}): it is not traced; start again",
            other.name, other.index, self.ifindex
        );
        Some(self.tell(text, true))
    }

    fn tell(&self, text: String, is_doubt: bool) -> Change {
        Change {
            points: self.points.clone(),
            text,
            is_doubt,
        }
    }
}

/// Text of a change, and true if it is a doubt.
fn change(before: &LinkInfo, now: &LinkInfo) -> Option<(String, bool)> {
    let name = &before.name;
    if *name != now.name {
        return Some((format!("{name} was renamed to {}", now.name), true));
    }
    let losses = now.carrier_losses_since(before);
    match (before.up, now.up) {
        (true, false) => return Some((format!("{name} was brought down"), true)),
        (false, true) => return Some((format!("{name} was brought up"), losses > 0)),
        _ => {}
    }
    let change = now.carrier_change(before)?;
    let is_doubt = change != CarrierChange::Back || losses > 0;
    Some((format!("{name} {change}"), is_doubt))
}

#[cfg(test)]
mod tests {
    use super::{Links, change};
    use ::trace::hops::{Hook, Point, PointKind};
    use std::collections::BTreeMap;
    use sys::link::{LinkInfo, add_bridge, delete, find, set_down, set_up};
    use sys::netns::NetNs;

    fn link() -> LinkInfo {
        LinkInfo {
            carrier_losses: Some(3),
            up: true,
            carrier: true,
            ..find("lo").expect("every namespace has lo")
        }
    }

    #[test]
    fn each_change_is_told_and_those_that_lose_frames_are_doubts() {
        let up = link();
        let told = |now: &LinkInfo| change(&up, now);
        assert_eq!(told(&up), None);
        let lost = LinkInfo {
            carrier: false,
            carrier_losses: Some(4),
            ..up.clone()
        };
        assert_eq!(told(&lost), Some(("lo lost its carrier".to_owned(), true)));
        assert_eq!(
            change(
                &lost,
                &LinkInfo {
                    carrier_losses: Some(4),
                    ..up.clone()
                }
            )
            .map(|told| told.1),
            Some(false)
        );
        for now in [
            LinkInfo {
                up: false,
                ..up.clone()
            },
            LinkInfo {
                name: "x".to_owned(),
                ..up.clone()
            },
            LinkInfo {
                carrier_losses: Some(5),
                ..up.clone()
            },
        ] {
            assert_eq!(told(&now).map(|told| told.1), Some(true), "{now:?}");
        }
    }

    #[test]
    fn one_that_is_removed_and_made_again_is_another() {
        let namespace = match NetNs::create() {
            Ok(namespace) => namespace,
            Err(error) => return testing::skip("interfaces of points", &error.to_string()),
        };
        let watch = || {
            add_bridge("p0")?;
            set_up("p0")?;
            let own = NetNs::current()?.inode()?;
            let place = |kind| Hook {
                ifindex: find("p0").map_or(0, |link| link.index),
                netns: own,
                kind,
            };
            let point = Point {
                name: "nic".to_owned(),
                hooks: vec![place(PointKind::Receive), place(PointKind::Queue)],
                parent: 0,
            };
            let elsewhere = Point {
                name: "edge".to_owned(),
                hooks: vec![Hook {
                    netns: own + 1,
                    ..place(PointKind::Receive)
                }],
                parent: 0,
            };
            let mut links = Links::new(&[point, elsewhere], own, &BTreeMap::new());
            assert_eq!(links.unwatched(), ["edge"]);
            assert_eq!(links.look(), []);
            set_down("p0")?;
            let down = links.look();
            delete("p0")?;
            let gone = links.look();
            assert_eq!(links.look(), []);
            add_bridge("p0")?;
            let other = links.look();
            assert_eq!(links.look(), []);
            Ok::<_, sys::SysError>([down, gone, other])
        };
        let told = namespace.run(watch).expect("entered").expect("rtnetlink");
        for (told, wanted) in told.iter().zip(["brought down", "is gone", "another interface"]) {
            let [change] = told.as_slice() else { panic!("{told:?}") };
            assert!(change.text.contains(wanted) && change.is_doubt, "{change:?}");
            assert_eq!(change.points, [0]);
        }
    }
}
