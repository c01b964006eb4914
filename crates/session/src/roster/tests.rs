use super::process::Life;
use super::{Entry, Largest, Phase, Process, Roster, RunEnd, Standing, stuck_after_ns};

const S: i64 = 1_000_000_000;

fn entry() -> Entry {
    Entry::new("qualify", "/var/lib/week.triptime", 1_700_000_000 * S)
}

fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

#[test]
fn two_at_once_have_two_names_and_both_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let roster = Roster::at(folder.path().join("triptime"));
    assert!(roster.runs().is_empty(), "no folder is no run");
    let first = roster.enter("sub station/x", entry()).expect("entered");
    let second = roster.enter("sub station/x", entry()).expect("entered");
    assert_eq!(first.entry.name, "sub-station-x");
    assert_eq!(second.entry.name, "sub-station-x-2");
    assert_eq!(roster.runs().len(), 2);
    let found = roster.find("sub-station-x-2").expect("found");
    assert_eq!(
        (found.entry.standing(found.owner), found.owner),
        (Standing::Starting, user())
    );
    first.remove();
    assert_eq!(roster.find("sub-station-x"), None);
    for strange in ["", "..", "../passwd", ".hidden", "a/b"] {
        assert_eq!(roster.find(strange), None, "{strange}");
    }
}

#[test]
fn a_file_of_another_process_of_the_same_number_is_of_the_dead_and_blocks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let roster = Roster::at(folder.path());
    let mut planted = entry();
    planted.phase = Phase::Measuring;
    // This process, as if it had started earlier.
    planted.process = Process {
        start_ticks: planted.process.start_ticks - 1,
        ..planted.process
    };
    roster.take_over("substation", planted).expect("written");
    let found = roster.find("substation").expect("found");
    assert!(matches!(found.entry.standing(found.owner), Standing::WithoutAWord(_)));
    assert_eq!(
        roster.enter("substation", entry()).expect("entered").entry.name,
        "substation-2"
    );
    assert_eq!(
        roster.take_over("substation", entry()).expect("taken over").entry.name,
        "substation"
    );
}

#[test]
fn what_is_no_entry_is_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let roster = Roster::at(folder.path());
    std::fs::write(folder.path().join("torn.json"), "{\"schema\"").expect("writable");
    let text = serde_json::to_string(&entry()).expect("text");
    std::fs::write(
        folder.path().join("later.json"),
        text.replace("underway/1", "underway/2"),
    )
    .expect("writable");
    std::fs::write(folder.path().join("other-name.json"), text).expect("writable");
    assert!(roster.runs().is_empty());
}

#[test]
fn only_the_newest_that_ended_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let roster = Roster::at(folder.path());
    for number in 0..40 {
        let mut ended = entry();
        ended.started_ns += number;
        ended.end = Some(RunEnd {
            at_ns: 0,
            status: 0,
            complete: true,
            why: None,
        });
        roster.take_over(&format!("old-{number}"), ended).expect("written");
    }
    let running = roster.enter("new", entry()).expect("entered");
    let names: Vec<String> = roster.runs().into_iter().map(|found| found.entry.name).collect();
    assert_eq!(names.len(), 33, "{names:?}");
    assert!(names.contains(&running.entry.name) && names.contains(&"old-39".to_owned()));
    assert!(!names.contains(&"old-7".to_owned()), "{names:?}");
}

#[test]
fn a_run_whose_windows_do_not_close_is_stuck_and_one_that_waits_for_others_is_not() {
    let mut run = entry();
    run.window_ns = 20_000_000_000;
    run.phase = Phase::Measuring;
    let limit_ns = i64::try_from(stuck_after_ns(run.window_ns)).expect("small");
    assert_eq!(limit_ns, 100 * S);
    let now_ns = run.seen_ns + 1_000 * S;
    run.seen_ns = now_ns - S;
    run.recorder_seen_ns = Some(now_ns - S);
    run.window_seen_ns = Some(now_ns - limit_ns);
    let at = |run: &Entry| run.standing_of(Life::Alive, now_ns);
    assert_eq!(at(&run), Standing::Measuring);
    run.window_seen_ns = Some(now_ns - limit_ns - 1);
    assert!(
        at(&run)
            .why()
            .is_some_and(|why| why.starts_with("no window was closed for")),
        "{run:?}"
    );
    // Nothing states when a window is due.
    run.window_seen_ns = None;
    assert_eq!(at(&run), Standing::Measuring);
    run.recorder_seen_ns = Some(now_ns - limit_ns - S);
    assert!(at(&run).why().is_some_and(|why| why.contains("recorder")), "{run:?}");
    run.seen_ns = now_ns - limit_ns - S;
    assert!(
        at(&run).why().is_some_and(|why| why.contains("not reported")),
        "{run:?}"
    );
    run.phase = Phase::Finishing;
    assert_eq!(at(&run), Standing::Finishing, "a report may take its time");
    assert!(matches!(run.standing_of(Life::Elsewhere, now_ns), Standing::Unknown(_)));
    assert!(run.standing_of(Life::BeforeBoot, now_ns).is_over());
}

#[test]
fn short_windows_do_not_make_a_stall_of_a_shared_machine_a_dead_run() {
    assert_eq!(stuck_after_ns(100_000_000), 30_000_000_000);
}

#[test]
fn a_sample_is_over_its_own_limit_only() {
    let largest = |max_ns, limit_ns| Largest {
        series: "wakeup/cpu1".into(),
        max_ns,
        limit_ns,
    };
    assert!(largest(120_001, Some(120_000)).is_over());
    assert!(!largest(120_000, Some(120_000)).is_over() && !largest(i64::MAX, None).is_over());
    assert!(!largest(-5, Some(0)).is_over());
}
