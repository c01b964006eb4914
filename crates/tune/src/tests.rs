use std::fs;
use std::path::Path;

use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};

use super::apply::boot;
use super::journal::{Journal, JournalEntry, JournalError};
use super::operation::Operation;
use super::{Outcome, TunedMachine, actions, apply, undo, undo_behind, undo_forced};
use audit::rule::{Change, built_in};

/// A machine with these files, and its journal.
pub(super) fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, TunedMachine, Journal) {
    let folder = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let place = folder.path().join("root").join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let machine = TunedMachine::at(&folder.path().join("root"));
    let journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
    (folder, machine, journal)
}

fn text(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join("root").join(path.trim_start_matches('/')))
        .expect("a file")
        .trim()
        .to_owned()
}

#[test]
fn what_is_applied_is_undone() {
    let (folder, machine, mut journal) = machine(&[
        ("/proc/sys/a", "950000\n"),
        ("/sys/b", "powersave\n"),
        ("/sys/fs/cgroup/cgroup.procs", ""),
    ]);
    let operations = [
        Operation::write("/proc/sys/a", "-1"),
        Operation::write("/sys/b", "performance"),
        Operation::folder("/sys/fs/cgroup/triptime-rt"),
    ];
    let applied = apply(&machine, &mut journal, "check", &operations).expect("a journal");
    assert!(applied.iter().all(|one| one.outcome == Outcome::Done), "{applied:?}");
    assert_eq!(
        (text(folder.path(), "/proc/sys/a"), text(folder.path(), "/sys/b")),
        ("-1".into(), "performance".into())
    );
    let again = apply(&machine, &mut journal, "check", &operations).expect("a journal");
    assert!(again.iter().all(|one| one.outcome == Outcome::Unchanged), "{again:?}");
    let undone = undo(&machine, &mut journal).expect("a journal");
    assert!(undone.iter().all(|one| one.outcome == Outcome::Done), "{undone:?}");
    assert_eq!(
        (text(folder.path(), "/proc/sys/a"), text(folder.path(), "/sys/b")),
        ("950000".into(), "powersave".into())
    );
    assert!(!folder.path().join("root/sys/fs/cgroup/triptime-rt").exists());
    assert!(!folder.path().join("tune.journal").exists(), "nothing is left to undo");
}

#[test]
fn changes_before_a_mark_stay_when_those_behind_it_are_undone() {
    let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "1\n"), ("/proc/sys/b", "1\n")]);
    apply(&machine, &mut journal, "first", &[Operation::write("/proc/sys/a", "2")]).expect("a journal");
    let mark = journal.count().expect("a journal");
    apply(
        &machine,
        &mut journal,
        "second",
        &[
            Operation::write("/proc/sys/b", "2"),
            Operation::write("/proc/sys/a", "3"),
        ],
    )
    .expect("a journal");
    undo_behind(&machine, &mut journal, mark).expect("a journal");
    assert_eq!(
        (text(folder.path(), "/proc/sys/a"), text(folder.path(), "/proc/sys/b")),
        ("2".into(), "1".into())
    );
    drop(journal);
    let mut journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
    undo(&machine, &mut journal).expect("a journal");
    assert_eq!(text(folder.path(), "/proc/sys/a"), "1");
}

#[test]
fn who_waits_for_a_journal_that_is_taken_away_gets_one_that_is_on_the_disk() {
    let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "1\n")]);
    let path = folder.path().join("tune.journal");
    apply(&machine, &mut journal, "check", &[Operation::write("/proc/sys/a", "2")]).expect("a journal");
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || Journal::open(&path)
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    undo(&machine, &mut journal).expect("a journal");
    drop(journal);
    let mut second = waiting.join().expect("no panic").expect("a journal");
    apply(&machine, &mut second, "check", &[Operation::write("/proc/sys/a", "3")]).expect("a journal");
    assert!(fs::read_to_string(&path).expect("on the disk").contains("/proc/sys/a"));
}

