//! `triptime tune`: plans, changes with a way back, settings for other tools. The one thing that is changed on this machine is where
//! interrupts that are requested from now on go, and it is put back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{root_or_skip, run, start, stderr, wait};

const MASK: &str = "/proc/irq/default_smp_affinity";
const CHECK: &str = "irq-default-affinity";

fn host(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn mask() -> String {
    fs::read_to_string(MASK).expect("the default mask").trim().to_owned()
}

/// Puts the mask back, also when a test fails.
struct Restored(String);

impl Drop for Restored {
    fn drop(&mut self) {
        let _ = fs::write(MASK, &self.0);
    }
}

/// Whether this machine can be changed: root, and a second CPU. What the mask was.
fn can_change(test: &str) -> Option<Restored> {
    if !root_or_skip(test) {
        return None;
    }
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    if online.trim() == "0" {
        testing::skip(test, "needs two CPUs");
        return None;
    }
    Some(Restored(mask()))
}

/// The last CPU is for real-time work.
fn tune(journal: &Path, more: &[&str]) -> Output {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let words = [
        "tune",
        CHECK,
        "--cpus",
        &last,
        "--observe",
        "0s",
        "--journal",
        text(journal),
    ];
    run(&[&words, more].concat())
}

fn undo(journal: &Path) -> Output {
    run(&["tune", "--undo", "--journal", text(journal)])
}

#[test]
fn a_plan_changes_nothing() {
    let Some(before) = can_change("a_plan_changes_nothing") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let plan = tune(&journal, &["--plan"]);
    assert_eq!(plan.status.code(), Some(0), "{}", stderr(&plan));
    assert!(said(&plan).contains(&format!("{MASK} = ")), "{}", said(&plan));
    assert_eq!(
        said(&plan),
        said(&tune(&journal, &[])),
        "the plan is shown where nothing is said"
    );
    assert_eq!(mask(), before.0);
    assert!(!journal.exists());
}

#[test]
fn what_is_applied_is_undone() {
    let Some(before) = can_change("what_is_applied_is_undone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let applied = tune(&journal, &["--apply"]);
    assert_eq!(applied.status.code(), Some(0), "{}{}", said(&applied), stderr(&applied));
    assert_ne!(mask(), before.0);
    let kept = fs::read_to_string(&journal).expect("the journal");
    assert!(
        kept.contains(MASK) && kept.contains(&format!("\"before\":\"{}\"", before.0)),
        "{kept}"
    );
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(mask(), before.0);
    assert!(!journal.exists(), "nothing is left to undo");
    let again = undo(&journal);
    assert!(
        again.status.success() && said(&again).contains("nothing to undo"),
        "{}",
        said(&again)
    );
}

/// A process of its own name, which ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Its policy's number and priority, and its CPUs (proc_pid_stat(5), fields 40 and 41).
    fn state(&self) -> (String, String) {
        let folder = format!("/proc/{}", self.0.id());
        let stat = fs::read_to_string(format!("{folder}/stat")).expect("it lives");
        let fields: Vec<&str> = stat.rsplit_once(") ").expect("a name").1.split_whitespace().collect();
        let status = fs::read_to_string(format!("{folder}/status")).expect("it lives");
        let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        (
            format!("{}:{}", fields[38], fields[37]),
            cpus.expect("CPUs").trim().to_owned(),
        )
    }
}

#[test]
fn a_planned_task_becomes_what_is_planned_and_gets_back_what_it_was() {
    let Some(_unchanged) = can_change("a_planned_task_becomes_what_is_planned_and_gets_back_what_it_was") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (journal, program) = (directory.path().join("journal"), directory.path().join("tt-planned"));
    fs::copy("/bin/sleep", &program).expect("sleep");
    let task = Process(std::process::Command::new(&program).arg("60").spawn().expect("started"));
    let before = task.state();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let told = format!("tt-planned=rr:3@{last}");
    let tune = |more: &[&str]| {
        let words = [
            "tune",
            "rt-task-planned",
            "--cpus",
            &last,
            "--observe",
            "0s",
            "--task",
            &told,
            "--journal",
        ];
        run(&[&words[..], &[text(&journal)], more].concat())
    };
    let plan = said(&tune(&[]));
    assert!(
        plan.contains(&format!("CPUs of thread tt-planned ({}) = {last}", task.0.id())),
        "{plan}"
    );
    assert_eq!(task.state(), before, "a plan changes nothing");
    let applied = tune(&["--apply"]);
    assert_eq!(applied.status.code(), Some(0), "{}{}", said(&applied), stderr(&applied));
    assert_eq!(task.state(), ("2:3".to_owned(), last.clone()));
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(task.state(), before);
}

/// Killed at whatever instant: the journal knows all that was changed.
#[test]
fn what_was_applied_when_it_was_killed_is_undone() {
    let Some(before) = can_change("what_was_applied_when_it_was_killed_is_undone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let words = [
        "tune",
        CHECK,
        "--cpus",
        &last,
        "--observe",
        "0s",
        "--apply",
        "--journal",
        text(&journal),
    ];
    for spared in 0..5u32 {
        let mut child = start(&words);
        while child.try_wait().expect("our own child").is_none() {
            if journal.exists() {
                for _ in 0..spared * 2000 {
                    std::hint::spin_loop();
                }
                let _ = child.kill();
            }
        }
        wait(child, &words);
        let undone = undo(&journal);
        assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
        assert_eq!(mask(), before.0);
    }
    // Between the line on the disk and the write: the file has a change that was never made, and half of the next line.
    fs::write(
        &journal,
        format!(
            "{{\"check\":\"{CHECK}\",\"target\":{{\"file\":\"{MASK}\"}},\"before\":\"{}\",\"after\":\"1\",\"boot\":\"{}\"}}\n{{\"check\":\"x",
            before.0,
            fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the boot").trim()
        ),
    )
    .expect("a journal");
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(mask(), before.0);
}

#[test]
fn a_journal_of_others_is_refused_and_left_alone() {
    let Some(before) = can_change("a_journal_of_others_is_refused_and_left_alone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("notes");
    for foreign in [
        "my notes\n",
        "my notes, without an end of line",
        "{\"x\":1}\n",
        "{\"check\":\"a\"}\n",
        "\u{feff}\n",
    ] {
        fs::write(&journal, foreign).expect("a file");
        for output in [tune(&journal, &["--apply"]), undo(&journal)] {
            assert_eq!(output.status.code(), Some(3), "{foreign:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
        }
        assert_eq!(fs::read_to_string(&journal).expect("the file"), foreign);
        assert_eq!(mask(), before.0, "{foreign:?}");
    }
}

#[test]
fn a_recorded_machine_is_not_changed() {
    let root = host("debian-untuned").join("root");
    for action in [
        &["--root", text(&root), "--apply"][..],
        &["--root", text(&root), "--undo"],
        &["no-such-check"],
    ] {
        let output = run(&[&["tune"], action].concat());
        assert_eq!(output.status.code(), Some(2), "{action:?}: {}", stderr(&output));
    }
}

/// The settings of the untuned host for a tool.
fn emitted(tool: &str) -> String {
    let root = host("debian-untuned").join("root");
    let output = run(&[
        "tune",
        "--root",
        text(&root),
        "--cpus",
        "2-3",
        "--nic",
        "eno1",
        "--emit",
        tool,
    ]);
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

/// A setting that needs what was not said stands as a comment; all others are there, each section with its settings.
#[test]
fn what_cannot_be_set_holds_up_nothing_else() {
    let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/host/src/audit/tests/definitions");
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
    let sections = units.split("\n# ").filter(|part| part.contains("[Link]"));
    assert!(sections.count() > 1, "{units}");
}

/// Every line of the tasks is of the few shapes that they are made of: a block sequence of mappings, two spaces deeper each.
#[test]
fn ansible_tasks_are_yaml() {
    let tasks = emitted("ansible");
    assert!(tasks.starts_with("- name: "), "{tasks}");
    let mut depth = 0;
    for line in tasks.lines() {
        let (indent, rest) = (line.len() - line.trim_start().len(), line.trim_start());
        assert!(!line.contains('\t') && indent <= depth + 2 && indent % 2 == 0, "{line}");
        depth = if rest.starts_with("- ") { 0 } else { indent };
        let (key, value) = rest
            .trim_start_matches("- ")
            .split_once(':')
            .unwrap_or_else(|| panic!("{line}"));
        assert!(
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c)),
            "{line}"
        );
        let value = value.trim();
        // A plain value may not hold what YAML takes for structure.
        let is_plain = !value.contains(": ")
            && !value.contains(" #")
            && !value.starts_with(['{', '[', '&', '*', '!', '%', '@', '`', '|', '>']);
        let is_quoted = value.starts_with('"') && value.ends_with('"') && value.len() > 1;
        assert!(value.is_empty() || is_plain || is_quoted, "{line}");
    }
}

/// Whether a text is a line of a tool's file.
type IsLine = fn(&str) -> bool;

#[test]
fn udev_rules_modprobe_options_and_units_are_lines_of_their_kind() {
    let kinds: [(&str, IsLine); 3] = [
        ("udev", |line| {
            line.split(", ").all(|part| part.contains('=') && part.ends_with('"'))
        }),
        ("modprobe", |line| {
            ["options", "blacklist", "softdep", "install"]
                .iter()
                .any(|word| line.starts_with(word))
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

/// A guest as a person has it, with a comment in it.
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
