//! The watch over the clock, with real ptp4l daemons on a veth pair.
//!
//! All daemons share this machine's clock, and none may steer it: they run without CAP_SYS_TIME. Their servos lock nevertheless,
//! since the clocks that they compare are the same.

mod common;

use common::{Recorded, Run, can_run};
use model::{Event, EventKind};
use probes::ProbeError;
use probes::timesync::{TimeSync, TimeSyncConfig};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::link;
use sys::netns::NetNs;
use tempfile::TempDir;

const LOOK: Duration = Duration::from_millis(125);

/// Minimum number of distances in a run that watched a good clock.
const ENOUGH: u64 = 8;

/// Neither the usual domain nor the usual transportSpecific, so that the probe has to find both.
const ELSEWHERE: &str = "domainNumber 3\ntransportSpecific 1";

/// A running ptp4l.
struct Daemon(Child);

impl Daemon {
    fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(done.expect("kill runs").success());
    }

    fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("waited for");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two namespaces and a veth pair, `p0` to `p1`.
struct Bed {
    master: NetNs,
    slave: NetNs,
    directory: TempDir,
}

impl Bed {
    fn build() -> Self {
        let (master, slave) = (NetNs::create().expect("made"), NetNs::create().expect("made"));
        let made = master.run(|| {
            link::add_veth("p0", "p1", &slave)?;
            link::set_up("p0")
        });
        made.expect("a thread").expect("a veth pair");
        slave.run(|| link::set_up("p1")).expect("a thread").expect("up");
        let directory = tempfile::tempdir().expect("a directory");
        Self {
            master,
            slave,
            directory,
        }
    }

    fn socket(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn start(&self, namespace: &NetNs, interface: &str, name: &str, options: &str) -> Daemon {
        let config = self.socket(&format!("{name}.cfg"));
        let socket = self.socket(name);
        let text = format!(
            "[global]\ntime_stamping software\nnetwork_transport L2\nlogSyncInterval -3\nlogAnnounceInterval -2\n\
             logMinDelayReqInterval -3\nclock_servo linreg\nuds_address {}\n{options}\n",
            socket.display()
        );
        std::fs::write(&config, text).expect("its configuration");
        let log = std::fs::File::create(self.socket(&format!("{name}.log"))).expect("its log");
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set", "-sys_time", "--inh-caps", "-sys_time"])
            .args(["ptp4l", "-m", "-q", "-i", interface, "-f"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null());
        let child = namespace
            .run(|| command.spawn())
            .expect("a thread")
            .expect("ptp4l starts");
        common::wait_until(&format!("socket of {name}"), || socket.exists());
        Daemon(child)
    }

    fn master(&self) -> Daemon {
        self.start(&self.master, "p0", "master", ELSEWHERE)
    }

    fn slave(&self) -> Daemon {
        self.start(&self.slave, "p1", "slave", &format!("{ELSEWHERE}\nslaveOnly 1"))
    }

    fn config(&self) -> TimeSyncConfig {
        TimeSyncConfig {
            socket: Some(self.socket("slave")),
            required: true,
            interval_ns: 125_000_000,
            limit_ns: 1_000_000,
            ..TimeSyncConfig::default()
        }
    }
}

fn can_run_ptp(test: &str) -> bool {
    if Command::new("ptp4l").arg("-v").output().is_err() {
        testing::skip(test, "ptp4l is missing: install linuxptp");
        return false;
    }
    can_run(test)
}

/// Waits until a separate watch finds the clock good: then the daemons have settled.
fn wait_until_good(config: &TimeSyncConfig) {
    common::wait_until("a clock that is good", || {
        let mut run = Run::start();
        // A daemon that is held up does not answer in time.
        let Ok(sync) = TimeSync::start(config, &mut run.recorder) else {
            return false;
        };
        sync.stop();
        let recorded = run.finish();
        events_of(&recorded)
            .iter()
            .any(|event| event.kind == EventKind::ClockGood)
    });
}

/// Waits until the current run has reported this.
fn wait_until_told(run: &Run, kind: EventKind, part: &str) {
    common::wait_until(part, || {
        let events = run.so_far().events().expect("events");
        events
            .iter()
            .any(|event| event.kind == kind && event.text.contains(part))
    });
}

/// Waits until the current run reports a good clock.
fn wait_until_trusted(run: &Run) {
    common::wait_until("a run that trusts the clock", || {
        let events = run.so_far().events().expect("events");
        let trust = events.iter().rev().map(|event| event.kind).find(is_trust);
        trust == Some(EventKind::ClockGood)
    });
}

/// Every event, in order of time.
fn events_of(recorded: &Recorded) -> Vec<Event> {
    recorded.file.events().expect("events")
}

/// The largest sample of a series.
fn max_of(recorded: &Recorded, name: &str) -> Option<i64> {
    recorded.file.totals(recorded.id(name)).expect("totals").max_ns
}

/// Texts of the events of a kind, in order of time.
fn texts(recorded: &Recorded, kind: EventKind) -> Vec<String> {
    let events = events_of(recorded);
    let of_kind = events.into_iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.text).collect()
}

/// Doubts and the events that ended them, in order of time.
fn trust(recorded: &Recorded) -> Vec<EventKind> {
    let events = events_of(recorded);
    events.into_iter().map(|event| event.kind).filter(is_trust).collect()
}

fn is_trust(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ClockDoubt | EventKind::ClockGood)
}

