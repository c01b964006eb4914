//! Quadlets, read by podman's generator. systemd reads the units that it makes.

use super::{can_read, definition, emitted, folder, host, judged, said, text, written};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{run, stderr};

/// podman's generator; `None` if the test was skipped.
fn generator(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/quadlet");
    if !path.exists() {
        let why = format!(
            "no {} (podman's generator, a Go program): run scripts/need.sh test",
            path.display()
        );
        testing::skip(test, &why);
        return None;
    }
    can_read(test, "systemd-analyze", "systemd").then_some(path)
}

/// The units that the generator makes of the quadlets in a folder, by name, and its complaints.
fn generated(generator: &Path, quadlets: &Path) -> (Vec<(String, String)>, String) {
    let mut command = Command::new(generator);
    command
        .args(["-dryrun", "-no-kmsg-log"])
        .env("QUADLET_UNIT_DIRS", quadlets);
    let output = command.output().expect("the generator starts");
    let mut units: Vec<(String, String)> = Vec::new();
    for line in String::from_utf8(output.stdout.clone()).expect("UTF-8").lines() {
        match line.strip_prefix("---").and_then(|line| line.strip_suffix("---")) {
            Some(name) => units.push((name.to_owned(), String::new())),
            None => units.last_mut().expect("a unit").1 += &format!("{line}\n"),
        }
    }
    let complaints = stderr(&output);
    let complaints = complaints
        .lines()
        .filter(|line| line.contains("converting") || line.contains("Warning"));
    (units, complaints.collect::<Vec<_>>().join("\n"))
}

/// systemd's own messages about generated units.
fn verified(units: &[(String, String)]) -> Output {
    let own = folder();
    // The generator names podman where it was built for, and not where it is.
    let paths = units
        .iter()
        .map(|(name, unit)| written(own.path(), name, &unit.replace("/usr/bin/podman", "/bin/true")));
    let paths: Vec<PathBuf> = paths.collect();
    let mut command = Command::new("systemd-analyze");
    command
        .args(["verify", "--man=no"])
        .args(paths)
        .output()
        .expect("systemd-analyze starts")
}

/// Names of capabilities after an option of the command line, each without `cap_`, as podman compares them.
fn names<'a>(start: &'a str, option: &str) -> Vec<&'a str> {
    let words: Vec<&str> = start.split(' ').collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == option);
    pairs.map(|pair| pair[1].trim_start_matches("cap_")).collect()
}

/// Checks of a quadlet that do not pass, and those that are unknown.
fn not_passed(file: &Path) -> Vec<String> {
    judged("--container", file, "2-3", &["fail", "warn", "unknown"])
}

/// The command line with which a unit starts its container or makes its network.
fn start<'a>(units: &'a [(String, String)], name: &str) -> &'a str {
    let unit = units
        .iter()
        .find(|(unit, _)| unit == name)
        .unwrap_or_else(|| panic!("no {name}: {units:?}"));
    unit.1
        .lines()
        .find(|line| line.starts_with("ExecStart="))
        .expect("a start")
}

#[test]
fn podmans_generator_and_systemd_take_every_quadlet() {
    let Some(generator) = generator("podmans_generator_and_systemd_take_every_quadlet") else {
        return;
    };
    let taken = |quadlets: &Path| {
        let (units, complaints) = generated(&generator, quadlets);
        assert_eq!(complaints, "", "{units:?}");
        let said_of = said(&verified(&units));
        assert!(!units.iter().any(|(name, _)| said_of.contains(name)), "{said_of}");
        units
    };
    for (network, joins) in [
        (["--nic", "eth1"], "--network process-bus"),
        (["--net", "host"], "--network host"),
    ] {
        let own = folder();
        let made = own.path().join("made");
        let words = [
            "emit",
            "quadlet",
            "--cpus",
            "2-3",
            network[0],
            network[1],
            "--out",
            text(&made),
        ];
        assert!(run(&words).status.success());
        assert_eq!(not_passed(&made.join("triptime.container")), Vec::<String>::new());
        let units = taken(&made);
        assert!(start(&units, "triptime.service").contains(joins), "{units:?}");
        assert!(
            start(&units, "triptime.service").contains("--cpuset-cpus=2-3"),
            "{units:?}"
        );
    }
}

