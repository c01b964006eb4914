//! Planned real-time tasks: `relay=fifo:80@2`.

use std::fmt;
use std::str::FromStr;

use units::CpuList;

/// Maximum length in bytes of a thread name in the kernel (`TASK_COMM_LEN`, linux/sched.h, without the zero).
const NAME_OCTETS: usize = 15;
/// Prefix of a pattern for the command line.
const COMMAND: &str = "cmd:";

/// A planned task: its threads, with their policy and CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    /// The name or pattern of its threads, as given.
    pub name: String,
    /// Policy and priority: `fifo:80`; `None`: any.
    pub policy: Option<String>,
    /// CPUs to which it is bound; `None`: any.
    pub cpus: Option<CpuList>,
}

/// A thread, as matched against a pattern.
pub(crate) struct Seen<'a> {
    /// Its own name.
    pub(crate) name: &'a str,
    /// True for the first thread of its process.
    pub(crate) is_first: bool,
}

impl PlannedTask {
    /// True if a thread belongs to the task. `command` returns the command line of its process, with spaces between the words; it is called
    /// only if the task is defined by a command line.
    ///
    /// # Errors
    /// The error of `command`.
    pub(crate) fn is<E>(&self, thread: &Seen<'_>, command: impl FnOnce() -> Result<String, E>) -> Result<bool, E> {
        match self.name.strip_prefix(COMMAND) {
            Some(pattern) if thread.is_first => Ok(matches(pattern, &command()?)),
            Some(_) => Ok(false),
            None => Ok(matches(kept(&self.name), thread.name)),
        }
    }
}

/// Cuts a name to the length that the kernel keeps; a pattern is returned unchanged.
fn kept(name: &str) -> &str {
    let cut = name.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = cut.take_while(|end| *end <= NAME_OCTETS).last().unwrap_or(0);
    match name.contains('*') {
        true => name,
        false => &name[..end],
    }
}

/// True if a text matches a pattern, in which `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl FromStr for PlannedTask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{text}: {what} (write NAME=POLICY:PRIORITY@CPUS, such as relay=fifo:80@2)");
        let (name, how) = text.rsplit_once('=').ok_or_else(|| wrong("there is no ="))?;
        if name.trim_start_matches(COMMAND).is_empty() {
            return Err(wrong("the task has no name"));
        }
        let (policy, cpus) = match how.split_once('@') {
            Some((policy, cpus)) => (policy, Some(cpus)),
            None => (how, None),
        };
        if !(policy.is_empty() || is_policy(policy)) {
            return Err(wrong("the policy is fifo or rr, with a priority from 1 to 99"));
        }
        let cpus = cpus.map(|cpus| cpus.parse::<CpuList>().ok().filter(|cpus| !cpus.is_empty()));
        let cpus = match cpus {
            Some(None) => return Err(wrong("after @ come CPUs, such as 2-3")),
            Some(some) => some,
            None => None,
        };
        if policy.is_empty() && cpus.is_none() {
            return Err(wrong("it has neither a policy nor CPUs"));
        }
        Ok(Self {
            name: name.to_owned(),
            policy: Some(policy.to_owned()).filter(|policy| !policy.is_empty()),
            cpus,
        })
    }
}

fn is_policy(text: &str) -> bool {
    let Some((name, priority)) = text.split_once(':') else {
        return false;
    };
    let is_number = priority.bytes().all(|octet| octet.is_ascii_digit()) && !priority.starts_with('0');
    ["fifo", "rr"].contains(&name)
        && is_number
        && priority.parse().is_ok_and(|priority: u32| (1..=99).contains(&priority))
}

/// The task in the notation of the command line.
impl fmt::Display for PlannedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.policy.as_deref().unwrap_or_default())?;
        match &self.cpus {
            Some(cpus) => write!(f, "@{cpus}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PlannedTask, Seen, matches};

    #[test]
    fn what_is_told_is_read_and_written_alike() {
        for text in [
            "relay=fifo:80@2",
            "relay=fifo:80",
            "relay=@2-3",
            "cmd:*/relay --unit=2*=rr:1@0,4",
        ] {
            let task: PlannedTask = text.parse().expect("a task");
            assert_eq!(task.to_string(), text);
        }
        for wrong in [
            "",
            "relay",
            "=fifo:80",
            "cmd:=fifo:80",
            "relay=",
            "relay=@",
            "relay=fifo",
            "relay=fifo:0",
            "relay=fifo:100",
            "relay=fifo:+5",
            "relay=other",
            "relay=deadline:1",
            "relay=fifo:80@x",
            "relay=fifo:80@3-2",
        ] {
            assert!(wrong.parse::<PlannedTask>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, text, so) in [
            ("relay", "relay", true),
            ("relay", "relays", false),
            ("*", "", true),
            ("rel*", "relay", true),
            ("*lay", "relay", true),
            ("r*a*y", "relay", true),
            ("r*y*a", "relay", false),
            ("ab*ba", "aba", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), so, "{pattern} {text}");
        }
    }

    #[test]
    fn threads_are_known_by_their_name_or_their_process_by_its_command() {
        let is = |task: &str, name: &str, is_first: bool| {
            let task: PlannedTask = task.parse().expect("a task");
            task.is(&Seen { name, is_first }, || {
                Ok::<_, ()>("/usr/bin/relay --unit 2".to_owned())
            })
        };
        assert_eq!(is("relay=fifo:80", "relay", false), Ok(true));
        assert_eq!(
            is("protection-relay-7=fifo:80", "protection-rela", true),
            Ok(true),
            "the kernel keeps 15 octets"
        );
        assert_eq!(is("cmd:*relay --unit 2*=fifo:80", "relay", true), Ok(true));
        assert_eq!(is("cmd:*relay --unit 2*=fifo:80", "helper", false), Ok(false));
        assert_eq!(is("cmd:*relay --unit 3*=fifo:80", "relay", true), Ok(false));
    }
}
