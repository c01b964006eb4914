//! Facts, and parts of facts, that differ between any two runs and explain nothing.

use super::FactDifference;
use model::fact::{
    AUDIT, CLOCK_LONG_READING, CLOCK_READING, CLOCKS_APART, COUNTER_READING, INSTRUMENT, REMEDIES, audit_outcome,
};

/// Threads of the kernel on each CPU.
const KERNEL_THREADS: &str = "kernel threads";

/// A whole group of the inventory, or one fact of it.
const FLEETING: [(&str, Option<&str>); 16] = [
    // Times of the clock are measured anew in every run; its source and its steps last.
    (INSTRUMENT, Some("measured on CPU")),
    (INSTRUMENT, Some(CLOCK_READING.name)),
    (INSTRUMENT, Some(CLOCK_LONG_READING.name)),
    (INSTRUMENT, Some(CLOCKS_APART.name)),
    (INSTRUMENT, Some(COUNTER_READING.name)),
    // They repeat the findings of the audit.
    (REMEDIES, None),
    ("flight recorder", None),
    ("recording", None),
    ("clock", Some("stolen time")),
    ("clock", Some("uptime")),
    ("clock", Some("load average (1, 5, 15 min)")),
    ("memory", Some("available")),
    ("kernel", Some("boot id")),
    ("trace", Some("frames")),
    ("trace", Some("frames not timed")),
    ("trace", Some("cost per frame at all points")),
];

/// True for a fact that no comparison shows.
pub(super) fn is_fleeting((group, name): (&str, &str)) -> bool {
    let is_count = crate::subjects::nics::is_nic(group) && name.ends_with(" so far");
    // Any unbound thread of the kernel may have run there last.
    let is_place = is_of(group, KERNEL_THREADS) && name.starts_with("not bound");
    is_count
        || is_place
        || FLEETING
            .iter()
            .any(|(of, only)| is_of(group, of) && only.is_none_or(|only| only == name))
}

/// True for a group of this machine, and for the same of a place, such as `vm: clock`.
fn is_of(group: &str, of: &str) -> bool {
    group == of || group.strip_suffix(of).is_some_and(|place| place.ends_with(": "))
}

/// True if the values differ in more than in numbers that the kernel gives anew each time.
pub(super) fn differs(fact: &FactDifference) -> bool {
    let compared = |value: &Option<Result<String, String>>| match value {
        Some(Ok(value)) => Some(Ok(lasting(&fact.group, value))),
        other => other.clone(),
    };
    let mut values = fact.values.iter().map(compared);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// The part of a value that a second run on the same machine would have, too.
fn lasting(group: &str, value: &str) -> String {
    match group {
        // The values that a finding was judged by change from run to run.
        _ if is_of(group, AUDIT) => audit_outcome(value).to_owned(),
        _ if is_of(group, KERNEL_THREADS) => without_workers(value),
        _ => without_processes(value),
    }
}

/// The names in a list such as `4: ksoftirqd/1, kworker/1:0H-kblockd, …`, without the workers, which come and go.
fn without_workers(value: &str) -> String {
    let names = value.split_once(": ").map_or(value, |(_, names)| names);
    let lasting: Vec<&str> = names.split(", ").filter(|name| !name.starts_with("kworker/")).collect();
    lasting.join(", ")
}

/// The text without the numbers of processes, each written as `(pid 4711)`.
fn without_processes(value: &str) -> String {
    let mut parts = value.split("(pid ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "(pid ";
        out += part.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{FactDifference, differs, is_fleeting};
    use model::fact::{CLOCK_READING, CLOCK_STEP};

    fn of(group: &str, name: &str, values: [&str; 2]) -> bool {
        differs(&FactDifference {
            group: group.to_owned(),
            name: name.to_owned(),
            values: values.map(|value| Some(Ok(value.to_owned()))).to_vec(),
        })
    }

    #[test]
    fn the_time_of_a_reading_is_no_difference_of_machines_and_the_step_of_the_clock_is() {
        assert!(is_fleeting((CLOCK_READING.group, CLOCK_READING.name)));
        assert!(!is_fleeting((CLOCK_STEP.group, CLOCK_STEP.name)));
    }

    #[test]
    fn numbers_of_the_kernel_are_no_difference_and_names_are() {
        assert!(!of("trace", "way", ["wakeup (pid 12)\n", "wakeup (pid 4711)\n"]));
        assert!(of("trace", "way", ["wakeup (pid 12)", "other (pid 12)"]));
        let workers = [
            "2: ksoftirqd/1, kworker/1:0",
            "3: ksoftirqd/1, kworker/1:0H-kblockd, kworker/1:2",
        ];
        assert!(!of("kernel threads", "bound to cpu 1", workers));
        assert!(of(
            "kernel threads",
            "bound to cpu 1",
            ["1: ksoftirqd/1", "2: ksoftirqd/1, rcuc/1"]
        ));
    }
}
