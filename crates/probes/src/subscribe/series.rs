//! Names and meaning of the series of `subscribe`.

use super::goose::{Notice as GooseNotice, Words};
use super::notice::Notice;
use super::{ClockRelation, SubscribeConfig, expected};
use crate::nic::NicClock;
use crate::port::Port;
use model::{EventKind, QuestionKind, SeriesClock, SeriesSpec, kind, setting};
use run::{Describe, FRAME_WORTH_ASKING_NS};

/// Slot of `delivery/subscribe`.
pub(super) const DELIVERY: u16 = 0;

/// The three series of a stream, in the order of their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Spacing = 0,
    Arrival = 1,
    Age = 2,
}

impl Family {
    pub(super) const ALL: [Self; 3] = [Self::Spacing, Self::Arrival, Self::Age];
}

/// Slot of one series of stream number `stream`.
pub(super) fn slot(stream: u16, family: Family) -> u16 {
    1 + stream * 3 + family as u16
}

/// Number of slots for `streams` streams.
pub(super) fn slots(streams: u16) -> u16 {
    1 + streams.saturating_mul(3)
}

/// Slot of `lan/A`, which that of `lan/B` follows.
pub(super) fn lan_slot(config: &SubscribeConfig) -> u16 {
    slots(config.max_streams) + super::goose::slots(config.goose.max_blocks)
}

/// Names and settings of the series of `subscribe`.
pub(super) struct Subscribe {
    pub(super) config: SubscribeConfig,
    pub(super) interface: String,
    goose: Words,
    nic: Option<NicClock>,
}

impl Subscribe {
    pub(super) fn of(config: &SubscribeConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interfaces(),
            goose: Words::of(&config.goose, slots(config.max_streams)),
            nic: port.nic_clock(),
        }
    }

    /// Stated samples a second of the stream of `slot`; `None` if the rate is learned.
    fn rate(&self, slot: u16) -> Option<u32> {
        let expected = expected::of_slot(&self.config, slot).map(|expected| expected.rate);
        expected.or(self.config.rate)
    }

    fn settings(&self, slot: u16) -> Vec<(String, String)> {
        let config = &self.config;
        let rate = self
            .rate(slot)
            .map_or_else(|| "learned from smpCnt".to_owned(), |rate| format!("{rate} samples/s"));
        let mut settings: Vec<(String, String)> = vec![
            ("interface".into(), self.interface.clone()),
            (
                "engine".into(),
                match config.is_by_task() {
                    true => "AF_PACKET TPACKET_V2 ring, once a task cycle".to_owned(),
                    false => format!("AF_PACKET TPACKET_V2 ring, {}", config.receive.word()),
                },
            ),
            ("rate".into(), rate),
            ("clock".into(), config.clock.describe()),
            ("policy".into(), config.policy.to_string()),
            (
                "cpu".into(),
                config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            ),
        ];
        if slot != DELIVERY {
            settings.push((setting::SOCKET.into(), format!("delivery/{}", config.taker())));
        }
        if let Some(expected) = expected::of_slot(config, slot) {
            settings.push(("expected".into(), expected.origin.clone()));
        }
        settings
    }
}

impl Describe for Subscribe {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        if slot >= lan_slot(&self.config) {
            return super::lans::series(label, self.settings(slot));
        }
        if let Some(mut spec) = self.goose.series(slot, label, self.settings(slot)) {
            if spec.kind == Some(&kind::GOOSE_TRANSFER) {
                spec.settings.extend(self.config.clock.settings());
            } else if let Some(nic) = &self.nic {
                spec.settings.push(nic.alone());
            }
            return spec;
        }
        let stamp = self.config.stamps.maker();
        let (kind, what, judged) = match slot.checked_sub(1).map(|slot| slot % 3) {
            None if self.config.is_by_task() => (
                &kind::DELIVERY,
                format!("{stamp} receive stamp -> the relay's task has the frame"),
                false,
            ),
            None => (
                &kind::DELIVERY,
                format!("{stamp} receive stamp -> application has the frame"),
                false,
            ),
            Some(0) => (
                &kind::SPACING,
                format!("{stamp} receive stamp of one frame -> receive stamp of the next"),
                false,
            ),
            Some(1) => (
                &kind::ARRIVAL,
                format!("frame's due instant at the publisher -> {stamp} receive stamp"),
                false,
            ),
            Some(_) if self.config.is_by_task() => (
                &kind::USE,
                "frame's due instant at the publisher -> the relay's task works on it".to_owned(),
                true,
            ),
            Some(_) => (
                &kind::AGE,
                "frame's due instant at the publisher -> application has it".to_owned(),
                true,
            ),
        };
        let own = expected::number_of_slot(slot).and_then(|number| self.config.labels.get(number));
        let label = own.map_or(label, String::as_str);
        let mut settings = self.settings(slot);
        if [&kind::ARRIVAL, &kind::AGE, &kind::USE].contains(&kind) {
            settings.extend(self.config.clock.settings());
        }
        if let Some(nic) = &self.nic {
            match kind {
                _ if [&kind::DELIVERY, &kind::ARRIVAL].contains(&kind) => settings.extend(nic.settings()),
                _ if kind == &kind::SPACING => settings.push(nic.alone()),
                _ => {}
            }
        }
        SeriesSpec {
            clock: SeriesClock::Realtime,
            // If the rate is only learned, the measured time of the stream is that of the windows.
            interval_ns: self
                .rate(slot)
                .filter(|_| slot > DELIVERY)
                .map(|rate| 1e9 / f64::from(rate)),
            threshold_ns: self.config.threshold_ns.filter(|_| judged),
            settings,
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        if let Some(told) = super::lans::told(code, name, a, b) {
            return Some(told);
        }
        match GooseNotice::of(code) {
            Some(notice) => Some(self.goose.told(notice, name, a, b)),
            None => Some(self.told(Notice::of(code)?, name, a, b)),
        }
    }

    /// Question about the cause, for series that end when the application has the frame. The kernel's stamp is taken on the CPU
    /// that serves the NIC, which is not known: arrival and spacing therefore name no CPU to check, unlike the age of the same
    /// frame.
    fn question(&self, slot: u16, value_ns: i64) -> Option<QuestionKind> {
        let is_age = slot > DELIVERY && slot < slots(self.config.max_streams) && (slot - 1) % 3 == Family::Age as u16;
        // A task that polls once a cycle does not wait for a frame.
        let is_waited_for = (slot == DELIVERY || is_age) && !self.config.is_by_task();
        (is_waited_for && value_ns >= FRAME_WORTH_ASKING_NS).then_some(QuestionKind::Frame)
    }
}

/// Families of series that are measured with the relation `clock`.
pub(super) fn families(clock: ClockRelation) -> &'static [Family] {
    match clock.is_known() {
        true => &Family::ALL,
        false => &[Family::Spacing],
    }
}

#[cfg(test)]
mod tests {
    use super::{GooseNotice, Notice};

    #[test]
    fn a_code_has_one_meaning() {
        for code in 0..=u16::MAX {
            let meanings = [
                Notice::of(code).is_some(),
                GooseNotice::of(code).is_some(),
                super::super::lans::told(code, "lan/A", 0, 0).is_some(),
            ];
            let count = meanings.iter().filter(|is_one| **is_one).count();
            assert!(count <= 1, "{code}: {meanings:?}");
        }
    }
}
