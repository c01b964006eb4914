//! Twenty changes, each with a stall of its time.

use super::tuned::Profile;
use super::{CpuGroup, Measurement, Restored, Started, interrupt, judged, started};
use model::Subject;
use serde_json::Value;
use std::time::Duration;
use support::root_or_skip;

/// Number of changes that are planted under one run.
const PLANTED: usize = 20;

/// Kinds of changes among them.
const KINDS: usize = 5;

/// Arguments of a guest that does nothing.
const GUEST: [&str; 8] = [
    "-name",
    "guest=relay-02",
    "-machine",
    "none",
    "-S",
    "-display",
    "none",
    "-nodefaults",
];

/// Stops the whole measurement for a while: its thread wakes up late by that.
const STALL: Duration = Duration::from_millis(80);

impl Measurement {
    fn stall(&self) {
        let child = self.child.as_ref().expect("it runs");
        support::signal(child, rustix::process::Signal::STOP);
        std::thread::sleep(STALL);
        support::signal(child, rustix::process::Signal::CONT);
    }
}

/// The machine's parts that are changed in turns, each back to its earlier value every second time.
struct Planted {
    number: String,
    affinity: Restored,
    group: CpuGroup,
    group_name: String,
    profile: Profile,
    tuned: Option<Started>,
    guest: Option<Started>,
    _setting: Restored,
}

impl Planted {
    /// Why a part cannot be changed here, if one cannot.
    fn new() -> Result<Self, &'static str> {
        let group_name = format!("triptime-test-many-{}", std::process::id());
        let (number, affinity) = interrupt().ok_or("no interrupt can be moved here")?;
        let group = CpuGroup::make(&group_name).ok_or("no control group with CPUs can be made here")?;
        let setting =
            Restored::of("/proc/sys/kernel/timer_migration").ok_or("kernel settings cannot be changed here")?;
        let profile = Profile::make(&format!("kernel.timer_migration={}", setting.was));
        let profile = profile.ok_or("TuneD is not installed")?;
        Ok(Self {
            number,
            affinity,
            group,
            group_name,
            profile,
            tuned: None,
            guest: None,
            _setting: setting,
        })
    }

    /// Makes the change with this number; returns its subject and a part of its name.
    fn plant(&mut self, at: usize) -> (Subject, String) {
        let is_back = (at / KINDS) % 2 == 1;
        match at % KINDS {
            0 => {
                let cpu = judged().to_string();
                self.affinity.set(if is_back { &self.affinity.was } else { &cpu });
                (Subject::Interrupt, format!("{} (", self.number))
            }
            1 => {
                let all = format!("0-{}", judged());
                self.group.set(if is_back { "0" } else { &all }).expect("its CPUs");
                (Subject::Cpuset, format!("{}: cpuset.cpus", self.group_name))
            }
            2 => {
                let file = self.group.set_partition(!is_back);
                (Subject::Partition, format!("{}: {file}", self.group_name))
            }
            3 => {
                self.guest = (!is_back).then(|| started("qemu-system-x86_64", &GUEST).expect("QEMU starts"));
                (Subject::Guest, "relay-02".to_owned())
            }
            _ => {
                self.tuned = None;
                self.tuned = Some(self.profile.applied_anew());
                (Subject::Tuned, "active profile".to_owned())
            }
        }
    }
}

#[test]
fn twenty_planted_changes_are_each_told_and_joined_to_the_stall_of_their_time() {
    let test = "twenty_planted_changes_are_each_told_and_joined_to_the_stall_of_their_time";
    if !root_or_skip(test) {
        return;
    }
    let mut parts = match Planted::new() {
        Ok(parts) => parts,
        Err(why) => return testing::skip(test, why),
    };
    let mut measurement = Measurement::start();
    let mut planted: Vec<(Subject, String, u64)> = Vec::new();
    for at in 0..PLANTED {
        let known = measurement.changes().last().map_or(0, |last| last.at_ns);
        let (subject, part) = parts.plant(at);
        measurement.stall();
        let told = measurement.told(subject, &part, |change| change.at_ns > known);
        assert!(told.before != told.after, "{told:?}");
        planted.push((subject, part, told.at_ns));
    }
    drop(parts);
    let document = measurement.end();
    let list = document["changes"]["list"].as_array().expect("changes");
    let joined = planted.iter().filter(|(subject, part, at_ns)| {
        let is_it = |change: &&Value| {
            let at_s = change["at_s"].as_f64().unwrap_or(0.0);
            change["subject"] == subject.word()
                && change["name"].as_str().is_some_and(|name| name.contains(part.as_str()))
                && (at_s - *at_ns as f64 / 1e9).abs() < 1e-3
        };
        let sample = list.iter().find(is_it).map(|change| &change["sample"]);
        sample.is_some_and(|sample| sample["value"].as_u64() >= Some(STALL.as_nanos() as u64 / 2))
    });
    assert_eq!(joined.count(), PLANTED, "{list:#?}");
}
