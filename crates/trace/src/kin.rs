//! Finds the owners of threads that an explanation names: this process, another triptime, or another program.

use crate::event::Thread;
use crate::snapshot::Snapshot;
use model::Explanation;
use std::collections::BTreeMap;
use std::fs;

/// Beginning of the names of a session's threads that do not measure; no other program uses it.
const OF_A_SESSION: &str = "triptime-";

/// Maximum number of threads whose owner is remembered; a run needs few of them.
const KEPT: usize = 4096;

/// Owner of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// This process.
    Own,
    /// Another process that measures with triptime, by its number.
    Triptime(u32),
    /// Another program, or a thread that has ended before it was found.
    Stranger,
}

/// Owners found so far: a thread may have ended when it is named again.
#[derive(Default)]
pub(crate) struct Kinship(BTreeMap<Thread, Kin>);

impl Kinship {
    /// Adds the owner to the name of each thread in an explanation that had one of these CPUs.
    pub(crate) fn name_in(&mut self, explanation: &mut Explanation, cpus: &[Snapshot]) {
        let threads = threads_of(cpus);
        let occupants = explanation.occupants.iter_mut().map(|part| &mut part.what);
        for text in std::iter::once(&mut explanation.text).chain(occupants) {
            let named = self.named_by(std::mem::take(text), &threads, kin_of);
            *text = named.trim_end_matches(',').to_owned();
        }
    }

    fn named_by(&mut self, text: String, threads: &[Thread], kin_of: impl Fn(i32) -> Kin) -> String {
        // Most explanations name no thread at all.
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

/// The threads that had one of these CPUs, without duplicates.
fn threads_of(cpus: &[Snapshot]) -> Vec<Thread> {
    let turns = cpus.iter().flat_map(Snapshot::turns);
    let mut threads: Vec<Thread> = turns.map(|turn| turn.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// True for the first thread of a process: in this program, it waits for the others.
fn is_main(thread: &Thread) -> bool {
    u32::try_from(thread.pid).is_ok_and(|pid| pid == std::process::id())
}

/// Finds the owner in `/proc`, which needs no privilege.
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
