//! Settings that are not files: threads, driver settings, swap areas. Values are texts in the form of [`Target`].

use std::fs;
use std::io;

use sys::ethtool::{self, Setting};
use units::CpuList;

use super::operation::{BROADCAST_LIMIT, BROADCAST_QUEUE, Target, ThreadId};
use host::stat::ThreadStat;

/// Limit in kernels that do not report one, since Linux 6.4 (macvlan.c).
const LIMIT_UNSAID: i32 = 1;

/// Current value.
pub(super) fn read(target: &Target) -> io::Result<String> {
    match target {
        Target::Thread(thread) => {
            check(thread)?;
            let cpus = sys::thread::affinity_of(thread.tid).map_err(io::Error::other)?;
            Ok(cpus.to_string())
        }
        Target::Priority(thread) => {
            check(thread)?;
            sys::thread::policy_of(thread.tid).ok_or_else(ended)
        }
        Target::Nic { interface, setting } => nic(interface, setting),
        Target::Swap(path) => swap(path),
        Target::File(_) | Target::Folder(_) => Err(io::Error::other("a file")),
    }
}

/// Sets a value.
pub(super) fn write(target: &Target, value: &str) -> io::Result<()> {
    match target {
        Target::Thread(thread) => {
            check(thread)?;
            let cpus: CpuList = value.parse().map_err(io::Error::other)?;
            sys::thread::set_affinity_of(thread.tid, &cpus).map_err(io::Error::other)
        }
        Target::Priority(thread) => {
            check(thread)?;
            sys::thread::set_policy_of(thread.tid, value).map_err(io::Error::other)
        }
        Target::Nic { interface, setting } => set_nic(interface, setting, value),
        Target::Swap(path) => set_swap(path, value),
        Target::File(_) | Target::Folder(_) => Err(io::Error::other("a file")),
    }
}

/// Checks that the thread with this id is still the intended one.
fn check(thread: &ThreadId) -> io::Result<()> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", thread.tid))?;
    match ThreadStat::parse(&stat).map(|stat| stat.started_ticks) {
        Some(now) if now == thread.started => Ok(()),
        _ => Err(ended()),
    }
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the thread has ended")
}

fn nic(interface: &str, setting: &str) -> io::Result<String> {
    sys::link::find(interface).map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))?;
    match setting {
        BROADCAST_LIMIT => macvlan(interface).map(|found| found.queued_above.unwrap_or(LIMIT_UNSAID).to_string()),
        BROADCAST_QUEUE => macvlan(interface).and_then(|found| {
            let asked = found.queue_frames_asked.ok_or_else(|| {
                io::Error::other("the kernel does not report the requested queue length (Linux 5.11 does)")
            })?;
            Ok(asked.to_string())
        }),
        name => {
            let setting: Setting = name.parse().map_err(io::Error::other)?;
            let value = ethtool::setting(interface, setting);
            let value = value.map_err(|silence| io::Error::other(format!("{name} of {interface}: {silence}")))?;
            Ok(value.to_string())
        }
    }
}

fn macvlan(interface: &str) -> io::Result<sys::link::Macvlan> {
    let all = sys::link::macvlans().map_err(io::Error::other)?;
    let found = all.into_iter().find(|one| one.name == interface);
    found.ok_or_else(|| io::Error::other(format!("{interface} is not a macvlan")))
}

fn set_nic(interface: &str, setting: &str, value: &str) -> io::Result<()> {
    let wrong = || io::Error::other(format!("\"{value}\" is not a value for {setting}"));
    let changed = match setting {
        BROADCAST_LIMIT => sys::link::set_queued_above(interface, value.parse().map_err(|_| wrong())?),
        BROADCAST_QUEUE => sys::link::set_queue_frames(interface, value.parse().map_err(|_| wrong())?),
        name => {
            let setting: Setting = name.parse().map_err(io::Error::other)?;
            ethtool::change(interface, setting, value.parse().map_err(|_| wrong())?)
        }
    };
    changed.map_err(io::Error::other)
}

/// Priorities assigned by the kernel are below 0 and change with the order of areas.
fn swap(path: &str) -> io::Result<String> {
    let text = fs::read_to_string("/proc/swaps")?;
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(path));
    let Some(line) = line else { return Ok("off".to_owned()) };
    let priority = line.split_whitespace().last().and_then(|word| word.parse::<i32>().ok());
    Ok(match priority {
        Some(priority) if priority >= 0 => format!("on, priority {priority}"),
        _ => "on".to_owned(),
    })
}

fn set_swap(path: &str, value: &str) -> io::Result<()> {
    let switched = match value.split_once(", priority ") {
        None if value == "off" => sys::swap::off(path),
        None => sys::swap::on(path, None),
        Some((_, priority)) => sys::swap::on(path, Some(priority.parse().map_err(io::Error::other)?)),
    };
    switched.map_err(io::Error::other)
}
