//! Files that `triptime tune --emit` writes for other tools.

use super::{host, said, text};
use std::fs;
use std::path::Path;
use support::{run, stderr};

/// The settings of the untuned host for a tool.
fn emitted(tool: &str) -> String {
    settings("debian-untuned", &["--cpus", "2-3", "--nic", "eno1"], tool)
}

fn settings(machine: &str, words: &[&str], tool: &str) -> String {
    let root = host(machine).join("root");
    let output = run(&[&["tune", "--root", text(&root), "--emit", tool], words].concat());
    assert_eq!(output.status.code(), Some(0), "{tool}: {}", stderr(&output));
    said(&output)
}

#[test]
fn kernel_arguments_and_sysctl_settings_are_lines_of_their_kind() {
    let arguments = emitted("kernel-args");
    let first = arguments.lines().next().expect("a line");
    assert!(
        first.contains("isolcpus=managed_irq,domain,2-3") && !first.contains(['{', '}', '"']),
        "{first}"
    );
    assert!(
        arguments
            .lines()
            .skip(1)
            .all(|line| line.is_empty() || line.starts_with('#')),
        "{arguments}"
    );
    let names: Vec<&str> = first
        .split(' ')
        .map(|word| word.split('=').next().unwrap_or(word))
        .collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "an argument twice: {first}");
    let settings = emitted("sysctl");
    let all: Vec<&str> = settings.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!all.is_empty());
    for line in all {
        let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("{line}"));
        let path = format!("/proc/sys/{}", name.trim().replace('.', "/"));
        assert!(
            name.contains('.') && !value.trim().is_empty() && !path.contains(' '),
            "{line}"
        );
    }
}

#[test]
fn a_tuned_profile_is_an_ini_file() {
    let profile = emitted("tuned");
    let script = "import sys, configparser\n\
                  ini = configparser.RawConfigParser(strict=True, delimiters='='); ini.optionxform = str\n\
                  ini.read_string(sys.stdin.read())\n\
                  print(ini['bootloader']['cmdline_triptime'], sorted(ini.sections()))";
    let Some(read) = testing::read_by_python("a_tuned_profile_is_an_ini_file", script, &profile) else {
        return;
    };
    assert!(
        read.contains("isolcpus=managed_irq,domain,2-3") && read.contains("'main'"),
        "{read}"
    );
}

/// A setting that needs missing information is a comment; all others exist, each section with its settings.
#[test]
fn what_cannot_be_set_holds_up_nothing_else() {
    let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/audit/src/tests/definitions");
    let root = host("debian-untuned").join("root");
    let of = |option: &str, file: &str, tool: &str| {
        let file = definitions.join(file);
        let words = [
            "tune",
            "--root",
            text(&root),
            "--cpus",
            "2-3",
            option,
            text(&file),
            "--emit",
            tool,
        ];
        let output = run(&words);
        assert_eq!(output.status.code(), Some(0), "{tool}: {}", stderr(&output));
        said(&output)
    };
    let options = of("--container", "container/abb-before.yaml", "docker");
    assert!(options.contains("--cpuset-cpus=2-3\n"), "{options}");
    assert!(
        options
            .lines()
            .all(|line| line.starts_with("--") || line.starts_with("# ")),
        "{options}"
    );
    let network = of("--container", "container/abb-before.yaml", "compose");
    assert!(
        network.contains("# ctr-network-path: not set: name the interface of the process bus with --nic"),
        "{network}"
    );
    let machine = of("--vmx", "vmware-before.vmx", "vmx");
    assert!(
        machine.contains("sched.cpu.latencySensitivity = \"high\"\n"),
        "{machine}"
    );
    let is_setting = |line: &str| {
        line.split_once(" = ")
            .is_some_and(|(_, value)| value.starts_with('"') && value.ends_with('"'))
    };
    assert!(
        machine.lines().all(|line| line.starts_with("# ") || is_setting(line)),
        "{machine}"
    );
    let units = emitted("systemd");
    assert_eq!(
        units.matches("[Link]").count(),
        1,
        "udev reads one file for a card: {units}"
    );
}

