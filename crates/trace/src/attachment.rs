//! The kernel's tracepoints that the recorder uses.

/// A tracepoint, and the eBPF program that is attached to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// Group of the tracepoint.
    pub(crate) group: &'static str,
    /// Name of the tracepoint.
    pub(crate) name: &'static str,
    /// Name of the eBPF program that serves it.
    pub(crate) program: &'static str,
    /// True if the recorder is useless without it.
    pub(crate) needed: bool,
}

const fn point(group: &'static str, name: &'static str, program: &'static str, needed: bool) -> Attachment {
    Attachment {
        group,
        name,
        program,
        needed,
    }
}

/// Every tracepoint, the needed ones first.
pub(crate) const ATTACHMENTS: [Attachment; 20] = [
    point("sched", "sched_switch", "on_switch", true),
    point("sched", "sched_waking", "on_waking", true),
    point("irq", "irq_handler_entry", "on_irq_entry", false),
    point("irq", "irq_handler_exit", "on_irq_exit", false),
    point("irq", "softirq_entry", "on_softirq_entry", false),
    point("irq", "softirq_exit", "on_softirq_exit", false),
    point("timer", "hrtimer_expire_entry", "on_timer_entry", false),
    point("timer", "hrtimer_expire_exit", "on_timer_exit", false),
    point("power", "cpu_idle", "on_idle", false),
    point("nmi", "nmi_handler", "on_nmi", false),
    point("irq_vectors", "local_timer_entry", "on_local_timer_entry", false),
    point("irq_vectors", "local_timer_exit", "on_local_timer_exit", false),
    point("irq_vectors", "reschedule_entry", "on_reschedule_entry", false),
    point("irq_vectors", "reschedule_exit", "on_reschedule_exit", false),
    point("irq_vectors", "call_function_entry", "on_call_function_entry", false),
    point("irq_vectors", "call_function_exit", "on_call_function_exit", false),
    point(
        "irq_vectors",
        "call_function_single_entry",
        "on_call_function_single_entry",
        false,
    ),
    point(
        "irq_vectors",
        "call_function_single_exit",
        "on_call_function_single_exit",
        false,
    ),
    point("irq_vectors", "irq_work_entry", "on_irq_work_entry", false),
    point("irq_vectors", "irq_work_exit", "on_irq_work_exit", false),
];

/// A tracepoint for the recorder, with the reason if it is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The tracepoint: `sched/sched_switch`.
    pub tracepoint: String,
    /// Why it is not used; `None` if it is.
    pub missing: Option<String>,
}

impl Program {
    pub(crate) fn of(point: &Attachment, missing: Option<String>) -> Self {
        Self {
            tracepoint: format!("{}/{}", point.group, point.name),
            missing,
        }
    }
}
