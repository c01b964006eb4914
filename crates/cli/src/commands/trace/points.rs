//! Which points to trace: those that were named, or those found on the way.

use crate::failure::Failure;
use host::path::discover;
use lab::bed::FramePath;
use model::{Fact, hop};
use std::collections::BTreeMap;
use std::io::Write;
use sys::link::find;
use sys::netns::NetNs;
use trace::hops::{MOST_POINTS, Place, Point, PointKind};
use units::foreign;

/// Group of the inventory for what was traced.
pub(super) const GROUP: &str = "trace";

/// The points, and the way they lie on.
pub(super) struct Chosen {
    interface: String,
    path: FramePath,
}

impl Chosen {
    pub(super) fn points(&self) -> Vec<Point> {
        self.path.points.clone()
    }

    /// Names of the hops between neighbouring points.
    pub(super) fn hops(&self) -> Vec<String> {
        self.path.hops()
    }

    /// Numbers of other network namespaces in the own one, by their inode numbers.
    pub(super) fn namespaces(&self) -> BTreeMap<u32, i32> {
        self.path.namespaces.clone()
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        self.path.facts(GROUP)
    }
}

/// The points: one before the interface if one is named, the interface, then those named, or those that are found.
pub(super) fn choose(interface: &str, before: Option<&str>, named: &[String]) -> Result<Chosen, Failure> {
    let way = discover(interface)?;
    let netns = own_namespace()?;
    let first = before.map(|text| parse("--first", text, netns, 0)).transpose()?;
    let mut path = FramePath::at(&way, first)?;
    refuse_double("--first", before.unwrap_or_default(), &path.points)?;
    if named.is_empty() {
        path.add_found(&way);
    }
    for text in named {
        let last = path.points.len() - 1;
        path.points.push(parse("--point", text, netns, last)?);
        refuse_double("--point", text, &path.points)?;
    }
    if path.points.len() > MOST_POINTS {
        let most = MOST_POINTS - 1 - usize::from(before.is_some());
        let beside = if before.is_some() {
            "the interface and the first"
        } else {
            "the interface"
        };
        return Err(Failure::Usage(format!("--point: at most {most} beside {beside}")));
    }
    Ok(Chosen {
        interface: interface.to_owned(),
        path,
    })
}

/// Refuses a last point that has the name of another.
fn refuse_double(option: &str, text: &str, points: &[Point]) -> Result<(), Failure> {
    match points.split_last() {
        Some((last, others)) if others.iter().any(|other| other.name == last.name) => Err(Failure::Usage(format!(
            "{option} {text}: there is a point {} already",
            last.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses what cannot be traced.
pub(super) fn check(chosen: &Chosen) -> Result<(), Failure> {
    if chosen.path.points.len() > 1 {
        return Ok(());
    }
    Err(Failure::CouldNotMeasure(format!(
        "no second point is found behind {}: name one with --point ({})",
        chosen.interface,
        chosen.path.unseen.join("; ")
    )))
}

/// Shows the way and the points on standard output.
pub(super) fn show(chosen: &Chosen) -> Result<u8, Failure> {
    let path = &chosen.path;
    let mut text = format!("{}points: {}\n", path.way, path.describe());
    for unseen in &path.unseen {
        text.push_str(&format!("not seen: {unseen}\n"));
    }
    // An interface of a container is called what somebody there chose; a name has no line's end.
    let text: String = text.lines().map(|line| format!("{}\n", foreign::shown(line))).collect();
    let shown = std::io::stdout().write_all(text.as_bytes());
    shown.map_err(|error| Failure::CouldNotMeasure(format!("standard output: {error}")))?;
    Ok(0)
}

/// `NAME=INTERFACE[@NAMESPACE][:EVENT]`.
fn parse(option: &str, text: &str, own: u32, parent: usize) -> Result<Point, Failure> {
    let refuse = |why: &str| Failure::Usage(format!("{option} {text}: {why}"));
    let (name, rest) = text
        .split_once('=')
        .ok_or_else(|| refuse("write it as NAME=INTERFACE:EVENT, such as tap=vnet0:tx"))?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(refuse("a name of letters, digits, -, _ and ."));
    }
    if name.contains(hop::BETWEEN) {
        return Err(refuse("-to- separates two points: leave it out of the name"));
    }
    let (place, event) = rest.split_once(':').unwrap_or((rest, "rx"));
    let kinds = match event {
        "app" => vec![PointKind::Read, PointKind::Consume],
        word => {
            let kind = PointKind::ALL.into_iter().find(|kind| kind.word() == word);
            vec![kind.ok_or_else(|| refuse("no such event (have: rx, tx, queue, gro, done, read, app)"))?]
        }
    };
    let (interface, namespace) = match place.split_once('@') {
        Some((interface, namespace)) => (interface, Some(namespace)),
        None => (place, None),
    };
    let (ifindex, netns) = match namespace {
        None => (find(interface)?.index, own),
        Some(namespace) => elsewhere(interface, namespace).map_err(|error| refuse(&error.to_string()))?,
    };
    let place = |kind| Place { ifindex, netns, kind };
    Ok(Point {
        name: name.to_owned(),
        places: kinds.into_iter().map(place).collect(),
        parent,
    })
}

/// An interface in the namespace of a process, or of a file.
fn elsewhere(interface: &str, namespace: &str) -> Result<(u32, u32), sys::SysError> {
    let namespace = match namespace.parse::<u32>() {
        Ok(pid) => NetNs::open(format!("/proc/{pid}/ns/net").as_ref())?,
        Err(_) => NetNs::open(namespace.as_ref())?,
    };
    let index = namespace.run(|| find(interface).map(|link| link.index))??;
    Ok((index, namespace.inode()?))
}

fn own_namespace() -> Result<u32, Failure> {
    Ok(NetNs::current()?.inode()?)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use trace::hops::PointKind;

    #[test]
    fn points_are_read_and_refused_with_what_would_do() {
        let point = parse("--point", "app=lo:app", 7, 2).expect("a point");
        assert_eq!((point.name.as_str(), point.parent), ("app", 2));
        let kinds: Vec<PointKind> = point.places.iter().map(|place| place.kind).collect();
        assert_eq!(kinds, [PointKind::Read, PointKind::Consume]);
        assert_eq!(point.places[0].netns, 7);
        assert_eq!(
            parse("--first", "a=lo", 7, 0).expect("a point").places[0].kind,
            PointKind::Receive
        );
        for (text, wanted) in [
            ("lo", "NAME=INTERFACE"),
            ("a=lo:up", "have: rx, tx"),
            ("a/b=lo", "letters"),
            ("a-to-b=lo", "separates two points"),
            ("a=nosuch0", "no such interface"),
            ("a=lo@/nosuch", "/nosuch"),
        ] {
            let error = parse("--point", text, 7, 0).expect_err(text).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