/// Number of our sockets in the daemons' directory.
fn left_behind(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).expect("the directory").flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("triptime"))
        .count()
}

#[test]
fn a_master_that_dies_and_comes_back_is_a_doubt_with_an_end() {
    if !can_run_ptp("a_master_that_dies_and_comes_back_is_a_doubt_with_an_end") {
        return;
    }
    let bed = Bed::build();
    let (master, _slave) = (bed.master(), bed.slave());
    let config = bed.config();
    wait_until_good(&config);
    let mut run = Run::start();
    let sync = TimeSync::start(&config, &mut run.recorder).expect("a ptp4l that answers");
    wait_until_trusted(&run);
    std::thread::sleep(LOOK * 8);
    master.kill();
    wait_until_told(&run, EventKind::ClockDoubt, "follows no master");
    std::thread::sleep(LOOK * 8);
    let _master = bed.master();
    wait_until_trusted(&run);
    common::wait_until("enough distances from the master", || {
        let file = run.so_far();
        let series = file.series().expect("series");
        let offset = series.iter().find(|(_, spec)| spec.name == "clock/ptp-offset");
        offset.is_some_and(|(id, _)| file.totals(*id).expect("totals").counters.received >= ENOUGH)
    });
    sync.stop();
    assert_eq!(left_behind(bed.directory.path()), 0);
    let recorded = run.finish();
    let kinds = trust(&recorded);
    // A stall of this machine can unlock the servo at any time, so further doubts are no error.
    let good_again = [EventKind::ClockGood, EventKind::ClockDoubt, EventKind::ClockGood];
    let mut left = kinds.iter();
    let told = good_again.iter().all(|kind| left.any(|other| other == kind));
    assert!(told, "{:#?}", events_of(&recorded));
    let doubts = texts(&recorded, EventKind::ClockDoubt);
    assert!(
        doubts.iter().any(|text| text.contains("follows no master")),
        "{doubts:?}"
    );
    let told = texts(&recorded, EventKind::TimeSync);
    for part in ["to LISTENING", "to SLAVE", "this clock minus its master"] {
        assert!(told.iter().any(|text| text.contains(part)), "{part}: {told:#?}");
    }
    let offsets = recorded.counters("clock/ptp-offset");
    assert!(offsets.clipped == 0 && offsets.lost > 0, "{offsets:?}");
    assert!(recorded.counters("clock/ptp-delay").received >= ENOUGH);
}

#[test]
fn another_master_with_another_time_is_seen_with_its_distance() {
    if !can_run_ptp("another_master_with_another_time_is_seen_with_its_distance") {
        return;
    }
    let bed = Bed::build();
    let (_master, _slave) = (bed.master(), bed.slave());
    let config = bed.config();
    wait_until_good(&config);
    let mut run = Run::start();
    let sync = TimeSync::start(&config, &mut run.recorder).expect("a ptp4l that answers");
    std::thread::sleep(LOOK * 8);
    // A better clock, whose Sync messages claim a departure 40 ms after the real one.
    let options = "priority1 10\nclockIdentity 020304.fffe.050607\negressLatency 40000000";
    let _better = bed.start(&bed.master, "p0", "better", &format!("{ELSEWHERE}\n{options}"));
    std::thread::sleep(Duration::from_secs(4));
    sync.stop();
    let recorded = run.finish();
    let events = events_of(&recorded);
    assert!(trust(&recorded).contains(&EventKind::ClockGood), "{events:#?}");
    assert_eq!(trust(&recorded).last(), Some(&EventKind::ClockDoubt), "{events:#?}");
    let told = texts(&recorded, EventKind::TimeSync);
    assert!(
        told.iter().any(|text| text.ends_with("to 020304.fffe.050607")),
        "{told:#?}"
    );
    let worst = max_of(&recorded, "clock/ptp-offset").expect("measured");
    assert!(worst > 10_000_000, "{worst} ns: {events:#?}");
}

