//! `triptime audit`: its screen, its exit status, its files, and the data that it does not reveal.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{json, root_or_skip, run, stderr};
use testing::Running;

fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The command line for a recorded machine, run in the folder of all of them; the user's options are in its `told.toml`.
fn of_host(name: &str) -> Vec<String> {
    let mut words = ["audit", "--root", &format!("{name}/root")].map(str::to_owned).to_vec();
    let told = fs::read_to_string(hosts().join(name).join("told.toml")).unwrap_or_default();
    for line in told.lines() {
        let (key, value) = line.split_once(" = ").expect("a key and a value");
        let value = value.trim_matches(|c| "[]\"".contains(c));
        let file = format!("{name}/{value}");
        let is_file = hosts().join(&file).is_file();
        let option = match key {
            "cpus" | "profile" | "vmx" => key,
            plural => plural.trim_end_matches('s'),
        };
        words.push(format!("--{option}"));
        words.push(if is_file { file } else { value.to_owned() });
    }
    words
}

fn audit(name: &str, more: &[&str]) -> Output {
    let mut command = support::triptime();
    command.args(of_host(name)).args(more).current_dir(hosts());
    command.output().expect("the binary starts")
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(hosts()).expect("tests/hosts").flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    names
}

/// Id, outcome and live value of every finding.
fn findings(document: &Value) -> Vec<[String; 3]> {
    let all = document["findings"].as_array().expect("findings");
    let of = |finding: &Value, key: &str| finding[key].as_str().expect(key).to_owned();
    let mut found: Vec<_> = all
        .iter()
        .map(|one| ["id", "outcome", "live"].map(|key| of(one, key)))
        .collect();
    found.sort();
    found
}

