//! The sentence for a person.

use super::role::Role;
use super::tally::Tally;
use crate::around::Around;
use crate::event::Thread;
use crate::occupancy::Who;
use crate::snapshot::Snapshot;
use model::{Cause, Question, QuestionKind};
use units::Ns;

/// Describes the cause in one sentence.
pub(super) fn text(cause: Cause, tally: &Tally, question: &Question, around: &Around, own: Option<&Thread>) -> String {
    let whole = show(question.ns());
    match cause {
        Cause::Thread => thread(tally, &whole, own),
        Cause::Interrupt => occupied(tally, Role::Interrupt, &whole) + &doubt(tally, question, around),
        Cause::Softirq => occupied(tally, Role::Softirq, &whole) + &doubt(tally, question, around),
        Cause::Throttled => throttled(tally, &whole, around, own),
        Cause::Stopped => format!(
            "the thread was stopped for {} of {whole}, by a signal, a debugger or a freezer",
            show(tally.ns(Role::Stopped))
        ),
        Cause::Hypervisor => hypervisor(tally, question, around),
        Cause::Smi => format!(
            "CPU {} recorded nothing for {} of {whole}, and it had a system management interrupt",
            question.cpu,
            show(silent_ns(tally))
        ),
        Cause::IdleExit => format!(
            "the idle CPU {} served the timer {} late: it was slow to leave its idle state",
            question.cpu,
            show(tally.ns(Role::Late))
        ),
        Cause::InterruptsOff => interrupts_off(tally, around),
        Cause::Path if question.kind == QuestionKind::Frame => frame_path(tally, question, around, &whole),
        Cause::Path if question.kind == QuestionKind::Hop => hop_path(tally, question, &whole),
        Cause::Path if tally.ns(Role::Waited) > tally.ns(Role::Own) => format!(
            "the thread itself waited again for {} of {whole} after it had been woken: for a page or a lock",
            show(tally.ns(Role::Waited))
        ),
        Cause::Path => format!("nothing else had the CPU for long: {whole} is the way from the timer to the thread"),
        Cause::Unexplained if tally.ns(Role::Lost) > 0 => format!(
            "the kernel did not record every switch on CPU {}: it is not known what had it for {} of {whole}",
            question.cpu,
            show(tally.ns(Role::Lost))
        ),
        Cause::Unexplained => format!(
            "the events do not show the cause for {} of {whole}",
            show(tally.unexplained_ns())
        ),
    }
}

/// The sentence if nothing on its CPU delayed the frame that a thread waited for.
fn frame_path(tally: &Tally, question: &Question, around: &Around, whole: &str) -> String {
    let under_way = show(tally.ns(Role::UnderWay));
    let text = format!(
        "nothing on CPU {} kept the frame from its thread for {under_way} of {whole}: it was under way, on the wire or at the far end, \
         or queued after other frames",
        question.cpu
    );
    text + &doubt(tally, question, around)
}

/// The sentence if a frame's thread was not on the CPU of the question.
pub(super) fn elsewhere(question: &Question) -> String {
    format!(
        "thread {} did not run on CPU {} meanwhile: it is not pinned to one, and came from another",
        question.thread, question.cpu
    )
}

/// The sentence if nothing kept the CPU from a frame.
fn hop_path(tally: &Tally, question: &Question, whole: &str) -> String {
    let idle_ns = tally.ns(Role::Waited);
    if idle_ns > tally.ns(Role::Own) {
        return format!(
            "CPU {} was idle for {} of {whole}: it had not been notified of the frame yet, or the frame was held up on another CPU",
            question.cpu,
            show(idle_ns)
        );
    }
    format!(
        "nothing else had CPU {} for long: {whole} is the kernel's own work",
        question.cpu
    )
}

/// The sentence if the ring did not reach back to the due instant.
pub(super) fn overwritten(question: &Question) -> String {
    format!(
        "the recorder's ring of CPU {} no longer held, or did not yet hold, the beginning of these {}",
        question.cpu,
        show(question.ns())
    )
}

/// The sentence if the events do not show the thread.
pub(super) fn unseen(question: &Question, on_cpu: &Snapshot) -> String {
    format!(
        "the events of CPU {} do not show how thread {} was woken{}",
        question.cpu,
        question.thread,
        last_seen(question, on_cpu)
    )
}

/// The thread that was last seen to get the CPU before the sample's end: a kernel may exclude some threads from all tracing.
pub(super) fn last_seen(question: &Question, on_cpu: &Snapshot) -> String {
    let turns = on_cpu.turns();
    let last = turns
        .iter()
        .rfind(|turn| turn.from < question.to && turn.thread.pid != question.thread);
    last.map_or_else(String::new, |turn| {
        format!("; the last thread seen to get the CPU before that was {}", turn.thread)
    })
}

