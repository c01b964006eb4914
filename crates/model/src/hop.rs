//! Names of the series of hops.

use crate::kind;
use crate::series::SeriesSpec;
use std::fmt;

/// The text between the two points in a hop's name; no point may contain it.
pub const BETWEEN: &str = "-to-";

/// The two points between which frames are timed, and their stream: `hop/nic-to-edge/MU01`.
///
/// In a merged run, a point is preceded by the name of its run, `host.nic`; otherwise a dot belongs to the interface in the point's
/// name, `port-eth1.100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopName<'a> {
    /// The point at which the hop begins.
    pub from: &'a str,
    /// The point at which the hop ends.
    pub to: &'a str,
    /// The name of the stream.
    pub stream: &'a str,
}

impl<'a> HopName<'a> {
    /// The parts of a series' name; `None` if the series is not a hop.
    pub fn parse(series: &'a str) -> Option<Self> {
        let (way, stream) = series
            .strip_prefix(kind::HOP.name)?
            .strip_prefix('/')?
            .split_once('/')?;
        let (from, to) = way.split_once(BETWEEN)?;
        Some(Self { from, to, stream })
    }

    /// Makes the series of that name. `what` describes the two instants that a sample lies between.
    pub fn series(&self, what: impl Into<String>) -> SeriesSpec {
        SeriesSpec::of(&kind::HOP, &format!("{}/{}", self.way(), self.stream), what)
    }

    /// The two points without the stream: `nic-to-edge`.
    pub fn way(&self) -> String {
        format!("{}{BETWEEN}{}", self.from, self.to)
    }
}

impl fmt::Display for HopName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, stream } = self;
        write!(f, "{}/{from}{BETWEEN}{to}/{stream}", kind::HOP.name)
    }
}

/// Splits a point of a merged run into the run's name and the point's name there.
pub fn in_run(point: &str) -> Option<(&str, &str)> {
    point.split_once('.')
}

#[cfg(test)]
mod tests {
    use super::{HopName, in_run};

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for (text, way, stream) in [
            ("hop/nic-to-edge/MU01", "nic-to-edge", "MU01"),
            (
                "hop/nic-to-port-eth1.100/MU/01-to-02",
                "nic-to-port-eth1.100",
                "MU/01-to-02",
            ),
            ("hop/host.nic-to-guest.app/MU01", "host.nic-to-guest.app", "MU01"),
        ] {
            let name = HopName::parse(text).expect(text);
            assert_eq!((name.way().as_str(), name.stream), (way, stream));
            assert_eq!(name.to_string(), text);
        }
        for other in ["rtt/reflect", "hop/nic/MU01", "hops/nic-to-app/MU01", "hop/nic-to-app"] {
            assert_eq!(HopName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_point_of_a_merged_run_is_one_of_its_run() {
        assert_eq!(in_run("host.port-eth1.100"), Some(("host", "port-eth1.100")));
        assert_eq!(in_run("nic"), None);
    }
}
