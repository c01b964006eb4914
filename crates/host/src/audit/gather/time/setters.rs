//! Who sets `CLOCK_REALTIME`.

use super::options;
use super::ptp::Ptp;
use crate::audit::gather::daemons::Daemon;
use crate::audit::value::Unknown;

/// The names of the processes that set the wall clock. `timemaster` starts others and sets nothing itself; `ts2phc` sets hardware
/// clocks; of VMware's tools nothing tells from here.
pub(super) fn of(found: &[Daemon], all: &[Ptp]) -> Result<Vec<String>, Unknown> {
    let mut setters = Vec::new();
    for daemon in found {
        let sets = match daemon.name.as_str() {
            "chronyd" => !options::has(daemon, "-x")? && !is_helper(found, daemon),
            "ntpd" | "openntpd" => !is_helper(found, daemon),
            "systemd-timesyn" => true,
            "phc2sys" => options::sets_wall_clock(daemon)?,
            "ptp4l" => by_software_stamps(super::of_daemon(all, daemon)?)?,
            _ => false,
        };
        if sets {
            setters.push(daemon.name.clone());
        }
    }
    Ok(setters)
}

/// Both daemons keep a second process of the same name for what takes privilege: the first one counts.
fn is_helper(found: &[Daemon], daemon: &Daemon) -> bool {
    let first = found
        .iter()
        .find(|other| other.name == daemon.name && other.arguments == daemon.arguments);
    first.is_some_and(|first| first.pid != daemon.pid)
}

/// Without hardware stamps ptp4l sets the wall clock itself.
fn by_software_stamps(ptp: &Ptp) -> Result<bool, Unknown> {
    let stamps = ptp.text("time_stamping")?;
    Ok(stamps == "software" && ptp.text("free_running")? != "1")
}
