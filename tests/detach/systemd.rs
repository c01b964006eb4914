//! Runs on a machine with systemd, or with programs that imitate it.

use crate::Desk;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use store::RunFile;
use support::{binary, root_or_skip, stderr};

/// A machine on which systemd seems to run, with scripts in place of its programs.
fn with_systemd(desk: &Desk, program: &str, text: &str, script: &str) -> Output {
    let bin = desk.path("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let path = bin.join(program);
    std::fs::write(&path, text).expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    let script = format!(
        "mount -t tmpfs run /run || exit 99; mkdir -p /run/systemd/system; PATH=\"$PWD/bin:$PATH\"; export PATH; {script}"
    );
    let binary = binary();
    desk.command(Path::new("unshare"), &["--mount", "sh", "-c", &script])
        .arg(&binary)
        .output()
        .expect("unshare is installed")
}

#[test]
fn where_systemd_runs_it_is_asked_for_a_unit_that_it_watches() {
    if !root_or_skip("where_systemd_runs_it_is_asked_for_a_unit_that_it_watches") {
        return;
    }
    let desk = Desk::new();
    // Starts the command as systemd-run would, and keeps its arguments.
    let text = "#!/bin/sh\nfor word; do echo \"$word\"; done > asked\nwhile [ \"$1\" != -- ]; do shift; done; shift\n\
                \"$@\" >/dev/null 2>&1 &\nwhile ! grep -q measuring told/two-steps.json; do sleep 0.1; done\n";
    let script = "\"$0\" qualify plan.toml --no-flight-recorder --detach --out run.triptime";
    let started = with_systemd(&desk, "systemd-run", text, script);
    assert!(started.status.success(), "{}", stderr(&started));
    let said = String::from_utf8_lossy(&started.stdout).into_owned();
    assert!(
        said.starts_with("two-steps: measuring, as the unit triptime-two-steps, process "),
        "{said}"
    );
    let asked = std::fs::read_to_string(desk.path("asked")).expect("what it was asked");
    for word in [
        "--unit=triptime-two-steps",
        "--service-type=notify",
        "--property=WatchdogSec=60",
        "--property=WatchdogSignal=SIGTERM",
        "--property=SuccessExitStatus=1 3",
        "--property=LimitMEMLOCK=infinity",
    ] {
        assert!(asked.lines().any(|line| line == word), "{word} is not in {asked}");
    }
    let run = desk.run("two-steps");
    assert_eq!(
        (&run["started_by"], &run["unit"]),
        (&"unit".into(), &"triptime-two-steps".into())
    );
    let stopped = desk.triptime(&["stop", "two-steps"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));

    let refused = with_systemd(
        &desk,
        "systemd-run",
        "#!/bin/sh\necho 'Access denied' >&2\nexit 1\n",
        &script.replace("run.t", "b.t"),
    );
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        stderr(&refused).contains("systemd-run refused: Access denied"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        desk.status()["runs"].as_array().map(Vec::len),
        Some(1),
        "only the one that ended"
    );
}

#[test]
fn after_a_reboot_the_rest_is_measured_into_a_file_of_its_own_and_the_unit_goes() {
    if !root_or_skip("after_a_reboot_the_rest_is_measured_into_a_file_of_its_own_and_the_unit_goes") {
        return;
    }
    let desk = Desk::new();
    let text = "#!/bin/sh\necho \"$@\" >> asked\n[ \"$1\" = start ] || exit 0\n\
                \"$BINARY\" qualify plan.toml --no-flight-recorder --out \"$PWD/run.triptime\" --detached lasting-unit:two-steps \
                >>run.log 2>&1 &\nwhile ! grep -q measuring told/two-steps.json; do sleep 0.1; done\n";
    // The unit's folder exists only in this mount namespace. The first boot ends in the second step, without a message.
    let script = "BINARY=\"$0\"; export BINARY; mount -t tmpfs units /etc/systemd/system || exit 98; \
        \"$0\" qualify plan.toml --no-flight-recorder --detach --restart-after-reboot --out run.triptime || exit 97; \
        cp /etc/systemd/system/triptime-two-steps.service unit; \
        while ! grep -q '\"number\": 2' told/two-steps.json; do sleep 0.2; done; sleep 2; \
        kill -9 $(sed -n 's/.*\"pid\": \\([0-9]*\\),.*/\\1/p' told/two-steps.json); rm -r told; \
        systemctl start again; \"$0\" status --json > second; \"$0\" stop two-steps || exit 96; \
        ls /etc/systemd/system > units";
    let output = with_systemd(&desk, "systemctl", text, script);
    let log = std::fs::read_to_string(desk.path("run.log")).unwrap_or_default();
    assert!(output.status.success(), "{:?} {}{log}", output.status, stderr(&output));
    let unit = std::fs::read_to_string(desk.path("unit")).expect("the unit");
    assert!(
        unit.contains("WantedBy=multi-user.target") && unit.contains("\"lasting-unit:two-steps\""),
        "{unit}"
    );
    let asked = std::fs::read_to_string(desk.path("asked")).expect("what it was asked");
    assert!(asked.contains("enable --quiet triptime-two-steps.service"), "{asked}");
    let second: Value = serde_json::from_slice(&std::fs::read(desk.path("second")).expect("a status")).expect("JSON");
    let run = &second["runs"][0];
    assert_eq!(
        (&run["step"], &run["steps"]),
        (&1.into(), &1.into()),
        "the second step alone: {run}"
    );
    assert!(
        run["left_s"].as_f64().is_some_and(|left| left < 88.5),
        "and not all of it: {run}"
    );
    let rest = RunFile::open(&desk.path("run.2.triptime")).expect("a file of its own");
    let names: Vec<String> = rest
        .series()
        .expect("series")
        .into_iter()
        .map(|(_, spec)| spec.name)
        .collect();
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("wakeup/again/")),
        "{names:?}"
    );
    let events = rest.events().expect("events");
    assert!(events.iter().any(|event| {
        event
            .text
            .starts_with("the rest of the plan after a reboot: step 2 of 2 on")
    }));
    let units = std::fs::read_to_string(desk.path("units")).expect("a list");
    assert_eq!(units, "", "a run that was stopped does not start again");
}
