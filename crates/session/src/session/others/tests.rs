use super::{OthersLimits, Said, is_held_by_instrument};
use host::Host;
use model::EventKind;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use units::Monotonic;

/// A machine whose CPU 1 enters C6.
struct Sleeper(TempDir);

impl Sleeper {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().expect("a folder"));
        let state = "sys/devices/system/cpu/cpu1/cpuidle/state2";
        for (file, text) in [("name", "C6"), ("latency", "133"), ("disable", "0")] {
            machine.write(&format!("{state}/{file}"), text);
        }
        machine.write("dev/cpu_dma_latency", "");
        machine.limit(2_000_000_000);
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn limit(&self, us: i32) {
        self.write(".answers/cpu-dma-latency-us", &us.to_string());
    }

    /// A process that has the device open.
    fn holder(&self, pid: u32, name: &str) {
        self.write(&format!("proc/{pid}/comm"), name);
        fs::create_dir_all(self.path(&format!("proc/{pid}/fd"))).expect("made");
        symlink("/dev/cpu_dma_latency", self.path(&format!("proc/{pid}/fd/9"))).expect("linked");
    }

    fn ends(&self, pid: u32) {
        fs::remove_dir_all(self.path(&format!("proc/{pid}"))).expect("removed");
    }

    fn host(&self) -> Host {
        Host::at(self.0.path()).expect("a tree")
    }
}

fn at(s: i64) -> Monotonic {
    Monotonic::from_ns(s * 1_000_000_000)
}

fn limits(ours: bool) -> OthersLimits {
    let ours = Arc::new(AtomicBool::new(ours));
    OthersLimits::new("1".parse().expect("a list"), ours, at(0))
}

fn doubts(said: &[Said]) -> Vec<(Monotonic, &str)> {
    let doubts = said.iter().filter(|one| one.kind == EventKind::HeldByUs);
    doubts.map(|one| (one.since, one.text.as_str())).collect()
}

#[test]
fn an_instruments_limit_is_a_doubt_for_as_long_as_it_lasts() {
    let machine = Sleeper::new();
    let mut limits = limits(false);
    assert_eq!(limits.look_at(&machine.host(), at(1)), []);
    machine.holder(812, "cyclictest");
    machine.limit(0);
    assert_eq!(limits.look_at(&machine.host(), at(2)), [], "it lasts");
    machine.ends(812);
    machine.limit(2_000_000_000);
    let said = limits.look_at(&machine.host(), at(3));
    let [(since, text)] = doubts(&said)[..] else {
        panic!("{said:?}")
    };
    assert_eq!(since, at(1), "it began after the look before");
    assert!(text.starts_with("cyclictest (pid 812) holds idle states off"), "{text}");
    assert!(text.contains("cpu 1 enters C6 without it"), "{text}");
    assert_eq!(limits.close_at(&machine.host(), at(4)), []);
}

#[test]
fn an_instrument_that_joins_a_service_under_the_same_limit_changes_nothing() {
    let machine = Sleeper::new();
    let mut limits = limits(false);
    machine.limit(0);
    machine.holder(700, "tuned");
    assert_eq!(limits.look_at(&machine.host(), at(1)).len(), 1, "a note");
    machine.holder(812, "cyclictest");
    assert_eq!(limits.look_at(&machine.host(), at(2)), []);
    assert_eq!(limits.close_at(&machine.host(), at(3)), []);
}

#[test]
fn an_instrument_that_takes_over_a_services_limit_or_lowers_it_is_a_doubt() {
    for name in ["triptime", "rtla", "cyclictest"] {
        let machine = Sleeper::new();
        let mut limits = limits(false);
        machine.limit(0);
        machine.holder(700, "tuned");
        limits.look_at(&machine.host(), at(1));
        machine.holder(812, name);
        machine.ends(700);
        let said = limits.close_at(&machine.host(), at(2));
        assert_eq!(doubts(&said).len(), 1, "{name}: {said:?}");
    }
    let machine = Sleeper::new();
    let mut limits = limits(false);
    machine.limit(100);
    machine.holder(700, "tuned");
    limits.look_at(&machine.host(), at(1));
    machine.holder(812, "cyclictest");
    machine.limit(0);
    limits.look_at(&machine.host(), at(2));
    let said = limits.close_at(&machine.host(), at(3));
    assert_eq!(doubts(&said)[0].0, at(1), "{said:?}");
}

