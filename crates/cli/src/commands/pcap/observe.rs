//! Faults of an injector and the relay's trips in a capture: the same rules as live.

use super::PcapArgs;
use crate::failure::Failure;
use capture::{Frame, LinkType, Stamps};
use model::{Event, EventKind, Shot, setting};
use observation::{Count, Observer, Seen, Series};
use probes::observe::{LABEL, kept, limits, series};
use run::ReadSeries;
use store::{Batch, RunWriter, StoreError};

/// Stamps may go back by this much: of several queues of a NIC, or several interfaces.
const BACK_NS: i64 = 1_000_000;

/// An observation under way.
pub(super) struct Observing {
    config: observation::Config,
    within_ns: Option<u64>,
    observer: Observer,
    newest_ns: Option<i64>,
    unstamped: u64,
    back: u64,
    seen: Vec<Seen>,
}

impl Observing {
    /// The observation that is asked for, if one is.
    ///
    /// # Errors
    /// Options that name no relay.
    pub(super) fn asked(args: &PcapArgs) -> Result<Option<Self>, Failure> {
        let observed = &args.observed;
        if observed.observe.observe.is_none() {
            return Ok(None);
        }
        let relay = observed.under_test()?;
        let config = observed.observe.config(&relay, &observed.sv_id, args.rate)?;
        Ok(config.map(|config| Self {
            observer: Observer::new(&config),
            within_ns: observed.observe.within,
            newest_ns: None,
            unstamped: 0,
            back: 0,
            seen: Vec::new(),
            config,
        }))
    }

    /// The limits that it is judged by beside those of a profile.
    pub(super) fn limits(&self) -> String {
        limits(self.within_ns)
    }

    /// Takes a frame of the capture.
    pub(super) fn take(&mut self, frame: &Frame<'_>) {
        if frame.link_type != LinkType::ETHERNET || frame.is_cut() {
            return;
        }
        let Some(at_ns) = frame.time_ns else {
            self.unstamped += 1;
            return;
        };
        let newest_ns = self.newest_ns.map_or(at_ns, |newest| newest.max(at_ns));
        self.back += u64::from(newest_ns - at_ns > BACK_NS);
        self.newest_ns = Some(newest_ns);
        self.observer.take(frame.data, None, at_ns);
        self.gather();
    }

    fn gather(&mut self) {
        while let Some(seen) = self.observer.next_seen() {
            self.seen.push(seen);
        }
    }

    /// Writes all that was seen; the capture begins at `first_ns` and lasts for `duration_ns`.
    ///
    /// # Errors
    /// The run file cannot be written.
    pub(super) fn write(
        mut self,
        writer: &mut RunWriter,
        capture: &Captured<'_>,
        threshold_ns: impl Fn(&str) -> Option<u64>,
    ) -> Result<(), StoreError> {
        self.observer.end(self.newest_ns.unwrap_or(0));
        self.gather();
        let mut all = Vec::new();
        let wanted = std::iter::once(Series::Trips).chain(self.config.start.map(|_| Series::Starts));
        for of in wanted {
            let mut spec = series(&self.config, of, ("capture", capture.name), self.within_ns);
            spec.clock = model::SeriesClock::Realtime;
            spec.settings
                .push((setting::STAMP_STEP_NS.into(), capture.stamps.unit_ns.to_string()));
            if let Some(by) = &capture.stamps.made_by {
                spec.settings.push((setting::STAMPED_BY.into(), by.clone()));
            }
            let threshold_ns = threshold_ns(&spec.name);
            let id = writer.add_series(&model::SeriesSpec { threshold_ns, ..spec })?;
            all.push((of, ReadSeries::new(id, threshold_ns, 0)));
        }
        let mut batch = Batch::default();
        self.fill(&mut all, capture, &mut batch);
        self.doubts(&all, capture, &mut batch);
        writer.write(&batch)
    }

    /// Samples and counters in their windows, events, and shots.
    fn fill(&mut self, all: &mut [(Series, ReadSeries)], capture: &Captured<'_>, batch: &mut Batch) {
        let mut counts: Vec<Count> = self.seen.iter().flat_map(Seen::counts).flatten().collect();
        counts.sort_by_key(at_ns);
        let mut end_ns = capture.window_ns;
        for count in &counts {
            let at_ns = capture.since(at_ns(count));
            while at_ns >= end_ns {
                all.iter_mut().for_each(|(_, series)| series.close(end_ns, batch));
                end_ns += capture.window_ns;
            }
            for (of, series) in all.iter_mut() {
                match count {
                    Count::Sample {
                        of: into,
                        value_ns,
                        number,
                        ..
                    } if of == into => series.sample(at_ns, *value_ns, *number),
                    Count::Counter { of: into, counter, .. } if of == into => series.counters().count(*counter, 1),
                    Count::Sample { .. } | Count::Counter { .. } => {}
                }
            }
        }
        let end_ns = capture.duration_ns;
        all.iter_mut().for_each(|(_, series)| series.close(end_ns, batch));
        for seen in &self.seen {
            let at_ns = capture.since(seen.at_ns());
            let (kind, text) = seen.told();
            event(all, at_ns, kind, &text, batch);
            batch.shots.extend(kept(seen).map(|shot| Shot { at_ns, ..shot }));
        }
    }

    /// Reports doubts that the capture leaves.
    fn doubts(&self, all: &[(Series, ReadSeries)], capture: &Captured<'_>, batch: &mut Batch) {
        for (count, what) in [
            (self.unstamped, "frames without a stamp were not looked at"),
            (
                self.back,
                "frames have a stamp before that of an earlier one: the order of samples and messages is not known",
            ),
        ] {
            if count > 0 {
                let text = format!("{count} {what}");
                event(all, capture.duration_ns, EventKind::StreamDoubt, &text, batch);
            }
        }
    }
}

/// A capture, as far as an observation is written into its run.
pub(super) struct Captured<'a> {
    /// Name of its file.
    pub(super) name: &'a str,
    /// Its statements about its stamps.
    pub(super) stamps: &'a Stamps,
    /// Its first stamp, in ns.
    pub(super) first_ns: i64,
    /// From its first stamp to its last one, in ns.
    pub(super) duration_ns: u64,
    /// Length of a window, in ns.
    pub(super) window_ns: u64,
}

impl Captured<'_> {
    /// An instant since the first stamp, in ns.
    fn since(&self, at_ns: i64) -> u64 {
        u64::try_from(at_ns.saturating_sub(self.first_ns)).unwrap_or(0)
    }
}

fn at_ns(count: &Count) -> i64 {
    match count {
        Count::Sample { at_ns, .. } | Count::Counter { at_ns, .. } => *at_ns,
    }
}

/// An event of every series of the observation.
fn event(all: &[(Series, ReadSeries)], at_ns: u64, kind: EventKind, text: &str, batch: &mut Batch) {
    let of = match kind.touches_samples() {
        true => all,
        false => &all[..all.len().min(1)],
    };
    batch.events.extend(of.iter().map(|(_, series)| Event {
        at_ns,
        since_ns: None,
        kind,
        series: Some(series.series()),
        text: format!("trip/{LABEL}: {text}"),
    }));
}
