//! Names and meaning of the series of `trip`.

use super::notice::Notice;
use super::under_test::CountedShots;
use super::{TripConfig, UnderTest};
use crate::redundant::LanFault;
use model::{EventKind, RampSignal, SeriesSpec, kind, setting};
use run::Describe;
use units::Ns;
use waveform::type_test::TypeTest;

/// Slots of each place, which is a group of shots as one relay received them: its trips, its starts, its shots without a trip,
/// and the phases and functions of its trips.
const EACH: usize = 5;

fn slot(place: usize, which: usize) -> u16 {
    u16::try_from(EACH * place + which).unwrap_or(u16::MAX)
}

/// Number of slots for this many places.
pub(super) fn slots(places: usize) -> usize {
    EACH * places
}

/// Slot of a place's trips.
pub(super) fn trip_slot(place: usize) -> u16 {
    slot(place, 0)
}

/// Slot of a place's starts.
pub(super) fn start_slot(place: usize) -> u16 {
    slot(place, 1)
}

/// Slot of a place's shots without a trip.
pub(super) fn security_slot(place: usize) -> u16 {
    slot(place, 2)
}

/// Slot of the phases of a place's trips.
pub(super) fn phase_slot(place: usize) -> u16 {
    slot(place, 3)
}

/// Slot of the zones or functions of a place's trips.
pub(super) fn zone_slot(place: usize) -> u16 {
    slot(place, 4)
}

/// Names and settings of the series.
pub(super) struct Trip {
    config: TripConfig,
    places: Vec<CountedShots>,
    pub(super) interface: String,
}

impl Trip {
    pub(super) fn of(config: &TripConfig, interface: &str) -> Self {
        Self {
            places: config.places(),
            config: config.clone(),
            interface: interface.to_owned(),
        }
    }

    /// The relay of the series with this name.
    pub(super) fn relay_of(&self, series: &str) -> &UnderTest {
        let label = series.split_once('/').map(|(_, label)| label);
        let place = self
            .places
            .iter()
            .find(|place| Some(place.group.label.as_str()) == label);
        &self.config.relays[place.map_or(0, |place| place.relay)]
    }

    /// True if a ramp is played, and the relay's start is in the place of its trip.
    fn watches_start(&self) -> bool {
        let test = self.config.type_test.as_ref();
        test.and_then(TypeTest::ramp_signal) == Some(RampSignal::Start)
    }

    fn settings(&self, place: Option<&CountedShots>, within_ns: Option<u64>) -> Vec<(String, String)> {
        let config = &self.config;
        let relay = place.map_or(&config.relays[0], |place| &config.relays[place.relay]);
        let cpu = |cpu: Option<u32>| cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let mut settings = vec![
            (
                "scenario".to_owned(),
                place.map(|place| place.group.what.clone()).unwrap_or_default(),
            ),
            ("interface".into(), self.interface.clone()),
            ("stream".into(), config.stream.sv_id.clone()),
            ("trip member".into(), relay.trip.to_string()),
            ("settle".into(), Ns(config.settle_ns).to_string()),
            ("seed".into(), config.seed.to_string()),
            ("policy".into(), config.policy.to_string()),
            ("cpu".into(), cpu(config.cpu)),
            ("goose cpu".into(), cpu(config.goose_cpu)),
            ("receive".into(), config.receive.word().into()),
            ("spin ahead".into(), Ns(config.spin_ahead_ns).to_string()),
            (
                "LANs".into(),
                config.lan_fault.map_or_else(|| "no fault".to_owned(), LanFault::words),
            ),
        ];
        if let Some(ns) = within_ns {
            settings.push(("required within".into(), Ns(ns).to_string()));
        }
        if let Some(test) = &config.type_test {
            settings.push(("type test".into(), test.what.clone()));
        }
        if let Some(peer) = &config.peer {
            let name = String::from_utf8_lossy(&peer.block.message.gocb_ref).into_owned();
            settings.push(("peer".into(), name));
            settings.push(("peer member".into(), peer.member.to_string()));
            settings.push(("peer role".into(), peer.role.to_string()));
            if !peer.role.needs_fault() {
                settings.push((setting::SAMPLED_VALUES.into(), setting::NOT_TESTED.into()));
            }
        }
        if let Some(ns) = config.breaker_ns {
            settings.push(("breaker".into(), Ns(ns).to_string()));
        }
        settings
    }
}

impl Describe for Trip {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let (number, which) = (usize::from(slot) / EACH, usize::from(slot) % EACH);
        let place = self.places.get(number);
        let within_ns = place.and_then(|place| place.group.within_ns).filter(|_| which == 0);
        let begin = match &self.config.peer {
            Some(peer) if !peer.role.needs_fault() => "instant the peer's changed message is due",
            _ => "instant the first faulted sample is due",
        };
        let to = |end: &str| format!("{begin} -> kernel has the first GOOSE frame with the {end}");
        let (kind, what) = match which {
            0 if self.watches_start() => (&kind::TRIP, to("start bit")),
            0 => (&kind::TRIP, to("trip bit")),
            1 => (&kind::START, to("start bit")),
            3 => (&kind::PHASE, to("trip bit, of a trip whose phases are reported")),
            4 => (
                &kind::ZONE,
                to("trip bit, of a trip whose zone or function is reported"),
            ),
            _ => (
                &kind::SECURITY,
                "instant the disturbance begins -> the relay is watched no longer".to_owned(),
            ),
        };
        let mut settings = self.settings(place, within_ns);
        if *kind == kind::SECURITY {
            let control = "shots with a trip, before and after".to_owned();
            settings.push((setting::POSITIVE_CONTROL.to_owned(), control));
        }
        SeriesSpec {
            settings,
            // The kernel's stamps are converted from the wall clock to the monotonic clock, so a step of the wall clock moves no
            // message.
            ..SeriesSpec::of(kind, label, &what)
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        Some(self.told(Notice::of(code)?, name, a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::Trip;
    use crate::trip::notice::Notice;
    use crate::trip::{TripConfig, TripOptions, UnderTest};
    use wire::goose::Member;

    #[test]
    fn what_tripped_wrongly_is_called_as_its_own_relay_calls_it() {
        let usual = TripOptions::default().config().expect("the usual scenario");
        let relay = |label: &str, function: &str| UnderTest {
            label: Some(label.into()),
            functions: vec![(function.into(), Member::numbered(1))],
            ..usual.relays[0].clone()
        };
        let config = TripConfig {
            relays: vec![relay("a", "zone1"), relay("b", "zone2")],
            ..usual.clone()
        };
        let described = Trip::of(&config, "eth0");
        let told = |series: &str| described.told(Notice::Wrong, series, 1, 0b1000 << 32).1;
        assert!(told("zone/a-overcurrent").contains("wrong trip: zone1 tripped"));
        assert!(told("zone/b-overcurrent").contains("wrong trip: zone2 tripped"));
    }
}
