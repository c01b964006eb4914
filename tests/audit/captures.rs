//! Captures of a machine: findings from a file, what is kept in it and what is not.

use crate::{audit, findings, hosts, names, of_host, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use support::{json, root_or_skip, run, stderr};
use testing::Running;

/// Held by a test that starts a daemon of this machine, and by one that reads the machine twice.
static DAEMONS: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A capture of one machine gives the same findings on another.
#[test]
fn a_capture_gives_the_same_findings() {
    if !root_or_skip("a_capture_gives_the_same_findings") {
        return;
    }
    let _unchanged = DAEMONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("a directory");
    let tar = directory.path().join("host.tar");
    let live = run(&["audit", "--observe", "500ms", "--json", "--capture", text(&tar)]);
    assert!(
        stderr(&live).contains("replaced or left out: host name"),
        "{}",
        stderr(&live)
    );
    let told = json(&run(&["audit", "--root", text(&tar), "--json"]));
    // Names of threads change between two reads of the live machine, but the outcomes do not.
    let outcomes = |document: &Value| -> Vec<(String, String)> {
        findings(document)
            .into_iter()
            .map(|[id, outcome, _]| (id, outcome))
            .collect()
    };
    assert_eq!(outcomes(&json(&live)), outcomes(&told));
    let ticks = |document: &Value| -> Vec<Value> {
        let rows = document["cpu_map"].as_array().expect("a map");
        rows.iter().map(|row| row["ticks_per_s"].clone()).collect()
    };
    assert_eq!(ticks(&json(&live)), ticks(&told));
    assert!(ticks(&told).iter().all(Value::is_number), "{:?}", ticks(&told));
    let both = run(&["audit", "--root", text(&tar), "--capture", text(&tar)]);
    assert_eq!(both.status.code(), Some(2));
}

/// A tree as a tar file made by `tar`.
fn packed(folder: &Path, tar: &Path) {
    let status = std::process::Command::new("tar")
        .args(["-cf", text(tar), "-C", text(folder), "."])
        .status();
    assert!(status.expect("tar starts").success());
}

/// A recorded host can be read from a file as from a folder, without a copy on the disk: a program that is killed leaves nothing behind.
#[test]
fn a_file_gives_the_findings_of_its_tree_and_is_nowhere_unpacked() {
    let directory = tempfile::tempdir().expect("a directory");
    let (tar, temporary) = (directory.path().join("host.tar"), directory.path().join("tmp"));
    fs::create_dir(&temporary).expect("a folder");
    for name in names() {
        packed(&hosts().join(&name).join("root"), &tar);
        let from_folder = json(&audit(&name, &["--json", "--observe", "0s"]));
        let mut words = of_host(&name);
        text(&tar).clone_into(&mut words[2]);
        let mut command = support::triptime();
        command
            .args(words)
            .args(["--json", "--observe", "0s"])
            .current_dir(hosts());
        // Nothing can be created in a folder that does not exist.
        let output = command.env("TMPDIR", temporary.join("none")).output();
        let from_file = json(&output.expect("the binary starts"));
        assert_eq!(findings(&from_folder), findings(&from_file), "{name}");
    }
}

/// An audit of a customer's file, killed at many instants, with its own folders for temporary files.
#[test]
fn an_audit_of_a_file_that_is_killed_leaves_nothing() {
    if !root_or_skip("an_audit_of_a_file_that_is_killed_leaves_nothing") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let own = directory.path();
    packed(&hosts().join("seapath-tuned/root"), &own.join("host.tar"));
    let folders = ["tmp", "var"].map(|name| own.join(name));
    folders
        .iter()
        .for_each(|folder| fs::create_dir(folder).expect("a folder"));
    fs::write(own.join("triptime"), "").expect("a place for the binary");
    let script = format!(
        "mount --bind {} {own}/triptime; mount --rbind {own} /mnt; mount --bind /mnt/tmp /tmp; mount --bind /mnt/var /var/tmp; \
         cd /mnt/var; unset TMPDIR; exec /mnt/triptime audit --root /mnt/host.tar --json",
        support::binary().canonicalize().expect("the binary").display(),
        own = own.display()
    );
    let mut killed = 0;
    for round in 0..20u32 {
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--mount", "sh", "-ec", &script])
            .stdout(std::process::Stdio::null());
        let mut child = Running::start(&mut command);
        let name = format!("/proc/{}/comm", child.id());
        while child.try_wait().expect("our own child").is_none() {
            if fs::read_to_string(&name).is_ok_and(|name| name.trim() == "triptime") {
                (0..round * 200_000).for_each(|_| std::hint::spin_loop());
                let _ = child.kill();
                break;
            }
        }
        killed += usize::from(child.wait().expect("its end").code().is_none());
        for folder in &folders {
            let left: Vec<_> = fs::read_dir(folder).expect("a folder").collect();
            assert!(left.is_empty(), "round {round}: {left:?}");
        }
    }
    assert!(killed > 0, "every audit had ended before");
}

/// Of a machine with a domain that nobody named, as the program sees it from inside its tree.
#[test]
fn a_capture_has_what_an_audit_of_the_other_domains_reads() {
    if !root_or_skip("a_capture_has_what_an_audit_of_the_other_domains_reads") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/seapath-tuned");
    let script = "cp -a \"$1/root\" \"$2/root\"; cd \"$2/root\"; mkdir -p etc/libvirt/qemu; cp \"$1/relay.xml\" etc/libvirt/qemu/relay.xml; \
                  : >triptime; mount --bind \"$3\" triptime; chroot . /triptime audit --observe 0s --capture /host.tar >/dev/null || true; \
                  chroot . /triptime audit --observe 0s --domain relay --json || true";
    let live = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-ec", script, "sh"])
        .args([&machine, directory.path(), &support::binary()])
        .output()
        .expect("unshare is installed");
    let tar = directory.path().join("root/host.tar");
    let told = json(&run(&[
        "audit",
        "--root",
        text(&tar),
        "--observe",
        "0s",
        "--domain",
        "relay",
        "--json",
    ]));
    let outcomes = |document: &Value| -> Vec<[String; 2]> {
        let all = findings(document).into_iter();
        all.map(|[id, outcome, _]| [id, outcome]).collect()
    };
    let live = json(&live);
    let is_judged = |[id, outcome]: &[String; 2]| id == "dom-numa-strict" && outcome == "pass";
    assert!(outcomes(&live).iter().any(is_judged), "{live}");
    assert_eq!(outcomes(&live), outcomes(&told));
}

/// A ptp4l with arguments that decide findings: the capture has these arguments, but no secrets.
#[test]
fn a_capture_keeps_how_daemons_of_time_were_started() {
    if !root_or_skip("a_capture_keeps_how_daemons_of_time_were_started") {
        return;
    }
    let _ours = DAEMONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("a directory");
    let (tar, program) = (directory.path().join("host.tar"), directory.path().join("ptp4l"));
    fs::write(&program, "#!/bin/sh\nread never\n").expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, executable).expect("a mode");
    let mut daemon = std::process::Command::new(&program);
    daemon.args(["-i", "lo", "-E", "--tx_timestamp_timeout=10", "--sa_secret=geheim7"]);
    let daemon = Running::start(daemon.stdin(std::process::Stdio::piped()));
    let live = run(&["audit", "--observe", "0s", "--json", "--capture", text(&tar)]);
    drop(daemon);
    let told = json(&run(&["audit", "--root", text(&tar), "--json"]));
    let live = json(&live);
    for id in [
        "ts-ptp-profile",
        "ts-single-source",
        "ts-step-policy",
        "ts-daemon-placement",
    ] {
        let of = |document: &Value| {
            let found = findings(document).into_iter().find(|[known, ..]| known == id);
            found.map(|[_, outcome, _]| outcome)
        };
        assert_eq!(of(&live), of(&told), "{id}");
        assert_ne!(of(&told).as_deref(), Some("unknown"), "{id}");
    }
    let octets = fs::read(&tar).expect("the capture");
    let has = |word: &str| octets.windows(word.len()).any(|part| part == word.as_bytes());
    assert!(has("--tx_timestamp_timeout=10") && !has("geheim7"));
}

