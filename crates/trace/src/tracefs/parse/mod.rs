//! The text that tracefs prints its events in (`trace`, clock `mono`: seconds and microseconds).

use super::line;
use crate::event::{Event, Left, Name, Thread, Vector, What, tag_of};
use units::Monotonic;

/// A CPU's events.
pub(super) struct Parsed {
    pub(super) events: Vec<Event>,
    /// Whether the buffer still holds every one since it began.
    pub(super) whole: bool,
    /// Instants before which events are missing: they were overwritten while the text was made.
    pub(super) lost_before: Vec<Monotonic>,
}

/// Reads the text of `per_cpu/cpuN/trace`. Lines of other events are passed over.
pub(super) fn parse(cpu: u32, text: &str) -> Parsed {
    let mut events: Vec<Event> = Vec::new();
    let mut lost_before = Vec::new();
    let mut has_lost = false;
    for line in text.lines() {
        has_lost |= line::lost(line).is_some();
        if let Some(event) = parse_line(cpu, line) {
            lost_before.extend(has_lost.then_some(event.at));
            has_lost = false;
            events.push(event);
        }
    }
    // Nothing came after them to tell when it was.
    lost_before.extend(has_lost.then_some(Monotonic::from_ns(i64::MAX)));
    events.sort_by_key(|event| event.at);
    Parsed {
        events,
        whole: is_whole(text),
        lost_before,
    }
}

/// From `# entries-in-buffer/entries-written: 205/205   #P:2`.
fn is_whole(text: &str) -> bool {
    let marker = "entries-in-buffer/entries-written:";
    let counts = text
        .lines()
        .take_while(|line| line.starts_with('#') || line.is_empty())
        .find_map(|line| line.split_once(marker)?.1.split_whitespace().next());
    counts
        .and_then(|counts| counts.split_once('/'))
        .is_some_and(|(kept, written)| kept == written)
}

fn parse_line(cpu: u32, line: &str) -> Option<Event> {
    line::read(line, |head, event, fields| {
        Some(Event {
            at: head.at,
            cpu,
            what: parse_event(event, fields)?,
        })
    })
}

fn parse_event(event: &str, fields: &str) -> Option<What> {
    if let Some(what) = parse_vector(event) {
        return Some(what);
    }
    match event {
        "sched_switch" => parse_switch(fields),
        "sched_waking" => parse_waking(fields),
        "irq_handler_entry" => Some(What::InterruptEntry {
            number: number(fields, "irq=")?,
            name: Name::from(fields.split_once("name=")?.1),
        }),
        "irq_handler_exit" => Some(What::InterruptExit {
            number: number(fields, "irq=")?,
        }),
        "softirq_entry" => number(fields, "vec=").map(What::SoftirqEntry),
        "softirq_exit" => number(fields, "vec=").map(What::SoftirqExit),
        // The instant the timer was due is not in this event.
        "hrtimer_expire_entry" => Some(What::TimerEntry { due_ns: None }),
        "hrtimer_expire_exit" => Some(What::TimerExit),
        "nmi_handler" => Some(What::Nmi {
            lasted_ns: number(fields, "delta_ns: ")?,
        }),
        "cpu_idle" => match number(fields, "state=")? {
            u32::MAX => Some(What::IdleExit),
            state => Some(What::IdleEntry(state)),
        },
        _ => None,
    }
}

fn parse_vector(event: &str) -> Option<What> {
    Vector::ALL
        .into_iter()
        .find_map(|vector| match event.strip_prefix(vector.stem())? {
            "_entry" => Some(What::VectorEntry(vector)),
            "_exit" => Some(What::VectorExit(vector)),
            _ => None,
        })
}

/// `prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=98`.
fn parse_switch(fields: &str) -> Option<What> {
    let (previous, next) = fields.rsplit_once(" ==> next_comm=")?;
    let (name, numbers) = next.rsplit_once(" next_pid=")?;
    let (pid, priority) = numbers.split_once(" next_prio=")?;
    let (previous, state) = previous.rsplit_once(" prev_state=")?;
    let (_, numbers) = previous.rsplit_once(" prev_pid=")?;
    let (number, left_with) = numbers.split_once(" prev_prio=")?;
    let previous = number.parse().ok()?;
    Some(What::Switch {
        next: thread(name, pid, priority)?,
        left: left(state),
        left_with: Some(left_with.parse().ok()?),
        previous: tag_of(previous),
    })
}

/// A plus stands for pre-empted, whatever state it was about to enter. `T` is stopped by a signal, `t` by a debugger.
fn left(state: &str) -> Left {
    if state.starts_with('R') || state.ends_with('+') {
        Left::CouldRun
    } else if state.starts_with(['T', 't']) {
        Left::Stopped
    } else {
        Left::Waits
    }
}

/// `comm=a pid=1 prio=98 target_cpu=001`.
fn parse_waking(fields: &str) -> Option<What> {
    let (name, numbers) = fields.strip_prefix("comm=")?.rsplit_once(" pid=")?;
    let (pid, rest) = numbers.split_once(" prio=")?;
    let priority = rest.split(' ').next()?;
    thread(name, pid, priority).map(What::Waking)
}

fn thread(name: &str, pid: &str, priority: &str) -> Option<Thread> {
    Some(Thread {
        pid: pid.parse().ok()?,
        priority: priority.trim().parse().ok()?,
        name: Name::from(name),
    })
}

/// The number that follows `key`.
fn number(fields: &str, key: &str) -> Option<u32> {
    let (_, value) = fields.split_once(key)?;
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}

#[cfg(test)]
mod tests;
