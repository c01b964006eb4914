//! What the series of this probe are called and mean.

use super::PublishConfig;
use super::group::{pace_of, paces};
use super::timetable::Pace;
use crate::port::Port;
use model::{EventKind, SeriesSpec, kind};
use run::Describe;
use units::format_ns;

/// Slot of the first series.
pub(super) const LATENESS: u16 = 0;
/// Notice: the kernel refused frames.
pub(super) const REFUSED: u16 = 1;

/// Names and settings of `publish/lateness`, or of `publish/lateness/PACE` where streams of several paces are published.
pub(super) struct Publish {
    config: PublishConfig,
    paces: Vec<Pace>,
    interface: String,
}

impl Publish {
    pub(super) fn of(config: &PublishConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            paces: paces(&config.streams),
            interface: port.interface().to_owned(),
        }
    }
}

/// What the series of the streams of `pace`, one of `count`, is announced as.
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

impl Describe for Publish {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let pace = self.paces[usize::from(slot - LATENESS)];
        let of_pace = || config.streams.iter().filter(|stream| pace_of(stream) == pace);
        let streams = of_pace().count();
        SeriesSpec {
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
                ("spin ahead".into(), format_ns(config.spin_ahead_ns as f64)),
                ("late after".into(), format_ns(pace.interval_ns())),
            ],
            ..SeriesSpec::of(
                &kind::PUBLISH,
                label,
                "instant a frame is due -> send call for all streams returned",
            )
        }
    }

    fn notice(&self, _code: u16, name: &str, a: u64, _b: u64) -> (EventKind, String) {
        (
            EventKind::SocketDrop,
            format!("{name}: {a} frames were not sent: the kernel had no room for them, or the link was down"),
        )
    }
}