#[test]
fn a_tar_file_that_is_none_of_ours_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let tar = directory.path().join("x.tar");
    let garbage: Vec<u8> = (0..5000u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for octets in [&garbage[..], b"", b"no tar file", &[0; 10240]] {
        fs::write(&tar, octets).expect("a file");
        let output = run(&["audit", "--root", text(&tar)]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("not a tree of triptime audit --capture"),
            "{}",
            stderr(&output)
        );
    }
}

/// A tar file of anything else has no finding, and all unknown would look like an answer.
#[test]
fn a_tar_file_without_a_machine_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (tar, folder) = (directory.path().join("x.tar"), directory.path().join("x"));
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("notes"), "x").expect("a file");
    packed(&folder, &tar);
    for [command, option] in [["audit", "--summary"], ["tune", "--plan"]] {
        let output = run(&[command, option, "--root", text(&tar)]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(output.stdout.is_empty(), "{command}");
        let names_all = said.contains("x.tar: is not the root of a machine") && said.contains("--capture");
        assert!(names_all && said.lines().count() == 1, "{command}: {said}");
    }
    // The whole recorded host, one folder too high.
    packed(&hosts().join("kvm-guest"), &tar);
    assert_eq!(
        run(&["audit", "--summary", "--root", text(&tar)]).status.code(),
        Some(2)
    );
}