#[test]
fn every_recorded_host_fits_on_one_screen() {
    for name in names() {
        let output = audit(&name, &[]);
        let screen = String::from_utf8(output.stdout.clone()).expect("UTF-8");
        let lines: Vec<&str> = screen.lines().collect();
        assert!(
            (5..=24).contains(&lines.len()),
            "{name}: {} lines\n{screen}",
            lines.len()
        );
        for line in lines {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
        assert!(screen.contains("Next ") && screen.contains("Full "), "{screen}");
    }
}

#[test]
fn the_exit_status_says_what_came_out() {
    let status = |output: Output| (output.status.code(), stderr(&output));
    assert_eq!(audit("debian-untuned", &["--summary"]).status.code(), Some(1));
    let empty = tempfile::tempdir().expect("a directory");
    let (code, said) = status(run(&["audit", "--root", text(empty.path())]));
    assert!(
        code == Some(2) && said.contains("is not the root of a machine"),
        "{said}"
    );
    // Empty folders, and etc alone, are no machine.
    for (folder, file) in [("proc", "x"), ("etc", "etc/hostname")] {
        let wrong = tempfile::tempdir().expect("a directory");
        fs::create_dir(wrong.path().join(folder)).expect("a folder");
        fs::write(wrong.path().join(file), "x").expect("a file");
        let (code, said) = status(run(&["audit", "--root", text(wrong.path()), "--summary"]));
        assert!(
            code == Some(2) && said.contains("is not the root of a machine"),
            "{folder}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (code, said) = status(run(&["audit", "--root", text(&hosts().join("kvm-guest"))]));
    assert!(
        code == Some(2) && said.contains("name ") && said.contains("kvm-guest/root"),
        "{said}"
    );
    // The mounted root of a machine that is off.
    fs::create_dir(empty.path().join("proc")).expect("a folder");
    fs::create_dir(empty.path().join("etc")).expect("a folder");
    fs::write(empty.path().join("etc/hostname"), "off\n").expect("a file");
    let unknown = run(&["audit", "--root", text(empty.path()), "--json"]);
    assert_eq!(unknown.status.code(), Some(3), "{}", stderr(&unknown));
    let document = json(&unknown);
    for [id, outcome, _] in findings(&document) {
        assert!(
            ["unknown", "not-applicable"].contains(&outcome.as_str()),
            "{id}: {outcome}"
        );
    }
    for wrong in [
        &["audit", "--root", "/nowhere/at/all"][..],
        &["audit", "--profile", "none-of-ours"],
        &["audit", "--cpus", "x"],
        &["audit", "--waivers", "/nowhere/at/all"],
    ] {
        let (code, said) = status(run(wrong));
        assert_eq!(code, Some(2), "{wrong:?}: {said}");
    }
}

/// Waives everything that matters on the tuned host: then it passes; after the last day of the waiver it fails again.
#[test]
fn waivers_hold_until_their_last_day() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("waivers.toml");
    let before = json(&audit("seapath-tuned", &["--json"]));
    let open = findings(&before)
        .into_iter()
        .filter(|[_, outcome, _]| ["fail", "warn", "unknown"].contains(&outcome.as_str()));
    let ids: Vec<String> = open.map(|[id, ..]| id).collect();
    assert!(ids.len() > 3, "{ids:?}");
    let with = |until: &str, reason: &str, ids: &[String]| {
        let one = |id: &String| {
            format!("[[waiver]]\nid = \"{id}\"\nreason = \"{reason}\"\nby = \"test\"\nuntil = \"{until}\"\n")
        };
        fs::write(&file, ids.iter().map(one).collect::<String>()).expect("a file");
        audit("seapath-tuned", &["--waivers", text(&file), "--json"])
    };
    let waived = with("9999-12-31", "accepted", &ids);
    assert_eq!(waived.status.code(), Some(0), "{}", stderr(&waived));
    let document = json(&waived);
    assert_eq!(document["answer"], "pass");
    let all = document["findings"].as_array().expect("findings");
    let reasons = all.iter().filter(|one| one["outcome"] == "waived");
    assert!(
        reasons
            .clone()
            .all(|one| one["reason"] == "accepted (by test, until 9999-12-31)")
    );
    assert_eq!(reasons.count(), ids.len());
    let ended = with("2020-01-01", "accepted", &ids);
    assert_eq!(findings(&json(&ended)), findings(&before));
    for (output, why) in [
        (with("9999-12-31", "accepted", &["no-rule".to_owned()]), "no such rule"),
        (with("9999-12-31", " ", &ids), "must not be empty"),
        (with("soon", "accepted", &ids), "until"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn the_document_has_what_its_page_says() {
    let page = fs::read_to_string(hosts().join("../../docs/formats/audit.md")).expect("the page");
    for name in names() {
        let document = json(&audit(&name, &["--json"]));
        assert_eq!(document["schema"], "triptime.audit/1");
        let finding = &document["findings"][0];
        let mut keys: Vec<&String> = [&document, finding]
            .iter()
            .flat_map(|one| one.as_object().expect("an object").keys())
            .collect();
        keys.extend(
            document["cpu_map"]
                .as_array()
                .expect("rows")
                .iter()
                .flat_map(|row| row.as_object().expect("a row").keys()),
        );
        for key in keys {
            assert!(
                page.contains(&format!("`{key}`")),
                "docs/formats/audit.md does not name {key}"
            );
        }
    }
}

/// The JUnit file has the same findings, as read by another program.
#[test]
fn the_junit_file_has_a_test_case_for_each_check() {
    let directory = tempfile::tempdir().expect("a directory");
    let junit = directory.path().join("audit.xml");
    let document = json(&audit("debian-untuned", &["--json", "--junit", text(&junit)]));
    let script = "import sys, junitparser\n\
                  xml = junitparser.JUnitXml.fromstring(sys.stdin.buffer.read())\n\
                  cases = [case for suite in xml for case in suite]\n\
                  failed = [case for case in cases if any(isinstance(r, junitparser.Failure) for r in case.result)]\n\
                  print(len(cases), len(failed))";
    let file = fs::read_to_string(&junit).expect("the file");
    let Some(read) = testing::read_by_python("the_junit_file_has_a_test_case_for_each_check", script, &file) else {
        return;
    };
    let counts: Vec<usize> = read
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let all = findings(&document);
    let matters =
        |one: &&Value| one["outcome"] == "fail" && ["major", "blocker"].iter().any(|word| one["severity"] == *word);
    let failed = document["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(matters)
        .count();
    assert_eq!(counts[0], all.len());
    assert!(counts[1] >= failed && failed > 5, "{counts:?}, {failed}");
}

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