#[test]
fn where_an_instrument_held_beside_a_service_from_the_begin_its_end_shows_whose_the_limit_is() {
    let both = || {
        let (machine, mut limits) = (Sleeper::new(), limits(false));
        machine.limit(0);
        machine.holder(700, "tuned");
        machine.holder(812, "cyclictest");
        limits.look_at(&machine.host(), at(1));
        (machine, limits)
    };
    let (machine, mut limits) = both();
    let said = limits.close_at(&machine.host(), at(2));
    assert_eq!(doubts(&said).len(), 1, "it may be the instrument's: {said:?}");
    let (machine, mut limits) = both();
    machine.ends(812);
    let said = limits.close_at(&machine.host(), at(2));
    let [note] = &said[..] else { panic!("{said:?}") };
    assert_eq!(note.kind, EventKind::Note, "it is the service's");
    let (machine, mut limits) = both();
    machine.ends(812);
    machine.limit(2_000_000_000);
    let said = limits.close_at(&machine.host(), at(2));
    assert_eq!(doubts(&said).len(), 1, "it was the instrument's: {said:?}");
}

#[test]
fn a_service_holds_its_limit_in_service_too() {
    let machine = Sleeper::new();
    machine.holder(700, "tuned");
    machine.limit(10);
    let mut limits = limits(false);
    let said = limits.look_at(&machine.host(), at(1));
    let [note] = &said[..] else { panic!("{said:?}") };
    assert_eq!(note.kind, EventKind::Note);
    assert!(
        note.text
            .contains("at 10 us, by tuned (pid 700): cpu 1 does not enter C6"),
        "{}",
        note.text
    );
    assert_eq!(limits.look_at(&machine.host(), at(2)), []);
    assert_eq!(limits.close_at(&machine.host(), at(3)), []);
    assert!(!is_held_by_instrument(&machine.host(), &"1".parse().expect("a list")));
}

#[test]
fn a_limit_that_keeps_no_judged_cpu_out_of_a_state_is_nothing() {
    let machine = Sleeper::new();
    machine.holder(812, "cyclictest");
    machine.limit(0);
    let other = "0".parse().expect("a list");
    let mut limits = OthersLimits::new(other, Arc::new(AtomicBool::new(false)), at(0));
    assert_eq!(limits.look_at(&machine.host(), at(1)), []);
    assert_eq!(limits.close_at(&machine.host(), at(2)), []);
}

#[test]
fn while_this_run_holds_a_limit_it_reports_its_own_only() {
    let machine = Sleeper::new();
    machine.holder(812, "cyclictest");
    machine.limit(0);
    let mut limits = limits(true);
    assert_eq!(limits.look_at(&machine.host(), at(1)), []);
    // Another instrument's limit is no service's: the run's own doubt stays.
    assert!(is_held_by_instrument(&machine.host(), &limits.judged));
    limits.ours.store(false, Ordering::SeqCst);
    assert_eq!(limits.look_at(&machine.host(), at(2)), []);
    let said = limits.close_at(&machine.host(), at(3));
    assert_eq!(doubts(&said)[0].0, at(1), "{said:?}");
}

#[test]
fn this_process_is_no_stranger() {
    let machine = Sleeper::new();
    machine.holder(std::process::id(), "triptime");
    machine.limit(0);
    let said = limits(false).close_at(&machine.host(), at(1));
    assert_eq!(doubts(&said), [], "{said:?}");
}

#[test]
fn where_the_limit_cannot_be_read_an_instrument_may_hold_it_and_a_second_triptime_is_no_reason() {
    for (name, count) in [("cyclictest", 1), ("triptime", 0)] {
        let machine = Sleeper::new();
        fs::remove_file(machine.path(".answers/cpu-dma-latency-us")).expect("removed");
        machine.write("proc/812/comm", name);
        machine.write(".unreadable", "EACCES /proc/812/fd\n");
        fs::create_dir_all(machine.path("proc/812/fd")).expect("made");
        let said = limits(false).close_at(&machine.host(), at(1));
        assert_eq!(doubts(&said).len(), count, "{name}: {said:?}");
        // The same where it begins during the run.
        let mut limits = limits(false);
        machine.write("proc/812/comm", "bash");
        assert_eq!(limits.look_at(&machine.host(), at(1)), []);
        machine.write("proc/812/comm", name);
        let said = limits.close_at(&machine.host(), at(2));
        assert_eq!(doubts(&said).len(), count, "{name}: {said:?}");
    }
}
