//! Finds the owners of threads that an explanation names: this process, another triptime, or somebody else.

use crate::event::Thread;
use crate::snapshot::Snapshot;
use model::Explanation;
use std::collections::BTreeMap;
use std::fs;

/// How the threads of a session that do not measure are called; nobody else has one of this name.
const OF_A_SESSION: &str = "triptime-";

/// Threads remembered at most: those that are named are few.
const KEPT: usize = 4096;

/// Owner of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// Of this process.
    Own,
    /// Of another process that measures with triptime, by its number.
    Triptime(u32),
    /// Of neither, or it has ended unseen.
    Stranger,
}

/// Owners of threads that were found so far: a thread may have ended when it is named again.
#[derive(Default)]
pub(crate) struct Kinship(BTreeMap<Thread, Kin>);

impl Kinship {
    /// Calls the threads in an explanation, of those on these CPUs, after whose they are.
    pub(crate) fn name_in(&mut self, explanation: &mut Explanation, cpus: &[Snapshot]) {
        let threads = threads_of(cpus);
        let occupants = explanation.occupants.iter_mut().map(|part| &mut part.what);
        for text in std::iter::once(&mut explanation.text).chain(occupants) {
            let named = self.named_by(std::mem::take(text), &threads, kin_of);
            *text = named.trim_end_matches(',').to_owned();
        }
    }

    fn named_by(&mut self, text: String, threads: &[Thread], kin_of: impl Fn(i32) -> Kin) -> String {
        // Most of what is said names no thread at all.
        if !text.contains("thread ") {
            return text;
        }
        let mut text = text;
        for thread in threads.iter().filter(|thread| !thread.is_idle()) {
            let plain = format!("thread {thread}");
            if !text.contains(&plain) {
                continue;
            }
            if self.0.len() >= KEPT {
                self.0.clear();
            }
            let named = match self.0.entry(*thread).or_insert_with(|| kin_of(thread.pid)) {
                Kin::Own if is_main(thread) => format!("own main {plain}"),
                Kin::Own => format!("own {plain}"),
                Kin::Triptime(pid) => format!("another triptime (pid {pid}), its {plain},"),
                Kin::Stranger => continue,
            };
            text = text.replace(&plain, &named);
        }
        text
    }
}

/// Each thread that had one of these CPUs, once.
fn threads_of(cpus: &[Snapshot]) -> Vec<Thread> {
    let turns = cpus.iter().flat_map(Snapshot::turns);
    let mut threads: Vec<Thread> = turns.map(|turn| turn.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// True where it is the thread that a process begins with: of this program the one that waits for the others.
fn is_main(thread: &Thread) -> bool {
    u32::try_from(thread.pid).is_ok_and(|pid| pid == std::process::id())
}

/// By `/proc`, which anybody may read.
fn kin_of(thread: i32) -> Kin {
    if fs::exists(format!("/proc/self/task/{thread}")).unwrap_or(false) {
        return Kin::Own;
    }
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    let Some(pid) = group.and_then(|group| group.trim().parse().ok()) else {
        return Kin::Stranger;
    };
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let mut names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    match names.any(|name| name.starts_with(OF_A_SESSION)) {
        true => Kin::Triptime(pid),
        false => Kin::Stranger,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kin, Kinship, kin_of};
    use crate::event::{Event, Left, Thread, What};
    use crate::snapshot::Snapshot;
    use model::{Cause, Explanation, Extent, Part};
    use units::Monotonic;

    fn thread(pid: i32, name: &str) -> Thread {
        Thread {
            pid,
            priority: 9,
            name: name.into(),
        }
    }

    fn on_cpu(threads: &[Thread]) -> Snapshot {
        let at = Monotonic::from_ns;
        let events = threads.iter().zip(1..).map(|(next, ns)| Event {
            cpu: 1,
            at: at(ns),
            what: What::Switch {
                previous: 0,
                left: Left::CouldRun,
                left_with: None,
                next: *next,
            },
        });
        Snapshot {
            cpu: 1,
            from: at(0),
            to: at(100),
            events: events.collect(),
            opening: None,
            complete: true,
        }
    }

    #[test]
    fn own_threads_another_triptime_and_strangers_are_told_apart() {
        let threads = [thread(7, "triptime"), thread(8, "triptime"), thread(9, "triptime")];
        let mut kinship = Kinship::default();
        let mut named = |at: usize| {
            let text = format!("thread {} had the CPU for 2 ms", threads[at]);
            kinship.named_by(text, &threads, |pid| match pid {
                7 => Kin::Own,
                8 => Kin::Triptime(4),
                _ => Kin::Stranger,
            })
        };
        let shown = |pid| format!("thread triptime (pid {pid}, real-time priority 90)");
        assert_eq!(named(0), format!("own {} had the CPU for 2 ms", shown(7)));
        assert_eq!(named(0), format!("own {} had the CPU for 2 ms", shown(7)), "remembered");
        let other = format!("another triptime (pid 4), its {}, had the CPU for 2 ms", shown(8));
        assert_eq!(named(1), other);
        assert_eq!(named(2), format!("{} had the CPU for 2 ms", shown(9)));
        let untouched = "nothing else had the CPU for long".to_owned();
        assert_eq!(kinship.named_by(untouched.clone(), &threads, kin_of), untouched);
    }

    #[test]
    fn the_text_and_who_had_the_cpu_name_the_main_thread_alike() {
        let main = thread(std::process::id().cast_signed(), "triptime");
        let part = |what: String| Part { what, ns: 2_000_000 };
        let mut explanation = Explanation {
            cause: Cause::Thread,
            text: format!("thread {main} had the CPU for 2 ms"),
            extent: Extent::OneCpu,
            stages: Vec::new(),
            occupants: vec![part(format!("thread {main}")), part("leaving idle".to_owned())],
            unexplained_ns: 0,
            around: Vec::new(),
        };
        Kinship::default().name_in(&mut explanation, &[on_cpu(&[main])]);
        assert!(
            explanation.text.starts_with("own main thread triptime (pid "),
            "{}",
            explanation.text
        );
        let named: Vec<&str> = explanation.occupants.iter().map(|part| part.what.as_str()).collect();
        assert!(named[0].starts_with("own main thread triptime (pid "), "{named:?}");
        assert_eq!(named[1], "leaving idle");
    }

    #[test]
    fn this_thread_is_our_own_and_the_first_process_is_not() {
        assert_eq!(kin_of(sys::thread::number()), Kin::Own);
        assert_eq!(kin_of(1), Kin::Stranger);
    }
}
