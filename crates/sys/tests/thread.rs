//! Real-time threads, as /proc shows them.

mod common;

use common::can_run;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use sys::privilege::Capability;
use sys::thread::{Policy, RtThread, allowed_cpus, current_cpu, online_cpus, set_name, usage};
use sys::{ErrorKind, SysError};

/// Runs `work` on a separate thread, whose settings it may change freely.
fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(work).join().expect("no panic")
}

/// Scheduling policy and real-time priority of the calling thread: fields 41 and 40 of proc_pid_stat(5).
fn scheduler() -> (i32, u32) {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("proc");
    let (_, behind_name) = stat.rsplit_once(") ").expect("a name in brackets");
    let field = |number: usize| behind_name.split(' ').nth(number - 3).expect("a field");
    (
        field(41).parse().expect("a number"),
        field(40).parse().expect("a number"),
    )
}

fn status(key: &str) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("proc");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the key");
    line.trim_start_matches(':').trim().to_owned()
}

fn slack() -> String {
    let path = format!("/proc/{}/timerslack_ns", rustix::thread::gettid().as_raw_nonzero());
    std::fs::read_to_string(path).expect("proc").trim().to_owned()
}

#[test]
fn a_fifo_thread_on_one_cpu_is_just_that() {
    if !can_run("a_fifo_thread_on_one_cpu_is_just_that", &[Capability::SysNice]) {
        return;
    }
    let cpu = allowed_cpus().iter().last().expect("a CPU");
    apart(move || {
        let thread = RtThread {
            policy: Policy::Fifo(80),
            cpu: Some(cpu),
            stack_bytes: 128 << 10,
        };
        thread.enter().expect("a real-time thread");
        set_name("triptime-test-of-a-long-name");
        assert_eq!(scheduler(), (1, 80));
        assert_eq!(status("Cpus_allowed_list"), cpu.to_string());
        assert_eq!(status("Name"), "triptime-test-o");
        assert_eq!(current_cpu(), cpu);
        assert_eq!(
            std::fs::read_to_string("/proc/thread-self/comm").expect("proc").trim(),
            "triptime-test-o"
        );
    });
}

#[test]
fn each_policy_is_applied_and_can_be_left_again() {
    if !can_run("each_policy_is_applied_and_can_be_left_again", &[Capability::SysNice]) {
        return;
    }
    apart(|| {
        for (policy, seen) in [
            (Policy::RoundRobin(1), (2, 1)),
            (Policy::Fifo(99), (1, 99)),
            (Policy::Other, (0, 0)),
        ] {
            RtThread {
                policy,
                cpu: None,
                stack_bytes: 0,
            }
            .enter()
            .expect("a policy");
            assert_eq!(scheduler(), seen, "{policy}");
        }
        // Real-time threads have no slack; an ordinary thread keeps the value that enter() set.
        assert_eq!(slack(), "1");
    });
}

const TENTH: Policy = Policy::Deadline {
    runtime_ns: 100_000,
    deadline_ns: 1_000_000,
    period_ns: 1_000_000,
};

#[test]
fn a_deadline_thread_runs_where_it_may_use_every_cpu() {
    if !can_run(
        "a_deadline_thread_runs_where_it_may_use_every_cpu",
        &[Capability::SysNice],
    ) {
        return;
    }
    let outcome = apart(|| {
        RtThread {
            policy: TENTH,
            cpu: None,
            stack_bytes: 0,
        }
        .enter()
        .map(|()| scheduler())
    });
    if allowed_cpus() == online_cpus() {
        assert_eq!(outcome.expect("a deadline thread"), (6, 0));
    } else {
        assert!(matches!(outcome, Err(SysError::DeadlinePinned { .. })), "{outcome:?}");
    }
}

