use super::CacheReadings;
use host::Host;
use model::{Reading, ReadingUnit};
use std::fs;
use std::path::Path;
use units::CpuList;

const SECOND: u64 = 1_000_000_000;
const GROUP: &str = "sys/fs/resctrl/rt/mon_data/mon_L3_00";

fn put(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    fs::write(file, text).expect("written");
}

/// Two CPUs of one cache, CPU 1 in the group `rt`.
fn tree(root: &Path) {
    put(root, "sys/devices/system/cpu/online", "0-1\n");
    for cpu in 0..2 {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index3");
        put(root, &format!("{folder}/level"), "3\n");
        put(root, &format!("{folder}/id"), "0\n");
        put(root, &format!("{folder}/shared_cpu_list"), "0-1\n");
    }
    put(root, "sys/fs/resctrl/cpus_list", "0\n");
    put(root, "sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy", "9000\n");
    put(root, "sys/fs/resctrl/rt/cpus_list", "1\n");
    counters(root, "1000", "5000");
}

fn counters(root: &Path, occupancy: &str, total: &str) {
    put(root, &format!("{GROUP}/llc_occupancy"), &format!("{occupancy}\n"));
    put(root, &format!("{GROUP}/mbm_total_bytes"), &format!("{total}\n"));
}

fn readings(root: &Path) -> CacheReadings {
    let host = Host::at(root).expect("a tree");
    CacheReadings::new(host, CpuList::from_iter([1]), 10 * SECOND)
}

fn of<'a>(closed: &'a [Reading], name: &str) -> &'a Reading {
    closed
        .iter()
        .find(|one| one.name == name)
        .expect("a reading of that name")
}

#[test]
fn counters_become_windows_of_octets_and_of_octets_a_second() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let mut readings = readings(root.path());
    assert_eq!(readings.look(0), []);
    counters(root.path(), "3000", "7000");
    assert_eq!(readings.look(2 * SECOND), []);
    counters(root.path(), "2000", "7500");
    let closed = readings.look(12 * SECOND);
    assert_eq!(closed.len(), 3);
    let occupancy = of(&closed, "cache/rt/L3:0/occupancy");
    assert_eq!(
        (occupancy.unit, occupancy.start_ns, occupancy.end_ns),
        (ReadingUnit::Octets, 0, 10 * SECOND)
    );
    let values = &occupancy.values;
    assert_eq!(
        (values.samples, values.min, values.mean, values.max),
        (2, Some(1000.0), Some(2000.0), Some(3000.0))
    );
    let total = of(&closed, "memory/rt/L3:0/total");
    assert_eq!(total.unit, ReadingUnit::OctetsPerSecond);
    assert_eq!(
        (total.values.samples, total.values.max, total.values.unknown),
        (1, Some(1000.0), 0)
    );
    let last = readings.close(15 * SECOND);
    let total = of(&last, "memory/rt/L3:0/total");
    assert_eq!((total.start_ns, total.end_ns), (10 * SECOND, 15 * SECOND));
    assert_eq!(total.values.max, Some(50.0), "over the 10 s since the last look");
}

#[test]
fn words_of_the_kernel_are_unknown_and_no_zero() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let mut readings = readings(root.path());
    readings.look(0);
    counters(root.path(), "Unavailable", "Error");
    readings.look(SECOND);
    counters(root.path(), "1000", "9000");
    readings.look(2 * SECOND);
    counters(root.path(), "1000", "9100");
    readings.look(3 * SECOND);
    let closed = readings.close(4 * SECOND);
    let occupancy = &of(&closed, "cache/rt/L3:0/occupancy").values;
    assert_eq!(
        (occupancy.samples, occupancy.min, occupancy.unknown),
        (3, Some(1000.0), 1)
    );
    assert!(
        occupancy
            .why
            .as_ref()
            .is_some_and(|why| why.contains("\"Unavailable\""))
    );
    let total = &of(&closed, "memory/rt/L3:0/total").values;
    assert_eq!(
        (total.samples, total.max, total.unknown),
        (1, Some(100.0), 1),
        "nothing is told of the time across it"
    );
}

#[test]
fn a_counter_that_goes_back_is_a_doubt_and_no_rate() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let mut readings = readings(root.path());
    readings.look(0);
    counters(root.path(), "1", "400");
    readings.look(SECOND);
    counters(root.path(), "1", "600");
    readings.look(2 * SECOND);
    let closed = readings.close(3 * SECOND);
    let total = &of(&closed, "memory/rt/L3:0/total").values;
    assert_eq!((total.samples, total.max, total.unknown), (1, Some(200.0), 1));
    assert_eq!(total.why.as_deref(), Some("the counter went back from 5000 to 400"));
}

