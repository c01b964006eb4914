//! The intended programs can read the output of `emit`, and the audit finds nothing in it.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{binary, json, root_or_skip, run, stderr};
use tempfile::TempDir;

/// Text that a command writes into `folder` or to standard output.
fn emit(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(binary())
        .arg("emit")
        .args(words)
        .current_dir(folder)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A program of another project; `None` if it is missing and the test was skipped.
fn other(test: &str, program: &str) -> Option<Command> {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return Some(Command::new(program));
    }
    testing::skip(test, &format!("no {program}: run scripts/need.sh test"));
    None
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_same_binary_gives_the_same_image() {
    let folder = folder();
    emit(folder.path(), &["image", "a.tar"]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    emit(folder.path(), &["image", "b.tar"]);
    let read = |name: &str| fs::read(folder.path().join(name)).expect("an image");
    assert!(read("a.tar") == read("b.tar"), "the images differ");
}

#[test]
fn skopeo_reads_the_image_as_oci_and_as_dockers() {
    let test = "skopeo_reads_the_image_as_oci_and_as_dockers";
    let Some(_) = other(test, "skopeo") else { return };
    let folder = folder();
    emit(folder.path(), &["image", "image.tar", "--tag", "localhost/relay:7"]);
    for (at, form) in ["oci-archive", "docker-archive"].into_iter().enumerate() {
        let from = format!("{form}:{}/image.tar", folder.path().display());
        // Copying reads every blob, and checks its digest.
        let to = format!("dir:{}/{at}", folder.path().display());
        said(Command::new("skopeo").args(["--insecure-policy", "copy", "--quiet", &from, &to]));
        let config: Value =
            serde_json::from_str(&said(Command::new("skopeo").args(["inspect", "--config", &from]))).expect("JSON");
        assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/triptime", "{form}");
        assert_eq!(config["os"], "linux");
        assert_eq!(config["rootfs"]["diff_ids"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn umoci_unpacks_the_binary_as_it_is() {
    let test = "umoci_unpacks_the_binary_as_it_is";
    let Some(_) = other(test, "umoci") else { return };
    if !root_or_skip(test) {
        return;
    }
    let folder = folder();
    emit(folder.path(), &["image", "image.tar", "--tag", "localhost/relay:7"]);
    let layout = folder.path().join("layout");
    fs::create_dir(&layout).expect("a folder");
    said(
        Command::new("tar")
            .arg("-xf")
            .arg(folder.path().join("image.tar"))
            .current_dir(&layout),
    );
    let bundle = folder.path().join("bundle");
    said(
        Command::new("umoci")
            .args(["unpack", "--image", "layout:7"])
            .arg(&bundle)
            .current_dir(folder.path()),
    );
    let unpacked = fs::read(bundle.join("rootfs/usr/bin/triptime")).expect("the binary");
    assert!(
        unpacked == fs::read(binary()).expect("the binary"),
        "the binary differs"
    );
    assert!(bundle.join("rootfs/runs").is_dir() && bundle.join("rootfs/tmp").is_dir());
}

/// Runs a bundle to its end; runc keeps its state in the bundle's folder.
fn contained(folder: &Path, id: &str) -> Output {
    let mut command = Command::new("runc");
    command.arg("--root").arg(folder.join("state"));
    command.args(["run", "--bundle"]).arg(folder.join("bundle"));
    command.arg(format!("triptime-test-{}-{id}", std::process::id()));
    command.stdin(Stdio::null()).output().expect("runc starts")
}

#[test]
fn runc_runs_the_bundle_and_its_run_file_comes_out() {
    let test = "runc_runs_the_bundle_and_its_run_file_comes_out";
    let Some(_) = other(test, "runc") else { return };
    if !root_or_skip(test) {
        return;
    }
    let folder = folder();
    emit(folder.path(), &["oci", "--bundle", "bundle", "--", "--version"]);
    let output = contained(folder.path(), "version");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("triptime "));

    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU").to_string();
    let wakeup = [
        "wakeup",
        "--cpus",
        &cpu,
        "--duration",
        "2s",
        "--out",
        "/runs/in.triptime",
        "--json",
    ];
    emit(
        folder.path(),
        &[&["oci", "--bundle", "bundle", "--memory", "512MiB", "--"], &wakeup[..]].concat(),
    );
    let output = contained(folder.path(), "wakeup");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let received = support::series(&json(&output), &format!("wakeup/cpu{cpu}"))["received"].as_u64();
    assert!(received.is_some_and(|samples| samples > 1_000), "{received:?}");
    let file = folder.path().join("runs/in.triptime");
    let report = json(&run(&["report", file.to_str().expect("UTF-8"), "--json"]));
    let fact = |name: &str| {
        let all = report["inventory"].as_array().expect("an inventory");
        let found = all.iter().find(|fact| fact["name"] == name);
        found.map_or(String::new(), |fact| {
            fact["value"].as_str().unwrap_or_default().to_owned()
        })
    };
    assert!(fact("operating system").contains("image without an operating system"));
}

/// Outcomes of the rules of containers for a definition: check and outcome.
fn judged(folder: &Path, name: &str, text: &str, cpus: &str) -> Vec<(String, String)> {
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    let file = path.to_str().expect("UTF-8");
    let audit = json(&run(&[
        "audit",
        "--cpus",
        cpus,
        "--container",
        file,
        "--observe",
        "0s",
        "--json",
    ]));
    let findings = audit["findings"].as_array().expect("findings").iter();
    let text = |finding: &Value, key: &str| finding[key].as_str().expect(key).to_owned();
    let of_definition =
        findings.filter(|finding| text(finding, "id").starts_with("ctr-") || finding["id"] == "k8s-rt-pod");
    of_definition
        .map(|finding| (text(finding, "id"), text(finding, "outcome")))
        .collect()
}

/// The audit reads this definition; some rules pass, and none fails or warns.
fn nothing_is_found_in(folder: &Path, name: &str, text: &str, passed: &[&str]) {
    let all = sys::thread::allowed_cpus().to_string();
    let judged = judged(folder, name, text, &all);
    let bad: Vec<_> = judged
        .iter()
        .filter(|(_, outcome)| outcome == "fail" || outcome == "warn")
        .collect();
    assert!(bad.is_empty(), "{name}: {bad:?}\n{text}");
    for check in passed {
        let outcome = judged
            .iter()
            .find(|(id, _)| id == check)
            .map(|(_, outcome)| outcome.as_str());
        assert_eq!(outcome, Some("pass"), "{name}: {check}\n{text}");
    }
}

const ALWAYS: [&str; 3] = ["ctr-no-cpu-quota", "ctr-capabilities", "ctr-rt-works"];

#[test]
fn the_audit_finds_nothing_in_any_definition() {
    let folder = folder();
    let cpus = sys::thread::allowed_cpus().to_string();
    let cpus = cpus.as_str();
    let path = folder.path();
    let oci = emit(path, &["oci", "--cpus", cpus, "--net", "eth7", "--hugepages", "64MiB"]);
    // If the score may not be lowered it is left out; otherwise the rule passes, too.
    let whole: Value = serde_json::from_str(&oci).expect("JSON");
    if whole["process"]["oomScoreAdj"].is_null() {
        let judged = judged(path, "config.json", &oci, cpus);
        let bad: Vec<&str> = judged
            .iter()
            .filter(|(_, outcome)| outcome == "fail")
            .map(|(id, _)| id.as_str())
            .collect();
        assert_eq!(bad, ["ctr-memory-limits"], "and nothing else");
    } else {
        nothing_is_found_in(
            path,
            "config.json",
            &oci,
            &[&ALWAYS[..], &["ctr-network-path", "ctr-memory-limits"]].concat(),
        );
    }
    let quadlet = emit(path, &["quadlet", "--cpus", cpus, "--nic", "eth7"]);
    nothing_is_found_in(
        path,
        "triptime.container",
        &quadlet,
        &[&ALWAYS[..], &["ctr-cpuset", "ctr-memory-limits"]].concat(),
    );
    let pod = ["ctr-no-cpu-quota", "ctr-capabilities", "ctr-exec-probes", "k8s-rt-pod"];
    let class = ["--runtime-class", "performance-relay"];
    let job = ["job", "--net", "sriov-bus", "--hugepages", "2GiB"];
    nothing_is_found_in(path, "job.yaml", &emit(path, &[&job[..], &class].concat()), &pod);
    let without = judged(path, "job.yaml", &emit(path, &job), cpus);
    assert!(
        without.contains(&("k8s-rt-pod".to_owned(), "fail".to_owned())),
        "{without:?}"
    );
    let host = emit(path, &[&["job", "--net", "host"][..], &class].concat());
    nothing_is_found_in(path, "host.yaml", &host, &pod);
}

#[test]
fn the_audit_does_find_what_is_taken_away() {
    let folder = folder();
    let cpus = sys::thread::allowed_cpus().to_string();
    let quadlet = emit(folder.path(), &["quadlet", "--cpus", &cpus, "--nic", "eth7"]);
    let without = quadlet
        .replace("IPC_LOCK", "")
        .replace("Ulimit=memlock", "#Ulimit=memlock");
    let judged = judged(folder.path(), "triptime.container", &without, &cpus);
    for check in ["ctr-capabilities", "ctr-rt-works"] {
        assert!(
            judged.contains(&(check.to_owned(), "fail".to_owned())),
            "{check}: {judged:?}"
        );
    }
}

#[test]
fn a_reader_of_yaml_sees_what_was_meant() {
    let folder = folder();
    let label = "a: b # \"c\" \u{e9}";
    let words = ["job", "--namespace", "relay", "--", "wakeup", "--label", label];
    let text = emit(folder.path(), &words);
    let script = "import sys, json, yaml\nprint(json.dumps(list(yaml.safe_load_all(sys.stdin))))";
    let Some(read) = testing::read_by_python("a_reader_of_yaml_sees_what_was_meant", script, &text) else {
        return;
    };
    let all: Vec<Value> = serde_json::from_str(&read).expect("JSON");
    let kinds: Vec<&str> = all.iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["Job"]);
    assert_eq!(all[0]["metadata"]["namespace"], "relay");
    let pod = &all[0]["spec"]["template"]["spec"];
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["containers"][0]["args"], json!(["wakeup", "--label", label]));
}

#[test]
fn a_guest_is_a_kernel_an_archive_with_the_binary_and_what_to_run() {
    let test = "a_guest_is_a_kernel_an_archive_with_the_binary_and_what_to_run";
    let Some(mut cpio) = other(test, "cpio") else { return };
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    fs::create_dir(folder.path().join("modules")).expect("a folder");
    write("vmlinuz", "a kernel");
    write("modules/order", "virtio_blk\n");
    write("modules/virtio_blk.ko", "a module");
    let words = [
        "--kernel",
        "vmlinuz",
        "--modules",
        "modules",
        "--",
        "wakeup",
        "--cpus",
        "1",
    ];
    emit(folder.path(), &[&["guest", "probe"][..], &words].concat());
    let read = |name: &str| fs::read(folder.path().join("probe").join(name)).expect(name);
    assert_eq!(read("vmlinuz"), b"a kernel");
    let arguments = String::from_utf8(read("arguments")).expect("UTF-8");
    assert!(arguments.contains(" isolcpus=managed_irq,domain,1 "), "{arguments}");
    assert!(
        arguments.ends_with(" triptime.run=\"wakeup --cpus 1\"\n"),
        "{arguments}"
    );
    let image = folder.path().join("probe/initramfs.img");
    said(
        Command::new("gzip")
            .args(["--decompress", "--keep", "--suffix", ".img"])
            .arg(&image),
    );
    fs::create_dir(folder.path().join("root")).expect("a folder");
    let archive = fs::File::open(folder.path().join("probe/initramfs")).expect("an archive");
    cpio.args(["--extract", "--quiet", "--no-absolute-filenames"])
        .current_dir(folder.path().join("root"));
    said(cpio.stdin(archive));
    let unpacked = |name: &str| fs::read(folder.path().join("root").join(name)).expect(name);
    assert!(
        unpacked("init") == fs::read(binary()).expect("the binary"),
        "the binary differs"
    );
    assert_eq!(unpacked("modules/virtio_blk.ko"), b"a module");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    for (words, why) in [
        (&["oci", "--hugepages", "3MiB"][..], "not a whole number of huge pages"),
        (&["oci", "--net", "an-interface-with-a-long-name"], "neither host, none"),
        (&["quadlet", "--cpus", "2"], "--nic"),
        (
            &["guest", "x", "--kernel", "/nowhere", "--modules", "/nowhere"],
            "/nowhere",
        ),
        (
            &[
                "guest",
                "x",
                "--kernel",
                "a",
                "--modules",
                "a",
                "--",
                "wakeup",
                "--label",
                "a b",
            ],
            "neither spaces nor quotes",
        ),
        (&["job", "--cpu-count", "0"], "cpu-count"),
        (&["job", "--node", "Node 1"], "not a name in Kubernetes"),
        (&["image", "--tag", "Relay"], "not the name of an image"),
        (&["image", "/nowhere/x.tar"], "/nowhere/x.tar"),
    ] {
        let output = run(&[&["emit"], words].concat());
        assert!(matches!(output.status.code(), Some(2 | 3)), "{words:?}");
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn lab_has_the_same_command() {
    let folder = folder();
    let output = run(&["lab", "emit", "job", "--net", "host"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        emit(folder.path(), &["job", "--net", "host"])
    );
}
