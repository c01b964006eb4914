use std::fs;
use std::path::Path;

use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};

use super::journal::{Journal, JournalError};
use super::operation::Operation;
use super::{Machine, Outcome, actions, apply, undo, undo_behind};
use crate::audit::rule::{Change, built_in};

/// A machine with these files, and its journal.
pub(super) fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine, Journal) {
    let folder = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let place = folder.path().join("root").join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().expect("a parent")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let machine = Machine::at(&folder.path().join("root"));
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
    let (folder, machine, mut journal) = machine(&[("/proc/a", "950000\n"), ("/sys/b", "powersave\n")]);
    let operations = [
        Operation::write("/proc/a", "-1"),
        Operation::write("/sys/b", "performance"),
        Operation::folder("/sys/group"),
    ];
    let applied = apply(&machine, &mut journal, "check", &operations).expect("a journal");
    assert!(applied.iter().all(|one| one.outcome == Outcome::Done), "{applied:?}");
    assert_eq!(
        (text(folder.path(), "/proc/a"), text(folder.path(), "/sys/b")),
        ("-1".into(), "performance".into())
    );
    let again = apply(&machine, &mut journal, "check", &operations).expect("a journal");
    assert!(again.iter().all(|one| one.outcome == Outcome::Unchanged), "{again:?}");
    let undone = undo(&machine, &mut journal).expect("a journal");
    assert!(undone.iter().all(|one| one.outcome == Outcome::Done), "{undone:?}");
    assert_eq!(
        (text(folder.path(), "/proc/a"), text(folder.path(), "/sys/b")),
        ("950000".into(), "powersave".into())
    );
    assert!(!folder.path().join("root/sys/group").exists());
    assert!(!folder.path().join("tune.journal").exists(), "nothing is left to undo");
}

#[test]
fn changes_before_a_mark_stay_when_those_behind_it_are_undone() {
    let (folder, machine, mut journal) = machine(&[("/proc/a", "1\n"), ("/proc/b", "1\n")]);
    apply(&machine, &mut journal, "first", &[Operation::write("/proc/a", "2")]).expect("a journal");
    let mark = journal.count().expect("a journal");
    apply(
        &machine,
        &mut journal,
        "second",
        &[Operation::write("/proc/b", "2"), Operation::write("/proc/a", "3")],
    )
    .expect("a journal");
    undo_behind(&machine, &mut journal, mark).expect("a journal");
    assert_eq!(
        (text(folder.path(), "/proc/a"), text(folder.path(), "/proc/b")),
        ("2".into(), "1".into())
    );
    drop(journal);
    let mut journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
    undo(&machine, &mut journal).expect("a journal");
    assert_eq!(text(folder.path(), "/proc/a"), "1");
}

#[test]
fn who_waits_for_a_journal_that_is_taken_away_gets_one_that_is_on_the_disk() {
    let (folder, machine, mut journal) = machine(&[("/proc/a", "1\n")]);
    let path = folder.path().join("tune.journal");
    apply(&machine, &mut journal, "check", &[Operation::write("/proc/a", "2")]).expect("a journal");
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || Journal::open(&path)
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    undo(&machine, &mut journal).expect("a journal");
    drop(journal);
    let mut second = waiting.join().expect("no panic").expect("a journal");
    apply(&machine, &mut second, "check", &[Operation::write("/proc/a", "3")]).expect("a journal");
    assert!(fs::read_to_string(&path).expect("on the disk").contains("/proc/a"));
}

#[test]
fn a_target_that_is_missing_is_refused_and_not_made() {
    let (folder, machine, mut journal) = machine(&[("/proc/a", "1\n")]);
    let applied = apply(&machine, &mut journal, "check", &[Operation::write("/proc/none", "1")]).expect("a journal");
    assert!(matches!(applied[0].outcome, Outcome::Refused(_)), "{applied:?}");
    assert!(!folder.path().join("root/proc/none").exists());
}

#[test]
fn a_cut_line_of_a_crash_is_dropped_and_the_rest_is_undone() {
    let (folder, machine, mut journal) = machine(&[("/proc/a", "1\n")]);
    apply(&machine, &mut journal, "check", &[Operation::write("/proc/a", "2")]).expect("a journal");
    drop(journal);
    let path = folder.path().join("tune.journal");
    let mut whole = fs::read_to_string(&path).expect("a journal");
    whole.push_str("{\"check\":\"x\",\"targ");
    fs::write(&path, whole).expect("a file");
    let mut journal = Journal::open(&path).expect("a journal");
    undo(&machine, &mut journal).expect("a journal");
    assert_eq!(text(folder.path(), "/proc/a"), "1");
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
            // What lasts needs a boot, and something can be done until then.
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
            // A comment of XML has no two hyphens, and one of any other tool no second line.
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

    /// However many changes, and wherever a crash cuts them off: undo leaves every value as it was.
    #[test]
    fn undo_leaves_every_value_as_before(changes in values(), cut in 0usize..12) {
        let paths = ["/proc/a", "/proc/b", "/sys/c"];
        let (folder, machine, mut journal) = machine(&[("/proc/a", "7"), ("/proc/b", "x"), ("/sys/c", "on")]);
        for (path, value) in changes.iter().take(cut) {
            apply(&machine, &mut journal, "check", &[Operation::write(paths[*path], value.clone())]).expect("a journal");
        }
        drop(journal);
        let mut journal = Journal::open(&folder.path().join("tune.journal")).expect("a journal");
        undo(&machine, &mut journal).expect("a journal");
        assert_eq!(text(folder.path(), "/proc/a"), "7");
        assert_eq!(text(folder.path(), "/proc/b"), "x");
        assert_eq!(text(folder.path(), "/sys/c"), "on");
    }
}