#[test]
fn groups_that_come_and_go_are_seen() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let mut readings = readings(root.path());
    readings.look(0);
    fs::remove_dir_all(root.path().join("sys/fs/resctrl/rt")).expect("removed");
    readings.look(SECOND);
    let closed = readings.look(11 * SECOND);
    assert_eq!(of(&closed, "cache/rt/L3:0/occupancy").values.unknown, 1);
    let closed = readings.look(21 * SECOND);
    assert_eq!(closed.len(), 1, "the default group: {closed:?}");
    put(root.path(), "sys/fs/resctrl/rt/cpus_list", "1\n");
    counters(root.path(), "1", "2");
    let closed = readings.look(31 * SECOND);
    assert_eq!(closed.len(), 1);
    assert_eq!(readings.close(32 * SECOND).len(), 3);
}

#[test]
fn a_machine_without_the_counters_has_no_readings() {
    let root = tempfile::tempdir().expect("tempdir");
    put(root.path(), "sys/devices/system/cpu/online", "0-1\n");
    let mut readings = readings(root.path());
    readings.look(0);
    assert_eq!(readings.close(SECOND), []);
}

/// Writes a counter of a guest into the folder of its process.
fn exits(root: &Path, process: u32, kind: &str, count: &str) {
    put(
        root,
        &format!("sys/kernel/debug/kvm/{process}-8/{kind}"),
        &format!("{count}\n"),
    );
}

#[test]
fn exits_of_guests_are_rates_and_one_that_goes_or_begins_again_is_unknown() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    tree(root);
    let mut readings = readings(root);
    readings.look(0);
    // The guest starts during the measurement: its first count is no rate.
    exits(root, 7, "exits", "1000000");
    exits(root, 7, "halt_exits", "500");
    readings.look(SECOND);
    exits(root, 7, "exits", "1000250");
    readings.look(2 * SECOND);
    exits(root, 7, "exits", "1001250");
    // The counter wrapped, or started again.
    exits(root, 7, "halt_exits", "3");
    readings.look(3 * SECOND);
    fs::remove_dir_all(root.join("sys/kernel/debug/kvm/7-8")).expect("removed");
    readings.look(4 * SECOND);
    readings.look(5 * SECOND);
    let closed = readings.look(10 * SECOND);
    let all = of(&closed, "exits/7-8/exits");
    assert_eq!(all.unit, ReadingUnit::PerSecond);
    assert_eq!((all.values.min, all.values.max), (Some(250.0), Some(1000.0)));
    // A missing guest is recorded once, and not as zero.
    assert_eq!((all.values.samples, all.values.unknown), (2, 1));
    let halts = of(&closed, "exits/7-8/halt_exits");
    assert_eq!((halts.values.samples, halts.values.min), (1, Some(0.0)));
    assert_eq!(halts.values.unknown, 2, "{:?}", halts.values.why);
    assert!(
        !readings
            .close(20 * SECOND)
            .iter()
            .any(|one| one.name.starts_with("exits"))
    );
}

#[test]
fn a_look_that_comes_soon_after_a_late_one_does_not_weigh_as_much() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let mut readings = readings(root.path());
    readings.look(0);
    // 8 s without a reading, in which 8000 bytes passed; then 1000 more in a tenth of a second.
    counters(root.path(), "1000", "13000");
    readings.look(8 * SECOND);
    counters(root.path(), "1000", "14000");
    readings.look(8 * SECOND + SECOND / 10);
    let closed = readings.close(10 * SECOND);
    let total = &of(&closed, "memory/rt/L3:0/total").values;
    assert_eq!((total.min, total.max), (Some(1000.0), Some(10_000.0)));
    assert_eq!(total.mean, Some(9000.0 / 8.1), "not 5500");
}

#[test]
fn a_measured_cpu_that_was_too_hot_is_a_rate_and_one_without_a_counter_is_not_there() {
    let root = tempfile::tempdir().expect("tempdir");
    tree(root.path());
    let count = |cpu: u32, count: &str| {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count");
        put(root.path(), &file, &format!("{count}\n"));
    };
    count(0, "5");
    count(1, "40");
    let mut readings = readings(root.path());
    assert_eq!(readings.look(0), []);
    count(0, "900");
    count(1, "50");
    assert_eq!(readings.look(2 * SECOND), []);
    fs::remove_dir_all(root.path().join("sys/devices/system/cpu/cpu1/thermal_throttle")).expect("removed");
    assert_eq!(readings.look(4 * SECOND), []);
    let closed = readings.look(12 * SECOND);
    let hot = of(&closed, "throttled/cpu1/core");
    assert_eq!((hot.unit, hot.values.mean), (ReadingUnit::PerSecond, Some(5.0)));
    assert_eq!((hot.values.samples, hot.values.unknown), (1, 1), "gone is not zero");
    let all: Vec<&str> = closed
        .iter()
        .map(|one| one.name.as_str())
        .filter(|name| name.starts_with("throttled"))
        .collect();
    assert_eq!(all, ["throttled/cpu1/core"], "CPU 0 is not measured");
}
