//! Wrong usage and missing rights: one clear message, the documented exit status, and no remains.

use std::path::Path;
use std::process::{Command, Output};
use support::{root_or_skip, run, stderr};

/// Asserts status and message, and that standard output is empty.
fn refused(output: &Output, status: i32, words: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{message}");
    for word in words {
        assert!(message.contains(word), "no \"{word}\" in: {message}");
    }
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!message.contains("panicked"), "{message}");
}

fn in_directory(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn an_unknown_interface_is_named_with_those_there_are() {
    if !root_or_skip("an_unknown_interface_is_named_with_those_there_are") {
        return;
    }
    for arguments in [
        vec!["reflect", "eth9x", "--role", "initiator"],
        vec!["publish", "eth9x"],
        vec!["subscribe", "eth9x"],
    ] {
        refused(&run(&arguments), 2, &["eth9x: no such interface", "have:", "lo"]);
    }
}

#[test]
fn limits_that_are_missing_are_found_before_a_run_begins() {
    let directory = tempfile::tempdir().expect("tempdir");
    let out = in_directory(directory.path(), "run.triptime");
    for more in ["--dry-run", "--detach"] {
        let output = run(&[
            "qualify",
            "quick",
            more,
            "--limits",
            "/nowhere/site.toml",
            "--out",
            &out,
        ]);
        refused(&output, 2, &["limit profile \"/nowhere/site.toml\""]);
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_cpu_that_does_not_exist_leaves_no_run_file() {
    let directory = tempfile::tempdir().expect("tempdir");
    let out = in_directory(directory.path(), "run.triptime");
    let output = run(&["wakeup", "--cpus", "4001", "--duration", "1s", "--out", &out]);
    refused(&output, 2, &["CPU 4001", "no such CPU"]);
    let left: Vec<_> = std::fs::read_dir(directory.path()).expect("readable").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn values_on_the_command_line_say_what_would_do() {
    refused(&run(&["wakeup", "--duration", "10"]), 2, &["--duration", "20s"]);
    refused(&run(&["wakeup", "--cpus", "x"]), 2, &["--cpus", "1-3,5"]);
    refused(&run(&["wakeup", "--policy", "fast"]), 2, &["--policy", "fifo"]);
    refused(&run(&["wakeup", "--interval", "0.5ns"]), 2, &["--interval"]);
    refused(
        &run(&["wakeup", "--interval", "1us", "--cpus", "0"]),
        2,
        &["too short", "10us"],
    );
    refused(
        &run(&["wakeup", "--secaligned=2s", "--cpus", "0"]),
        2,
        &["--secaligned", "1s"],
    );
    refused(&run(&["wakeup", "--window", "1ms"]), 2, &["--window", "100ms"]);
    refused(
        &run(&["noise", "--gaps-above", "10ns", "--cpus", "0"]),
        2,
        &["--gaps-above", "300ns"],
    );
    refused(
        &run(&["noise", "--threshold", "500ns", "--cpus", "0"]),
        2,
        &["--threshold", "--gaps-above"],
    );
    refused(
        &run(&["noise", "--policy", "deadline:1ms/2ms/2ms", "--cpus", "0"]),
        2,
        &["budget"],
    );
    refused(
        &run(&["wakeup", "--load-command", "no-such-program-x", "--cpus", "0"]),
        2,
        &["no-such-program-x"],
    );
    refused(
        &run(&["reflect", "lo", "--busy-poll"]),
        2,
        &["--busy-poll", "--engine xdp"],
    );
    refused(
        &run(&["reflect", "lo", "--xdp", "native"]),
        2,
        &["--xdp", "--engine xdp"],
    );
    refused(&run(&["frobnicate"]), 2, &["frobnicate"]);
    refused(&run(&["publish", "lo", "--asdus", "7"]), 2, &["7 ASDUs"]);
    for (options, words) in [
        (
            &["--framing", "avtp", "--size", "200"][..],
            "--size applies to test frames",
        ),
        (&["--listen", "eth9x"], "does not receive its own frames"),
        (&["--vlan", "5000"], "0 to 4095"),
        (&["--vlan", "5:9"], "0 to 7"),
    ] {
        refused(&run(&[&["talk", "eth9x"][..], options].concat()), 2, &[words]);
    }
}

#[test]
fn a_tracer_that_the_kernel_lacks_is_named_by_its_option_and_no_run_is_left() {
    const TEST: &str = "a_tracer_that_the_kernel_lacks_is_named_by_its_option_and_no_run_is_left";
    let tracers = std::fs::read_to_string("/sys/kernel/tracing/available_tracers");
    match tracers {
        Ok(tracers) if tracers.split_whitespace().any(|name| name == "hwlat") => {
            return testing::skip(TEST, "this kernel has the hwlat tracer");
        }
        Err(error) => return testing::skip(TEST, &format!("available_tracers: {error}")),
        Ok(_) => {}
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let out = in_directory(directory.path(), "run.triptime");
    let output = run(&[
        "noise",
        "--hwlat",
        "1s",
        "--duration",
        "1s",
        "--cpus",
        "0",
        "--out",
        &out,
    ]);
    refused(&output, 3, &["--hwlat", "CONFIG_HWLAT_TRACER"]);
    let left: Vec<_> = std::fs::read_dir(directory.path()).expect("readable").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_plan_with_a_wrong_key_is_named_with_file_line_and_key() {
    let directory = tempfile::tempdir().expect("tempdir");
    let plan = in_directory(directory.path(), "site.toml");
    let text = include_str!("../plans/quick.toml").replace("streams = 8", "streems = 8");
    std::fs::write(&plan, text).expect("writable");
    refused(&run(&["qualify", &plan]), 2, &["site.toml", "line", "streems"]);
    refused(&run(&["qualify", "no-such-plan"]), 2, &["no-such-plan", "quick"]);
}

#[test]
fn a_limit_profile_with_a_wrong_key_is_named() {
    let directory = tempfile::tempdir().expect("tempdir");
    let limits = in_directory(directory.path(), "limits.toml");
    let text = include_str!("../limits/substation.toml").replacen("allowed", "alowed", 1);
    std::fs::write(&limits, text).expect("writable");
    refused(
        &run(&["wakeup", "--duration", "1s", "--limits", &limits]),
        2,
        &["limits.toml", "alowed"],
    );
}

#[test]
fn run_files_that_are_not_ours_or_newer_are_refused() {
    let directory = tempfile::tempdir().expect("tempdir");
    let other = in_directory(directory.path(), "other.triptime");
    std::fs::write(&other, "not a database").expect("writable");
    refused(
        &run(&["report", &other]),
        2,
        &["other.triptime", "not a triptime run file"],
    );
    refused(
        &run(&["export", "/no/such/file", "--format", "csv"]),
        2,
        &["/no/such/file", "no such file"],
    );

    let newer = in_directory(directory.path(), "newer.triptime");
    let made = run(&[
        "wakeup",
        "--cpus",
        "0",
        "--policy",
        "other",
        "--duration",
        "300ms",
        "--quiet",
        "--out",
        &newer,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let changed = Command::new("sqlite3")
        .args([&newer, "PRAGMA user_version=99"])
        .status()
        .expect("sqlite3");
    assert!(changed.success());
    refused(&run(&["report", &newer]), 2, &["newer triptime", "99"]);
}

#[test]
fn a_run_is_never_written_over_another_file() {
    let directory = tempfile::tempdir().expect("tempdir");
    let there = in_directory(directory.path(), "there.triptime");
    std::fs::write(&there, "precious").expect("writable");
    refused(
        &run(&["wakeup", "--duration", "1s", "--out", &there]),
        2,
        &["there.triptime", "exists already"],
    );
    assert_eq!(std::fs::read_to_string(&there).expect("still there"), "precious");
}

#[test]
fn without_the_right_the_capability_is_named() {
    if !root_or_skip("without_the_right_the_capability_is_named") {
        return;
    }
    // The binary may be in a folder that only root can enter, so an ordinary user needs a copy.
    let directory = tempfile::tempdir().expect("tempdir");
    let copy = directory.path().join("triptime");
    std::fs::copy(support::binary(), &copy).expect("copied");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("opened");
    let nobody = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&copy)
            .args(arguments)
            .current_dir("/tmp")
            .output()
            .expect("setpriv is installed")
    };
    refused(&nobody(&["subscribe", "lo", "--duration", "1s"]), 3, &["CAP_NET_RAW"]);
    // Works with any other real-time threads on this machine.
    refused(&nobody(&["qualify", "--disturb"]), 3, &["CAP_SYS_ADMIN"]);
    let out = "/tmp/triptime-nobody.triptime";
    refused(
        &nobody(&["wakeup", "--duration", "1s", "--out", out]),
        3,
        &["CAP_SYS_NICE"],
    );
    assert!(!Path::new(out).exists());
}

#[test]
fn a_definition_that_cannot_be_read_is_refused_with_its_place() {
    let directory = tempfile::tempdir().expect("tempdir");
    let cases = [
        ("--domain", "a.xml", "<domain>\n<name>relay</vcpu></domain>", "line 2"),
        ("--domain", "b.xml", "<network/>", "<domain>"),
        ("--vmx", "a.vmx", "numvcpus = \"4\"\nnonsense\n", "line 2"),
        ("--esxi", "esxi.txt", "drs-mode = manual\n", "drs-mode"),
    ];
    for (option, name, text, near) in cases {
        let file = in_directory(directory.path(), name);
        std::fs::write(&file, text).expect("a file");
        refused(&run(&["audit", "--observe", "0s", option, &file]), 2, &[&file, near]);
    }
}
