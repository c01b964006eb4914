//! Turns events into the passage of a frame: its `sk_buff`s, the order of its places, and its end.

use super::event::{Event, Follow, FollowedStream};
use crate::event::softirq_name;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use units::Monotonic;

/// Names for the programs' numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Tracepoints by slot.
    pub(super) tracepoints: Vec<Served>,
    /// Functions by number.
    pub(super) functions: Vec<Arc<str>>,
    /// Reasons for dropping frames, by number.
    pub(super) reasons: BTreeMap<u32, String>,
    /// The kernel's own functions, by address.
    pub(super) symbols: BTreeMap<u64, String>,
    /// True if softirqs and interrupts are watched from entry to exit.
    pub(super) has_context: bool,
}

/// A tracepoint in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) name: Arc<str>,
    pub(super) frees: bool,
    pub(super) has_reason: bool,
}

/// The tracepoint or function of an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A tracepoint.
    Tracepoint(Arc<str>),
    /// The entry of a function.
    Function(Arc<str>),
}

/// Contexts of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Unknown: the CPU's softirqs and interrupts could not be watched.
    Unknown,
    /// The thread itself, in a system call or as a kernel thread.
    Thread,
    /// A softirq on top of the thread, with its vector.
    Softirq(u32),
    /// The handler of an interrupt on top of the thread, with its number.
    Interrupt(u32),
}

/// Why a frame was dropped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The kernel's number for it.
    pub number: u32,
    /// The kernel's name for it, without `SKB_DROP_REASON_`; `None` if unknown.
    pub name: Option<String>,
}

/// One event of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageStep {
    /// Instant of the event.
    pub at: Monotonic,
    /// Time since the passage began, in ns.
    pub since_first_ns: u64,
    /// Time since the event before, in ns; 0 for the first.
    pub delta_ns: u64,
    /// The tracepoint or function.
    pub what: What,
    /// CPU of the event.
    pub cpu: u32,
    /// The context of the CPU.
    pub context: Context,
    /// The process of the thread that ran, or was interrupted.
    pub pid: u32,
    /// Number of that thread.
    pub tid: u32,
    /// Name of that thread.
    pub comm: String,
    /// The interface that the frame belonged to.
    pub interface: String,
    /// Its number; 0: none.
    pub ifindex: u32,
    /// Inode number of its network namespace; 0: unknown.
    pub netns: u32,
    /// Number of the `sk_buff` within the passage, counted from 1.
    pub skb: usize,
    /// True if the frame itself was read; false if only its `sk_buff` was recognised.
    pub by_content: bool,
    /// Why it was dropped.
    pub reason: Option<Reason>,
    /// The code that freed it.
    pub location: Option<String>,
}

/// The origin of an `sk_buff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The one that was chosen.
    First,
    /// It shares its data with that one.
    CloneOf(usize),
    /// It has its own data: a copy, or the same frame sent again.
    Copy,
}

/// The end of an `sk_buff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkbEnd {
    /// It was used up.
    Consumed,
    /// It was dropped; `None` if this kernel gives no reasons.
    Dropped(Option<Reason>),
    /// Its end was not seen: it still exists, or was released without an event.
    NotSeen,
}

/// An `sk_buff` of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skb {
    /// Its origin.
    pub origin: Origin,
    /// Its end.
    pub end: SkbEnd,
}

/// The path of one sampled value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its stream.
    pub stream: FollowedStream,
    /// The frame's first smpCnt.
    pub smp_cnt: u16,
    /// The events of the passage, in order.
    pub steps: Vec<PassageStep>,
    /// Its `sk_buff`s.
    pub skbs: Vec<Skb>,
    /// Number of events that there was no room for.
    pub lost_events: u32,
}

impl Passage {
    /// Time from the first event to the last, in ns.
    pub fn took_ns(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.since_first_ns)
    }
}

impl What {
    /// Name of the tracepoint or function.
    pub fn name(&self) -> &str {
        match self {
            Self::Tracepoint(name) | Self::Function(name) => name,
        }
    }

    /// True for the entry of a function.
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Thread => f.write_str("thread"),
            Self::Softirq(vector) => write!(f, "softirq {}", softirq_name(*vector)),
            Self::Interrupt(number) => write!(f, "interrupt {number}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "reason {}", self.number),
        }
    }
}

/// Collects the events of each frame into a passage.
pub(super) fn assemble(follows: &BTreeMap<u32, Follow>, events: &[Event], names: &Names) -> Vec<Passage> {
    let mut of_frame: BTreeMap<u32, Vec<&Event>> = BTreeMap::new();
    for event in events {
        of_frame.entry(event.follow).or_default().push(event);
    }
    let interfaces = interfaces(events);
    let passages = follows.iter().filter_map(|(number, follow)| {
        let mut events = of_frame.remove(number)?;
        events.sort_by_key(|event| event.at);
        let mut builder = Builder {
            names,
            interfaces: &interfaces,
            passage: Passage {
                stream: follow.stream.clone(),
                smp_cnt: follow.smp_cnt,
                steps: Vec::with_capacity(events.len()),
                skbs: Vec::new(),
                lost_events: follow.lost,
            },
            known: BTreeMap::new(),
            heads: Vec::new(),
        };
        for event in events {
            builder.add(event);
        }
        Some(builder.passage)
    });
    let mut passages: Vec<Passage> = passages.collect();
    passages.sort_by_key(|passage| passage.steps.first().map(|step| step.at));
    passages
}

