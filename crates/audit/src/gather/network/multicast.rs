//! Joined multicast groups, and those that macvlan passes to a work queue.

use super::macvlan::Macvlans;
use super::place::Links;
use crate::facts::Subject;
use crate::value::{Known, Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

const PATH: &str = "/proc/net/dev_mcast";

/// Groups of GOOSE and sampled values (IEC 61850-8-1 annex C: 01-0C-CD-01 to -04), and of AVTP (IEEE 1722: 91-E0-F0).
const PROCESS_BUS: [&str; 2] = ["010ccd", "91e0f0"];

/// MAC addresses of the group of mDNS (RFC 6762): 224.0.0.251 (RFC 1112) and ff02::fb (RFC 2464).
const MDNS: [&str; 2] = ["01005e0000fb", "3333000000fb"];

/// First kernel that passes a group with one macvlan on directly, and Red Hat's older one that may do so.
const DIRECT_SINCE: f64 = 6_004.0;
const BACKPORTED: &str = ".el9";

/// Groups, with the interface that joined each.
pub(super) struct Groups(Result<Vec<(String, String)>, Unknown>);

impl Groups {
    pub(super) fn read(reader: &Reader) -> Self {
        let text = match reader.text(PATH) {
            // If no group is joined, the file exists and is empty.
            Err(HostError::Unreadable {
                why: host::error::Unreadable::Empty,
                ..
            }) => Ok(String::new()),
            text => text.map_err(Unknown::from),
        };
        Self(text.and_then(|text| parse(&text)))
    }

    /// Groups of the process bus that some interfaces joined.
    fn joined(&self, interfaces: &[String]) -> Result<Vec<String>, Unknown> {
        self.of(interfaces, &PROCESS_BUS)
    }

    /// Groups with one of these prefixes that the interfaces joined.
    fn of(&self, interfaces: &[String], begins: &[&str]) -> Result<Vec<String>, Unknown> {
        let all = self.0.as_ref().map_err(Clone::clone)?.iter();
        let wanted = |group: &str| begins.iter().any(|begin| group.starts_with(begin));
        let of_these = all.filter(|(interface, group)| interfaces.contains(interface) && wanted(group));
        Ok(of_these.map(|(_, group)| group.clone()).collect())
    }
}

/// Parses lines of index, name, two counts and the group.
fn parse(text: &str) -> Result<Vec<(String, String)>, Unknown> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, name, _, _, group] = words[..] else {
            return Err(Unknown::unclear(format!(
                "{PATH}: \"{line}\" does not have five columns"
            )));
        };
        groups.push((name.to_owned(), group.to_owned()));
    }
    Ok(groups)
}

/// Facts of the whole machine: its interfaces, groups and macvlans, and its kernel version.
type MachineFacts<'a> = (&'a Links, &'a Groups, &'a Macvlans, &'a Known);

pub(super) fn gather(
    reader: &Reader,
    (links, groups, macvlans, kernel): MachineFacts<'_>,
    name: &str,
    part: &mut Subject,
) {
    let known = links.find(name).map(|_| ());
    let own = known.clone().and_then(|()| groups.joined(&[name.to_owned()]));
    part.set("nic.groups", own);
    part.set(
        "nic.mdns-groups",
        known.clone().and_then(|()| groups.of(&[name.to_owned()], &MDNS)),
    );
    let children = links.upon(name).and_then(|upon| macvlans.among(&upon));
    let found = children.clone().and_then(|children| macvlans.settings(&children));
    let cutoff = found.clone().and_then(|found| match found.queued_above {
        Some(above) => Ok(above),
        None => unsaid(reader, kernel),
    });
    let queued = cutoff.clone().and_then(|cutoff| {
        let joined = groups.joined(&children.clone()?)?;
        Ok::<_, Unknown>(joined_above(&joined, cutoff))
    });
    part.set("nic.macvlan-queued", queued);
    part.set("nic.macvlan-above", cutoff);
    let frames = found.and_then(|found| {
        let unsaid = || Unknown::unclear("the kernel does not report the length of the queue of macvlan");
        found.queue_frames.ok_or_else(unsaid)
    });
    part.set("nic.macvlan-queue", frames);
    part.set("nic.macvlans", known.and(children));
}

/// Default of a kernel that reports nothing: since Linux 6.4 groups with one macvlan are passed directly; before, none are.
fn unsaid(reader: &Reader, kernel: &Known) -> Result<f64, Unknown> {
    let release = reader.line("/proc/sys/kernel/osrelease")?;
    match kernel {
        Ok(Value::Number(number)) if *number >= DIRECT_SINCE => return Ok(1.0),
        Ok(_) => {}
        Err(unknown) => return Err(unknown.clone()),
    }
    match release.contains(BACKPORTED) {
        true => Err(Unknown::unclear(format!(
            "{release} may have the change of Linux 6.4 or not"
        ))),
        false => Ok(0.0),
    }
}

fn joined_above(joined: &[String], cutoff: f64) -> Vec<String> {
    if cutoff < 0.0 {
        return Vec::new();
    }
    let count = |group: &str| joined.iter().filter(|one| *one == group).count() as f64;
    let mut queued: Vec<String> = joined.iter().filter(|group| count(group) > cutoff).cloned().collect();
    queued.sort();
    queued.dedup();
    queued
}
