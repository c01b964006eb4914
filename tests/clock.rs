//! One-way figures under PTP, end to end, with real ptp4l daemons.
//!
//! They share this machine's clock and must not steer it: they run without CAP_SYS_TIME.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{json, root_or_skip, series, stderr, triptime, wait};
use sys::netns::NetNs;
use tempfile::TempDir;
use testing::Running;

/// A namespace with a master on `v0` and a slave on `v1`.
struct Bed {
    namespace: NetNs,
    directory: TempDir,
}

impl Bed {
    fn build() -> Self {
        Self {
            namespace: support::namespace(),
            directory: tempfile::tempdir().expect("a directory"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn ptp4l(&self, interface: &str, options: &str) -> Running {
        let (config, socket) = (self.path(&format!("{interface}.cfg")), self.path(interface));
        let text = format!(
            "[global]\ntime_stamping software\nnetwork_transport L2\nlogSyncInterval -3\nlogAnnounceInterval -2\n\
             logMinDelayReqInterval -3\nclock_servo linreg\nuds_address {}\n{options}\n",
            socket.display()
        );
        std::fs::write(&config, text).expect("its configuration");
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set", "-sys_time", "--inh-caps", "-sys_time"])
            .args(["ptp4l", "-q", "-i", interface, "-f"])
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.inside(&mut command)
    }

    fn inside(&self, command: &mut Command) -> Running {
        let started = self.namespace.run(|| Running::start(command));
        started.expect("a thread in the namespace")
    }

    /// Waits until the slave reports the state SLAVE.
    fn wait_for_slave(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let output = Command::new("pmc")
                .args(["-u", "-b", "0", "-s"])
                .arg(self.path("v1"))
                .arg("-i")
                .arg(self.path("pmc"))
                .arg("GET PORT_DATA_SET")
                .output()
                .expect("pmc runs");
            if String::from_utf8_lossy(&output.stdout).contains("SLAVE") {
                return;
            }
            assert!(Instant::now() < until, "no SLAVE in 30 s");
        }
    }

    fn publish(&self, duration: &str) -> Running {
        let mut command = triptime();
        command
            .args([
                "publish",
                "v0",
                "--quiet",
                "--policy",
                "other",
                "--duration",
                duration,
                "--out",
            ])
            .arg(self.path("publish.triptime"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.inside(&mut command)
    }

    /// Subscribes with these options and a profile that allows an age of `allowed`.
    fn subscribe(&self, allowed: &str, options: &[&str]) -> (Running, Vec<String>) {
        let limits = self.path("limits.toml");
        let limit = |id: &str, series: &str, allowed: &str| {
            format!(
                "[[limit]]\nid = \"{id}\"\nseries = \"{series}\"\nquantity = \"max\"\nallowed = \"{allowed}\"\nsource = \"t\"\n"
            )
        };
        let text = format!(
            "name = \"t\"\nwhat = \"t\"\n{}{}",
            limit("age", "age/*", allowed),
            limit("spacing", "spacing/*", "60s")
        );
        std::fs::write(&limits, text).expect("the limits");
        let mut arguments: Vec<String> = [
            "subscribe",
            "v1",
            "--rate",
            "4800",
            "--json",
            "--quiet",
            "--policy",
            "other",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.extend(["--window", "500ms", "--ptp-interval", "125ms"].map(str::to_owned));
        let file = |path: &Path| path.display().to_string();
        arguments.extend(["--limits".to_owned(), file(&limits)]);
        arguments.extend(["--out".to_owned(), file(&self.path("run.triptime"))]);
        arguments.extend(["--ptp".to_owned(), file(&self.path("v1"))]);
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let mut command = triptime();
        command
            .args(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        (self.inside(&mut command), arguments)
    }
}

/// Publishes and runs a relay with this response to the loss of PTP, which watches the slave's daemon.
fn relay(bed: &Bed, loss: &str, options: &[&str]) -> (Running, Vec<String>) {
    let file = bed.path("relay.toml");
    let text = format!(
        "[relay]\nname = \"F1\"\nptp-loss = \"{loss}\"\n[[stream]]\nname = \"bay1\"\nsv = {{ svID = \"MU01\" }}\n\
         [[function]]\nname = \"I>>\"\nsettings.pioc = {{ pickup = 5 }}\n[[trip]]\nname = \"Q0\"\n"
    );
    std::fs::write(&file, text).expect("the relay's file");
    let mut arguments: Vec<String> = vec!["relay".into(), file.display().to_string()];
    arguments.extend(["v1", "--json", "--quiet", "--policy", "other", "--no-flight-recorder"].map(str::to_owned));
    arguments.extend(["--ptp-interval".to_owned(), "125ms".to_owned()]);
    arguments.extend(["--out".to_owned(), bed.path("relay.triptime").display().to_string()]);
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    let mut command = triptime();
    command
        .args(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    (bed.inside(&mut command), arguments)
}

/// Texts of the relay's own events.
fn relay_events(document: &Value) -> Vec<&str> {
    let events = document["events"].as_array().expect("events");
    let of_relay = events.iter().filter(|event| event["kind"] == "relay");
    of_relay.filter_map(|event| event["text"].as_str()).collect()
}

fn can_run(test: &str) -> bool {
    if Command::new("ptp4l").arg("-v").output().is_err() {
        testing::skip(test, "ptp4l is missing: scripts/need.sh test");
        return false;
    }
    root_or_skip(test)
}

fn check<'a>(document: &'a Value, limit: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["limit"] == limit).expect("the check")
}

fn kinds(document: &Value) -> Vec<&str> {
    let events = document["events"].as_array().expect("events");
    events.iter().filter_map(|event| event["kind"].as_str()).collect()
}

fn run(bed: &Bed, allowed: &str, options: &[&str]) -> (i32, Value) {
    let (child, arguments) = bed.subscribe(allowed, options);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = wait(child, &arguments);
    (output.status.code().expect("an exit status"), json(&output))
}

#[test]
fn a_limit_within_the_uncertainty_is_not_decided() {
    if !can_run("a_limit_within_the_uncertainty_is_not_decided") {
        return;
    }
    let bed = Bed::build();
    let (_master, _slave) = (bed.ptp4l("v0", ""), bed.ptp4l("v1", "slaveOnly 1"));
    bed.wait_for_slave();
    let _publisher = bed.publish("20s");
    // The stated uncertainty of the clocks is longer than any stall of this machine.
    let (status, document) = run(&bed, "1us", &["--clock", "ptp:30s", "--duration", "2s"]);
    let age = check(&document, "age");
    assert_eq!((status, age["verdict"].as_str()), (3, Some("inconclusive")), "{age}");
    assert_eq!(age["uncertainty"], 30_000_000_000_u64);
    assert!(age["why"].as_str().expect("why").contains("± 30.0 s"), "{age}");
    let clock = &series(&document, "age/MU01")["clock"];
    assert_eq!(clock["uncertainty"], 30_000_000_000_u64);
    assert!(series(&document, "spacing/MU01")["clock"].is_null());
    assert!(series(&document, "clock/ptp-offset")["received"].as_u64() > Some(3));
    assert!(kinds(&document).contains(&"clock-good"), "{:?}", document["events"]);
    std::fs::remove_file(bed.path("run.triptime")).expect("the run file");

    let (_, document) = run(&bed, "10s", &["--clock", "ptp", "--duration", "2s"]);
    let clock = &series(&document, "age/MU01")["clock"];
    let measured = clock["uncertainty"].as_u64().unwrap_or_else(|| panic!("{clock}"));
    // The publisher's microsecond plus the measured uncertainty.
    assert!(measured > 1_000, "{clock}");
    assert!(
        clock["uncertainty_text"]
            .as_str()
            .expect("text")
            .contains("publisher's clock"),
        "{clock}"
    );
}

#[test]
fn a_master_that_dies_leaves_its_windows_undecided_and_spacing_alone() {
    if !can_run("a_master_that_dies_leaves_its_windows_undecided_and_spacing_alone") {
        return;
    }
    let bed = Bed::build();
    let (master, _slave) = (bed.ptp4l("v0", ""), bed.ptp4l("v1", "slaveOnly 1"));
    bed.wait_for_slave();
    let _publisher = bed.publish("20s");
    let (mut child, arguments) = bed.subscribe("20s", &["--clock", "ptp:1ms", "--duration", "5s"]);
    support::until_thread(&mut child, "subscribe");
    std::thread::sleep(Duration::from_secs(2));
    drop(master);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = wait(child, &arguments);
    let document = json(&output);
    let age = check(&document, "age");
    assert_eq!(age["verdict"], "inconclusive", "{age}");
    assert!(
        age["why"]
            .as_str()
            .expect("why")
            .contains("clocks are not known to agree in"),
        "{age}"
    );
    let spacing = check(&document, "spacing");
    assert!(!spacing["why"].as_str().expect("why").contains("clock"), "{spacing}");
    let clock = &series(&document, "age/MU01")["clock"];
    let doubtful = clock["doubtful"].as_array().expect("spans");
    assert!(doubtful.last().expect("a span")["to_s"].is_null(), "{clock}");
    assert!(clock["windows_in_doubt"].as_u64() > Some(0), "{clock}");
    assert!(kinds(&document).contains(&"time-sync"));
}

#[test]
fn without_ptp4l_it_ends_and_says_where_it_looked() {
    if !can_run("without_ptp4l_it_ends_and_says_where_it_looked") {
        return;
    }
    let bed = Bed::build();
    let (child, arguments) = bed.subscribe("1s", &["--clock", "ptp", "--duration", "2s"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = wait(child, &arguments);
    assert_eq!(output.status.code(), Some(3));
    let text = stderr(&output);
    assert!(
        text.contains("no ptp4l: nothing listens at") && text.contains("--ptp"),
        "{text}"
    );
    assert!(!bed.path("run.triptime").exists());
}

#[test]
fn a_relay_blocks_when_its_host_loses_ptp() {
    if !can_run("a_relay_blocks_when_its_host_loses_ptp") {
        return;
    }
    let bed = Bed::build();
    let (master, _slave) = (bed.ptp4l("v0", ""), bed.ptp4l("v1", "slaveOnly 1"));
    bed.wait_for_slave();
    let _publisher = bed.publish("60s");
    let socket = bed.path("v1").display().to_string();
    // The daemon cannot steer this clock, so its offset may be any.
    let (mut child, arguments) = relay(
        &bed,
        "block",
        &["--ptp", &socket, "--ptp-limit", "10s", "--duration", "12s"],
    );
    support::until_thread(&mut child, "relay");
    std::thread::sleep(Duration::from_secs(4));
    drop(master);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let document = json(&wait(child, &arguments));
    let events = relay_events(&document);
    let at = |part: &str| events.iter().position(|text| text.contains(part));
    let good = at("F1: host's clock, LTMS: PTP synchronised").unwrap_or_else(|| panic!("{events:?}"));
    let lost = at("F1: host's clock, LTMS: PTP lost").unwrap_or_else(|| panic!("{events:?}"));
    let blocked = events
        .iter()
        .skip(lost)
        .position(|text| text.starts_with("F1: I>>") && text.contains("blocked: the host's PTP"));
    assert!(good < lost && blocked.is_some(), "{events:?}");
    let settings = series(&document, "task/F1")["settings"].to_string();
    assert!(settings.contains("at loss of the host's PTP"), "{settings}");
}

#[test]
fn a_relay_without_ptp4l_says_that_its_ptp_is_unknown() {
    if !can_run("a_relay_without_ptp4l_says_that_its_ptp_is_unknown") {
        return;
    }
    let bed = Bed::build();
    let _publisher = bed.publish("20s");
    let (child, arguments) = relay(&bed, "warn", &["--duration", "3s"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let document = json(&wait(child, &arguments));
    let events = relay_events(&document);
    assert!(events.contains(&"F1: host's clock, LTMS: PTP unknown"), "{events:?}");
    assert!(
        !events.iter().any(|text| text.contains("PTP synchronised")),
        "{events:?}"
    );
}
