//! External programs as loads.

use std::time::{Duration, Instant};

use bed::load::{Load, LoadKind, LoadSpec};

use crate::support::{alone, gone, last_cpu, no_threads, on, processes_with, wait_until};

fn command(line: &str) -> LoadKind {
    LoadKind::Command {
        line: line.to_owned(),
        namespace: None,
    }
}

#[test]
fn a_command_works_on_its_cpus_with_its_children() {
    let _alone = alone();
    let cpus = sys::thread::allowed_cpus();
    let script = "sh -c 'sleep 86398 & while :; do :; done'";
    let load = Load::start(&LoadSpec {
        kind: command(script),
        cpus: cpus.clone(),
    })
    .expect("load");
    wait_until("100 ms of CPU time", || load.work_done() >= 100);
    let child = processes_with("sleep\u{0}86398").pop().expect("the child");
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).expect("status");
    assert!(status.contains(&format!("Cpus_allowed_list:\t{cpus}\n")), "{status}");
    assert_eq!((load.label().as_str(), load.failed()), ("sh", None));
    let report = load.stop();
    assert_eq!((report.unit, report.note.as_str()), ("ms of CPU time", ""));
    assert!(report.work >= 100, "{report}");
    gone("86398");
    no_threads("the load");
}

#[test]
fn a_command_that_does_not_listen_is_killed() {
    let _alone = alone();
    let load = Load::start(&on(
        last_cpu(),
        command("sh -c 'trap \"\" TERM; echo deaf >&2; while :; do sleep 86397; done'"),
    ));
    let load = load.expect("load");
    wait_until("the trap is set", || !processes_with("sleep\u{0}86397").is_empty());
    let asked = Instant::now();
    load.stop();
    let took = asked.elapsed();
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(4),
        "{took:?}"
    );
    gone("86397");
}

#[test]
fn a_command_that_ends_is_reported_with_its_last_words() {
    let _alone = alone();
    let line = "sh -c 'echo one >&2; echo two >&2; echo three >&2; echo no such method >&2; exit 7'";
    let load = Load::start(&on(last_cpu(), command(line))).expect("load");
    wait_until("its end", || load.failed().is_some());
    let failure = load.failed().expect("failure");
    let wanted = "load command sh: it ended by itself (exit status: 7); it last wrote: two / three / no such method";
    assert_eq!(failure, wanted);
    assert_eq!(load.stop().note, wanted);
}

#[test]
fn success_before_the_end_of_the_run_is_a_failure_of_the_load() {
    let _alone = alone();
    let load = Load::start(&on(last_cpu(), command("sh -c 'echo done >&2'"))).expect("load");
    wait_until("its end", || load.failed().is_some());
    assert_eq!(
        load.stop().note,
        "load command sh: it ended by itself (exit status: 0): let it run longer than the measurement; it last wrote: done"
    );
}

#[test]
fn an_end_just_before_the_load_is_stopped_is_noticed() {
    let _alone = alone();
    let load = Load::start(&on(last_cpu(), command("sh -c 'exec 2>&-; exit 3'"))).expect("load");
    // It is a child of this process, and only its keeper reaps it, which checks every 20 ms.
    wait_until("a zombie or nothing", || {
        let stats = processes_with("").into_iter();
        let stats = stats.filter_map(|id| std::fs::read_to_string(format!("/proc/{id}/stat")).ok());
        // Tests beside this one have children, too, but no shell.
        let ended = |stat: &String| stat.contains(&format!(" (sh) Z {} ", std::process::id()));
        stats.filter(ended).count() > 0 || load.failed().is_some()
    });
    let note = load.stop().note;
    assert_eq!(note, "load command sh: it ended by itself (exit status: 3)");
}

#[test]
fn a_command_killed_by_a_signal_says_which() {
    let _alone = alone();
    let load = Load::start(&on(last_cpu(), command("sh -c 'kill -9 $$'"))).expect("load");
    wait_until("its end", || load.failed().is_some());
    let note = load.stop().note;
    assert!(note.contains("signal: 9 (SIGKILL)"), "{note}");
}

#[test]
fn a_command_that_does_nothing_is_noticed() {
    let _alone = alone();
    let report = Load::start(&on(last_cpu(), command("sleep 86396")))
        .expect("load")
        .stop();
    assert_eq!((report.work, report.note.as_str()), (0, "it did no work"));
}
