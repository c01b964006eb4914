//! Limits of other programs that keep judged CPUs out of idle states during the run.
//!
//! A service that holds such a limit does so in service, too: that is a fact. An instrument holds it only while it measures, so the figures
//! are those of a host unlike the one in service.

use host::{DeepIdle, Host, IdleHolder};
use model::EventKind;
use run::Events;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{CpuList, Monotonic};

/// True while this run itself holds a limit: others' cannot be told from it, and its own is reported.
pub(super) type Ours = Arc<AtomicBool>;

/// Knowledge about the limit for all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Nothing yet.
    Unread,
    /// None that keeps a judged CPU out of an idle state.
    Harmless,
    /// A limit in us that does.
    Keeps(i32),
    /// It cannot be read.
    Unknown,
}

/// An event about a limit.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    since: Monotonic,
    kind: EventKind,
    text: String,
}

/// A limit in force that an instrument holds.
#[derive(Debug)]
struct Doubt {
    /// The instant before it.
    since: Monotonic,
    text: String,
    /// True if a service held one at the begin of the run, too: the limit may be the service's alone.
    is_shared: bool,
}

/// The limits of others as they were last seen.
#[derive(Debug)]
pub(super) struct OthersLimits {
    judged: CpuList,
    ours: Ours,
    /// Instant of the last look.
    looked: Monotonic,
    limit: Limit,
    /// The instant before this limit.
    since: Monotonic,
    /// An instrument's limit that is in force.
    doubt: Option<Doubt>,
    /// True if a service's limit was reported.
    is_noted: bool,
}

impl OthersLimits {
    /// For a run that began at `start`.
    pub(super) fn new(judged: CpuList, ours: Ours, start: Monotonic) -> Self {
        Self {
            judged,
            ours,
            looked: start,
            limit: Limit::Unread,
            since: start,
            doubt: None,
            is_noted: false,
        }
    }

    /// Reads the limit; if it has changed, finds its holders.
    pub(super) fn look(&mut self, events: &Events) {
        let said = self.look_at(&Host::live(), sys::clock::monotonic());
        write(said, events);
    }

    /// Reads it a last time, and reports what is still in force.
    pub(super) fn close(&mut self, events: &Events) {
        let said = self.close_at(&Host::live(), sys::clock::monotonic());
        write(said, events);
    }

    fn close_at(&mut self, host: &Host, now: Monotonic) -> Vec<Said> {
        let before = self.limit;
        let mut said = self.look_at(host, now);
        if self.limit == before {
            said.extend(self.look_again(host));
        }
        said.extend(self.over());
        said
    }

    /// Finds the holders of a limit that has not changed once more: of a service and an instrument, one may have ended.
    fn look_again(&mut self, host: &Host) -> Option<Said> {
        let limit = self.limit;
        let state = match limit {
            Limit::Keeps(_) => host.kept_out_of_idle(&self.judged).ok()??.state,
            Limit::Unknown => host.deep_idle(&self.judged)?,
            Limit::Unread | Limit::Harmless => return None,
        };
        let holders = strangers(host);
        let is_explained = limit != Limit::Unknown && is_with_service(&holders);
        match holders.iter().find(|holder| is_doubtful(limit, holder)) {
            Some(instrument) if self.doubt.is_none() && !is_explained => {
                self.doubt = Some(Doubt {
                    since: self.since,
                    text: doubt(limit, &state, instrument),
                    is_shared: false,
                });
                None
            }
            None if self.doubt.as_ref().is_some_and(|doubt| doubt.is_shared) => {
                self.doubt = None;
                self.noted(&state, &holders)
            }
            _ => None,
        }
    }