#[test]
fn podmans_generator_takes_a_mended_quadlet_and_refuses_a_spoiled_one() {
    let Some(generator) = generator("podmans_generator_takes_a_mended_quadlet_and_refuses_a_spoiled_one") else {
        return;
    };
    let bare = "[Container]\nImage=registry.example/x:1\nHealthCmd=/bin/true\n[Service]\nCPUQuota=50%\n";
    let relay = fs::read_to_string(definition("container/relay.container")).expect("a quadlet");
    let adding = "[Container]\nImage=registry.example/x:1\nAddCapability=SYS_NICE IPC_LOCK NET_ADMIN SYS_TIME NET_RAW\n\
                  PodmanArgs=--memory=16g\nDropCapability=MKNOD\n";
    let none = "[Container]\nImage=registry.example/x:1\nAddCapability=CAP_NET_ADMIN NET_RAW\nDropCapability=ALL\n";
    let both = "[Container]\nImage=registry.example/x:1\nAddCapability=NET_ADMIN NET_RAW\nDropCapability=CAP_NET_ADMIN MKNOD\n";
    for tree in ["debian-untuned", "preempt-rt-bare-metal"] {
        for before in [bare, &relay, adding, none, both] {
            let own = folder();
            let file = written(own.path(), "relay.container", before);
            let units = emitted(&host(tree), &["--container", text(&file)], "quadlet");
            // systemd reads a drop-in after its main file, and so does the generator.
            let (first, rest) = units.split_once("# process-bus.network").unwrap_or((&units, ""));
            let (network, rest) = rest.split_once("# the container").unwrap_or(("", rest));
            if !network.is_empty() {
                written(own.path(), "process-bus.network", network);
            }
            let after = written(own.path(), "relay.container", &format!("{before}\n{first}{rest}"));
            assert_eq!(not_passed(&after), Vec::<String>::new(), "{units}");
            let (made, complaints) = generated(&generator, own.path());
            assert_eq!(complaints, "", "{units}");
            let start = start(&made, "relay.service");
            // Of an option that is there twice podman takes the last.
            let cpus = start.rsplit_once("--cpuset-cpus=").map(|(_, last)| last);
            assert!(cpus.is_some_and(|last| last.starts_with("2-3 ")), "{start}");
            let (added, dropped) = (names(start, "--cap-add"), names(start, "--cap-drop"));
            let is_both = |name: &&&str| dropped.contains(name);
            assert_eq!(added.iter().find(is_both), None, "podman refuses it: {start}");
            assert!(
                ["sys_nice", "ipc_lock"].iter().all(|name| added.contains(name)),
                "{start}"
            );
            assert!(
                !added.iter().any(|name| ["net_admin", "sys_time"].contains(name)),
                "{start}"
            );
            for (kept, list) in [("NET_RAW", &added), ("MKNOD", &dropped), ("=ALL", &dropped)] {
                let name = kept.trim_start_matches('=').to_ascii_lowercase();
                assert_eq!(before.contains(kept), list.contains(&&*name), "{kept}: {start}");
            }
            assert_eq!(start.contains("--memory=16g"), before.contains("16g"), "{start}");
            assert_eq!(
                start.matches("--memory").count(),
                before.matches("--memory").count(),
                "{start}"
            );
            let said_of = said(&verified(&made));
            assert!(!said_of.contains("relay.service"), "{said_of}");
        }
    }
    let own = folder();
    written(
        own.path(),
        "wrong.container",
        "[Container]\nImage=registry.example/x:1\nUlimits=rtprio=99\n",
    );
    let (_, complaints) = generated(&generator, own.path());
    assert!(complaints.contains("unsupported key 'Ulimits'"), "{complaints}");
}