#[test]
fn a_target_that_is_missing_is_refused_and_not_made() {
    let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "1\n")]);
    let applied = apply(
        &machine,
        &mut journal,
        "check",
        &[Operation::write("/proc/sys/none", "1")],
    )
    .expect("a journal");
    assert!(matches!(applied[0].outcome, Outcome::Refused(_)), "{applied:?}");
    assert!(!folder.path().join("root/proc/sys/none").exists());
}

#[test]
fn a_cut_line_of_a_crash_is_dropped_and_the_rest_is_undone() {
    let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "1\n")]);
    apply(&machine, &mut journal, "check", &[Operation::write("/proc/sys/a", "2")]).expect("a journal");
    drop(journal);
    let path = folder.path().join("tune.journal");
    let mut whole = fs::read_to_string(&path).expect("a journal");
    whole.push_str("{\"check\":\"x\",\"targ");
    fs::write(&path, whole).expect("a file");
    let mut journal = Journal::open(&path).expect("a journal");
    undo(&machine, &mut journal).expect("a journal");
    assert_eq!(text(folder.path(), "/proc/sys/a"), "1");
}

#[test]
fn two_at_once_are_refused() {
    let (folder, _, journal) = machine(&[]);
    let second = Journal::open(&folder.path().join("tune.journal"));
    assert!(matches!(second, Err(JournalError::Busy { .. })), "{second:?}");
    drop(journal);
}

#[test]
fn a_journal_of_others_is_not_taken_for_ours() {
    let (folder, _, journal) = machine(&[]);
    drop(journal);
    let path = folder.path().join("tune.journal");
    for foreign in ["not ours\n", "not ours, and no end of line", "{}\n"] {
        fs::write(&path, foreign).expect("a file");
        let error = Journal::open(&path).expect_err("not ours").to_string();
        assert!(error.contains("line 1"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("kept"), foreign);
    }
}

/// The value that was set is 2; somebody changed it to 7.
fn set_by_somebody_else() -> (tempfile::TempDir, TunedMachine, Journal) {
    let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "1\n"), ("/sys/b", "1\n")]);
    let operations = [Operation::write("/proc/sys/a", "2"), Operation::write("/sys/b", "2")];
    apply(&machine, &mut journal, "check", &operations).expect("a journal");
    fs::write(folder.path().join("root/proc/sys/a"), "7\n").expect("a file");
    (folder, machine, journal)
}

#[test]
fn what_somebody_else_has_set_since_is_left_and_kept_in_the_journal() {
    let (folder, machine, mut journal) = set_by_somebody_else();
    let undone = undo(&machine, &mut journal).expect("a journal");
    let told: Vec<_> = undone
        .iter()
        .map(|one| (one.before.as_deref(), one.after.as_str(), &one.outcome))
        .collect();
    let foreign = Outcome::Foreign("2".to_owned());
    assert_eq!(told, [(Some("2"), "1", &Outcome::Done), (Some("7"), "1", &foreign)]);
    assert_eq!(
        (text(folder.path(), "/proc/sys/a"), text(folder.path(), "/sys/b")),
        ("7".into(), "1".into())
    );
    drop(journal);
    let mut journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
    let again = undo(&machine, &mut journal).expect("a journal");
    assert_eq!(again.len(), 1, "{again:?}");
    let forced = undo_forced(&machine, &mut journal).expect("a journal");
    assert_eq!(
        (forced[0].before.as_deref(), &forced[0].outcome),
        (Some("7"), &Outcome::Done)
    );
    assert_eq!(text(folder.path(), "/proc/sys/a"), "1");
    assert!(!folder.path().join("tune.journal").exists());
}

