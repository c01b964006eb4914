//! Idle states during a run: left to the system or held off; the run records which.

use host::{DeepIdle, Host};
use model::EventKind;
use run::Events;
use sys::memory::DmaLatency;
use units::{CpuList, Monotonic};

/// The treatment of idle states.
pub(super) enum Idle {
    /// Left as the system has them; the text is for the report.
    System(&'static str),
    /// They are held off.
    Held {
        _limit: DmaLatency,
        since: Monotonic,
        /// The deep states that judged CPUs would otherwise enter.
        deep: Option<DeepIdle>,
    },
}

impl Idle {
    /// Holds them off from now on, or leaves them alone. If the kernel refuses, the run gets an event.
    pub(super) fn of(hold: bool, judged: &CpuList, events: &Events) -> Self {
        if !hold {
            return Self::System("as the system has them");
        }
        let since = sys::clock::monotonic();
        // Read first: afterwards this program's own limit is in force.
        let deep = Host::live().deep_idle(judged);
        match sys::memory::hold_dma_latency(0) {
            Ok(limit) => Self::Held {
                _limit: limit,
                since,
                deep,
            },
            Err(error) => {
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
        let held = std::mem::replace(self, Self::System("as the system has them"));
        if let Self::Held { since, deep, .. } = held
            && let Some(deep) = deep
        {
            events.write_since(since, EventKind::HeldByUs, text(&deep));
        }
    }
}

fn text(deep: &DeepIdle) -> String {
    let exit = match deep.exit_us {
        Some(us) => format!("{us} us to leave"),
        None => "the kernel does not report the time to leave it".to_owned(),
    };
    format!(
        "this run held idle states off, and cpu {} enters {} by itself ({exit}): in service it wakes later; measure without --hold-idle \
         (idle = \"system\" in a plan), or keep the CPU out of deep states for good (triptime tune)",
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
    }
}