#[test]
fn a_pinned_deadline_thread_is_refused_with_the_reason() {
    const NAME: &str = "a_pinned_deadline_thread_is_refused_with_the_reason";
    let everything = allowed_cpus();
    if everything.len() < 2 {
        testing::skip(NAME, "needs two CPUs");
        return;
    }
    if !can_run(NAME, &[Capability::SysNice]) {
        return;
    }
    let cpu = everything.first();
    let error = apart(move || {
        RtThread {
            policy: TENTH,
            cpu,
            stack_bytes: 0,
        }
        .enter()
    })
    .expect_err("pinned");
    let expected = format!(
        "run with policy deadline:100us/1ms/1ms: the thread may run on CPU {} only, and SCHED_DEADLINE needs all CPUs of \
         its scheduling domain: leave out the CPU, or make those CPUs an exclusive cpuset",
        cpu.expect("a CPU")
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
}

/// Threads that request almost a whole CPU each: one per CPU cannot fit, since a part of each CPU is kept for others.
#[test]
fn deadline_threads_beyond_what_the_cpus_have_are_refused_with_the_reason() {
    const NAME: &str = "deadline_threads_beyond_what_the_cpus_have_are_refused_with_the_reason";
    if allowed_cpus() != online_cpus() {
        testing::skip(NAME, "needs the use of every CPU");
        return;
    }
    if !can_run(NAME, &[Capability::SysNice]) {
        return;
    }
    let greedy = Policy::Deadline {
        runtime_ns: 990_000,
        deadline_ns: 1_000_000,
        period_ns: 1_000_000,
    };
    let count = online_cpus().len();
    let (tell, told) = std::sync::mpsc::channel();
    // Each keeps its share until all have asked.
    let together = std::sync::Barrier::new(count + 1);
    let refused: Vec<SysError> = std::thread::scope(|scope| {
        for _ in 0..count {
            let (tell, together) = (tell.clone(), &together);
            scope.spawn(move || {
                let outcome = RtThread {
                    policy: greedy,
                    cpu: None,
                    stack_bytes: 0,
                }
                .enter();
                tell.send(outcome).expect("the test listens");
                together.wait();
            });
        }
        let outcomes: Vec<Result<(), SysError>> = told.iter().take(count).collect();
        together.wait();
        outcomes.into_iter().filter_map(Result::err).collect()
    });
    assert!(!refused.is_empty(), "every CPU gave away 99 %");
    for error in refused {
        assert!(matches!(error, SysError::DeadlineOverbooked { .. }), "{error}");
    }
}

#[test]
fn without_the_capability_the_message_names_it() {
    let error = apart(|| {
        drop_capability(Capability::SysNice);
        RtThread {
            policy: Policy::Fifo(80),
            cpu: None,
            stack_bytes: 0,
        }
        .enter()
    });
    let error = error.expect_err("no CAP_SYS_NICE");
    assert!(
        matches!(
            error,
            SysError::MissingCapability {
                capability: Capability::SysNice,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with("run with policy fifo:80: needs CAP_SYS_NICE (run as root, or: setcap cap_sys_nice+ep")
    );
}

/// Removes a capability from the calling thread for good; capabilities belong to threads.
fn drop_capability(capability: Capability) {
    let mut sets = rustix::thread::capabilities(None).expect("own capabilities");
    assert_eq!(capability, Capability::SysNice, "the only one these tests drop");
    sets.effective -= rustix::thread::CapabilitySet::SYS_NICE;
    rustix::thread::set_capabilities(None, sets).expect("a smaller set");
    assert!(!sys::privilege::has(capability));
}

#[test]
fn a_cpu_that_does_not_exist_is_refused_before_the_policy_is_tried() {
    let error = RtThread {
        policy: Policy::Fifo(80),
        cpu: Some(9_999),
        stack_bytes: 0,
    }
    .enter()
    .expect_err("no such CPU");
    assert_eq!(
        error.to_string(),
        format!("CPU 9999: no such CPU (online: {})", online_cpus())
    );
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn usage_counts_what_this_thread_did() {
    apart(|| {
        let before = usage();
        let fresh = vec![1_u8; 64 << 20];
        std::thread::sleep(std::time::Duration::from_millis(2));
        let after = usage();
        assert_eq!(fresh.len(), 64 << 20);
        assert!(after.minor_faults > before.minor_faults, "{before:?} {after:?}");
        assert!(
            after.voluntary_switches > before.voluntary_switches,
            "{before:?} {after:?}"
        );
        assert!(after.cpu_ns > before.cpu_ns && after.cpu_ns - before.cpu_ns < 10_000_000_000);
    });
}

#[test]
fn a_child_dies_with_the_thread_that_started_it() {
    let mut child = apart(|| {
        let mut command = Command::new("sleep");
        command.arg("60");
        sys::thread::kill_children_with_us(&mut command);
        command.spawn().expect("a child")
    });
    let ended = child.wait().expect("its end");
    assert_eq!(ended.signal(), Some(9), "{ended}");
}
