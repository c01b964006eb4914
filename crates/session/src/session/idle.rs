//! Idle states during a run: left to the system or held off; the run records which.

use super::others::{Ours, is_held_by_instrument};
use host::{DeepIdle, Host};
use model::{EventKind, setting};
use run::Events;
use std::sync::atomic::Ordering;
use sys::memory::DmaLatency;
use units::{CpuList, Monotonic};

/// The treatment of idle states.
pub(super) enum Idle {
    /// Left as the system has them; the text is for the report.
    System(&'static str),
    /// They are held off.
    Held {
        limit: DmaLatency,
        since: Monotonic,
        /// The deep states that judged CPUs would otherwise enter.
        deep: Option<DeepIdle>,
        ours: Ours,
    },
}

impl Idle {
    /// Holds them off from now on, which `ours` then says, or leaves them alone. If the kernel refuses, the run gets an event.
    pub(super) fn of(hold: bool, judged: &CpuList, ours: &Ours, events: &Events) -> Self {
        if !hold {
            return Self::System(setting::AS_THE_SYSTEM_HAS_THEM);
        }
        let since = sys::clock::monotonic();
        // Read first: afterwards this program's own limit is in force.
        let deep = deep_in_service(&Host::live(), judged);
        ours.store(true, Ordering::SeqCst);
        match sys::memory::hold_dma_latency(0) {
            Ok(limit) => Self::Held {
                limit,
                since,
                deep,
                ours: ours.clone(),
            },
            Err(error) => {
                ours.store(false, Ordering::SeqCst);
                events.write(EventKind::Refused, error.to_string());
                Self::System("as the system has them: holding them off was refused")
            }
        }
    }

    /// The treatment in words, for the report.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::System(words) => words,
            Self::Held { .. } => "held off: /dev/cpu_dma_latency at 0",
        }
    }

    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// Leaves them alone from now on. If a judged CPU would normally enter deep states, the earlier figures are those of a host
    /// unlike the one in service.
    pub(super) fn release(&mut self, events: &Events) {
        let held = std::mem::replace(self, Self::System(setting::AS_THE_SYSTEM_HAS_THEM));
        let Self::Held {
            limit,
            since,
            deep,
            ours,
        } = held
        else {
            return;
        };
        drop(limit);
        ours.store(false, Ordering::SeqCst);
        if let Some(deep) = deep {
            events.write_since(since, EventKind::HeldByUs, text(&deep));
        }
    }
}

/// The deep states that judged CPUs enter in service: under the limit of a service, but not under that of another instrument.
fn deep_in_service(host: &Host, judged: &CpuList) -> Option<DeepIdle> {
    match is_held_by_instrument(host, judged) {
        true => host.kept_out_of_idle(judged).ok().flatten().map(|kept| kept.state),
        false => host.deep_idle(judged),
    }
}

fn text(deep: &DeepIdle) -> String {
    let exit = match deep.exit_us {
        Some(us) => format!("{us} us to leave"),
        None => "the kernel does not report the time to leave it".to_owned(),
    };
    format!(
        "this run held idle states off, and cpu {} enters {} by itself ({exit}): in service it wakes later; measure without --hold-idle \
         (idle = \"system\" in a plan, --default-system for cyclictest), or keep the CPU out of deep states for good (triptime tune)",
        deep.cpus, deep.state
    )
}

#[cfg(test)]
mod tests {
    use super::text;
    use host::DeepIdle;

    #[test]
    fn the_doubt_names_the_state_and_what_to_do() {
        let deep = DeepIdle {
            cpus: "1-3".parse().expect("a list"),
            state: "C6".into(),
            exit_us: Some(133),
        };
        let text = text(&deep);
        assert!(text.contains("cpu 1-3 enters C6 by itself (133 us to leave)"), "{text}");
        assert!(text.contains("without --hold-idle"), "{text}");
        assert!(text.contains("--default-system for cyclictest"), "{text}");
    }
}
