//! Threads of a container, by the numbers of this machine.

use std::fs::read_dir;
use std::path::Path;

/// The number on this machine of the thread with number `there` in its own namespace. The thread belongs to the first process of a container or to a
/// child of it.
pub(super) fn number_here(first: i32, there: i32) -> Option<i32> {
    let of = |process: &str| of_process(&format!("/proc/{process}/task"), there);
    of(&first.to_string()).or_else(|| {
        // proc_pid_children(5)
        let started = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).ok()?;
        started.split_whitespace().find_map(of)
    })
}

/// The same, among the tasks in a folder of `/proc`.
fn of_process(tasks: &str, there: i32) -> Option<i32> {
    let numbers = read_dir(tasks)
        .ok()?
        .flatten()
        .filter_map(|task| numbers(&task.path().join("status")));
    numbers
        .into_iter()
        .find(|numbers| numbers.last() == Some(&there))?
        .first()
        .copied()
}

/// The numbers of a thread, from this machine's namespace to its own (`NSpid`, proc(5)).
fn numbers(status: &Path) -> Option<Vec<i32>> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::of_process;
    use std::fs;

    #[test]
    fn a_thread_is_found_by_its_number_inside() {
        let tasks = tempfile::tempdir().expect("a directory");
        for (number, inside) in [("100", "1"), ("101", "7")] {
            let task = tasks.path().join(number);
            fs::create_dir(&task).expect("made");
            let text = format!("Name:\tx\nNSpid:\t{number}\t{inside}\n");
            fs::write(task.join("status"), text).expect("written");
        }
        let folder = tasks.path().to_str().expect("UTF-8");
        assert_eq!((of_process(folder, 7), of_process(folder, 1)), (Some(101), Some(100)));
        assert_eq!(of_process(folder, 101), None);
    }
}
