//! `triptime tune`: plans, changes with a way back, settings for other tools. The only change on this machine is the default affinity of new
//! interrupts, and it is restored.

mod emitted;
mod readers;
mod started;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{root_or_skip, run, start, stderr, wait};
use testing::Running;

const MASK: &str = "/proc/irq/default_smp_affinity";
const CHECK: &str = "irq-default-affinity";

fn host(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn mask() -> String {
    fs::read_to_string(MASK).expect("the default mask").trim().to_owned()
}

/// Restores the mask, even if a test fails.
struct Restored(String);

impl Drop for Restored {
    fn drop(&mut self) {
        let _ = fs::write(MASK, &self.0);
    }
}

/// Returns the mask to restore, if this machine can be changed: root, and a second CPU.
fn can_change(test: &str) -> Option<Restored> {
    if !root_or_skip(test) {
        return None;
    }
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    if online.trim() == "0" {
        testing::skip(test, "needs two CPUs");
        return None;
    }
    Some(Restored(mask()))
}

/// The last CPU is for real-time work.
fn tune(journal: &Path, more: &[&str]) -> Output {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let words = [
        "tune",
        CHECK,
        "--cpus",
        &last,
        "--observe",
        "0s",
        "--journal",
        text(journal),
    ];
    run(&[&words, more].concat())
}

fn undo(journal: &Path) -> Output {
    run(&["tune", "--undo", "--journal", text(journal)])
}

#[test]
fn a_plan_changes_nothing() {
    let Some(before) = can_change("a_plan_changes_nothing") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let plan = tune(&journal, &["--plan"]);
    assert_eq!(plan.status.code(), Some(0), "{}", stderr(&plan));
    assert!(said(&plan).contains(&format!("{MASK} = ")), "{}", said(&plan));
    assert_eq!(
        said(&plan),
        said(&tune(&journal, &[])),
        "the plan is shown where nothing is said"
    );
    assert_eq!(mask(), before.0);
    assert!(!journal.exists());
}

#[test]
fn what_is_applied_is_undone() {
    let Some(before) = can_change("what_is_applied_is_undone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let applied = tune(&journal, &["--apply"]);
    assert_eq!(applied.status.code(), Some(0), "{}{}", said(&applied), stderr(&applied));
    assert_ne!(mask(), before.0);
    let kept = fs::read_to_string(&journal).expect("the journal");
    assert!(
        kept.contains(MASK) && kept.contains(&format!("\"before\":\"{}\"", before.0)),
        "{kept}"
    );
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(mask(), before.0);
    assert!(!journal.exists(), "nothing is left to undo");
    let again = undo(&journal);
    assert!(
        again.status.success() && said(&again).contains("nothing to undo"),
        "{}",
        said(&again)
    );
}

#[test]
fn what_somebody_else_set_meanwhile_is_left() {
    let Some(before) = can_change("what_somebody_else_set_meanwhile_is_left") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    // Both masks allow interrupts on existing CPUs; neither is the applied one.
    fs::write(MASK, "3").expect("the default mask");
    let ours = {
        let applied = tune(&journal, &["--apply"]);
        assert_eq!(applied.status.code(), Some(0), "{}{}", said(&applied), stderr(&applied));
        mask()
    };
    fs::write(MASK, "2").expect("the default mask");
    let theirs = mask();
    if theirs == ours {
        return testing::skip("what_somebody_else_set_meanwhile_is_left", "the last CPU is not 1");
    }
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(3), "{}", said(&undone));
    assert!(
        said(&undone).contains(&format!("left at {theirs}: somebody else")),
        "{}",
        said(&undone)
    );
    assert_eq!(mask(), theirs);
    let forced = run(&["tune", "--undo", "--force", "--journal", text(&journal)]);
    assert_eq!(forced.status.code(), Some(0), "{}", said(&forced));
    assert!(said(&forced).contains(&format!("{theirs} -> ")), "{}", said(&forced));
    drop(before);
}

/// A process with its own name, which ends with the test.
struct Process(Running);

impl Process {
    /// Its policy's number and priority, and its CPUs (proc_pid_stat(5), fields 40 and 41).
    fn state(&self) -> (String, String) {
        let folder = format!("/proc/{}", self.0.id());
        let stat = fs::read_to_string(format!("{folder}/stat")).expect("it lives");
        let fields: Vec<&str> = stat.rsplit_once(") ").expect("a name").1.split_whitespace().collect();
        let status = fs::read_to_string(format!("{folder}/status")).expect("it lives");
        let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        (
            format!("{}:{}", fields[38], fields[37]),
            cpus.expect("CPUs").trim().to_owned(),
        )
    }
}

#[test]
fn a_planned_task_becomes_what_is_planned_and_gets_back_what_it_was() {
    let Some(_unchanged) = can_change("a_planned_task_becomes_what_is_planned_and_gets_back_what_it_was") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (journal, program) = (directory.path().join("journal"), directory.path().join("tt-planned"));
    fs::copy("/bin/sleep", &program).expect("sleep");
    let task = Process(Running::start(std::process::Command::new(&program).arg("60")));
    let before = task.state();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let told = format!("tt-planned=rr:3@{last}");
    let tune = |more: &[&str]| {
        let words = [
            "tune",
            "rt-task-planned",
            "--cpus",
            &last,
            "--observe",
            "0s",
            "--task",
            &told,
            "--journal",
        ];
        run(&[&words[..], &[text(&journal)], more].concat())
    };
    let plan = said(&tune(&[]));
    assert!(
        plan.contains(&format!("CPUs of thread tt-planned ({}) = {last}", task.0.id())),
        "{plan}"
    );
    assert_eq!(task.state(), before, "a plan changes nothing");
    let applied = tune(&["--apply"]);
    assert_eq!(applied.status.code(), Some(0), "{}{}", said(&applied), stderr(&applied));
    assert_eq!(task.state(), ("2:3".to_owned(), last.clone()));
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(task.state(), before);
}

/// After a kill at any instant, the journal has every change.
#[test]
fn what_was_applied_when_it_was_killed_is_undone() {
    let Some(before) = can_change("what_was_applied_when_it_was_killed_is_undone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("journal");
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("CPUs");
    let last = online.trim().rsplit(['-', ',']).next().expect("a CPU").to_owned();
    let words = [
        "tune",
        CHECK,
        "--cpus",
        &last,
        "--observe",
        "0s",
        "--apply",
        "--journal",
        text(&journal),
    ];
    for spared in 0..5u32 {
        // The journal is empty after a kill before its first line.
        let _ = fs::remove_file(&journal);
        let mut child = start(&words);
        while child.try_wait().expect("our own child").is_none() {
            if journal.exists() {
                for _ in 0..spared * 2000 {
                    std::hint::spin_loop();
                }
                let _ = child.kill();
            }
        }
        wait(child, &words);
        let undone = undo(&journal);
        assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
        assert_eq!(mask(), before.0);
    }
    // Between the line on the disk and the write: the file has a change that was not made, and half of the next line.
    fs::write(
        &journal,
        format!(
            "{{\"check\":\"{CHECK}\",\"target\":{{\"file\":\"{MASK}\"}},\"before\":\"{}\",\"after\":\"1\",\"boot\":\"{}\"}}\n{{\"check\":\"x",
            before.0,
            fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the boot").trim()
        ),
    )
    .expect("a journal");
    let undone = undo(&journal);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    assert_eq!(mask(), before.0);
}

#[test]
fn a_journal_of_others_is_refused_and_left_alone() {
    let Some(before) = can_change("a_journal_of_others_is_refused_and_left_alone") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let journal = directory.path().join("notes");
    for foreign in [
        "my notes\n",
        "my notes, without an end of line",
        "{\"x\":1}\n",
        "{\"check\":\"a\"}\n",
        "\u{feff}\n",
    ] {
        fs::write(&journal, foreign).expect("a file");
        for output in [tune(&journal, &["--apply"]), undo(&journal)] {
            assert_eq!(output.status.code(), Some(3), "{foreign:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
        }
        assert_eq!(fs::read_to_string(&journal).expect("the file"), foreign);
        assert_eq!(mask(), before.0, "{foreign:?}");
    }
}

#[test]
fn a_recorded_machine_is_not_changed() {
    let root = host("debian-untuned").join("root");
    for action in [
        &["--root", text(&root), "--apply"][..],
        &["--root", text(&root), "--undo"],
        &["no-such-check"],
    ] {
        let output = run(&[&["tune"], action].concat());
        assert_eq!(output.status.code(), Some(2), "{action:?}: {}", stderr(&output));
    }
}
