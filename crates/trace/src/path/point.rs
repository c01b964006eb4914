//! Makes points from known interfaces, or from the user's text.

use crate::hops::{Hook, Point, PointKind};
use model::hop;
use sys::SysError;
use sys::link::find;
use sys::netns::NetNs;

/// Why a text is not a valid point.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    /// The text is invalid: the reason, and a correct form.
    #[error("{0}")]
    Written(String),
    /// There is no such interface here, or the kernel refused to describe it.
    #[error(transparent)]
    Sys(#[from] SysError),
}

impl Point {
    /// A point after point number `parent`, at one interface: its number, and the inode number of its network namespace.
    pub(super) fn of(name: &str, parent: usize, (ifindex, netns): (u32, u32), kinds: &[PointKind]) -> Self {
        let place = |kind: &PointKind| Hook {
            ifindex,
            netns,
            kind: *kind,
        };
        Self {
            name: name.to_owned(),
            hooks: kinds.iter().map(place).collect(),
            parent,
        }
    }

    /// A point at an interface of the calling thread's network namespace, after point number `parent`.
    ///
    /// # Errors
    /// [`SysError::NoSuchInterface`], or another refusal of the kernel.
    pub fn at(name: &str, parent: usize, interface: &str, kinds: &[PointKind]) -> Result<Self, SysError> {
        Ok(Self::of(name, parent, here(interface)?, kinds))
    }

    /// Parses `NAME=INTERFACE[@NAMESPACE][:EVENT]`: a point after point number `parent`. NAMESPACE is the number of a process or a
    /// file; by default the calling thread's. EVENT is `rx` by default.
    ///
    /// # Errors
    /// The text is invalid: the mistake, without the text itself.
    pub fn read(text: &str, parent: usize) -> Result<Self, PointError> {
        let refuse = |why: &str| PointError::Written(why.to_owned());
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
            "app" => PointKind::APPLICATION.to_vec(),
            word => {
                let kind = PointKind::ALL.into_iter().find(|kind| kind.word() == word);
                vec![kind.ok_or_else(|| refuse("no such event (have: rx, tx, queue, gro, done, read, app)"))?]
            }
        };
        let interface = match place.split_once('@') {
            None => here(place)?,
            Some((interface, namespace)) => {
                elsewhere(interface, namespace).map_err(|error| refuse(&error.to_string()))?
            }
        };
        Ok(Self::of(name, parent, interface, &kinds))
    }
}

/// Number of an interface in the calling thread's network namespace, and that namespace's inode number.
fn here(interface: &str) -> Result<(u32, u32), SysError> {
    Ok((find(interface)?.index, NetNs::current()?.inode()?))
}

/// An interface in the namespace of a process, or of a file.
fn elsewhere(interface: &str, namespace: &str) -> Result<(u32, u32), SysError> {
    let namespace = match namespace.parse::<u32>() {
        Ok(pid) => NetNs::open(format!("/proc/{pid}/ns/net").as_ref())?,
        Err(_) => NetNs::open(namespace.as_ref())?,
    };
    namespace.run(|| here(interface))?
}

#[cfg(test)]
mod tests {
    use super::here;
    use crate::hops::{Point, PointKind};

    #[test]
    fn points_are_read_and_refused_with_what_would_do() {
        let point = Point::read("app=lo:app", 2).expect("a point");
        assert_eq!((point.name.as_str(), point.parent), ("app", 2));
        let kinds: Vec<PointKind> = point.hooks.iter().map(|place| place.kind).collect();
        assert_eq!(kinds, [PointKind::Read, PointKind::Consume]);
        assert_eq!(point.hooks[0].netns, here("lo").expect("lo").1);
        assert_eq!(
            Point::read("a=lo", 0).expect("a point").hooks[0].kind,
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
            let error = Point::read(text, 0).expect_err(text).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
