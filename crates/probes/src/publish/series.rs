//! Names and meaning of the series of `publish`.

use super::PublishConfig;
use super::group::{pace_of, paces};
use super::timetable::Pace;
use crate::nic::NicClock;
use crate::notice::notices;
use crate::port::Port;
use model::{EventKind, SeriesClock, SeriesSpec, kind};
use run::Describe;
use units::{Ns, format_ns};

/// Slot of the first series.
pub(super) const LATENESS: u16 = 0;

notices! {
    /// Notices of `publish`, each with a number of frames.
    pub(crate) enum Notice {
        /// Frames that the kernel refused.
        Refused = 1,
        /// Frames without a stamp.
        Unstamped = 2,
        /// Frames that went to the other LAN only, and the number of this LAN.
        RefusedOnLan = 3,
    }
}

/// Slot of the departure stamps that belong to the lateness series in `slot`, for `paces` paces.
pub(super) fn departure(slot: u16, paces: usize) -> u16 {
    slot + u16::try_from(paces).unwrap_or(0)
}

/// Names and settings of `publish/lateness`, or of `publish/lateness/PACE` if streams of several paces are published.
pub(super) struct Publish {
    config: PublishConfig,
    paces: Vec<Pace>,
    interface: String,
    nic: Option<NicClock>,
}

impl Publish {
    pub(super) fn of(config: &PublishConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            paces: paces(&config.streams),
            interface: port.interfaces(),
            nic: port.nic_clock(),
        }
    }
}

/// Series label for the streams of `pace`, one of `count` paces.
pub(super) fn label(pace: Pace, count: usize) -> String {
    if count == 1 {
        "lateness".into()
    } else {
        format!("lateness/{}", name(pace))
    }
}

fn name(pace: Pace) -> String {
    format!("F{}S{}", pace.rate, pace.asdus)
}

impl Publish {
    /// Series of the departure stamps, with due instants converted to the wall clock.
    fn departure(&self, lateness: SeriesSpec, label: &str) -> SeriesSpec {
        let mut settings = lateness.settings;
        settings.extend(self.nic.iter().flat_map(NicClock::settings));
        let what = format!("instant a frame is due -> {}", self.config.stamps.leaves());
        SeriesSpec {
            clock: SeriesClock::Realtime,
            interval_ns: lateness.interval_ns,
            settings,
            ..SeriesSpec::of(&kind::DEPARTURE, label, what)
        }
    }
}

impl Describe for Publish {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let place = usize::from(slot - LATENESS);
        let pace = self.paces[place % self.paces.len()];
        let leaves = place >= self.paces.len();
        let of_pace = || config.streams.iter().filter(|stream| pace_of(stream) == pace);
        let streams = of_pace().count();
        let spec = SeriesSpec {
            interval_ns: Some(pace.interval_ns() / streams as f64),
            threshold_ns: config.threshold_ns,
            settings: vec![
                ("interface".into(), self.interface.clone()),
                ("streams".into(), streams.to_string()),
                ("profile".into(), name(pace)),
                (
                    "waveform".into(),
                    of_pace()
                        .next()
                        .map_or_else(String::new, |stream| stream.waveform.what().to_owned()),
                ),
                ("policy".into(), config.policy.to_string()),
                (
                    "cpu".into(),
                    config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
                ),
                ("spin ahead".into(), Ns(config.spin_ahead_ns).to_string()),
                ("late after".into(), format_ns(pace.interval_ns())),
            ],
            ..SeriesSpec::of(
                &kind::PUBLISH,
                label,
                "instant a frame is due -> send call for all streams returned",
            )
        };
        match leaves {
            true => self.departure(spec, label),
            false => spec,
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        let told = match Notice::of(code)? {
            Notice::Unstamped if self.nic.is_some() => {
                (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a))
            }
            Notice::Unstamped => (
                EventKind::Incomplete,
                format!("{name}: {a} frames have no stamp of the driver: they are counted but not measured"),
            ),
            Notice::RefusedOnLan => (EventKind::Note, crate::redundant::refused_text(name, a, b)),
            Notice::Refused => (
                EventKind::SocketDrop,
                format!("{name}: {a} frames were not sent: the kernel had no room for them, or the link was down"),
            ),
        };
        Some(told)
    }
}
