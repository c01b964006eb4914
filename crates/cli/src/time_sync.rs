//! Options of commands that watch the synchronisation of this machine's clock.

use probes::ProbeError;
use probes::options::positive_duration;
use probes::subscribe::ClockRelation;
use probes::timesync::{DEFAULT_LIMIT_NS, TimeSync, TimeSyncConfig};
use run::Recorder;
use std::path::PathBuf;

/// Value for the usual places of ptp4l's socket.
const AUTO: &str = "auto";

/// Options for watching the clock.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Clock")]
pub(crate) struct TimeSyncArgs {
    /// Watch the ptp4l at this uds_address during the run, or auto to look in the usual places (/var/run/ptp4l,
    /// timemaster's). With --clock ptp it is always watched
    #[arg(long, value_name = "SOCKET")]
    ptp: Option<PathBuf>,
    /// Domain of that ptp4l [default: found by asking]
    #[arg(long, value_name = "N")]
    ptp_domain: Option<u8>,
    /// Time between two looks at that ptp4l
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = interval)]
    ptp_interval: u64,
    /// Distance from the master above which one-way figures are in doubt [default: the stated uncertainty, else 10us]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    ptp_limit: Option<u64>,
    /// This host is the grandmaster that the other one follows
    #[arg(long)]
    grandmaster: bool,
}

impl TimeSyncArgs {
    /// Starts the watch, if one was requested. A measured uncertainty needs `ptp4l`; a stated one does not.
    pub(crate) fn watch(
        &self,
        relation: ClockRelation,
        recorder: &mut Recorder,
    ) -> Result<Option<TimeSync>, ProbeError> {
        match matches!(relation, ClockRelation::Ptp { .. }) || self.ptp.is_some() {
            true => self.watch_always(relation, recorder).map(Some),
            false => Ok(None),
        }
    }

    /// Starts the watch for commands that always watch the clock, whatever keeps it. `ptp4l` is required only if it was requested.
    pub(crate) fn watch_always(
        &self,
        relation: ClockRelation,
        recorder: &mut Recorder,
    ) -> Result<TimeSync, ProbeError> {
        let (follows, stated_ns) = match relation {
            ClockRelation::Ptp { stated_ns, .. } => (true, stated_ns),
            ClockRelation::SameHost | ClockRelation::Within { .. } | ClockRelation::Unknown => (false, None),
        };
        let config = TimeSyncConfig {
            socket: self.ptp.clone().filter(|path| path.as_os_str() != AUTO),
            domain: self.ptp_domain,
            required: self.ptp.is_some() || follows && stated_ns.is_none(),
            grandmaster: self.grandmaster,
            interval_ns: self.ptp_interval,
            limit_ns: self.ptp_limit.or(stated_ns).unwrap_or(DEFAULT_LIMIT_NS),
        };
        TimeSync::start(&config, recorder)
    }
}

/// Parses the interval. At most 20 looks per second: each one interrupts the daemon's own work.
fn interval(text: &str) -> Result<u64, String> {
    match units::parse_ns(text) {
        Ok(ns) if ns < 50_000_000 => Err("must be at least 50ms".into()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// Relation of the publisher's clock to this one, without the publisher's own share of the uncertainty.
pub(crate) fn relation(text: &str) -> Result<ClockRelation, String> {
    let ptp = |stated_ns| ClockRelation::Ptp {
        stated_ns,
        publisher_ns: 0,
    };
    match text.split_once(':') {
        None if text == "none" => Ok(ClockRelation::Unknown),
        None if text == "same-host" => Ok(ClockRelation::SameHost),
        None if text == "ptp" => Ok(ptp(None)),
        Some(("ptp", uncertainty)) => positive_duration(uncertainty).map(|ns| ptp(Some(ns))),
        _ => Err(format!(
            "\"{text}\" is not a relation of clocks: write none, same-host, ptp, or ptp:2us"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{interval, relation};
    use probes::subscribe::ClockRelation;

    #[test]
    fn relations_and_refusals() {
        assert_eq!(relation("none"), Ok(ClockRelation::Unknown));
        assert_eq!(relation("same-host"), Ok(ClockRelation::SameHost));
        let ptp = |stated_ns| {
            Ok(ClockRelation::Ptp {
                stated_ns,
                publisher_ns: 0,
            })
        };
        assert_eq!(relation("ptp"), ptp(None));
        assert_eq!(relation("ptp:2us"), ptp(Some(2_000)));
        for wrong in ["", "ptp:", "ptp:0", "ptp:2", "gps", "same-host:1us"] {
            assert!(relation(wrong).is_err(), "{wrong}");
        }
        assert!(interval("10ms").is_err() && interval("125ms").is_ok());
    }
}
