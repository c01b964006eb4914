//! Documents for a bundle's `config.json`: merged by jq as the guide says, and started by runc.

use super::{can_read, emitted, folder, host, open, said, text, written};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A bundle whose program ends at once, made by runc itself, with these changes.
fn bundle(folder: &Path, changes: &str) {
    fs::create_dir_all(folder.join("rootfs/bin")).expect("folders");
    fs::copy("/bin/busybox", folder.join("rootfs/bin/busybox")).expect("busybox");
    let status = Command::new("runc").arg("spec").current_dir(folder).status();
    assert!(status.is_ok_and(|status| status.success()));
    let plain = ".process.terminal = false | .process.args = [\"/bin/busybox\", \"true\"]";
    kept(
        folder,
        "config.json",
        &by_jq(folder, &[&format!("{plain} | {changes}"), "config.json"]),
    );
}

fn by_jq(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("jq")
        .args(words)
        .current_dir(folder)
        .output()
        .expect("jq starts");
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn kept(folder: &Path, name: &str, text: &str) {
    written(folder, name, text);
}

fn started(folder: &Path) -> Output {
    let mut command = Command::new("runc");
    command
        .arg("--root")
        .arg(folder.join("state"))
        .args(["run", "--bundle"])
        .arg(folder);
    let name = format!("triptime-readers-{}", std::process::id());
    command.arg(name).output().expect("runc starts")
}

/// A CPU that exists on both this machine and the recorded one.
fn cpu() -> String {
    let all = sys::thread::allowed_cpus();
    all.iter()
        .filter(|cpu| *cpu < 4)
        .last()
        .expect("a CPU below 4")
        .to_string()
}

/// True if a program that is started from here may raise limits and lower scores.
fn may_raise() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let bounding = status
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .expect("a mask");
    u64::from_str_radix(bounding.trim(), 16).expect("a mask") >> 24 & 1 == 1
}

#[test]
fn jq_merges_every_document_and_runc_starts_the_bundle() {
    let test = "jq_merges_every_document_and_runc_starts_the_bundle";
    if !can_read(test, "jq", "jq") || !can_read(test, "runc", "runc") || !can_read(test, "busybox", "busybox-static") {
        return;
    }
    let cpu = cpu();
    for (tree, changes) in [
        ("debian-untuned", "."),
        (
            "preempt-rt-bare-metal",
            ".linux.resources.cpu = {quota: 50000, period: 100000} | .process.oomScoreAdj = 0",
        ),
        (
            "debian-untuned",
            ".process.capabilities.effective += [\"CAP_NET_ADMIN\"] | .linux.resources.memory = {limit: 104857600}",
        ),
    ] {
        let own = folder();
        bundle(own.path(), changes);
        let file = own.path().join("config.json");
        let tune = emitted(&host(tree), &["--cpus", &cpu, "--container", text(&file)], "oci");
        kept(own.path(), "tune.json", &tune);
        let merged = by_jq(own.path(), &["-s", ".[0] * .[1]", "config.json", "tune.json"]);
        let limit = changes.contains("104857600").then_some(104_857_600);
        is_wanted(&serde_json::from_str(&merged).expect("JSON"), &cpu, limit);
        kept(own.path(), "config.json", &merged);
        // Without a limit nobody but the author knows how much memory is enough.
        let left = match limit {
            Some(_) => &[][..],
            None => &["ctr-memory-limits"],
        };
        assert_eq!(open("--container", &file, &cpu), left, "{merged}");
        let output = started(own.path());
        assert!(output.status.success() || !may_raise(), "{}", said(&output));
        for refused in ["unmarshal", "invalid configuration"] {
            assert!(!said(&output).contains(refused), "{}\n{merged}", said(&output));
        }
        // Without the right to raise limits, the other settings are checked.
        let rest = by_jq(
            own.path(),
            &["del(.process.rlimits, .process.oomScoreAdj)", "config.json"],
        );
        kept(own.path(), "config.json", &rest);
        let output = started(own.path());
        assert!(output.status.success(), "{}\n{rest}", said(&output));
        kept(
            own.path(),
            "config.json",
            &merged.replace("9007199254740992", "18446744073709552000"),
        );
        let output = started(own.path());
        assert!(said(&output).contains("cannot unmarshal number"), "{}", said(&output));
    }
}

fn is_wanted(whole: &Value, cpu: &str, memory: Option<u64>) {
    let effective = &whole["process"]["capabilities"]["effective"];
    let has = |name| effective.as_array().is_some_and(|all| all.contains(&json!(name)));
    // runc's own list has CAP_KILL.
    for name in ["CAP_SYS_NICE", "CAP_IPC_LOCK", "CAP_NET_RAW", "CAP_KILL"] {
        assert!(has(name), "{name}: {whole:#}");
    }
    assert!(!has("CAP_NET_ADMIN"), "{whole:#}");
    let (process, resources) = (&whole["process"], &whole["linux"]["resources"]);
    for (is, wanted) in [
        (&process["oomScoreAdj"], json!(-900)),
        (
            &process["rlimits"][0],
            json!({"type": "RLIMIT_RTPRIO", "soft": 99, "hard": 99}),
        ),
        (&process["rlimits"][1]["hard"], json!(1u64 << 53)),
        (&resources["cpu"]["cpus"], json!(cpu)),
        (&process["rlimits"][2]["type"], json!("RLIMIT_NOFILE")),
        (&resources["memory"]["limit"], json!(memory)),
        (&resources["memory"]["swap"], json!(memory)),
    ] {
        assert_eq!(*is, wanted, "{whole:#}");
    }
    assert!(
        resources["cpu"]["quota"].as_i64().is_none_or(|quota| quota == -1),
        "{whole:#}"
    );
}
