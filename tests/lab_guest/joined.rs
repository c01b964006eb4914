//! A guest that another program runs, such as libvirt, with a socket as its channel.

use crate::kernel;
use crate::machine::{start, until_off};
use std::path::Path;
use std::time::{Duration, Instant};
use store::RunFile;
use support::stalls::{beside_stalls, told_by_the_host};
use support::{run, stderr};

#[test]
fn a_guest_that_others_started_measures_over_its_channel_and_powers_off() {
    let test = "a_guest_that_others_started_measures_over_its_channel_and_powers_off";
    let Some(kernel) = kernel(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let words = |path: &Path| path.display().to_string();
    let (guest, vmlinux, modules) = (words(&path("guest")), words(&kernel.join("vmlinux")), words(&kernel));
    let emitted = run(&["emit", "guest", &guest, "--kernel", &vmlinux, "--modules", &modules]);
    assert_eq!(emitted.status.code(), Some(0), "{}", stderr(&emitted));
    let domain = std::fs::read_to_string(path("guest/domain.xml")).expect("the domain");
    let between = |begin: &str, end: &str| {
        let found = domain.split(begin).nth(1).and_then(|rest| rest.split(end).next());
        found.unwrap_or_else(|| panic!("no {begin} in {domain}"))
    };

    let socket = words(&path("socket"));
    let chardev = format!("socket,path={socket},server=on,wait=off,id=channel");
    let machine = start(
        &path("console"),
        &[
            "-name",
            "guest=relay,debug-threads=on",
            "-kernel",
            between("<kernel>", "</kernel>"),
            "-initrd",
            between("<initrd>", "</initrd>"),
            "-append",
            between("<cmdline>", "</cmdline>"),
            "-chardev",
            &chardev,
            "-device",
            "virtio-serial-pci",
            "-device",
            "virtserialport,chardev=channel,name=triptime",
        ],
    );
    let end = Instant::now() + Duration::from_secs(30);
    while !path("socket").exists() {
        assert!(Instant::now() < end, "QEMU made no socket");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The whole machine is on the CPU of the stalls, so that its virtual CPU is pinned there.
    pin(machine.id());
    let out = words(&path("out.triptime"));
    let measure = [
        "lab",
        "guest",
        "--domain",
        &socket,
        "--out",
        &out,
        "wakeup",
        "--cpus",
        "0",
        "--duration",
        "6s",
        "--interval",
        "500us",
    ];
    let output = beside_stalls(40_000_000, || run(&measure));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let kept = RunFile::open(&path("out.triptime")).expect("a run file");
    let series = kept.series().expect("series");
    assert_eq!(series.len(), 1);
    let found = told_by_the_host(&kept, series[0].0);
    assert!(found > 0, "no spike names the stall");
    until_off(machine, &path("console"));
}

/// Moves all threads of a process to the last CPU.
fn pin(process: u32) {
    let last = sys::thread::allowed_cpus().iter().last().into_iter().collect();
    for task in std::fs::read_dir(format!("/proc/{process}/task")).expect("its threads") {
        let name = task.expect("a thread").file_name();
        let number = name.to_str().and_then(|name| name.parse().ok()).expect("a number");
        sys::thread::set_affinity_of(number, &last).expect("pinned");
    }
}