#[test]
fn a_partition_that_the_kernel_calls_invalid_is_still_ours() {
    let file = "/sys/fs/cgroup/triptime-rt/cpuset.cpus.partition";
    let (folder, machine, mut journal) = machine(&[(file, "member\n")]);
    apply(&machine, &mut journal, "check", &[Operation::write(file, "isolated")]).expect("a journal");
    fs::write(
        folder.path().join("root").join(&file[1..]),
        "isolated invalid (no CPU is left)\n",
    )
    .expect("a file");
    let undone = undo(&machine, &mut journal).expect("a journal");
    assert_eq!(undone[0].outcome, Outcome::Done);
    assert_eq!(text(folder.path(), file), "member");
}

#[test]
fn only_settings_of_the_kernel_and_groups_of_our_own_are_changed() {
    let (folder, machine, mut journal) = machine(&[
        ("/etc/passwd", "2\n"),
        ("/proc/1/root/etc/passwd", "2\n"),
        ("/proc/sys/a", "1\n"),
        ("/sys/fs/cgroup/cgroup.procs", ""),
        ("/home/cgroup.procs", ""),
        ("/cg/cgroup.procs", ""),
        ("/proc/self/mountinfo", "30 24 0:26 / /cg rw - cgroup2 cgroup2 rw\n"),
    ]);
    let root = folder.path().join("root");
    std::os::unix::fs::symlink("../../etc/passwd", root.join("proc/sys/link")).expect("a link");
    for place in ["sys/fs/cgroup/relay", "home/triptime-rt"] {
        fs::create_dir(root.join(place)).expect("a folder");
    }
    let strange = [
        Operation::write("/etc/passwd", "x"),
        Operation::write("/proc/sys/../../etc/passwd", "x"),
        Operation::write("/proc/1/root/etc/passwd", "x"),
        Operation::write("/proc/sys/link", "x"),
        Operation::folder("/sys/fs/cgroup/relay"),
        Operation::folder("/home/triptime-x"),
        Operation::folder("/sys/fs/cgroup/../../../home/triptime-rt"),
    ];
    for operation in &strange {
        let refused = apply(&machine, &mut journal, "check", std::slice::from_ref(operation)).expect("a journal");
        assert!(matches!(refused[0].outcome, Outcome::Refused(_)), "{refused:?}");
        // A journal that contains it.
        let before = (!operation.to_string().starts_with("mkdir")).then(|| "1".to_owned());
        let (check, boot) = ("check".to_owned(), boot());
        let (target, after) = (operation.target.clone(), "2".to_owned());
        journal
            .add(&JournalEntry {
                check,
                target,
                before,
                after,
                boot,
            })
            .expect("a journal");
        let undone = undo(&machine, &mut journal).expect("a journal");
        assert!(matches!(undone[0].outcome, Outcome::Stuck(_)), "{undone:?}");
        journal.keep(&[]).expect("a journal");
        journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
    }
    assert_eq!(text(folder.path(), "/etc/passwd"), "2");
    assert!(root.join("sys/fs/cgroup/relay").is_dir() && root.join("home/triptime-rt").is_dir());
    let own = [
        Operation::folder("/cg/triptime-rt"),
        Operation::folder("/sys/fs/cgroup/triptime-rt"),
    ];
    let done = apply(&machine, &mut journal, "check", &own).expect("a journal");
    assert!(done.iter().all(|one| one.outcome == Outcome::Done), "{done:?}");
}

#[test]
fn a_journal_that_others_may_have_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let refused = |name: &str, why: &str| {
        let error = Journal::open(&at(name)).expect_err("not ours").to_string();
        assert!(error.contains(why), "{name}: {error}");
    };
    for mode in [0o620, 0o602, 0o666] {
        fs::write(at("open"), "").expect("a file");
        fs::set_permissions(at("open"), fs::Permissions::from_mode(mode)).expect("a mode");
        refused("open", "may write it");
    }
    fs::write(at("named"), "").expect("a file");
    fs::hard_link(at("named"), at("other")).expect("a link");
    refused("other", "another name");
    for (link, target) in [("link", "named"), ("nowhere", "none")] {
        std::os::unix::fs::symlink(at(target), at(link)).expect("a link");
        refused(link, "symbolic link");
    }
    assert!(!at("none").exists());
    fs::write(at("short"), "{").expect("a file");
    refused("short", "line 1");
    assert_eq!(fs::read_to_string(at("short")).expect("a file"), "{");
}

