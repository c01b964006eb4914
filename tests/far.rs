//! A plan whose device is on another machine: two network namespaces, connected by a process bus and by a second network. There is one run and one
//! verdict here; if either end dies, the other one reports it and is ready for the next run.

use model::RunState;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store::RunFile;
use support::left::Before;
use support::{generous_limits, json, root_or_skip, series, signal, stderr, triptime, until_sent, wait};
use sys::netns::NetNs;
use testing::Running;

const HEAD: &str = r#"
name = "short"
what = "Each step in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "wakeup"
duration = "1s"
interval = "1ms"
policy = "fifo:80"
"#;

const STEPS: &str = r#"
[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
receive = "block"

[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
trace = true
policy = "fifo:60"

[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "fifo:60"

[[step]]
probe = "trip"
duration = "4s"
relay = "bays1"
streams = 1
scenario = ["overcurrent"]
settle = "300ms"
policy = "fifo:60"
"#;

const LONG: &str = r#"
[[step]]
probe = "reflect"
duration = "10m"
interval = "1ms"
policy = "fifo:60"
receive = "block"
"#;

const NEXT: &str = r#"
[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
"#;

/// Two machines: interfaces `pb` are the process bus, `mg` the second network, with a switch.
struct Machines {
    here: NetNs,
    there: NetNs,
    switch: NetNs,
}

impl Machines {
    fn new() -> Self {
        let [here, there, switch] = [(); 3].map(|()| NetNs::create().expect("a namespace"));
        let joined = here.run(|| {
            sys::link::add_veth("pb0", "pb1", &there)?;
            sys::link::add_veth("mg0", "near", &switch)
        });
        joined.expect("a thread in it").expect("veth pairs");
        let joined = there.run(|| sys::link::add_veth("mg1", "far", &switch));
        joined.expect("a thread in it").expect("a veth pair");
        ip(&switch, &["link", "add", "switch", "type", "bridge"]);
        for port in ["near", "far"] {
            ip(&switch, &["link", "set", port, "master", "switch", "up"]);
        }
        ip(&switch, &["link", "set", "switch", "up"]);
        for (machine, names, address) in [
            (&here, ["pb0", "mg0"], "192.0.2.1/24"),
            (&there, ["pb1", "mg1"], "192.0.2.2/24"),
        ] {
            ip(machine, &["addr", "add", address, "dev", names[1]]);
            names
                .iter()
                .chain(&["lo"])
                .for_each(|name| ip(machine, &["link", "set", name, "up"]));
        }
        let until = Instant::now() + Duration::from_secs(10);
        let is_up = || here.run(|| sys::link::find("pb0").map(|link| link.carrier));
        while !matches!(is_up(), Ok(Ok(true))) {
            assert!(Instant::now() < until, "no carrier");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { here, there, switch }
    }

    /// Makes the switch of the second network forward nothing; its ports stay up.
    fn cut(&self) {
        ip(&self.switch, &["link", "set", "switch", "down"]);
    }
}

fn ip(machine: &NetNs, words: &[&str]) {
    let output = machine.run(|| Command::new("ip").args(words).output());
    let output = output.expect("a thread in it").expect("iproute2 is installed");
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
}

fn start_in(machine: &NetNs, words: &[&str]) -> Running {
    machine.run(|| support::start(words)).expect("a thread in it")
}

/// A running `triptime far`.
struct FarEnd {
    running: Running,
    said: Arc<Mutex<String>>,
}

impl FarEnd {
    fn start(machines: &Machines, secret: &str) -> Self {
        Self::with(machines, secret, &[])
    }

    fn with(machines: &Machines, secret: &str, more: &[&str]) -> Self {
        let mut command = triptime();
        command.args(["far", "pb1", "--listen", "192.0.2.2", "--secret", secret, "--disturb"]);
        command.args(more);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let running = machines.there.run(|| Running::start(&mut command));
        let mut running = running.expect("a thread in it");
        let lines = BufReader::new(running.stderr.take().expect("piped")).lines();
        let said: Arc<Mutex<String>> = Arc::default();
        let told = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *told.lock().expect("no panic") += &format!("{line}\n");
            }
        });
        let this = Self { running, said };
        this.until_said("listening on 192.0.2.2:18850");
        this
    }

    fn said(&self) -> String {
        self.said.lock().expect("no panic").clone()
    }

    fn until_said(&self, what: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.said().contains(what) {
            assert!(Instant::now() < until, "{what}: {}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(self, by: Signal) -> Output {
        signal(&self.running, by);
        wait(self.running, &["far"])
    }
}

/// One test at a time, because each checks the remains in the folder for temporary files.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until each `triptime device` whose far end is gone has ended.
fn until_no_device() {
    let until = Instant::now() + Duration::from_secs(30);
    let is_one = |process: std::fs::DirEntry| {
        let folder = std::fs::read_link(process.path().join("cwd"));
        folder.is_ok_and(|folder| folder.to_string_lossy().contains("/triptime-far-"))
    };
    while std::fs::read_dir("/proc").expect("processes").flatten().any(is_one) {
        assert!(Instant::now() < until, "a device goes on without its far end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn secret(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
    path.display().to_string()
}

/// Arguments of a run of these steps.
fn words(directory: &Path, steps: &str, secret: &str, out: &str) -> Vec<String> {
    let plan = directory.join("short.toml");
    std::fs::write(&plan, format!("{HEAD}{steps}")).expect("written");
    let (plan, limits) = (plan.display().to_string(), generous_limits(directory));
    let words = ["qualify", &plan, "--limits", &limits, "--out", out, "--secret", secret];
    let more = ["--nic", "pb0", "--far", "192.0.2.2", "--json", "--quiet", "--disturb"];
    words.iter().chain(&more).map(|word| (*word).to_owned()).collect()
}

fn qualify(machines: &Machines, words: &[String]) -> Output {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    wait(start_in(&machines.here, &words), &words)
}

fn setting<'a>(series: &'a Value, name: &str) -> Option<&'a str> {
    series["settings"].get(name)?.as_str()
}

#[test]
fn every_step_runs_between_two_machines_and_gives_one_run() {
    if !root_or_skip("every_step_runs_between_two_machines_and_gives_one_run") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let words = words(directory.path(), STEPS, &secret, &out.display().to_string());
    let output = qualify(&machines, &words);
    // A stall of this machine makes the relay miss tasks, which fails a limit.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    let said = far.said();
    for what in [
        "is connected",
        "wake-up of the plan short, for 1.00 s",
        "trip of the plan short",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
    let document = json(&output);
    for name in [wakeup(&document), "age/MU01", "talk/test", "task/bays1"] {
        let series = series(&document, name);
        let place = setting(series, "place").unwrap_or_default();
        assert!(place.starts_with("far machine 192.0.2.2: "), "{name}: {series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 400),
            "{series}"
        );
    }
    // Round trips and trips are measured by the test set, which is here.
    for name in ["rtt/reflect", "trip/overcurrent"] {
        let series = series(&document, name);
        assert_eq!(setting(series, "place"), None, "{series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 0),
            "{series}"
        );
    }
    // Ages are between two clocks, and their uncertainty depends on how fast the far end answered the question for its time.
    let age = series(&document, "age/MU01");
    let apart = setting(age, "clock uncertainty (ns)").and_then(|ns| ns.parse::<u64>().ok());
    assert!(apart.is_some_and(|ns| (1..1_000_000_000).contains(&ns)), "{age}");
    assert_eq!(
        setting(series(&document, "rtt/reflect"), "clock uncertainty (ns)"),
        None
    );
    let run = RunFile::open(&out).expect("a run");
    assert_eq!(run.state(), RunState::Complete);
    let facts = run.facts().expect("facts");
    assert!(
        facts.iter().any(|fact| fact.group == "far machine: limits"),
        "{facts:?}"
    );
    let events = run.events().expect("events");
    assert!(
        events.iter().any(|event| event.text.contains("on another machine")),
        "that hops are not traced: {events:?}"
    );
}

#[test]
fn the_device_is_in_a_container_where_its_own_machine_says_so() {
    let test = "the_device_is_in_a_container_where_its_own_machine_says_so";
    if !root_or_skip(test) {
        return;
    }
    if Command::new("runc")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        return testing::skip(test, "runc is not installed");
    }
    let (_alone, _with_containers) = (alone(), support::places::alone());
    let before = Before::look();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::with(&machines, &secret, &["--container", "--runtime", "runc"]);
    far.until_said("in a container of runc");
    let words = words(directory.path(), STEPS, &secret, &out.display().to_string());
    let output = qualify(&machines, &words);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    assert!(far.end(Signal::INT).status.success());
    let document = json(&output);
    for name in [wakeup(&document), "age/MU01", "talk/test", "task/bays1"] {
        let series = series(&document, name);
        let place = setting(series, "place").unwrap_or_default();
        let is_there = place.starts_with("far machine 192.0.2.2: ") && place.contains("; in it, container: runc");
        assert!(is_there, "{name}: {series}");
        let received = series["received"].as_u64();
        assert!(received.is_some_and(|samples| samples > 400), "{series}");
    }
    let trips = series(&document, "trip/overcurrent")["received"].as_u64();
    assert!(trips.is_some_and(|trips| trips > 0), "{trips:?}");
    drop(machines);
    before.nothing_is_left();
}

/// The far end chooses its judged CPU.
fn wakeup(document: &Value) -> &str {
    let all = document["series"].as_array().expect("series");
    let names = all.iter().filter_map(|series| series["name"].as_str());
    let mut names = names.filter(|name| name.starts_with("wakeup/"));
    names.next().expect("wake-ups")
}

/// Starts a long run, and waits until its round trips have begun.
fn long(machines: &Machines, far: &FarEnd, words: &[String]) -> Running {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = start_in(&machines.here, &words);
    far.until_said("round trip of the plan short");
    // The time of three windows.
    until_sent(&child, "pb0", 1_500);
    child
}

#[test]
fn a_far_end_that_is_killed_ends_the_run_with_what_it_had() {
    if !root_or_skip("a_far_end_that_is_killed_ends_the_run_with_what_it_had") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &out.display().to_string()),
    );
    far.end(Signal::KILL);
    let output = wait(child, &["qualify"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("far machine") && said.contains("triptime far"), "{said}");
    let run = RunFile::open(&out).expect("a run");
    let names: Vec<String> = run
        .series()
        .expect("series")
        .into_iter()
        .map(|(_, spec)| spec.name)
        .collect();
    assert!(names.iter().any(|name| name.starts_with("wakeup/")), "{names:?}");
    assert!(names.iter().any(|name| name == "rtt/reflect"), "{names:?}");
    until_no_device();
    // The next far end removes the files of the killed one.
    let far = FarEnd::start(&machines, &secret);
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}

/// No packet says that the network is gone, and a question asked in the silence does not prolong it.
#[test]
fn a_network_that_is_cut_silently_ends_the_run_in_half_a_minute() {
    if !root_or_skip("a_network_that_is_cut_silently_ends_the_run_in_half_a_minute") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &out.display().to_string()),
    );
    machines.cut();
    let cut = Instant::now();
    let output = wait(child, &["qualify"]);
    let (said, lasted) = (stderr(&output), cut.elapsed());
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("nothing came for 24 s"), "{said}");
    // The run's end and its report take some seconds of a busy machine.
    assert!(lasted < Duration::from_secs(45), "told after {lasted:?}");
    far.until_said("was disconnected");
    let run = RunFile::open(&out).expect("a run");
    let names = run.series().expect("series").into_iter().map(|(_, spec)| spec.name);
    assert!(names.into_iter().any(|name| name == "rtt/reflect"));
    until_no_device();
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}

