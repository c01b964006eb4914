//! Points to trace: those that were named, or those found on the path.

use crate::failure::Failure;
use model::Fact;
use std::collections::BTreeMap;
use std::io::Write;
use trace::hops::{MOST_POINTS, Point};
use trace::path::{FramePath, GROUP, PointError, discover};
use units::foreign;

/// The points, and their path.
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

    /// Ids of other network namespaces in this one, by their inode numbers.
    pub(super) fn namespaces(&self) -> BTreeMap<u32, i32> {
        self.path.namespaces.clone()
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        self.path.facts(GROUP)
    }
}

/// The points in order: a named point before the interface, the interface, then the named ones, or those that are found.
pub(super) fn choose(interface: &str, before: Option<&str>, named: &[String]) -> Result<Chosen, Failure> {
    let tree = discover(interface)?;
    let first = before.map(|text| read("--first", text, 0)).transpose()?;
    let mut path = FramePath::at(&tree, first)?;
    refuse_double("--first", before.unwrap_or_default(), &path.points)?;
    if named.is_empty() {
        path.add_found(&tree);
    }
    for text in named {
        let last = path.points.len() - 1;
        path.points.push(read("--point", text, last)?);
        refuse_double("--point", text, &path.points)?;
    }
    if path.points.len() > MOST_POINTS {
        let most = MOST_POINTS - 1 - usize::from(before.is_some());
        let beside = if before.is_some() {
            "the interface and the first"
        } else {
            "the interface"
        };
        return Err(Failure::Usage(format!(
            "--point: at most {most} in addition to {beside}"
        )));
    }
    Ok(Chosen {
        interface: interface.to_owned(),
        path,
    })
}

/// Refuses a last point whose name is already taken.
fn refuse_double(option: &str, text: &str, points: &[Point]) -> Result<(), Failure> {
    match points.split_last() {
        Some((last, others)) if others.iter().any(|other| other.name == last.name) => Err(Failure::Usage(format!(
            "{option} {text}: there is a point {} already",
            last.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses points that cannot be traced.
pub(super) fn check(chosen: &Chosen) -> Result<(), Failure> {
    if chosen.path.points.len() > 1 {
        return Ok(());
    }
    Err(Failure::CouldNotMeasure(format!(
        "no second point is found after {}: name one with --point ({})",
        chosen.interface,
        chosen.path.unseen.join("; ")
    )))
}

/// Shows the path and the points on standard output.
pub(super) fn show(chosen: &Chosen) -> Result<u8, Failure> {
    let path = &chosen.path;
    let mut text = format!("{}points: {}\n", path.tree, path.describe());
    for unseen in &path.unseen {
        text.push_str(&format!("not seen: {unseen}\n"));
    }
    // A container may name its interface freely; a name contains no newline.
    let text: String = text.lines().map(|line| format!("{}\n", foreign::shown(line))).collect();
    let shown = std::io::stdout().write_all(text.as_bytes());
    shown.map_err(|error| Failure::CouldNotMeasure(format!("standard output: {error}")))?;
    Ok(0)
}

/// A point from an option, after point number `parent`.
fn read(option: &str, text: &str, parent: usize) -> Result<Point, Failure> {
    Point::read(text, parent).map_err(|error| match error {
        PointError::Written(why) => Failure::Usage(format!("{option} {text}: {why}")),
        PointError::Sys(error) => error.into(),
    })
}
