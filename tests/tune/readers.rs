//! Files that `triptime tune --emit` writes, read by the intended programs, in a separate mount and network namespace, at their real paths.

use super::{host, said, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{json, root_or_skip, run, stderr};
use tempfile::TempDir;

fn emitted(tree: &Path, checks: &[&str], tool: &str) -> String {
    let words = [
        "--root",
        text(tree),
        "--observe",
        "0s",
        "--cpus",
        "2-3",
        "--nic",
        "eno1",
        "--emit",
        tool,
    ];
    let output = run(&[&["tune"], checks, &words].concat());
    assert_eq!(output.status.code(), Some(0), "{tool}: {}", stderr(&output));
    said(&output)
}

fn untuned() -> PathBuf {
    host("debian-untuned").join("root")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// True if all of these are installed, and this process may make namespaces.
pub(super) fn can_read(test: &str, programs: &[&str]) -> bool {
    let is_there = |program: &str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
    };
    let missing = programs
        .iter()
        .find(|program| !is_there(program).is_ok_and(|output| output.status.success()));
    if let Some(program) = missing {
        testing::skip(test, &format!("no {program}: run scripts/need.sh test"));
        return false;
    }
    root_or_skip(test)
}

/// Runs a script that sees `from` at `to`, /sys of a network namespace with a card `eno1`, and nothing in /run.
fn with(from: &Path, to: &str, script: &str) -> Output {
    let parent = Path::new(to).parent().expect("a parent");
    let all = format!(
        "set -e; mount -t sysfs sysfs /sys; mount -t tmpfs none /run; mkdir -p {parent}; mount -t tmpfs none {parent}; mkdir -p {to}; \
         mount --bind {from} {to}; ip link add eno1 address 02:00:00:00:00:01 type veth peer name peer; {script}",
        parent = parent.display(),
        from = from.display()
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--net", "sh", "-c", &all])
        .output()
        .expect("unshare starts")
}

pub(super) fn both(output: &Output) -> String {
    said(output) + &stderr(output)
}

/// The part of what is emitted for systemd that is this file.
fn file(units: &str, path: &str) -> String {
    let (_, rest) = units
        .split_once(&format!("# {path}\n"))
        .unwrap_or_else(|| panic!("{path}: {units}"));
    let rest = rest.split("\n\n# ").next().unwrap_or(rest);
    format!("{rest}\n")
}

/// A test cannot know the PCI address of a card of this machine, so the file is first read unchanged, and then applied with the real address.
#[test]
fn udev_applies_the_link_file_and_the_card_keeps_its_name() {
    let test = "udev_applies_the_link_file_and_the_card_keeps_its_name";
    if !can_read(test, &["udevadm", "unshare", "ip"]) {
        return;
    }
    let path = "/etc/systemd/network/10-eno1.link";
    let link = file(&emitted(&untuned(), &[], "systemd"), path);
    let place = "Path=pci-0000:02:00.0\n";
    assert!(link.contains(place), "{link}");
    let own = folder();
    let written = own.path().join("10-eno1.link");
    let read = || {
        let output = with(
            own.path(),
            "/etc/systemd/network",
            "udevadm test-builtin net_setup_link /sys/class/net/eno1",
        );
        assert!(output.status.success(), "{}", both(&output));
        both(&output)
    };
    fs::write(&written, &link).expect("a file");
    let about = |said: &str| {
        said.lines()
            .filter(|line| line.contains(path))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(about(&read()), [format!("Parsed configuration file \"{path}\"")]);
    fs::write(&written, link.replace(place, "MACAddress=02:00:00:00:00:01\n")).expect("a file");
    let applied = read();
    assert!(applied.contains(&format!("Config file {path} is applied")), "{applied}");
    assert!(applied.contains("ID_NET_NAME=eno1\n"), "{applied}");
}

/// A card comes with the kernel's name and gets its own by a second event.
#[test]
fn udev_matches_the_rules_of_a_card_when_it_comes_and_when_it_is_renamed() {
    let test = "udev_matches_the_rules_of_a_card_when_it_comes_and_when_it_is_renamed";
    if !can_read(test, &["udevadm", "unshare", "ip"]) {
        return;
    }
    let (own, rules) = (folder(), emitted(&untuned(), &[], "udev"));
    fs::write(own.path().join("90-triptime.rules"), &rules).expect("a file");
    for action in ["add", "move"] {
        let script = format!("udevadm test --action={action} /sys/class/net/eno1");
        let output = with(own.path(), "/etc/udev/rules.d", &script);
        let said = both(&output);
        assert!(output.status.success(), "{said}");
        let complaints = said
            .lines()
            .filter(|line| line.contains("90-triptime.rules") && !line.contains(" RUN "));
        let complaints = complaints.filter(|line| !line.starts_with("Reading rules file") && !line.contains(" ATTR "));
        assert_eq!(complaints.collect::<Vec<_>>(), Vec::<&str>::new(), "{rules}");
        for command in [
            "/sbin/ethtool --set-eee eno1 eee off",
            "/sbin/ethtool -C eno1 rx-usecs 0",
            "/sbin/ethtool -C eno1 tx-usecs 0",
        ] {
            assert!(
                said.contains(&format!("run: '{command}'")),
                "{action}, {command}: {said}"
            );
        }
    }
}

#[test]
fn tuned_takes_every_option_of_the_profile() {
    let test = "tuned_takes_every_option_of_the_profile";
    let tuned = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tuned/usr/lib/python3/dist-packages");
    if !tuned.exists() {
        testing::skip(test, &format!("no {}: run scripts/need.sh test", tuned.display()));
        return;
    }
    let script = include_str!("tuned.py").replace("sys.argv[1]", &format!("{:?}", text(&tuned)));
    for tree in ["debian-untuned", "preempt-rt-bare-metal", "kvm-guest"] {
        let profile = emitted(&host(tree).join("root"), &[], "tuned");
        let Some(options) = testing::read_by_python(test, &script, &profile) else {
            return;
        };
        assert!(options.contains("bootloader cmdline_triptime +"), "{tree}: {options}");
        assert!(options.lines().count() > 3, "{tree}: {options}");
    }
}

/// Every unit that the rules can require on the recorded hosts.
#[test]
fn systemd_takes_every_unit() {
    let test = "systemd_takes_every_unit";
    if !can_read(test, &["systemd-analyze"]) {
        return;
    }
    let (own, mut count) = (folder(), 0);
    // A group that lacks the real-time CPUs needs a unit.
    let narrow = own.path().join("root");
    let tree = host("seapath-tuned").join("root");
    let copied = Command::new("cp").arg("-a").args([&tree, &narrow]).status();
    assert!(copied.expect("cp").success());
    fs::write(
        narrow.join("sys/fs/cgroup/machine.slice/cpuset.cpus.effective"),
        "4-7\n",
    )
    .expect("a file");
    let whole = ["debian-untuned", "preempt-rt-bare-metal", "seapath-tuned", "kvm-guest"];
    let whole = whole.map(|tree| (tree, host(tree).join("root")));
    for (tree, root) in whole
        .iter()
        .map(|(tree, root)| (*tree, root))
        .chain([("narrow", &narrow)])
    {
        let units = emitted_or_none(root, "systemd");
        for (place, part) in units.split("\n\n# ").enumerate() {
            for (section, ending, more) in [
                ("[Slice]", "slice", ""),
                ("[Service]", "service", "\n[Service]\nExecStart=/bin/true\n"),
            ] {
                if part.contains(section) {
                    let path = own.path().join(format!("{}{place}.{ending}", tree.replace('-', "_")));
                    fs::write(&path, format!("# {part}\n{more}")).expect("a unit");
                    count += 1;
                    let output = Command::new("systemd-analyze")
                        .args(["verify", "--man=no"])
                        .arg(&path)
                        .output();
                    let output = output.expect("systemd-analyze starts");
                    assert!(!both(&output).contains(text(&path)), "{part}: {}", both(&output));
                }
            }
        }
    }
    assert!(count > 0, "no unit was read");
}

fn emitted_or_none(tree: &Path, tool: &str) -> String {
    let words = [
        "tune",
        "--root",
        text(tree),
        "--observe",
        "0s",
        "--cpus",
        "2-3",
        "--emit",
        tool,
    ];
    said(&run(&words))
}

/// Ansible itself, in a separate environment: it refuses unknown settings.
fn played(own: &Path, tasks: &str, options: &[&str], script: &str) -> Option<Output> {
    let python = testing::python("ansible")?;
    let ansible = python.with_file_name("ansible-playbook");
    if !ansible.exists() {
        testing::skip(
            "ansible",
            &format!("no {}: run scripts/need.sh test", ansible.display()),
        );
        return None;
    }
    fs::write(own.join("tasks.yml"), tasks).expect("tasks");
    let play = "- hosts: all\n  tasks:\n    - ansible.builtin.include_tasks: tasks.yml\n";
    fs::write(own.join("play.yml"), play).expect("a play");
    let all = format!(
        "set -e; mount -t tmpfs none /etc/sysctl.d; mount -t tmpfs none /etc/tmpfiles.d; HOME={own} LC_ALL=C.UTF-8 {ansible} -i localhost, \
         -c local -e ansible_python_interpreter={python} {options} {own}/play.yml; {script}",
        own = own.display(),
        ansible = ansible.display(),
        python = python.display(),
        options = options.join(" ")
    );
    let mut command = Command::new("unshare");
    Some(
        command
            .args(["--mount", "sh", "-c", &all])
            .output()
            .expect("unshare starts"),
    )
}

#[test]
fn ansible_accepts_every_task() {
    if !can_read("ansible_accepts_every_task", &["unshare"]) {
        return;
    }
    let (own, tasks) = (folder(), emitted(&untuned(), &[], "ansible"));
    assert!(
        tasks.contains("when: ansible_facts['os_family'] == 'RedHat'"),
        "{tasks}"
    );
    if let Some(output) = played(own.path(), &tasks, &["--check"], "true") {
        assert!(output.status.success(), "{}", both(&output));
    }
}

/// Tasks that write one line into a file, without those for the boot loader, which are for the machine itself.
fn of_files(tasks: &str) -> String {
    let all = tasks.split_inclusive('\n').fold(Vec::<String>::new(), |mut all, line| {
        match line.starts_with("- ") {
            true => all.push(line.to_owned()),
            false => all.last_mut().into_iter().for_each(|task| task.push_str(line)),
        }
        all
    });
    all.into_iter().filter(|task| task.contains("lineinfile:")).collect()
}

/// A copy of a tree that may be changed.
fn copied(tree: &Path) -> TempDir {
    let own = folder();
    let status = Command::new("cp")
        .args(["-a", &format!("{}/.", text(tree)), text(own.path())])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    own
}

/// The checks of a tree by outcome.
fn outcomes(tree: &Path) -> BTreeMap<String, String> {
    let words = [
        "audit",
        "--root",
        text(tree),
        "--observe",
        "0s",
        "--cpus",
        "2-3",
        "--nic",
        "eno1",
        "--json",
    ];
    let report = json(&run(&words));
    let findings = report["findings"].as_array().expect("findings");
    let word = |value: &serde_json::Value| value.as_str().expect("a word").to_owned();
    findings
        .iter()
        .map(|one| (word(&one["id"]), word(&one["outcome"])))
        .collect()
}

/// The closed loop: a recorded host, tasks for it, Ansible runs them, systemd-tmpfiles reads its file and the settings of the kernel are as
/// sysctl(8) would write them; the audit of that host must pass every check that the tasks correct, and no other check may be worse.
#[test]
fn what_ansible_and_tmpfiles_make_of_the_settings_the_audit_finds_good() {
    let test = "what_ansible_and_tmpfiles_make_of_the_settings_the_audit_finds_good";
    if !can_read(test, &["unshare", "systemd-tmpfiles"]) {
        return;
    }
    let checks = [
        "vmstat-interval",
        "timer-migration",
        "workqueue-cpumask",
        "cpufreq-constant",
        "cpu-energy-hints",
    ];
    let (own, tree) = (folder(), copied(&untuned()));
    let before = outcomes(tree.path());
    let tasks = of_files(&emitted(tree.path(), &checks, "ansible"));
    emptied(tree.path(), &tasks);
    let script = format!(
        "cat /etc/sysctl.d/*.conf; systemd-tmpfiles --create --prefix=/sys --root={} /etc/tmpfiles.d/90-triptime.conf 2>&1",
        tree.path().display()
    );
    let Some(output) = played(own.path(), &tasks, &[], &script) else {
        return;
    };
    assert!(output.status.success(), "{}", both(&output));
    assert!(
        !both(&output).contains("90-triptime.conf:"),
        "a line that systemd-tmpfiles refused: {}",
        both(&output)
    );
    let settings = said(&output);
    let settings = settings
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .filter(|(name, _)| name.contains('.'));
    for (name, value) in settings {
        let path = tree.path().join("proc/sys").join(name.replace('.', "/"));
        fs::write(path, format!("{value}\n")).expect("a setting of the tree");
    }
    let after = outcomes(tree.path());
    let rank = |word: &str| {
        ["warn", "fail"]
            .iter()
            .position(|open| *open == word)
            .map_or(0, |place| place + 1)
    };
    let mut mended = 0;
    for (check, was) in &before {
        let is = &after[check];
        assert!(rank(is) <= rank(was), "{check} was {was} and is {is}");
        if checks.contains(&check.as_str()) && rank(was) > 0 {
            assert!(rank(is) < rank(was), "{check} was {was} and is {is}: {}", both(&output));
            mended += 1;
        }
    }
    assert!(mended >= 4, "{before:?}");
}

/// A file of /sys takes each write as a whole; in a recorded one the rest of a longer text would stay.
fn emptied(tree: &Path, tasks: &str) {
    let paths = tasks
        .split("line: \"w ")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next());
    for path in paths
        .map(|path| tree.join(path.trim_start_matches('/')))
        .filter(|path| path.exists())
    {
        fs::write(&path, "").expect("a file of the tree");
    }
}

/// A name that the kernel allows can still be executed by Ansible, a shell or udev.
#[test]
fn no_name_of_a_tree_becomes_a_part_of_a_program() {
    for name in ["{{7*7}}", "a$(id)", "a;b", "{{lookup('pipe','id')}}", "a\"b", "*"] {
        let tree = copied(&untuned());
        let devices = tree.path().join("sys/devices/pci0000:00/0000:00:1c.0/0000:02:00.0/net");
        let links = tree.path().join("sys/class/net");
        fs::rename(devices.join("eno1"), devices.join(name)).expect("renamed");
        fs::remove_file(links.join("eno1")).expect("removed");
        let target = format!("../../devices/pci0000:00/0000:00:1c.0/0000:02:00.0/net/{name}");
        std::os::unix::fs::symlink(target, links.join(name)).expect("a link");
        let answers = tree.path().join(".answers");
        let _ = fs::rename(answers.join("ethtool-eno1"), answers.join(format!("ethtool-{name}")));
        for tool in ["ansible", "udev", "systemd", "tuned"] {
            let settings = emitted_or_none(tree.path(), tool);
            let is_note = |line: &&str| line.starts_with("# ") && line.contains("rename the interface");
            let lines = settings.lines().filter(|line| line.contains(name) && !is_note(line));
            let lines: Vec<&str> = lines.filter(|line| name != "*" || line.contains("net/*")).collect();
            assert!(lines.is_empty(), "{tool}, {name}: {lines:?}");
        }
    }
}
