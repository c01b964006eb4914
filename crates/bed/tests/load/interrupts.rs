//! Loads whose purpose is interrupts: the kernel counts them on the CPU of the load.

use bed::load::Load;

use crate::support::{alone, asked, has_network, last_cpu, network_softirqs, wait_until};

/// Runs a load on the last CPU until it did `work`, and returns what it did and how many softirqs that CPU and any other ran.
fn growth(text: &str, work: u64) -> (u64, u64, u64) {
    let cpu = last_cpu();
    let before = network_softirqs();
    let load = Load::start(&asked(text, cpu)).expect(text);
    wait_until(text, || load.work_done() >= work);
    let report = load.stop();
    assert_eq!(report.note, "");
    let after = network_softirqs();
    let grown = |cpu: &u32| after[cpu] - before[cpu];
    let others = after.keys().filter(|other| **other != cpu).map(grown).max();
    (report.work, grown(&cpu), others.unwrap_or(0))
}

#[test]
fn frames_are_received_in_softirqs_of_their_cpu() {
    let _alone = alone();
    if !has_network("network softirqs") {
        return;
    }
    let (work, here, elsewhere) = growth("packets:bytes=60", 100_000);
    // A softirq takes up to 64 frames where they come faster than it runs.
    assert!(here >= work / 64, "{here} NET_RX softirqs for {work} frames");
    assert!(elsewhere < here / 2, "{elsewhere} on another CPU, {here} on the load's");
}

#[test]
fn frames_that_arrive_are_counted_and_so_are_lost_ones() {
    let _alone = alone();
    if !has_network("counted frames") {
        return;
    }
    let load = Load::start(&asked("packets:threads=2", last_cpu())).expect("load");
    wait_until("20 000 frames", || load.work_done() >= 20_000);
    let report = load.stop();
    let (lost, unit) = report.extra.expect("a second count");
    assert_eq!((report.unit, unit), ("frames", "frames lost"));
    assert!(lost < report.work / 10, "{report}");
}
