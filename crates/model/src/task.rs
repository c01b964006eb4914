//! The tasks of a relay, by the labels of their series.

/// The stages of a relay with several threads, in the order that a sample passes them. Each is a series `task/RELAY/…`; a relay
/// with one thread has the series `task/RELAY`.
pub const TASKS: [&str; 3] = [RECEIVE, FUNCTIONS, OUTPUT];

/// The task that takes frames from the socket.
pub const RECEIVE: &str = "receive";
/// The task that works on samples, once a cycle.
pub const FUNCTIONS: &str = "functions";
/// The task that sends GOOSE.
pub const OUTPUT: &str = "output";

/// The relay in a label of `task/*`, and which of its [`TASKS`]; `None`: all of them.
pub fn of_label(label: &str) -> (&str, Option<&'static str>) {
    let found = TASKS.into_iter().find_map(|task| {
        let relay = label.strip_suffix(task)?.strip_suffix('/')?;
        Some((relay, Some(task)))
    });
    found.unwrap_or((label, None))
}

/// True for a label of the task that executes the relay's functions, in a relay with several threads or one.
pub fn runs_functions(label: &str) -> bool {
    matches!(of_label(label).1, None | Some(FUNCTIONS))
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, of_label, runs_functions};

    #[test]
    fn a_label_is_of_a_relay_or_one_of_its_tasks() {
        assert_eq!(of_label("F1/functions"), ("F1", Some(FUNCTIONS)));
        assert_eq!(of_label("F1"), ("F1", None));
        assert_eq!(of_label("functions"), ("functions", None));
        assert_eq!(of_label("F1/spare"), ("F1/spare", None));
        let runs = ["F1", "F1/functions", "F1/receive", "F1/output"].map(runs_functions);
        assert_eq!(runs, [true, true, false, false]);
    }
}
