//! Time synchronisation and services that matter, by the names of running processes.

use std::collections::BTreeMap;

use crate::container;
use crate::error::{HostError, NO_PROCESS, Unreadable};
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const SOURCE: &str = "/proc/*/comm";

/// Daemons that set or serve a clock. Units may have other names than their processes: timemaster itself starts ptp4l and phc2sys.
const TIME: [&str; 8] = [
    "chronyd",
    "ptp4l",
    "phc2sys",
    "ts2phc",
    "timemaster",
    "ntpd",
    "systemd-timesyncd",
    "vmtoolsd",
];

/// Services that move interrupts, change settings, or share the machine.
const OTHERS: [&str; 9] = [
    IRQBALANCE,
    "tuned",
    "thermald",
    "power-profiles-daemon",
    "libvirtd",
    "virtqemud",
    "ovs-vswitchd",
    "dockerd",
    "containerd",
];

/// Length of a process name in the kernel (TASK_COMM_LEN less the final zero).
const KEPT: usize = 15;

/// Sets a clock, too; no fact covers it.
const UNLISTED: &str = "openntpd";

/// Moves interrupts; its environment lists the interrupts it leaves alone.
pub const IRQBALANCE: &str = "irqbalance";

/// True if a process of this name, in the kernel's form, sets or serves a clock: a daemon, or the kernel's worker of a PTP clock.
pub fn is_of_time(name: &str) -> bool {
    TIME.iter().chain([&UNLISTED]).any(|one| kept(one) == name) || is_clock_worker(name)
}

/// True if a program of this name, in full, sets or serves a clock.
pub(crate) fn is_daemon_of_time(name: &str) -> bool {
    TIME.contains(&name) || name == UNLISTED
}

/// True for the kernel's worker of a PTP clock: `ptp0`, `ptp1`…
pub fn is_clock_worker(name: &str) -> bool {
    name.strip_prefix("ptp")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|octet| octet.is_ascii_digit()))
}

/// True if rules need the command line of the process, not only its presence: daemons of time, the one that moves interrupts, and logins on
/// consoles.
pub(crate) fn is_asked_for_arguments(name: &str) -> bool {
    is_of_time(name) || name == IRQBALANCE || name.ends_with("getty")
}

/// True if `name`, as shown in `/proc/PID/comm`, is a process in the facts.
pub(crate) fn is_service(name: &str) -> bool {
    TIME.iter().chain(&OTHERS).any(|service| kept(service) == name)
}

/// Part of a process name that the kernel keeps: 15 characters.
pub fn kept(name: &str) -> &str {
    name.get(..KEPT).unwrap_or(name)
}

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let running = running(reader);
    let mut time = Sheet::new(reader, "time");
    add(&mut time, &TIME, &running);
    time.add("PTP clocks", "/sys/class/ptp", ptp_clocks(reader));
    let mut services = Sheet::new(reader, "services");
    add(&mut services, &OTHERS, &running);
    services.line_or("tuned profile", "/etc/tuned/active_profile", "tuned is not set up");
    [time.finish(), services.finish()].concat()
}

fn add(sheet: &mut Sheet<'_>, names: &[&str], running: &Result<BTreeMap<String, Vec<u64>>, HostError>) {
    for name in names {
        let value = running
            .as_ref()
            .map_err(Clone::clone)
            .map(|running| match running.get(kept(name)) {
                Some(ids) => {
                    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
                    format!("running (process {})", ids.join(", "))
                }
                None => "not running".to_owned(),
            });
        sheet.add(name, SOURCE, value);
    }
}

/// Process ids by name. Inside a container the host's processes are invisible, so their absence is unknown.
pub fn running(reader: &Reader) -> Result<BTreeMap<String, Vec<u64>>, HostError> {
    let ids = reader.names("/proc", |name| name.bytes().all(|b| b.is_ascii_digit()))?;
    let mut running: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for id in ids {
        let Ok(number) = id.parse() else { continue };
        match reader.line(&format!("/proc/{id}/comm")) {
            Ok(name) => running.entry(name).or_default().push(number),
            Err(error) => nameless(error)?,
        }
    }
    if running.is_empty() {
        return Err(HostError::Undecided("no process can be seen".to_owned()));
    }
    match container::detect(reader) {
        Ok(found) if found.runtime.is_some() && !running.contains_key("kthreadd") => Err(HostError::Undecided(
            "in a container: the host's processes cannot be seen".to_owned(),
        )),
        _ => Ok(running),
    }
}

/// Accepts a process without a name: it ended during the reading, as can happen in a capture too, or gave itself an empty name.
///
/// # Errors
/// The name exists but cannot be read: the process may be one of those sought.
pub fn nameless(error: HostError) -> Result<(), HostError> {
    match &error {
        HostError::Unreadable { why, .. } if !why.is_absent() && !is_over(*why) => Err(error),
        _ => Ok(()),
    }
}

fn is_over(why: Unreadable) -> bool {
    matches!(why, Unreadable::Errno(NO_PROCESS) | Unreadable::Empty)
}

/// PTP hardware clocks with the names from their drivers.
fn ptp_clocks(reader: &Reader) -> Result<String, HostError> {
    let names = match reader.names("/sys/class/ptp", |name| name.starts_with("ptp")) {
        // The class appears with the first driver: a /sys without it has no clock.
        Err(error) if error.is_absent() && reader.exists("/sys/class/net").unwrap_or(false) => Vec::new(),
        names => names?,
    };
    let clocks = names.iter().map(|name| {
        let label = reader.line(&format!("/sys/class/ptp/{name}/clock_name"));
        format!("{name} ({})", label.unwrap_or_else(|error| error.reason()))
    });
    let clocks = clocks.collect::<Vec<_>>().join(", ");
    Ok(if clocks.is_empty() { "none".to_owned() } else { clocks })
}
