//! Parses the events of the osnoise tracer as `include/trace/events/osnoise.h` prints them.

use crate::tracefs::line;
use units::Monotonic;

/// Kinds of interruptions of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Interrupter {
    Nmi,
    Interrupt,
    Softirq,
    Thread,
}

impl Interrupter {
    pub(super) const ALL: [Self; 4] = [Self::Nmi, Self::Interrupt, Self::Softirq, Self::Thread];

    /// Name of the event.
    pub(super) fn event(self) -> &'static str {
        match self {
            Self::Nmi => "nmi_noise",
            Self::Interrupt => "irq_noise",
            Self::Softirq => "softirq_noise",
            Self::Thread => "thread_noise",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Nmi => "NMI",
            Self::Interrupt => "irq",
            Self::Softirq => "softirq",
            Self::Thread => "thread",
        }
    }
}

/// One interruption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noise {
    pub(super) kind: Interrupter,
    /// Name of the interrupter; empty for an NMI.
    pub(super) name: String,
    /// Number of the interrupt, softirq or thread.
    pub(super) number: u32,
    /// When it ended. Its start is printed on the scheduler's clock, which is not used here.
    pub(super) ended: Monotonic,
    /// How long it ran, in ns, without nested interruptions.
    pub(super) net_ns: u64,
}

/// Parses a line of `trace_pipe`. `None`: another event, or one whose start the tracer did not see.
pub(super) fn parse(text: &str) -> Option<Noise> {
    line::read(text, |head, event, fields| {
        let kind = Interrupter::ALL.into_iter().find(|kind| kind.event() == event)?;
        let (who, times) = match kind {
            Interrupter::Nmi => ("", fields.strip_prefix("start ")?),
            _ => fields.rsplit_once(" start ")?,
        };
        let (name, number) = match kind {
            Interrupter::Nmi => ("", 0),
            _ => {
                let (name, number) = who.rsplit_once(':')?;
                (name.trim(), number.parse().ok()?)
            }
        };
        Some(Noise {
            kind,
            name: name.to_owned(),
            number,
            ended: head.at,
            net_ns: net_ns(times)?,
        })
    })
}

/// Parses `5789.857529929 duration 1845 ns`. An interruption that was already running when the tracer began starts at 0, and a
/// negative length is printed as a number above 2^63.
fn net_ns(times: &str) -> Option<u64> {
    let (start, rest) = times.split_once(" duration ")?;
    let net_ns = rest.split(' ').next()?.parse().ok()?;
    (start != "0.000000000" && i64::try_from(net_ns).is_ok()).then_some(net_ns)
}
