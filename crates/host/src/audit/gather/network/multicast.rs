//! Which groups are joined, and which of them macvlan hands to a work queue.

use toml::{Table, Value as Toml};

use super::answer::only_live;
use super::place::Links;
use crate::audit::facts::Subject;
use crate::audit::value::{Known, Unknown, Value};
use crate::error::HostError;
use crate::reader::Reader;

const PATH: &str = "/proc/net/dev_mcast";

/// Groups of GOOSE and sampled values (IEC 61850-8-1 annex C: 01-0C-CD-01 to -04), and of AVTP (IEEE 1722: 91-E0-F0).
const PROCESS_BUS: [&str; 2] = ["010ccd", "91e0f0"];

/// The first kernel that hands a group with one macvlan on directly, and Red Hat's older one that may.
const DIRECT_SINCE: f64 = 6_004.0;
const BACKPORTED: &str = ".el9";

/// Groups of the process bus, with the interface that joined each.
pub(super) struct Groups(Result<Vec<(String, String)>, Unknown>);

impl Groups {
    pub(super) fn read(reader: &Reader) -> Self {
        let text = match reader.text(PATH) {
            // Nobody joined anything: the file is there and empty.
            Err(HostError::Unreadable {
                why: crate::error::Unreadable::Empty,
                ..
            }) => Ok(String::new()),
            text => text.map_err(Unknown::from),
        };
        Self(text.and_then(|text| parse(&text)))
    }

    fn joined(&self, interfaces: &[String]) -> Result<Vec<String>, Unknown> {
        let all = self.0.as_ref().map_err(Clone::clone)?.iter();
        let of_these = all.filter(|(interface, _)| interfaces.contains(interface));
        Ok(of_these.map(|(_, group)| group.clone()).collect())
    }
}

/// Lines of index, name, two counts and the group.
fn parse(text: &str) -> Result<Vec<(String, String)>, Unknown> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, name, _, _, group] = words[..] else {
            return Err(Unknown::unclear(format!("{PATH}: \"{line}\" has not five columns")));
        };
        if PROCESS_BUS.iter().any(|begin| group.starts_with(begin)) {
            groups.push((name.to_owned(), group.to_owned()));
        }
    }
    Ok(groups)
}

/// What is known of the whole machine: its interfaces, its groups, and its kernel's number.
type Machine<'a> = (&'a Links, &'a Groups, &'a Known);

pub(super) fn gather(reader: &Reader, (links, groups, kernel): Machine<'_>, name: &str, part: &mut Subject) {
    let known = links.find(name).map(|_| ());
    let own = known.clone().and_then(|()| groups.joined(&[name.to_owned()]));
    part.set("nic.groups", own);
    let children = links.macvlans(name);
    let found = children.clone().and_then(|children| macvlans(reader, &children));
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
        let unsaid = || Unknown::unclear("the kernel does not say how long the queue of macvlan is");
        found.queue_frames.ok_or_else(unsaid)
    });
    part.set("nic.macvlan-queue", frames);
    part.set("nic.macvlans", known.and(children));
}

/// The setting of a kernel that says nothing: groups with one macvlan go directly since Linux 6.4; before, none does.
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

/// What the macvlans on one interface say: the last one that was set decides for all.
#[derive(Clone, Copy)]
struct Settings {
    queued_above: Option<f64>,
    queue_frames: Option<u32>,
}

fn macvlans(reader: &Reader, children: &[String]) -> Result<Settings, Unknown> {
    let text = reader.answer("macvlans", || {
        let all = sys::link::macvlans().map_err(|error| HostError::Undecided(error.to_string()))?;
        Ok(write(&all))
    });
    let text = text.map_err(only_live)?;
    let all: Table = text
        .parse()
        .map_err(|error| Unknown::unclear(format!("the recorded answer on macvlans: {error}")))?;
    let number = |name: &String, key: &str| all.get(name)?.get(key)?.as_integer();
    if let Some(missing) = children.iter().find(|name| !all.contains_key(name.as_str())) {
        return Err(Unknown::unclear(format!("nothing is known of macvlan {missing}")));
    }
    let above = children.iter().filter_map(|name| number(name, "queued-above")).min();
    let frames = children.iter().filter_map(|name| number(name, "queue-frames")).min();
    Ok(Settings {
        queued_above: above.map(|above| above as f64),
        queue_frames: frames.and_then(|frames| u32::try_from(frames).ok()),
    })
}

fn write(all: &[sys::link::Macvlan]) -> String {
    let one = |macvlan: &sys::link::Macvlan| {
        let entries = [
            ("queued-above", macvlan.queued_above.map(i64::from)),
            ("queue-frames", macvlan.queue_frames.map(i64::from)),
        ];
        let known = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), Toml::Integer(value?))));
        (macvlan.name.clone(), Toml::Table(known.collect()))
    };
    // A table without any entry is no text: a recorded tree must tell it from no answer.
    format!("# macvlans\n{}", all.iter().map(one).collect::<Table>())
}
