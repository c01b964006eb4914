//! Names and meaning of the series of watched relays.

use super::WatchConfig;
use super::notice::Notice;
use model::{EventKind, SeriesSpec, kind, setting};
use run::Describe;
use units::Ns;

/// Slots of a pair: all of its decisions, those that its first relay took first, and those that its second relay took first.
pub(super) const SLOTS: usize = 3;

/// Slot of all decisions of a pair.
pub(super) fn slot(pair: usize) -> u16 {
    u16::try_from(SLOTS * pair).unwrap_or(u16::MAX)
}

/// Slot of the decisions that relay `first` of a pair took first: 0 for the first relay of the list, 1 for the other.
pub(super) fn lead_slot(pair: usize, first: usize) -> u16 {
    u16::try_from(SLOTS * pair + 1 + first).unwrap_or(u16::MAX)
}

/// Names and settings of the series of watched relays.
pub(super) struct Watch {
    pub(super) config: WatchConfig,
    pub(super) names: Vec<String>,
    pub(super) interface: String,
}

impl Watch {
    pub(super) fn of(config: &WatchConfig, interface: &str) -> Self {
        Self {
            config: config.clone(),
            names: names(config),
            interface: interface.to_owned(),
        }
    }

    /// Name of the series of a slot, made of the two relays; the one that decided first is first, if the series has such an
    /// order.
    pub(super) fn label(&self, slot: u16) -> String {
        let [first, then] = self.pair(slot);
        format!("{}-{}", self.names[first], self.names[then])
    }

    /// Relays of a slot; the one that decided first is first.
    fn pair(&self, slot: u16) -> [usize; 2] {
        let other = usize::from(slot) / SLOTS + 1;
        match usize::from(slot) % SLOTS {
            2 => [other, 0],
            _ => [0, other],
        }
    }
}

/// Short names of the relays: the logical device of each control block if these differ, otherwise the whole references.
pub(super) fn names(config: &WatchConfig) -> Vec<String> {
    let whole = config.relays.iter().map(|relay| relay.gocb_ref.clone());
    let short: Vec<String> = whole
        .clone()
        .map(|name| name.split('/').next().unwrap_or_default().to_owned())
        .collect();
    let is_unique = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    match short.iter().all(is_unique) {
        true => short,
        false => whole.collect(),
    }
}

impl Describe for Watch {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let block = |relay: usize| {
            let relay = &config.relays[relay];
            format!("member {} of {}", relay.member, relay.gocb_ref)
        };
        let [one, other] = self.pair(slot).map(block);
        let (kind, what) = match usize::from(slot) % SLOTS {
            0 => (
                &kind::DECISION,
                "kernel has the first GOOSE message of one relay's decision -> kernel has that of the other relay, in either order",
            ),
            _ => (
                &kind::LEAD,
                "kernel has the first GOOSE message of the first relay's decision -> kernel has that of the second relay",
            ),
        };
        let cpu = config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        SeriesSpec {
            settings: vec![
                ("interface".into(), self.interface.clone()),
                ("one".into(), one),
                ("the other".into(), other),
                ("pair within".into(), Ns(config.pair_within_ns).to_string()),
                ("policy".into(), config.policy.to_string()),
                ("cpu".into(), cpu),
                (setting::SAMPLED_VALUES.into(), setting::NOT_TESTED.into()),
            ],
            // The kernel's stamps are converted from the wall clock to the monotonic clock, so a step of the wall clock moves no
            // message.
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        Some(self.told(Notice::of(code)?, name, a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::{Watch, names};
    use crate::watch::WatchConfig;
    use crate::watch::notice::Notice;

    fn config(relays: &[&str]) -> WatchConfig {
        let relays = relays.iter().map(|relay| relay.parse().expect(relay));
        WatchConfig::of(relays.collect(), 500_000_000).expect("two relays")
    }

    #[test]
    fn series_are_called_after_their_relays() {
        let three = config(&["MAINLD0/LLN0$GO$gcb", "PILOTLD0/LLN0$GO$gcb:1", "THIRDLD0/LLN0$GO$gcb"]);
        let watch = Watch::of(&three, "v0");
        let labels: Vec<String> = (3..6).map(|slot| watch.label(slot)).collect();
        assert_eq!(labels, ["MAINLD0-THIRDLD0", "MAINLD0-THIRDLD0", "THIRDLD0-MAINLD0"]);
        let (_, alone) = watch.told(Notice::Alone, "x", 2, 0);
        assert_eq!(
            alone,
            "x: only THIRDLD0 decided: no decision of MAINLD0 came within 500 ms"
        );
        let alike = config(&["LD0/LLN0$GO$a", "LD0/LLN0$GO$b"]);
        assert_eq!(names(&alike), ["LD0/LLN0$GO$a", "LD0/LLN0$GO$b"]);
    }
}