#[test]
fn the_new_journal_follows_no_link_and_an_empty_one_stays() {
    let (folder, machine, mut journal) = set_by_somebody_else();
    let (beside, other) = (folder.path().join("tune.journal.new"), folder.path().join("other"));
    fs::write(&other, "mine\n").expect("a file");
    std::os::unix::fs::symlink(&other, &beside).expect("a link");
    assert!(undo(&machine, &mut journal).is_err());
    assert_eq!(fs::read_to_string(&other).expect("a file"), "mine\n");
    fs::remove_file(&beside).expect("the link");
    fs::write(&beside, "{\"check\":\"left by a crash").expect("a file");
    undo(&machine, &mut journal).expect("a journal");
    assert!(!beside.exists());
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("a file");
    undo(&machine, &mut Journal::open(&empty).expect("a journal")).expect("a journal");
    assert!(empty.exists());
}

#[test]
fn actions_and_tools_that_rules_name_exist() {
    for (group, rules) in built_in() {
        for rule in rules.rules {
            let remedy = &rule.remedy;
            if let Some(action) = &remedy.action {
                assert!(actions::exists(action), "{group}, {}: no action {action}", rule.id);
            }
            for kind in remedy.emit.keys() {
                assert!(
                    super::KINDS.contains(&kind.as_str()),
                    "{group}, {}: no tool {kind}",
                    rule.id
                );
            }
            let changes_now = !remedy.write.is_empty() || remedy.action.is_some();
            // A lasting change needs a boot, but a temporary one is possible until then.
            let until_then = remedy.change == Change::Reboot && remedy.write.is_empty();
            let says_so = matches!(remedy.change, Change::SafeNow | Change::Disruptive) || until_then;
            assert!(
                !changes_now || says_so,
                "{}: writes, and says {:?}",
                rule.id,
                remedy.change
            );
        }
    }
}

#[test]
fn above_settings_of_other_tools_stands_what_can_go_wrong() {
    for (group, rules) in built_in() {
        for rule in &rules.rules {
            let notes = rule.notes();
            assert_eq!(
                notes.len(),
                1 + usize::from(!rule.remedy.risk.is_empty()),
                "{group}, {}",
                rule.id
            );
            // An XML comment contains no two adjacent hyphens, and a comment of any other tool has one line.
            let plain = |note: &String| !note.contains("--") && !note.contains('\n');
            assert!(notes.iter().all(plain), "{group}, {}: {notes:?}", rule.id);
        }
    }
}

fn values() -> impl Strategy<Value = Vec<(usize, String)>> {
    prop::collection::vec((0usize..3, "[0-9a-z]{1,6}"), 1..12)
}

proptest! {
    // Each case writes to the disk and waits for it.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any number of changes, and any place of a crash, undo restores every value.
    #[test]
    fn undo_leaves_every_value_as_before(changes in values(), cut in 0usize..12) {
        let paths = ["/proc/sys/a", "/proc/sys/b", "/sys/c"];
        let (folder, machine, mut journal) = machine(&[("/proc/sys/a", "7"), ("/proc/sys/b", "x"), ("/sys/c", "on")]);
        for (path, value) in changes.iter().take(cut) {
            apply(&machine, &mut journal, "check", &[Operation::write(paths[*path], value.clone())]).expect("a journal");
        }
        drop(journal);
        let mut journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
        undo(&machine, &mut journal).expect("a journal");
        assert_eq!(text(folder.path(), "/proc/sys/a"), "7");
        assert_eq!(text(folder.path(), "/proc/sys/b"), "x");
        assert_eq!(text(folder.path(), "/sys/c"), "on");
    }
}
