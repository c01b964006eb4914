use super::{Delays, Waited, held_up_ns, is_real_time, waited};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::thread::{Policy, RtThread};

#[test]
fn the_policy_is_read_behind_a_name_with_blanks() {
    let stat = |policy| format!("7 (a) b (c)) R {}0 {policy} 0 0", "0 ".repeat(36));
    assert!(is_real_time(&stat(1)) && is_real_time(&stat(2)) && is_real_time(&stat(6)));
    assert!(!is_real_time(&stat(0)) && !is_real_time("") && !is_real_time("7 (x) R 1"));
}

#[test]
fn many_short_waits_are_not_a_long_one() {
    let at = |text| waited(text).expect("a line of schedstat");
    let before = at("5 1000000 10\n");
    assert_eq!(
        before,
        Waited {
            ns: 1_000_000,
            times: 10
        }
    );
    assert_eq!(held_up_ns(before, at("9 241000000 4010")), None, "60 us each");
    assert_eq!(held_up_ns(before, at("9 51000000 11")), Some(50_000_000));
    assert_eq!(
        held_up_ns(before, at("9 41000000 17")),
        Some(40_000_000),
        "one of them long"
    );
    assert_eq!(held_up_ns(before, at("9 6000000 11")), None, "5 ms");
    assert_eq!(held_up_ns(before, before), None);
    assert_eq!(waited("5 x"), None);
}

/// One that spins for ever, beside an ordinary one that wants the same CPU.
#[test]
fn a_spinning_thread_that_the_kernel_throttles_is_told() {
    const NAME: &str = "a_spinning_thread_that_the_kernel_throttles_is_told";
    let runtime = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    if runtime.is_ok_and(|us| us.trim() == "-1") {
        return testing::skip(NAME, "the kernel's real-time throttling is off");
    }
    let cpu = sys::thread::allowed_cpus().first().expect("a CPU");
    let spin = |policy| RtThread {
        policy,
        cpu: Some(cpu),
        stack_bytes: 0,
    };
    let is_over = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        let real_time = scope.spawn(|| {
            spin(Policy::Fifo(1)).enter()?;
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok::<(), sys::SysError>(())
        });
        scope.spawn(|| {
            let entered = spin(Policy::Other).enter();
            while entered.is_ok() && !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let mut delays = Delays::default();
        let begin = Instant::now();
        let mut told = Vec::new();
        while told.is_empty() && begin.elapsed() < Duration::from_secs(8) && !real_time.is_finished() {
            std::thread::sleep(Duration::from_secs(1));
            told = delays.look();
        }
        is_over.store(true, Ordering::Relaxed);
        let refused = real_time.join().expect("no panic").err();
        assert!(
            refused.is_some() || told.iter().any(|text| text.contains("waited")),
            "{told:?}"
        );
        refused
    });
    if let Some(error) = refused {
        testing::skip(NAME, &error.to_string());
    }
}
