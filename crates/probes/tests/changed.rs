//! A measuring thread whose policy or CPUs are changed during the run is reported, only for its own series.

mod common;

use common::{Run, can_run_with};
use model::EventKind;
use probes::OnCpus;
use probes::Probe;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use std::process::Command;
use std::time::Duration;
use sys::privilege::Capability;
use sys::thread::Policy;

/// Number of this process's thread with that name.
fn thread_called(name: &str) -> Option<String> {
    let threads = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
    let mut called = threads.filter(|thread| {
        let comm = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        comm.trim_end() == name
    });
    Some(called.next()?.file_name().to_string_lossy().into_owned())
}

/// Runs two wake-up series on one CPU, changes the first one's thread, and returns the reports on each.
fn told(change: &[&str]) -> [Vec<String>; 2] {
    let mut run = Run::start();
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let config = |label: &str| WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Fifo(50),
            interval: "1ms".parse().expect("a period"),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(2_000_000_000),
            label: Some(label.to_owned()),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let first = config("first")
        .start((), &mut run.recorder, &run.stop)
        .expect("it starts");
    let thread = thread_called(&format!("wakeup/{cpu}")).expect("a measuring thread");
    let second = config("second")
        .start((), &mut run.recorder, &run.stop)
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(200));
    if let [program, arguments @ ..] = change {
        let output = Command::new(program)
            .args(arguments)
            .arg(&thread)
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
    first.join().expect("it ends well");
    second.join().expect("it ends well");
    let recorded = run.finish();
    let names = recorded.names();
    ["first", "second"].map(|label| {
        let name = names.iter().find(|name| name.contains(label)).expect(label);
        let events = recorded.events(name).into_iter();
        let changed = events.filter(|event| event.kind == EventKind::ThreadChanged);
        changed.map(|event| event.text).collect()
    })
}

#[test]
fn a_changed_policy_or_cpu_is_an_event_of_the_series_it_concerns() {
    const NAME: &str = "a_changed_policy_or_cpu_is_an_event_of_the_series_it_concerns";
    if !can_run_with(NAME, &[Capability::SysNice]) {
        return;
    }
    assert_eq!(told(&[]), [Vec::<String>::new(), Vec::new()], "nobody changed anything");
    let [first, second] = told(&["chrt", "--other", "--pid", "0"]);
    assert_eq!((first.len(), second.len()), (1, 0), "{first:?} {second:?}");
    assert!(
        first[0].contains("runs with other on cpu") && first[0].contains("was set to fifo:50 on cpu"),
        "{first:?}"
    );
    let all = sys::thread::online_cpus();
    if all.len() > 1 {
        let [first, second] = told(&["taskset", "--cpu-list", "--pid", &all.to_string()]);
        assert_eq!((first.len(), second.len()), (1, 0), "{first:?} {second:?}");
        assert!(
            first[0].contains(&format!("runs with fifo:50 on cpu {all}, and was set to")),
            "{first:?}"
        );
    }
}