#[test]
fn a_daemon_that_hangs_or_ends_is_told_apart_from_a_good_one() {
    if !can_run_ptp("a_daemon_that_hangs_or_ends_is_told_apart_from_a_good_one") {
        return;
    }
    let bed = Bed::build();
    let (_master, slave) = (bed.master(), bed.slave());
    let config = bed.config();
    wait_until_good(&config);
    let mut run = Run::start();
    let sync = TimeSync::start(&config, &mut run.recorder).expect("a ptp4l that answers");
    wait_until_trusted(&run);
    slave.signal("-STOP");
    wait_until_told(&run, EventKind::ClockDoubt, "no answer from ptp4l");
    slave.signal("-CONT");
    wait_until_told(&run, EventKind::TimeSync, "ptp4l answers again");
    slave.kill();
    wait_until_told(&run, EventKind::ClockDoubt, "no ptp4l listens there any more");
    sync.stop();
    let recorded = run.finish();
    let events = events_of(&recorded);
    let told = texts(&recorded, EventKind::TimeSync);
    assert!(told.iter().any(|text| text == "ptp4l answers again"), "{events:#?}");
    let doubts = texts(&recorded, EventKind::ClockDoubt);
    assert!(
        doubts.iter().any(|text| text.contains("no answer from ptp4l")),
        "{events:#?}"
    );
    let last = doubts.last().expect("a doubt");
    assert!(last.contains("no ptp4l listens there any more"), "{events:#?}");
    assert_eq!(trust(&recorded).last(), Some(&EventKind::ClockDoubt));
}

#[test]
fn every_port_of_a_boundary_clock_answers() {
    if !can_run_ptp("every_port_of_a_boundary_clock_answers") {
        return;
    }
    let bed = Bed::build();
    let made = bed.slave.run(|| {
        link::add_veth("q0", "q1", &bed.slave)?;
        link::set_up("q0")?;
        link::set_up("q1")
    });
    made.expect("a thread").expect("a second pair");
    let (_master, _boundary) = (
        bed.master(),
        bed.start(&bed.slave, "p1", "slave", &format!("{ELSEWHERE}\npriority1 200\n[q0]")),
    );
    wait_until_good(&bed.config());
    let mut run = Run::start();
    let sync = TimeSync::start(&bed.config(), &mut run.recorder).expect("a ptp4l that answers");
    sync.stop();
    let facts = run.finish().file.facts().expect("facts");
    let value = |name: &str| {
        facts
            .iter()
            .find(|fact| fact.name == name)
            .expect("the fact")
            .value
            .clone()
    };
    assert_eq!(
        value("PTP ports"),
        Ok("1: p1, stamped in software, 2: q0, stamped in software".into())
    );
    assert_eq!(value("PTP profile"), Ok("gPTP (802.1AS)".into()));
    assert!(value("PTP clock of this host").expect("known").contains("domain 3"));
}

#[test]
fn without_a_ptp4l_it_says_where_it_looked() {
    let config = TimeSyncConfig {
        socket: Some("/nowhere/ptp4l".into()),
        required: true,
        ..TimeSyncConfig::default()
    };
    let mut run = Run::start();
    let error = TimeSync::start(&config, &mut run.recorder).expect_err("nothing is there");
    let text = error.to_string();
    assert!(matches!(error, ProbeError::Unsynchronised(_)), "{text}");
    assert!(text.contains("/nowhere/ptp4l") && text.contains("--ptp"), "{text}");
    let sync = TimeSync::start(
        &TimeSyncConfig {
            required: false,
            ..config
        },
        &mut run.recorder,
    );
    sync.expect("it goes on without").stop();
    let recorded = run.finish();
    let told = texts(&recorded, EventKind::TimeSync);
    assert!(
        told.iter().any(|text| text.starts_with("PTP is not watched: no ptp4l")),
        "{told:?}"
    );
}
