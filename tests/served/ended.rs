//! A run that ends while its page is made.

use super::{PATIENCE, Served, asked::ask, within};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// The server stands still while it reads: the run ends it, and then closes its file as if nobody had read.
#[test]
fn a_rendering_that_is_under_way_leaves_no_log_beside_the_file() {
    let served = within("60s", &[]);
    served.until("/metrics", "triptime_sample_max_seconds{");
    let (way, file) = (served.way.clone(), served.file());
    let (status, said, _folder) = std::thread::scope(|scope| {
        for path in ["/", "/metrics", "/result.json"] {
            let way = &way;
            scope.spawn(move || {
                while ask(way, path).is_some() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        stop_while_it_reads(&served);
        served.end()
    });
    assert_eq!(status, Some(3), "ended early: {said}");
    assert!(file.exists(), "{said}");
    assert!(!file.with_extension("triptime-wal").exists(), "{said}");
}

fn stop_while_it_reads(served: &Served) {
    let number = served.server();
    let server = Pid::from_raw(number.try_into().expect("a number")).expect("a process");
    let send = |signal| kill_process(server, signal).expect("it exists");
    let until = Instant::now() + PATIENCE;
    loop {
        send(Signal::STOP);
        std::thread::sleep(Duration::from_millis(5));
        if reads(number) {
            return;
        }
        send(Signal::CONT);
        assert!(Instant::now() < until, "it reads nothing");
        std::thread::sleep(Duration::from_millis(7));
    }
}

/// True while the process reads a run: SQLite locks one of the bytes 123 to 127 of the index of its log (the file format of SQLite, section "WAL
/// locks").
fn reads(process: u32) -> bool {
    let (locks, own) = (fs::read_to_string("/proc/locks"), process.to_string());
    locks.expect("the kernel's locks").lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let first: Option<u8> = fields.get(6).and_then(|byte| byte.parse().ok());
        fields.get(4).is_some_and(|process| *process == own) && first.is_some_and(|byte| (123..=127).contains(&byte))
    })
}