#[test]
fn a_run_that_is_killed_leaves_the_far_end_ready_for_the_next() {
    if !root_or_skip("a_run_that_is_killed_leaves_the_far_end_ready_for_the_next") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let path = |name: &str| directory.path().join(name).display().to_string();
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &path("killed.triptime")),
    );
    signal(&child, Signal::KILL);
    wait(child, &["qualify"]);
    far.until_said("has left");
    let output = qualify(
        &machines,
        &words(directory.path(), NEXT, &secret, &path("next.triptime")),
    );
    let document = json(&output);
    for name in [wakeup(&document), "talk/test"] {
        let series = series(&document, name);
        // Other tests may delay a measuring thread: samples are still due, and some were measured.
        let count = |counter: &str| series[counter].as_u64().unwrap_or_default();
        assert!(
            count("expected") > 400 && count("received") > 20,
            "{name}: {} of {}",
            count("received"),
            count("expected")
        );
    }
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}

#[test]
fn who_has_no_secret_or_another_is_told_what_to_do() {
    if !root_or_skip("who_has_no_secret_or_another_is_told_what_to_do") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, right) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let wrong = secret(directory.path(), "wrong", "0123456789abcdeX");
    let out = directory.path().join("run.triptime").display().to_string();
    let far = FarEnd::start(&machines, &right);
    let refused = |words: &[String]| {
        let output = qualify(&machines, words);
        (output.status.code(), stderr(&output))
    };
    let all = words(directory.path(), STEPS, &wrong, &out);
    let (code, said) = refused(&all);
    assert!(code == Some(3) && said.contains("does not know the secret"), "{said}");
    let without = |names: [&str; 2]| -> Vec<String> {
        let pairs = all.iter().filter(|word| !names.contains(&word.as_str()));
        pairs.cloned().collect()
    };
    let (code, said) = refused(&without(["--secret", &wrong]));
    assert!(code == Some(2) && said.contains("--secret FILE"), "{said}");
    let (code, said) = refused(&without(["--nic", "pb0"]));
    assert!(code == Some(2) && said.contains("--nic IF"), "{said}");
    let output = far.end(Signal::INT);
    assert!(output.status.success());
    let (code, said) = refused(&words(directory.path(), STEPS, &right, &out));
    assert!(
        code == Some(3) && said.contains("start `triptime far IF --listen 192.0.2.2"),
        "{said}"
    );
    assert!(!Path::new(&out).exists(), "nothing was measured");
}

/// Every user of a machine can connect to its loopback interface, so the secret is needed there, too.
#[test]
fn without_a_secret_nothing_listens_or_connects_on_loopback() {
    for words in [
        &["far", "lo"][..],
        &["far", "lo", "--listen", "127.0.0.1:0"],
        &["qualify", "quick", "--nic", "lo", "--far", "127.0.0.1"],
    ] {
        let output = triptime().args(words).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            said.contains("--secret FILE is missing") && said.contains("/dev/urandom"),
            "{words:?}: {said}"
        );
    }
}
