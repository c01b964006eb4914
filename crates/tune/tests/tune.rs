//! Changes of this machine and their undoing, on objects made for the test: a thread, interfaces of a namespace, a control group.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use sys::link;
use sys::netns::NetNs;
use sys::thread::{affinity_of, allowed_cpus, policy_of};
use tune::{Applied, Journal, Operation, Outcome, Target, ThreadId, TunedMachine, apply, undo};

/// A thread that only waits, and ends when this value is dropped.
struct Waiting {
    id: ThreadId,
    _end: mpsc::Sender<()>,
}

fn waiting() -> Waiting {
    let (said, heard) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        said.send(sys::thread::number()).expect("heard");
        let _ = ended.recv();
    });
    let tid = heard.recv().expect("said").cast_unsigned();
    let stat = fs::read_to_string(format!("/proc/{tid}/stat")).expect("it lives");
    let after_name = stat.rsplit_once(") ").expect("a name").1;
    let started = after_name
        .split_whitespace()
        .nth(19)
        .expect("a start")
        .parse()
        .expect("ticks");
    Waiting {
        id: ThreadId {
            tid,
            started,
            name: "waiting".to_owned(),
        },
        _end: end,
    }
}

impl Waiting {
    fn state(&self) -> (String, String) {
        let cpus = affinity_of(self.id.tid).expect("it lives");
        (cpus.to_string(), policy_of(self.id.tid).expect("it lives"))
    }

    fn on(&self, cpus: &str) -> Operation {
        set(Target::Thread(self.id.clone()), cpus)
    }

    fn with(&self, policy: &str) -> Operation {
        set(Target::Priority(self.id.clone()), policy)
    }
}

fn set(target: Target, value: &str) -> Operation {
    Operation {
        target,
        value: value.to_owned(),
    }
}

fn journal(folder: &Path) -> Journal {
    Journal::open(&folder.join("tune.journal")).expect("a journal")
}

/// Applies and undoes; every change must be made, and made again.
fn there_and_back(operations: &[Operation], look: impl Fn()) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = journal(folder.path());
    let applied = apply(&TunedMachine::live(), &mut journal, "test", operations).expect("a journal");
    assert!(applied.iter().all(is_done), "{applied:?}");
    look();
    let undone = undo(&TunedMachine::live(), &mut journal).expect("a journal");
    assert!(undone.iter().all(is_done), "{undone:?}");
}

fn is_done(applied: &Applied) -> bool {
    applied.outcome == Outcome::Done
}

fn is_root(test: &str) -> bool {
    let root = effective_uid() == Some(0);
    if !root {
        testing::skip(test, "needs root");
    }
    root
}

fn effective_uid() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_thread_gets_its_cpus_and_its_policy_back() {
    if !is_root("a_thread_gets_its_cpus_and_its_policy_back") {
        return;
    }
    let thread = waiting();
    let before = thread.state();
    let cpu = allowed_cpus().first().expect("a CPU").to_string();
    there_and_back(&[thread.on(&cpu), thread.with("batch, nice 7")], || {
        assert_eq!(thread.state(), (cpu.clone(), "batch, nice 7".to_owned()));
    });
    assert_eq!(thread.state(), before);
    let folder = tempfile::tempdir().expect("a folder");
    let real_time = apply(
        &TunedMachine::live(),
        &mut journal(folder.path()),
        "test",
        &[thread.with("fifo:1")],
    );
    match &real_time.expect("a journal")[0].outcome {
        Outcome::Done => assert_eq!(thread.state().1, "fifo:1"),
        Outcome::Refused(why) => assert!(why.contains("sched_setattr"), "{why}"),
        other => panic!("{other:?}"),
    }
    undo(&TunedMachine::live(), &mut journal(folder.path())).expect("a journal");
    assert_eq!(thread.state(), before);
}

