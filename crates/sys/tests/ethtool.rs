//! Compares answers of drivers with `ethtool`, on interfaces made for the test.

mod common;

use common::{NETWORK, Pair, can_run, inside};
use std::collections::BTreeMap;
use std::process::Command;
use sys::ethtool::{self, Ethtool, Silence};
use sys::link;

/// Features that `ethtool -k` shows under a different name than the kernel's.
const RENAMED: [(&str, &str); 9] = [
    ("rx-checksumming", "rx-checksum"),
    ("generic-segmentation-offload", "tx-generic-segmentation"),
    ("generic-receive-offload", "rx-gro"),
    ("large-receive-offload", "rx-lro"),
    ("rx-vlan-offload", "rx-vlan-hw-parse"),
    ("tx-vlan-offload", "tx-vlan-hw-insert"),
    ("ntuple-filters", "rx-ntuple-filter"),
    ("receive-hashing", "rx-hashing"),
    ("udp-fragmentation-offload", "tx-udp-fragmentation"),
];
/// Headings of `ethtool -k` that summarise several features.
const HEADINGS: [&str; 3] = ["tx-checksumming", "scatter-gather", "tcp-segmentation-offload"];

/// Output of a tool in this thread's namespace; `None` if it is missing or refuses.
fn output(words: &str) -> Option<String> {
    let (program, arguments) = words.split_once(' ').expect("program and arguments");
    let output = Command::new(program).args(arguments.split(' ')).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses `key: value` lines.
fn fields(text: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| {
        let (key, value) = line.split_once(':')?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

fn features_agree(name: &str, said: &Ethtool) {
    let shown = fields(&output(&format!("ethtool -k {name}")).expect("features"));
    let active = &said.features.as_ref().expect("features").active;
    let mut compared = 0;
    for (shown_name, state) in shown
        .iter()
        .filter(|(key, state)| !state.is_empty() && !HEADINGS.contains(&key.as_str()))
    {
        let renamed = RENAMED.iter().find(|(shown, _)| shown == shown_name);
        let kernel_name = renamed.map_or(shown_name.as_str(), |(_, kernel)| kernel);
        let is_on = active.iter().any(|feature| feature == kernel_name);
        assert_eq!(is_on, state.starts_with("on"), "{name}: {kernel_name}");
        compared += 1;
    }
    assert!(compared > 30, "{name}: only {compared} features compared");
}

fn driver_agrees(name: &str, said: &Ethtool) {
    match output(&format!("ethtool -i {name}")) {
        None => assert_eq!(said.driver, Err(Silence::Unsupported), "{name}"),
        Some(shown) => {
            let shown = fields(&shown);
            let driver = said.driver.as_ref().expect("a driver");
            assert_eq!(
                (&driver.name, &driver.version),
                (&shown["driver"], &shown["version"]),
                "{name}"
            );
            assert_eq!(
                (&driver.firmware, &driver.bus),
                (&shown["firmware-version"], &shown["bus-info"]),
                "{name}"
            );
        }
    }
}

fn stamps_agree(name: &str, said: &Ethtool) {
    let shown = output(&format!("ethtool -T {name}")).expect("time stamps");
    let stamping = said.stamping.as_ref().expect("time stamps");
    let listed: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix('\t'))
        .map(str::trim)
        .collect();
    let all = [&stamping.capabilities, &stamping.tx_types, &stamping.rx_filters];
    let ours: Vec<&str> = all.into_iter().flatten().map(String::as_str).collect();
    assert_eq!(ours, listed, "{name}");
    let clock = shown
        .lines()
        .find_map(|line| line.strip_prefix("PTP Hardware Clock: "))
        .expect("a line");
    assert_eq!(
        stamping.phc.map_or("none".to_owned(), |phc| phc.to_string()),
        clock,
        "{name}"
    );
}

/// Compares the second of the two blocks of `ethtool -l`.
fn channels_agree(name: &str, said: &Ethtool) {
    let Some(shown) = output(&format!("ethtool -l {name}")) else {
        return assert!(said.channels.is_err(), "{name}: ethtool knows no channels");
    };
    let current = fields(shown.split("Current hardware settings").nth(1).expect("two blocks"));
    let channels = said.channels.as_ref().expect("channels");
    for (key, ours) in [
        ("RX", channels.rx),
        ("TX", channels.tx),
        ("Combined", channels.combined),
    ] {
        assert_eq!(
            ours.map_or("n/a".to_owned(), |n| n.to_string()),
            current[key],
            "{name}: {key}"
        );
    }
}

fn link_agrees(name: &str, said: &Ethtool) {
    // A failed query shows only in its exit status; the successful ones are on standard output.
    let settings = Command::new("ethtool").arg(name).output().expect("ethtool");
    let shown = fields(&String::from_utf8_lossy(&settings.stdout));
    if let Some(speed) = said.link.as_ref().ok().and_then(|link| link.speed_mbit) {
        assert_eq!(shown["Speed"], format!("{speed}Mb/s"), "{name}");
    } else {
        assert!(
            shown.get("Speed").is_none_or(|speed| speed.starts_with("Unknown")),
            "{name}"
        );
    }
    let detected = said
        .detected
        .as_ref()
        .ok()
        .map(|detected| if *detected { "yes" } else { "no" });
    assert_eq!(shown.get("Link detected").map(String::as_str), detected, "{name}");
}

fn agree_on(name: &str) {
    let said = ethtool::read(name).expect(name);
    driver_agrees(name, &said);
    features_agree(name, &said);
    stamps_agree(name, &said);
    channels_agree(name, &said);
    link_agrees(name, &said);
    for (letter, ours) in [
        ("-c", said.coalesce.is_ok()),
        ("--show-eee", said.eee.is_ok()),
        ("-g", said.rings.is_ok()),
    ] {
        assert_eq!(
            output(&format!("ethtool {letter} {name}")).is_some(),
            ours,
            "{name}: {letter}"
        );
    }
}

#[test]
fn ethtool_shows_the_same_of_interfaces_without_hardware() {
    let test = "ethtool_shows_the_same_of_interfaces_without_hardware";
    if !can_run(test, NETWORK) {
        return;
    }
    if output("ethtool --version").is_none() {
        return testing::skip(test, "no ethtool");
    }
    let pair = Pair::build(1500);
    inside(&pair.a, || {
        for name in ["a0", "lo"] {
            agree_on(name);
        }
        link::add_bridge("br0").map(|()| agree_on("br0"))?;
        for (name, words) in [
            ("t0", "ip tuntap add t0 mode tap"),
            ("m0", "ip link add m0 link a0 type macvlan"),
        ] {
            match output(words) {
                Some(_) => agree_on(name),
                None => testing::skip(test, &format!("`{words}` is refused here")),
            }
        }
        Ok(())
    });
}

#[test]
fn ethtool_shows_the_same_of_the_interfaces_of_this_machine() {
    let test = "ethtool_shows_the_same_of_the_interfaces_of_this_machine";
    if output("ethtool --version").is_none() {
        return testing::skip(test, "no ethtool");
    }
    for link in link::list().expect("interfaces") {
        agree_on(&link.name);
    }
}

#[test]
fn interfaces_that_come_and_go_meanwhile_harm_nothing() {
    let test = "interfaces_that_come_and_go_meanwhile_harm_nothing";
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            inside(&pair.a, || {
                let mut answered = 0;
                for _ in 0..60 {
                    answered += u32::from(ethtool::read("br9").is_ok());
                }
                Ok(answered)
            })
        });
        inside(&pair.a, || {
            while !asking.is_finished() {
                link::add_bridge("br9")?;
                link::delete("br9")?;
            }
            Ok(())
        });
        let answered = asking.join().expect("no panic");
        assert!(answered <= 60);
    });
}