/// True if a text is a line of a tool's file.
type IsLine = fn(&str) -> bool;

#[test]
fn udev_rules_and_units_are_lines_of_their_kind() {
    let kinds: [(&str, IsLine); 2] = [
        ("udev", |line| {
            line.split(", ").all(|part| part.contains('=') && part.ends_with('"'))
        }),
        ("systemd", |line| {
            line.starts_with('[') && line.ends_with(']')
                || line.split_once('=').is_some_and(|(key, _)| !key.contains(' '))
                || line.starts_with("systemctl ")
        }),
    ];
    for (tool, is_line) in kinds {
        let settings = emitted(tool);
        let lines: Vec<&str> = settings
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        assert!(!lines.is_empty(), "{tool}");
        for line in lines {
            assert!(
                is_line(line) && !line.contains(['{', '}']) || tool == "udev" && line.contains("ATTR{"),
                "{tool}: {line}"
            );
        }
    }
}

/// A typical guest, with a comment in its definition.
const GUEST: &str = "<domain type='kvm'>\n  <!-- the relay of bay 7 -->\n  <name>relay</name>\n  <vcpu placement='static'>1</vcpu>\n  \
    <os>\n    <type arch='x86_64'>hvm</type>\n  </os>\n  <devices>\n    <memballoon model='virtio'/>\n  </devices>\n</domain>\n";

/// The checks of the guest that failed.
fn failed(file: &Path) -> Vec<String> {
    let output = run(&[
        "audit",
        "--cpus",
        "1",
        "--observe",
        "0s",
        "--domain",
        text(file),
        "--json",
    ]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = document["findings"].as_array().expect("findings");
    let failed = findings.iter().filter(|one| one["outcome"] == "fail");
    let ids = failed.filter_map(|one| one["id"].as_str().map(str::to_owned));
    ids.filter(|id| id.starts_with("dom-")).collect()
}

#[test]
fn the_diff_of_a_domain_applies_and_its_findings_are_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("relay.xml");
    fs::write(&file, GUEST).expect("a file");
    let checks = [
        "dom-no-balloon",
        "dom-vcpusched",
        "dom-memory-backing",
        "dom-pmu-vmport-off",
    ];
    let before = failed(&file);
    assert!(
        checks.iter().all(|check| before.contains(&(*check).to_owned())),
        "{before:?}"
    );
    let words = [
        "--cpus",
        "1",
        "--observe",
        "0s",
        "--domain",
        text(&file),
        "--emit",
        "libvirt",
    ];
    let output = run(&[&["tune"], &checks[..], &words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let patch = directory.path().join("tune.patch");
    fs::write(&patch, &output.stdout).expect("a file");
    let applied = std::process::Command::new("patch")
        .args(["-p1", "-i", "tune.patch"])
        .current_dir(directory.path())
        .output();
    let Ok(applied) = applied else {
        testing::skip(
            "the_diff_of_a_domain_applies_and_its_findings_are_gone",
            "patch is not installed",
        );
        return;
    };
    assert!(applied.status.success(), "{}", said(&applied));
    let after = failed(&file);
    assert!(
        !checks.iter().any(|check| after.contains(&(*check).to_owned())),
        "{after:?}"
    );
    assert!(
        fs::read_to_string(&file)
            .expect("the file")
            .contains("<!-- the relay of bay 7 -->")
    );
}

#[test]
fn a_file_of_no_setting_is_empty() {
    let root = host("seapath-tuned").join("root");
    let output = run(&["tune", "--root", text(&root), "--emit", "sysctl"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(said(&output), "");
    let why = stderr(&output);
    assert!(why.contains("no finding needs a setting for sysctl"), "{why}");
}