#[test]
fn a_thread_that_ended_needs_nothing_and_its_number_is_not_taken_for_it() {
    let thread = waiting();
    let folder = tempfile::tempdir().expect("a folder");
    let mut journal = journal(folder.path());
    let other = ThreadId {
        started: thread.id.started + 1,
        ..thread.id.clone()
    };
    let applied = apply(
        &TunedMachine::live(),
        &mut journal,
        "test",
        &[set(Target::Priority(other), "batch")],
    );
    let outcome = &applied.expect("a journal")[0].outcome;
    assert!(
        matches!(outcome, Outcome::Refused(why) if why.contains("ended")),
        "{outcome:?}"
    );
    let applied = apply(&TunedMachine::live(), &mut journal, "test", &[thread.with("batch")]).expect("a journal");
    assert!(is_done(&applied[0]), "{applied:?}");
    let place = PathBuf::from(format!("/proc/self/task/{}", thread.id.tid));
    drop(thread);
    wait_for("the thread's end", || !place.exists());
    let undone = undo(&TunedMachine::live(), &mut journal).expect("a journal");
    assert_eq!(undone[0].outcome, Outcome::Unchanged);
}

#[test]
fn settings_of_interfaces_and_their_way_back() {
    let test = "settings_of_interfaces_and_their_way_back";
    if !is_root(test) {
        return;
    }
    let (own, other) = (
        NetNs::create().expect("a namespace"),
        NetNs::create().expect("a namespace"),
    );
    own.run(|| {
        link::add_veth("act0", "act1", &other).expect("a pair");
        link::add_macvlan("mac0", "act0", &own).expect("a macvlan");
        let many = sys::ethtool::read("act0")
            .expect("it is there")
            .channels
            .expect("a pair says it");
        if many.rx_max.unwrap_or(0) > 1 {
            there_and_back(&[Operation::nic("act0", "rx-channels", 2)], || {
                let now = sys::ethtool::read("act0")
                    .expect("it is there")
                    .channels
                    .expect("a pair says it");
                assert_eq!(now.rx, Some(2));
            });
        } else {
            testing::skip(test, "one CPU: a pair has one queue");
        }
        let queue = [
            Operation::nic("mac0", "broadcast-limit", -1),
            Operation::nic("mac0", "broadcast-queue", 10_000),
        ];
        let read = || link::macvlans().expect("a list").remove(0);
        let before = read();
        there_and_back(&queue, || {
            assert_eq!((read().queued_above, read().queue_frames), (Some(-1), Some(10_000)));
        });
        assert_eq!(read(), before);
        let folder = tempfile::tempdir().expect("a folder");
        let strange = [
            Operation::nic("act0", "eee", 0),
            Operation::nic("act0", "rx-ring", 64),
            Operation::nic("act0", "broadcast-limit", -1),
            Operation::nic("none", "eee", 0),
        ];
        let applied = apply(&TunedMachine::live(), &mut journal(folder.path()), "test", &strange).expect("a journal");
        let refused = |one: &Applied| matches!(one.outcome, Outcome::Refused(_));
        assert!(applied.iter().all(refused), "{applied:?}");
    })
    .expect("in the namespace");
}

#[test]
fn an_interface_that_was_removed_has_no_setting_to_put_back() {
    if !is_root("an_interface_that_was_removed_has_no_setting_to_put_back") {
        return;
    }
    let own = NetNs::create().expect("a namespace");
    own.run(|| {
        link::add_veth("act0", "act1", &own).expect("a pair");
        link::add_macvlan("mac0", "act0", &own).expect("a macvlan");
        let folder = tempfile::tempdir().expect("a folder");
        let mut journal = journal(folder.path());
        let change = [Operation::nic("mac0", "broadcast-limit", 5)];
        let applied = apply(&TunedMachine::live(), &mut journal, "test", &change).expect("a journal");
        assert!(is_done(&applied[0]), "{applied:?}");
        link::delete("mac0").expect("it was there");
        let undone = undo(&TunedMachine::live(), &mut journal).expect("a journal");
        assert_eq!(undone[0].outcome, Outcome::Unchanged);
        assert!(!folder.path().join("tune.journal").exists(), "nothing is left to undo");
    })
    .expect("in the namespace");
}