    fn look_at(&mut self, host: &Host, now: Monotonic) -> Vec<Said> {
        let since = std::mem::replace(&mut self.looked, now);
        let is_ours = || self.ours.load(Ordering::SeqCst);
        // Read before and after: the limit may be this run's own at either instant.
        let was_ours = is_ours();
        let kept = host.kept_out_of_idle(&self.judged);
        if was_ours || is_ours() {
            self.limit = Limit::Unread;
            return self.over().into_iter().collect();
        }
        let (limit, state) = match kept {
            Ok(None) => (Limit::Harmless, None),
            Ok(Some(kept)) => (Limit::Keeps(kept.us), Some(kept.state)),
            Err(_) => (Limit::Unknown, host.deep_idle(&self.judged)),
        };
        if limit == self.limit {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.limit, limit);
        self.since = since;
        let mut said: Vec<Said> = self.over().into_iter().collect();
        if let Some(state) = state {
            said.extend(self.held(before, &state, &strangers(host)));
        }
        said
    }

    /// Begins a doubt about an instrument's limit, or returns the note about another one.
    fn held(&mut self, before: Limit, state: &DeepIdle, holders: &[IdleHolder]) -> Option<Said> {
        let (limit, since) = (self.limit, self.since);
        if let Some(instrument) = holders.iter().find(|holder| is_doubtful(limit, holder)) {
            self.doubt = Some(Doubt {
                since,
                text: doubt(limit, state, instrument),
                is_shared: before == Limit::Unread && is_with_service(holders),
            });
            return None;
        }
        self.noted(state, holders)
    }

    /// The note about a service's limit, once.
    fn noted(&mut self, state: &DeepIdle, holders: &[IdleHolder]) -> Option<Said> {
        let Limit::Keeps(us) = self.limit else { return None };
        let is_new = !std::mem::replace(&mut self.is_noted, true);
        is_new.then(|| Said {
            since: self.since,
            kind: EventKind::Note,
            text: note(us, state, holders),
        })
    }

    /// Ends the doubt, if there is one.
    fn over(&mut self) -> Option<Said> {
        let Doubt { since, text, .. } = self.doubt.take()?;
        let kind = EventKind::HeldByUs;
        Some(Said { since, kind, text })
    }
}

fn write(said: Vec<Said>, events: &Events) {
    for one in said {
        events.write_since(one.since, one.kind, one.text);
    }
}

/// Holders other than this process.
fn strangers(host: &Host) -> Vec<IdleHolder> {
    let mut holders = host.idle_holders();
    holders.retain(|holder| holder.pid != std::process::id());
    holders
}

/// True if an instrument holds a limit at present that keeps these CPUs out of an idle state.
pub(super) fn is_held_by_instrument(host: &Host, judged: &CpuList) -> bool {
    let is_kept = matches!(host.kept_out_of_idle(judged), Ok(Some(_)));
    is_kept && strangers(host).iter().any(IdleHolder::is_instrument)
}

/// True if a service holds a limit, too.
fn is_with_service(holders: &[IdleHolder]) -> bool {
    !holders.iter().all(IdleHolder::is_instrument)
}

/// True if the limit may be an instrument's. A second triptime seldom holds one: without a known limit it is no reason to doubt.
fn is_doubtful(limit: Limit, holder: &IdleHolder) -> bool {
    holder.is_instrument() && (limit != Limit::Unknown || !holder.is_triptime())
}

fn doubt(limit: Limit, state: &DeepIdle, holder: &IdleHolder) -> String {
    let holds = match (limit, holder.is_seen) {
        (Limit::Keeps(us), true) => format!("holds idle states off on all CPUs (/dev/cpu_dma_latency at {us} us)"),
        _ => "may hold idle states off on all CPUs (/dev/cpu_dma_latency; its open files cannot be read)".to_owned(),
    };
    format!(
        "{} (pid {}) {holds}, and cpu {} enters {} without it: in service it wakes later; measure again when it has ended",
        holder.name, holder.pid, state.cpus, state.state
    )
}

fn note(us: i32, state: &DeepIdle, holders: &[IdleHolder]) -> String {
    let names = holders
        .iter()
        .map(|holder| format!("{} (pid {})", holder.name, holder.pid));
    let names: Vec<String> = names.collect();
    let by = match names.is_empty() {
        true => "no process seen from here: a driver, or a process outside this container".to_owned(),
        false => names.join(", "),
    };
    format!(
        "/dev/cpu_dma_latency is held at {us} us, by {by}: cpu {} does not enter {}, in service only as long as this lasts",
        state.cpus, state.state
    )
}

#[cfg(test)]
mod tests;
