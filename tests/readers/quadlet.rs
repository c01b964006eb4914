//! Quadlets. podman 4.3 of Debian 12 has no generator for them, and no registry has a newer one, so their keys are compared with the list in its
//! source; systemd reads the sections that a generator passes on.

use super::{can_read, definition, emitted, folder, host, judged, said, text, written};
use std::path::Path;
use std::process::{Command, Output};
use support::{run, stderr};

/// Keys of quadlets and the release of podman in which each came: `pkg/systemd/quadlet/quadlet.go`, `supportedContainerKeys` and
/// `supportedNetworkKeys` (in 5.8.2 `SupportedKeys`), of the tags v4.4.0, v4.5.0, v4.6.0, v4.7.0 and v5.8.2.
const KEYS: [(&str, &str, &str); 17] = [
    ("Container", "AddCapability", "4.4"),
    ("Container", "AddDevice", "4.4"),
    ("Container", "ContainerName", "4.4"),
    ("Container", "DropCapability", "4.4"),
    ("Container", "Exec", "4.4"),
    ("Container", "HealthCmd", "4.5"),
    ("Container", "Image", "4.4"),
    ("Container", "Network", "4.4"),
    ("Container", "NoNewPrivileges", "4.4"),
    ("Container", "PodmanArgs", "4.4"),
    ("Container", "ReadOnly", "4.4"),
    ("Container", "Ulimit", "4.7"),
    ("Container", "Volume", "4.4"),
    ("Network", "Driver", "4.4"),
    ("Network", "IPAMDriver", "4.4"),
    ("Network", "NetworkName", "4.7"),
    ("Network", "Options", "4.4"),
];
/// Sections that the generator passes on to systemd.
const HANDED_ON: [&str; 3] = ["Unit", "Service", "Install"];

/// The settings of units: section and line.
fn settings(units: &str) -> Vec<(&str, &str)> {
    let (mut section, mut all) = ("", Vec::new());
    for line in units.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => section = name,
            None => all.push((section, line)),
        }
    }
    all
}

/// Settings that podman's generator would refuse.
fn refused(units: &str) -> Vec<(&str, &str)> {
    let is_known = |section: &str, line: &str| {
        let key = line.split_once('=').map_or("", |(key, _)| key);
        HANDED_ON.contains(&section) || KEYS.iter().any(|(group, known, _)| (*group, *known) == (section, key))
    };
    let all = settings(units).into_iter();
    all.filter(|(section, line)| !is_known(section, line)).collect()
}

/// systemd's own messages about the sections that the generator passes on.
fn verified(folder: &Path, units: &str) -> Output {
    let mut unit = String::from("[Service]\nExecStart=/bin/true\n");
    for section in HANDED_ON {
        let of = settings(units).into_iter().filter(|(known, _)| *known == section);
        let lines: Vec<String> = of.map(|(_, line)| format!("{line}\n")).collect();
        unit += &format!("[{section}]\n{}", lines.concat());
    }
    let path = written(folder, "triptime-quadlet.service", &unit);
    let mut command = Command::new("systemd-analyze");
    command
        .args(["verify", "--man=no"])
        .arg(path)
        .output()
        .expect("systemd-analyze starts")
}

/// Checks of a quadlet that do not pass, and those that are unknown.
fn not_passed(file: &Path) -> Vec<String> {
    judged("--container", file, "2-3", &["fail", "warn", "unknown"])
}

#[test]
fn podmans_list_and_systemd_know_every_key() {
    let test = "podmans_list_and_systemd_know_every_key";
    if !can_read(test, "systemd-analyze", "systemd") {
        return;
    }
    let own = folder();
    let bare = written(
        own.path(),
        "bare.container",
        "[Container]\nImage=x\nHealthCmd=/bin/true\n[Service]\nCPUQuota=50%\n",
    );
    let mut all: Vec<String> = [&["--nic", "eth1"][..], &["--net", "host"]]
        .iter()
        .map(|network| {
            let output = run(&[&["emit", "quadlet", "--cpus", "2-3"], *network].concat());
            assert!(output.status.success(), "{}", stderr(&output));
            String::from_utf8(output.stdout).expect("UTF-8")
        })
        .collect();
    for tree in ["debian-untuned", "preempt-rt-bare-metal"] {
        for file in [&bare, &definition("container/relay.container")] {
            let units = emitted(&host(tree), &["--container", text(file)], "quadlet");
            // systemd reads a drop-in after its main file.
            let (first, rest) = units.split_once("# process-bus.network").unwrap_or((&units, ""));
            let (network, rest) = rest.split_once("# the container").unwrap_or(("", rest));
            written(own.path(), "process-bus.network", network);
            let before = std::fs::read_to_string(file).expect("a quadlet");
            let after = written(own.path(), "after.container", &format!("{before}\n{first}{rest}"));
            assert_eq!(not_passed(&after), Vec::<String>::new(), "{units}");
            all.push(units);
        }
    }
    let made = own.path().join("made");
    let words = [
        "emit",
        "quadlet",
        "--cpus",
        "2-3",
        "--nic",
        "eth1",
        "--out",
        text(&made),
    ];
    assert!(run(&words).status.success());
    assert_eq!(not_passed(&made.join("triptime.container")), Vec::<String>::new());
    for units in all {
        assert_eq!(refused(&units), [], "{units}");
        let said_of = said(&verified(own.path(), &units));
        assert!(!said_of.contains("triptime-quadlet"), "{said_of}\n{units}");
    }
    let wrong = "[Container]\nUlimits=rtprio=99\n[Service]\nCPUQuotas=\n";
    assert_eq!(refused(wrong), [("Container", "Ulimits=rtprio=99")]);
    assert!(said(&verified(own.path(), wrong)).contains("triptime-quadlet"));
}
