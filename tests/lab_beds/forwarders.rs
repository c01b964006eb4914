//! Beds whose frames a process forwards: the process runs as long as the bed exists, is found by its name, and ends with the bed.

use super::can;
use super::named::{Named, directed, out, until};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::Duration;
use support::left::Before;
use support::{signal, start, stderr};

/// Processes whose command line contains this text: the forwarding process of a bed, and those that it started.
fn processes(text: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbered = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    let found = numbered.filter(|(_, path): &(i32, _)| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    });
    found.filter_map(|(number, _)| Pid::from_raw(number)).collect()
}

/// The forwarding process, and its daemons, if any.
fn forwarders(bed: &Named) -> [usize; 2] {
    let own = format!("--bed=triptime-{}-sw", bed.0);
    [own, format!("labs/{}/ovs/db.sock", bed.0)].map(|text| processes(&text).len())
}

/// Kills the only process with this text in its command line; the bed is then stale for this reason, and made again by the next start.
fn dies(bed: &Named, words: &[&str], text: &str, why: &str) {
    let found = processes(text);
    assert_eq!(found.len(), 1, "{text}");
    kill_process(found[0], Signal::KILL).expect("killed");
    // While the other processes end, another missing part may be reported first.
    let is_told = |listed: String| listed.contains("STALE") && listed.contains("the forwarder does not run");
    until(|| bed.listed().is_some_and(is_told));
    let listed = bed.listed().expect("listed");
    assert!(listed.contains(why), "{listed}");
    until(|| forwarders(bed) == [0, 0]);
    let again = bed.up(words);
    assert!(out(&again).contains("; made"), "{}", stderr(&again));
}

#[test]
fn a_thread_between_taps_stays_with_the_bed() {
    let Some(_alone) = can("a_thread_between_taps_stays_with_the_bed", "nsenter") else {
        return;
    };
    let before = Before::look();
    let bed = Named::new("tap");
    let words = ["--network", "tap"];
    let made = bed.up(&words);
    assert!(out(&made).contains("; made"), "{}", stderr(&made));
    assert!(out(&bed.up(&words)).contains("; is up"));
    assert_eq!(forwarders(&bed), [1, 0]);
    let frames = directed(&bed, &out(&made));
    // Most frames are sent within a second.
    assert!(frames > 1_000, "{frames}");
    let own = format!("--bed=triptime-{}-sw", bed.0);
    let process = processes(&own)[0];
    kill_process(process, Signal::STOP).expect("stopped");
    until(|| bed.listed().is_some_and(|listed| listed.contains("is stopped")));
    kill_process(process, Signal::CONT).expect("goes on");
    until(|| bed.listed().is_some_and(|listed| listed.contains("is up")));
    dies(&bed, &words, &own, "ended from outside");
    // The removal of a tap ends it.
    let end = sys::netns::NetNs::open(format!("/run/netns/triptime-{}-dut", bed.0).as_ref()).expect("its end");
    end.run(|| sys::link::delete("dut0"))
        .expect("a thread")
        .expect("deleted");
    drop(end);
    until(|| bed.listed().is_some_and(|listed| listed.contains("a tap is gone")));
    assert!(bed.down().status.success());
    assert_eq!((forwarders(&bed), bed.listed()), ([0, 0], None));
    before.nothing_is_left();
}

#[test]
fn open_vswitch_of_its_own_stays_with_the_bed() {
    let Some(_alone) = can("open_vswitch_of_its_own_stays_with_the_bed", "ovs-vswitchd") else {
        return;
    };
    let before = Before::look();
    let bed = Named::new("ovs");
    let words = ["--network", "openvswitch", "--devices", "2"];
    // Killed while it is made, its daemons end with it.
    for wait_ms in [30, 400] {
        let mut child = start(&[&["lab", "up", &bed.0], &words[..]].concat());
        std::thread::sleep(Duration::from_millis(wait_ms));
        signal(&child, Signal::KILL);
        child.wait().expect("its end");
        let down = bed.down();
        assert!(matches!(down.status.code(), Some(0 | 2)), "{}", stderr(&down));
        assert_eq!(forwarders(&bed), [0, 0], "killed after {wait_ms} ms");
        before.nothing_is_left();
    }
    let made = bed.up(&words);
    assert!(out(&made).contains("; made"), "{}", stderr(&made));
    assert_eq!(forwarders(&bed), [1, 2]);
    let frames = directed(&bed, &out(&made));
    assert!(frames > 1_000, "{frames}");
    // A port that was taken off the switch by hand.
    let files = format!("/run/triptime/labs/{}/ovs", bed.0);
    let done = Command::new("ovs-vsctl")
        .env("OVS_RUNDIR", &files)
        .args(["del-port", "br0", "p-dut1"])
        .status()
        .expect("ovs-vsctl");
    assert!(done.success());
    let listed = bed.listed().expect("listed");
    assert!(
        listed.contains("STALE") && listed.contains("p-dut1 is not a port"),
        "{listed}"
    );
    assert!(out(&bed.up(&words)).contains("; made"));
    let switch = format!("unix:/run/triptime/labs/{}/ovs/db.sock", bed.0);
    let switch = format!("--disable-system\0{switch}");
    dies(&bed, &words, &switch, "ovs-vswitchd has ended");
    assert!(bed.down().status.success());
    assert_eq!((forwarders(&bed), bed.listed()), ([0, 0], None));
    before.nothing_is_left();
}
