//! The policy and priority of threads of any process: reads and changes them.

use super::policy::{NO_ATTRIBUTES, Policy, set_attributes};
use super::standing::{attributes, standing};
use crate::error::{SysError, last_errno};
use crate::privilege::Capability;

/// Policy and priority of the thread `number` of any process, in the form that [`set_policy_of`] takes. `None`: it has ended.
pub fn policy_of(number: u32) -> Option<String> {
    // 0 would mean the calling thread.
    let number = i32::try_from(number).ok().filter(|number| *number > 0)?;
    standing(number).map(|standing| standing.policy)
}

/// Gives the thread `number` of any process a policy and priority: `fifo:50`, `rr:3`, `other`, `other, nice 5`, `batch`, `idle`.
/// The setting that decides if its children inherit the policy stays unchanged.
///
/// # Errors
/// The text is no policy, or one with a deadline, which cannot be restored; the thread has ended; or `CAP_SYS_NICE` is missing.
pub fn set_policy_of(number: u32, policy: &str) -> Result<(), SysError> {
    let gone = || SysError::Invalid {
        what: format!("thread {number} has ended"),
    };
    let id = i32::try_from(number).ok().filter(|id| *id > 0).ok_or_else(gone)?;
    let now = attributes(id).ok_or_else(gone)?;
    let (policy_number, priority, nice) = parse(policy).ok_or_else(|| SysError::Invalid {
        what: format!("thread {number}: \"{policy}\" is not a policy that can be set and restored"),
    })?;
    let wanted = libc::sched_attr {
        sched_policy: policy_number.cast_unsigned(),
        sched_flags: now.sched_flags & libc::SCHED_FLAG_RESET_ON_FORK as u64,
        sched_priority: priority,
        sched_nice: nice,
        ..NO_ATTRIBUTES
    };
    match set_attributes(id, &wanted) {
        0 => Ok(()),
        _ => Err(SysError::or_capability(
            Capability::SysNice,
            "sched_setattr",
            format!("thread {number}"),
            last_errno(),
        )),
    }
}

/// Parses the number of the policy, priority and nice value.
fn parse(text: &str) -> Option<(i32, u32, i32)> {
    let (name, nice) = match text.split_once(", nice ") {
        Some((name, nice)) => (name, nice.parse().ok().filter(|nice| (-20..20).contains(nice))?),
        None => (text, 0),
    };
    match name {
        "other" => Some((libc::SCHED_OTHER, 0, nice)),
        "batch" => Some((libc::SCHED_BATCH, 0, nice)),
        "idle" if nice == 0 => Some((libc::SCHED_IDLE, 0, 0)),
        _ => match text.parse().ok()? {
            Policy::Fifo(priority) => Some((libc::SCHED_FIFO, priority.into(), 0)),
            Policy::RoundRobin(priority) => Some((libc::SCHED_RR, priority.into(), 0)),
            Policy::Other | Policy::Deadline { .. } => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, policy_of, set_policy_of};
    use crate::thread::number;
    use std::sync::mpsc;

    #[test]
    fn every_word_is_read() {
        assert_eq!(parse("fifo:50"), Some((libc::SCHED_FIFO, 50, 0)));
        assert_eq!(parse("rr:1"), Some((libc::SCHED_RR, 1, 0)));
        assert_eq!(parse("other, nice -5"), Some((libc::SCHED_OTHER, 0, -5)));
        assert_eq!(parse("idle"), Some((libc::SCHED_IDLE, 0, 0)));
        for text in ["", "fifo:0", "other, nice 20", "deadline:1ms/2ms/2ms", "policy 9"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_policy_of_another_thread_is_changed() {
        let (said, heard) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            said.send(number()).expect("heard");
            let _ = ended.recv();
        });
        let other = heard.recv().expect("said").cast_unsigned();
        // A higher nice value, and a change back to batch: neither needs a privilege.
        for wanted in ["batch", "batch, nice 7"] {
            set_policy_of(other, wanted).expect("a thread of this process");
            assert_eq!(policy_of(other).as_deref(), Some(wanted));
        }
        drop(end);
        thread.join().expect("no panic");
        assert!(set_policy_of(0, "batch").is_err(), "0 is no number of a thread");
        assert_eq!(policy_of(0), None);
    }
}