/// Names of interfaces, by namespace and number: events whose device was removed from the frame by a socket have only these.
fn interfaces(events: &[Event]) -> BTreeMap<(u32, u32), &str> {
    let named = events.iter().filter(|event| !event.interface.is_empty());
    named
        .map(|event| ((event.netns, event.ifindex), event.interface.as_str()))
        .collect()
}

struct Builder<'a> {
    names: &'a Names,
    interfaces: &'a BTreeMap<(u32, u32), &'a str>,
    passage: Passage,
    /// Numbers of `sk_buff`s by address.
    known: BTreeMap<u64, usize>,
    /// Address of the data of each.
    heads: Vec<u64>,
}

impl Builder<'_> {
    fn add(&mut self, event: &Event) {
        let number = self.number_of(event);
        let served = self.names.tracepoints.get(event.slot as usize);
        let is_freed = served.is_some_and(|served| served.frees);
        let reason = served
            .filter(|served| served.has_reason)
            .map(|_| self.names.reason(event.reason));
        if is_freed {
            let is_drop = served.is_some_and(|served| &*served.name == "kfree_skb");
            let is_consumed = reason.as_ref().and_then(|reason| reason.name.as_deref()) == Some("CONSUMED");
            self.passage.skbs[number].end = if is_drop && !is_consumed {
                SkbEnd::Dropped(reason.clone())
            } else {
                SkbEnd::Consumed
            };
        }
        let first = self.passage.steps.first().map_or(event.at, |step| step.at);
        let before = self.passage.steps.last().map_or(event.at, |step| step.at);
        let since = |from: Monotonic| u64::try_from(event.at - from).unwrap_or(0);
        let step = PassageStep {
            at: event.at,
            since_first_ns: since(first),
            delta_ns: since(before),
            what: self.names.what(event),
            cpu: event.cpu,
            context: self.names.context(event),
            pid: event.pid,
            tid: event.tid,
            comm: event.comm.clone(),
            interface: self.interface(event),
            ifindex: event.ifindex,
            netns: event.netns,
            skb: number + 1,
            by_content: event.by_content,
            reason,
            location: served.and_then(|_| self.names.symbol(event.location)),
        };
        self.passage.steps.push(step);
    }

    fn number_of(&mut self, event: &Event) -> usize {
        if let Some(number) = self.known.get(&event.skb).copied() {
            // After its end, only functions that free it are of the same `sk_buff`; no tracepoint is.
            let is_over = self.passage.skbs[number].end != SkbEnd::NotSeen;
            let is_tracepoint = self.names.tracepoints.get(event.slot as usize).is_some();
            if !is_over || !is_tracepoint && self.heads[number] == event.head {
                // Its data may be moved while it exists.
                self.heads[number] = event.head;
                return number;
            }
        }
        let number = self.passage.skbs.len();
        let alike = self.heads.iter().position(|head| *head == event.head);
        let origin = match alike {
            _ if number == 0 => Origin::First,
            Some(other) => Origin::CloneOf(other + 1),
            None => Origin::Copy,
        };
        self.passage.skbs.push(Skb {
            origin,
            end: SkbEnd::NotSeen,
        });
        self.heads.push(event.head);
        self.known.insert(event.skb, number);
        number
    }

    fn interface(&self, event: &Event) -> String {
        if !event.interface.is_empty() || event.ifindex == 0 {
            return event.interface.clone();
        }
        let known = self.interfaces.get(&(event.netns, event.ifindex));
        known.map_or_else(|| format!("interface {}", event.ifindex), |name| (*name).to_owned())
    }
}

impl Names {
    fn what(&self, event: &Event) -> What {
        match self.tracepoints.get(event.slot as usize) {
            Some(served) => What::Tracepoint(Arc::clone(&served.name)),
            // A program attached to a single function reports only its address, and no number.
            None => {
                let numbered = (event.function as usize)
                    .checked_sub(1)
                    .and_then(|at| self.functions.get(at));
                let known = || self.symbols.get(&event.location).map(|name| name.as_str().into());
                What::Function(numbered.cloned().or_else(known).unwrap_or_else(|| "a function".into()))
            }
        }
    }

    fn context(&self, event: &Event) -> Context {
        match (event.irq, event.softirq) {
            _ if !self.has_context => Context::Unknown,
            (Some(number), _) => Context::Interrupt(number),
            (None, Some(vector)) => Context::Softirq(vector),
            (None, None) => Context::Thread,
        }
    }

    fn reason(&self, number: u32) -> Reason {
        let name = self.reasons.get(&number);
        Reason {
            number,
            name: name.map(|name| {
                name.trim_start_matches("SKB_DROP_REASON_")
                    .trim_start_matches("SKB_")
                    .to_owned()
            }),
        }
    }

    /// The function that contains an address.
    fn symbol(&self, address: u64) -> Option<String> {
        let (start, name) = self.symbols.range(..=address).next_back().filter(|_| address > 0)?;
        Some(format!("{name}+{:#x}", address - start))
    }
}

#[cfg(test)]
mod tests;
