//! Names and meaning of the series of `trace`.

use crate::nic::NicClock;
use ::trace::hops::{HopSeries, Point, PointKind, StreamInfo};
use model::{SeriesClock, SeriesSpec, hop::HopName};
use run::{LabelsAt, Recorder, Thresholds};
use units::Ns;

/// Names of hops, streams and series.
pub(super) struct Names {
    points: Vec<Point>,
    asked_ns: Option<u64>,
    thresholds: Thresholds,
    labels_at: LabelsAt,
    labels: Vec<String>,
    streams: Vec<StreamInfo>,
    /// The NIC's clock, if the first point is a NIC's stamp.
    nic: Option<NicClock>,
}

impl Names {
    pub(super) fn new(points: &[Point], asked_ns: Option<u64>, recorder: &Recorder) -> Self {
        Self {
            points: points.to_vec(),
            asked_ns,
            thresholds: recorder.thresholds().clone(),
            labels_at: recorder.labels(),
            labels: Vec::new(),
            streams: Vec::new(),
            nic: None,
        }
    }

    /// Returns the same names; instants of the first point are on this clock.
    pub(super) fn with_nic(mut self, nic: Option<NicClock>) -> Self {
        self.nic = nic;
        self
    }

    /// Adds the streams that are new since the last call.
    pub(super) fn learn(&mut self, streams: &[StreamInfo]) {
        let known = streams.iter().rposition(|stream| !stream.sv_id.is_empty());
        // A stream without svID after all others is still being added. One in between was added twice and has no frames.
        for stream in streams
            .iter()
            .take(known.map_or(0, |last| last + 1))
            .skip(self.labels.len())
        {
            self.labels.push(self.labels_at.of(&stream.id()));
            self.streams.push(stream.clone());
        }
    }

    /// Name of a stream; `None` when it is not known yet.
    pub(super) fn label(&self, stream: u32) -> Option<&str> {
        self.labels.get(stream as usize).map(String::as_str)
    }

    /// Names of all streams that are known.
    pub(super) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Facts known about a stream.
    pub(super) fn info(&self, stream: u32) -> Option<&StreamInfo> {
        self.streams.get(stream as usize)
    }

    /// `nic-to-tap`.
    pub(super) fn hop(&self, series: HopSeries) -> String {
        self.name(series, "").way()
    }

    fn name<'a>(&'a self, series: HopSeries, stream: &'a str) -> HopName<'a> {
        let (from, to) = self.ends(series);
        HopName {
            from: &from.name,
            to: &to.name,
            stream,
        }
    }

    fn ends(&self, series: HopSeries) -> (&Point, &Point) {
        let to = &self.points[series.point.min(self.points.len() - 1)];
        let from = if series.total { 0 } else { to.parent };
        (&self.points[from], to)
    }

    /// Threshold in ns above which a duration is too long: from one point to the next as requested by the user, otherwise from
    /// the limit on the series. `None` if the stream is not known yet.
    pub(super) fn threshold_ns(&self, series: HopSeries) -> Option<u64> {
        let name = self.name(series, self.label(series.stream)?);
        self.asked_of(series).or_else(|| self.thresholds.of(&name.to_string()))
    }

    /// Threshold requested by the user, by which the kernel counts.
    pub(super) fn asked_of(&self, series: HopSeries) -> Option<u64> {
        self.asked_ns.filter(|_| !series.total)
    }

    /// The series; `None` when its stream is not known yet.
    pub(super) fn spec(&self, series: HopSeries) -> Option<SeriesSpec> {
        let label = self.label(series.stream)?;
        let stream = self.streams.get(series.stream as usize)?;
        let (from, to) = self.ends(series);
        let vlan = stream.vlan.map_or_else(|| "none".to_owned(), |vlan| vlan.to_string());
        let mut settings = vec![
            ("from".to_owned(), seen_by(from)),
            ("to".to_owned(), seen_by(to)),
            ("svID".to_owned(), text(&stream.sv_id)),
            ("APPID".to_owned(), format!("0x{:04x}", stream.appid)),
            ("source".to_owned(), mac(stream.source)),
            ("destination".to_owned(), mac(stream.destination)),
            ("VLAN at the first point".to_owned(), vlan),
            ("ASDUs in a frame".to_owned(), stream.asdus.to_string()),
        ];
        let threshold_ns = self.threshold_ns(series);
        if let Some(ns) = threshold_ns {
            settings.push(("threshold".to_owned(), Ns(ns).to_string()));
        }
        let nic = self
            .nic
            .as_ref()
            .filter(|_| std::ptr::eq(from, &raw const self.points[0]));
        settings.extend(nic.iter().flat_map(|nic| nic.settings_in_kernel()));
        let begins = match nic {
            Some(_) => "the NIC's time stamp".to_owned(),
            None => events(from),
        };
        let way = format!(
            "a frame's way inside this kernel: {} ({begins}) -> {} ({})",
            from.name,
            to.name,
            events(to)
        );
        let spec = self.name(series, label).series(way);
        Some(SeriesSpec {
            threshold_ns,
            settings,
            clock: match nic {
                Some(_) => SeriesClock::Realtime,
                None => spec.clock,
            },
            ..spec
        })
    }
}

fn text(octets: &[u8]) -> String {
    let text = String::from_utf8_lossy(octets);
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn mac(octets: [u8; 6]) -> String {
    wire::ether::Mac(octets).to_string()
}

fn events(point: &Point) -> String {
    let kinds: Vec<&str> = point.hooks.iter().map(|place| place.kind.tracepoint()).collect();
    kinds.join(" or ")
}

fn seen_by(point: &Point) -> String {
    let places = point.hooks.iter().map(|place| {
        let kind: PointKind = place.kind;
        format!(
            "{} of interface {} in namespace {}",
            kind.tracepoint(),
            place.ifindex,
            place.netns
        )
    });
    places.collect::<Vec<_>>().join(" or ")
}