fn thread(tally: &Tally, whole: &str, own: Option<&Thread>) -> String {
    let mut text = occupied(tally, Role::Thread, whole);
    if let (Some((Who::Thread(other), _)), Some(own)) = (tally.foremost(Role::Thread), own)
        && own.is_realtime()
        && other.priority > own.priority
    {
        text.push_str(", although its priority is lower: the kernel could not pre-empt it there");
    }
    text
}

fn occupied(tally: &Tally, role: Role, whole: &str) -> String {
    let all_ns = tally.ns(role);
    match tally.foremost(role) {
        Some((who, ns)) if ns == all_ns => format!("{who} had the CPU for {} of {whole}", show(ns)),
        Some((who, ns)) => format!(
            "{}s had the CPU for {} of {whole}, most of it {who} with {}",
            word(role),
            show(all_ns),
            show(ns)
        ),
        None => format!("{}s had the CPU", word(role)),
    }
}

/// Adds a doubt: if nothing else happened in an interrupt for most of the time, a virtual machine may have stood still in it.
fn doubt(tally: &Tally, question: &Question, around: &Around) -> String {
    let silence_ns = tally.longest_silence_ns();
    if around.is_virtual == Some(false) || silence_ns * 2 <= question.ns() {
        return String::new();
    }
    format!(
        ", {} of it without an event: in a virtual machine the host may have run something else then",
        show(silence_ns)
    )
}

fn word(role: Role) -> &'static str {
    match role {
        Role::Interrupt => "interrupt",
        Role::Softirq => "softirq",
        _ => "thread",
    }
}

fn throttled(tally: &Tally, whole: &str, around: &Around, own: Option<&Thread>) -> String {
    let instead = match tally.foremost(Role::Throttled) {
        Some((Who::Thread(thread), _)) => format!("ran {thread} instead"),
        _ => "left the CPU idle".to_owned(),
    };
    let held = show(tally.ns(Role::Throttled));
    if own.is_some_and(Thread::is_realtime) {
        return format!(
            "the kernel held the ready real-time thread back for {held} of {whole} and {instead}: real-time throttling or its fair \
             server (kernel.sched_rt_runtime_us, /sys/kernel/debug/sched/fair_server)"
        );
    }
    let quota = "the CPU quota of its control group (cpu.max, cpu.cfs_quota_us)";
    let why = match around.throttled_ns {
        Some(ns) if ns > 0 => format!("{quota} was used up"),
        _ => format!("{quota} was used up, or core scheduling kept the CPU free"),
    };
    format!("the kernel held the ready thread back for {held} of {whole} and {instead}: {why}")
}

fn hypervisor(tally: &Tally, question: &Question, around: &Around) -> String {
    let waiting = match question.kind {
        QuestionKind::WakeUp if tally.ns(Role::Late) > 0 => " while the timer was due",
        QuestionKind::WakeUp | QuestionKind::Gap | QuestionKind::Hop | QuestionKind::Frame => "",
    };
    let proof = if around.steal_ns.is_some_and(|ns| ns > 0) {
        "the host of this virtual machine ran something else, and its steal counter moved"
    } else if let Some((Who::Thread(thread), _)) = tally.foremost(Role::Late) {
        &format!(
            "either the host of this virtual machine ran something else, or thread {thread} had interrupts off: events \
             cannot distinguish the two"
        )
    } else {
        "the host of this virtual machine ran something else, or was late to wake it"
    };
    format!(
        "CPU {} recorded nothing for {}{waiting}: {proof}",
        question.cpu,
        show(silent_ns(tally))
    )
}

fn interrupts_off(tally: &Tally, around: &Around) -> String {
    let late = show(tally.ns(Role::Late));
    let who = match tally.foremost(Role::Late) {
        Some((Who::Thread(thread), _)) => format!("thread {thread} ran"),
        _ => "the CPU was at work".to_owned(),
    };
    let doubt = match around.is_virtual {
        Some(false) => "",
        _ => ", or the hypervisor delivered the timer interrupt late",
    };
    format!("{who} while the timer interrupt was {late} late: interrupts were off{doubt}")
}

fn silent_ns(tally: &Tally) -> u64 {
    tally.ns(Role::Late) + tally.ns(Role::Stalled)
}

fn show(ns: u64) -> String {
    Ns(ns).to_string()
}
