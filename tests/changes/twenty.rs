//! Twenty changes, each with a stall of its time.

use super::{CpuGroup, Measurement, Restored, interrupt, judged, started};
use model::Subject;
use serde_json::Value;
use std::time::Duration;
use support::root_or_skip;

/// Number of changes that are planted under one run.
const PLANTED: usize = 20;

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

#[test]
fn twenty_planted_changes_are_each_told_and_joined_to_the_stall_of_their_time() {
    let test = "twenty_planted_changes_are_each_told_and_joined_to_the_stall_of_their_time";
    if !root_or_skip(test) {
        return;
    }
    let name = format!("triptime-test-many-{}", std::process::id());
    let parts = (
        interrupt(),
        Restored::of("/proc/sys/kernel/timer_migration"),
        CpuGroup::make(&name),
    );
    let (Some((number, affinity)), Some(setting), Some(group)) = parts else {
        return testing::skip(test, "interrupts, kernel settings or CPU sets cannot be changed here");
    };
    let mut measurement = Measurement::start();
    let cpu = judged();
    let arguments = [
        "-name",
        "guest=relay-02",
        "-machine",
        "none",
        "-S",
        "-display",
        "none",
        "-nodefaults",
    ];
    let mut guest = None;
    let mut planted: Vec<(Subject, String, u64)> = Vec::new();
    for at in 0..PLANTED {
        let is_back = (at / 4) % 2 == 1;
        let known = measurement.changes().last().map_or(0, |last| last.at_ns);
        let (subject, part) = match at % 4 {
            0 => {
                affinity.set(&if is_back { affinity.was.clone() } else { cpu.to_string() });
                (Subject::Interrupt, format!("{number} ("))
            }
            1 => {
                let all = format!("0-{cpu}");
                group.set(if is_back { "0" } else { &all }).expect("its CPUs");
                (Subject::Cpuset, name.clone())
            }
            2 => {
                setting.set(if is_back == (setting.was == "1") { "1" } else { "0" });
                (Subject::Sysctl, "kernel.timer_migration".to_owned())
            }
            _ => {
                guest = if is_back {
                    None
                } else {
                    started("qemu-system-x86_64", &arguments)
                };
                (Subject::Guest, "relay-02".to_owned())
            }
        };
        measurement.stall();
        let told = measurement.told(subject, &part, |change| change.at_ns > known);
        assert!(told.before != told.after, "{told:?}");
        planted.push((subject, part, told.at_ns));
    }
    drop(guest);
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