#[test]
fn a_setting_of_the_kernel_and_a_group_come_and_go() {
    let test = "a_setting_of_the_kernel_and_a_group_come_and_go";
    if !is_root(test) {
        return;
    }
    let path = "/proc/sys/kernel/timer_migration";
    match fs::read_to_string(path) {
        Ok(before) => {
            let other = if before.trim() == "1" { "0" } else { "1" };
            there_and_back(&[Operation::write(path, other)], || {
                assert_eq!(fs::read_to_string(path).expect("a setting").trim(), other);
            });
            assert_eq!(fs::read_to_string(path).expect("a setting"), before);
        }
        Err(error) => testing::skip(test, &format!("{path}: {error}")),
    }
    let Some(group) = group() else {
        testing::skip(test, "no control groups with CPU sets in which a group may be made");
        return;
    };
    let cpu = allowed_cpus().first().expect("a CPU").to_string();
    let cpus = format!("{group}/cpuset.cpus");
    there_and_back(&[Operation::folder(&group), Operation::write(&cpus, &cpu)], || {
        assert_eq!(fs::read_to_string(&cpus).expect("a group").trim(), cpu);
    });
    assert!(!Path::new(&group).exists());
}

/// Place for a group of triptime's own, if one with CPU sets can be made.
fn group() -> Option<String> {
    let name = format!("triptime-test-{}", std::process::id());
    let places = ["/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"].map(|root| format!("{root}/{name}"));
    places.into_iter().find(|group| {
        let made = fs::create_dir(group).is_ok();
        let has_cpus = Path::new(&format!("{group}/cpuset.cpus")).exists();
        made && fs::remove_dir(group).is_ok() && has_cpus
    })
}

/// Set for the process to be killed: the folder of its journal, and the thread that it changes.
const KILLED: &str = "TRIPTIME_TEST_KILLED";

/// The process that is killed half-way. Run alone, this test does the same with a thread of its own, to the end.
#[test]
fn many_changes_of_one_thread() {
    let own;
    let (folder, thread) = match std::env::var(KILLED) {
        Ok(told) => {
            let (folder, thread) = told.split_once('|').expect("a folder and a thread");
            (PathBuf::from(folder), serde_json::from_str(thread).expect("a thread"))
        }
        Err(_) => {
            own = (tempfile::tempdir().expect("a folder"), waiting());
            (own.0.path().to_owned(), own.1.id.clone())
        }
    };
    let cpus = allowed_cpus();
    let (first, all) = (cpus.first().expect("a CPU").to_string(), cpus.to_string());
    let policy = policy_of(thread.tid);
    let mut journal = journal(&folder);
    for round in 0..40 {
        let place = if round % 2 == 0 { &first } else { &all };
        let operations = [
            set(Target::Thread(thread.clone()), place),
            set(
                Target::Priority(thread.clone()),
                if round % 2 == 0 { "batch" } else { "other" },
            ),
        ];
        let applied = apply(&TunedMachine::live(), &mut journal, "test", &operations).expect("a journal");
        assert!(
            applied
                .iter()
                .all(|one| matches!(one.outcome, Outcome::Done | Outcome::Unchanged)),
            "{applied:?}"
        );
        if std::env::var(KILLED).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    if std::env::var(KILLED).is_err() {
        undo(&TunedMachine::live(), &mut journal).expect("a journal");
        let now = affinity_of(thread.tid).expect("it lives").to_string();
        assert_eq!((now, policy_of(thread.tid)), (all, policy));
    }
}

#[test]
fn killed_half_way_everything_is_as_before_after_undo() {
    if !is_root("killed_half_way_everything_is_as_before_after_undo") {
        return;
    }
    let thread = waiting();
    let before = thread.state();
    for lines in [1, 2, 3, 8, 17] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = child(folder.path(), &thread.id);
        let path = folder.path().join("tune.journal");
        let written = || fs::read_to_string(&path).map_or(0, |text| text.lines().count());
        wait_for("the changes", || written() >= lines);
        child.kill().expect("it runs");
        assert!(
            !child.wait().expect("it ended").success(),
            "it was to be killed before its end"
        );
        let undone = undo(&TunedMachine::live(), &mut journal(folder.path())).expect("a journal");
        let is_back = |one: &Applied| matches!(one.outcome, Outcome::Done | Outcome::Unchanged);
        assert!(undone.len() >= lines && undone.iter().all(is_back), "{undone:?}");
        assert_eq!(thread.state(), before, "after {lines} lines");
        assert!(!path.exists(), "nothing is left to undo");
    }
}

fn child(folder: &Path, thread: &ThreadId) -> Child {
    let told = format!("{}|{}", folder.display(), serde_json::to_string(thread).expect("JSON"));
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "many_changes_of_one_thread"])
        .env(KILLED, told)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

fn wait_for(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} did not come in 30 s");
        std::thread::sleep(Duration::from_millis(1));
    }
}