/// A machine with a password, addresses and an identifier in its command line, in a separate mount namespace.
#[test]
fn nothing_secret_is_captured() {
    if !root_or_skip("nothing_secret_is_captured") {
        return;
    }
    const SECRETS: [&str; 5] = [
        "geheim7",
        "10.20.30.40",
        "3c:ec:ef:0a:0b:0c",
        "3fae7a1c-0d9b-4a6e-8f37-1c2d3e4f5a6b",
        "wort-im-argument",
    ];
    let directory = tempfile::tempdir().expect("a directory");
    let (arguments, tar) = (directory.path().join("cmdline"), directory.path().join("host.tar"));
    let line = "root=UUID=3fae7a1c-0d9b-4a6e-8f37-1c2d3e4f5a6b ip=10.20.30.40::10.20.30.41:255.0.0.0 \
                ifname=eth7:3c:ec:ef:0a:0b:0c rd.iscsi.password=geheim7 skew_tick=1\n";
    fs::write(&arguments, line).expect("a file");
    let script = "mount --bind \"$1\" /proc/cmdline && exec \"$2\" audit --observe 0s --summary --capture \"$3\"";
    let mut talker = std::process::Command::new("sh");
    talker.args(["-c", "read -r _", "--password=wort-im-argument"]);
    let talker = Running::start(talker.stdin(std::process::Stdio::piped()));
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([&arguments, &support::binary(), &tar])
        .output()
        .expect("unshare is installed");
    drop(talker);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    let octets = fs::read(&tar).expect("the capture");
    let has = |word: &str| {
        octets
            .windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    assert!(has("skew_tick=1"), "the planted command line was not captured");
    for secret in SECRETS {
        assert!(!has(secret), "{secret} was captured");
    }
    let devices = fs::read_dir("/sys/class/net").expect("interfaces").flatten();
    for device in devices {
        let mac = fs::read_to_string(device.path().join("address")).unwrap_or_default();
        let mac = mac.trim();
        assert!(
            mac.is_empty() || mac == "00:00:00:00:00:00" || !has(mac),
            "{mac} was captured"
        );
    }
}
