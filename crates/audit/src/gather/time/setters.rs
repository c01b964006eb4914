//! Programs that set `CLOCK_REALTIME`.

use super::options;
use super::ptp::Ptp;
use crate::definition::vmx::Vmx;
use crate::gather::daemons::Daemon;
use crate::value::Unknown;
use std::path::PathBuf;

/// The daemon of VMware's tools.
const TOOLS: &str = "vmtoolsd";

/// Names of the processes that set the wall clock. `timemaster` starts others and sets nothing itself; `ts2phc` sets hardware clocks.
/// VMware's tools set it if the files of the virtual machine, `machines`, say so.
pub(super) fn of(found: &[Daemon], all: &[Ptp], machines: &[PathBuf]) -> Result<Vec<String>, Unknown> {
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
    let has_tools = found.iter().any(|daemon| daemon.name == TOOLS);
    if has_tools && tools_set_it(machines, !setters.is_empty())? {
        setters.push(TOOLS.to_owned());
    }
    Ok(setters)
}

/// True if VMware's tools set the clock repeatedly. They do not by default, but if nothing else sets the clock, a default is no evidence.
fn tools_set_it(machines: &[PathBuf], is_set: bool) -> Result<bool, Unknown> {
    if machines.is_empty() && !is_set {
        return Err(Unknown::unclear(
            "only the virtual machine's file shows if VMware's tools set the clock: name it with --vmx",
        ));
    }
    let mut set = false;
    for path in machines {
        let vmx = Vmx::read(path).map_err(Unknown::unclear)?;
        set |= vmx
            .get("tools.synctime")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    }
    Ok(set)
}

/// Both daemons keep a second process of the same name for privileged work: the first one counts.
fn is_helper(found: &[Daemon], daemon: &Daemon) -> bool {
    let first = found
        .iter()
        .find(|other| other.name == daemon.name && other.arguments == daemon.arguments);
    first.is_some_and(|first| first.pid != daemon.pid)
}

/// Without hardware stamps, ptp4l itself sets the wall clock.
fn by_software_stamps(ptp: &Ptp) -> Result<bool, Unknown> {
    let stamps = ptp.text("time_stamping")?;
    Ok(stamps == "software" && ptp.text("free_running")? != "1")
}
