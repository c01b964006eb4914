//! The watch as metrics, for node_exporter's textfile collector.

use crate::ledger::Totals;
use crate::settings::{Now, Settings};
use crate::teller::{Capture, Told};
use model::{Counter, SeriesSpec, Window};
use sentinel::Sentinel;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Counts since the watch began, in the words of `docs/formats/openmetrics.md`.
#[derive(Debug, Clone)]
pub struct Metrics {
    name: String,
    series: Vec<(String, Totals)>,
    told: u64,
    without_frames: u64,
    gap_ns: u64,
    written_ns: Option<i64>,
}

impl Metrics {
    pub(crate) fn new(settings: &Settings, series: &[SeriesSpec]) -> Self {
        Self {
            name: settings.name.clone(),
            series: series
                .iter()
                .map(|spec| (spec.name.clone(), Totals::default()))
                .collect(),
            told: 0,
            without_frames: 0,
            gap_ns: 0,
            written_ns: None,
        }
    }

    /// Counts windows that were written.
    pub(crate) fn add(&mut self, windows: &[Window]) {
        for window in windows {
            if let Some((_, totals)) = self.series.get_mut(window.series.0 as usize) {
                totals.add(window);
            }
        }
    }

    pub(crate) fn told(&mut self, told: &Told<'_>) {
        self.told += 1;
        self.without_frames += u64::from(matches!(told.capture, Capture::NotKept(_)));
    }

    pub(crate) fn gap(&mut self, ns: u64) {
        self.gap_ns += ns;
    }

    pub(crate) fn written(&mut self, wall_ns: i64) {
        self.written_ns = Some(wall_ns);
    }

    /// The text of the file.
    pub(crate) fn text(&self, watch: &Sentinel, is_refused: bool, now: Now) -> String {
        let mut text = String::new();
        let own = format!("sentinel=\"{}\"", escaped(&self.name));
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let seconds = |ns: f64| ns / 1e9;
        head(
            &mut text,
            "triptime_sentinel_timestamp_seconds",
            "gauge",
            "When this file was written.",
        );
        let _ = writeln!(
            text,
            "triptime_sentinel_timestamp_seconds{{{own}}} {}",
            seconds(now.wall_ns as f64)
        );
        head(
            &mut text,
            "triptime_sentinel_disk_refused",
            "gauge",
            "1 while the run file cannot be written.",
        );
        let _ = writeln!(text, "triptime_sentinel_disk_refused{{{own}}} {}", u8::from(is_refused));
        if let Some(ns) = self.written_ns {
            head(
                &mut text,
                "triptime_sentinel_written_timestamp_seconds",
                "gauge",
                "When the run file was last written.",
            );
            let _ = writeln!(
                text,
                "triptime_sentinel_written_timestamp_seconds{{{own}}} {}",
                seconds(ns as f64)
            );
        }
        head(
            &mut text,
            "triptime_sentinel_gap_seconds",
            "gauge",
            "Time before this start in which nothing was watched.",
        );
        let _ = writeln!(
            text,
            "triptime_sentinel_gap_seconds{{{own}}} {}",
            seconds(self.gap_ns as f64)
        );
        for (name, help, value) in [
            ("triptime_sentinel_told_total", "Alarms that were told.", self.told),
            (
                "triptime_sentinel_frames_not_kept_total",
                "Alarms whose frames could not be kept.",
                self.without_frames,
            ),
            (
                "triptime_sentinel_untold_total",
                "Findings for which there was no room.",
                watch.untold(),
            ),
        ] {
            head(&mut text, name, "counter", help);
            let _ = writeln!(text, "{name}{{{own}}} {value}");
        }
        self.alarms(watch, &own, &mut text);
        self.counts(&own, &mut text);
        text
    }

    fn alarms(&self, watch: &Sentinel, own: &str, text: &mut String) {
        let _ = writeln!(
            text,
            "# HELP triptime_sentinel_alarms_total Alarms, told or counted only.\n# TYPE triptime_sentinel_alarms_total counter"
        );
        for (kind, subject, n) in watch.alarms() {
            let subject = escaped(subject);
            let _ = writeln!(
                text,
                "triptime_sentinel_alarms_total{{{own},kind=\"{}\",subject=\"{subject}\"}} {n}",
                kind.word()
            );
        }
        for (name, help) in [
            (
                "triptime_sentinel_watched_seconds_total",
                "Time for which a relay was watched.",
            ),
            (
                "triptime_sentinel_unwatched_seconds_total",
                "Time for which a relay could not be watched.",
            ),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
            for (relay, time) in watch.watched() {
                let ns = if name.contains("unwatched") {
                    time.unwatched_ns
                } else {
                    time.watched_ns
                };
                let _ = writeln!(text, "{name}{{{own},relay=\"{}\"}} {}", escaped(relay), ns as f64 / 1e9);
            }
        }
    }

    fn counts(&self, own: &str, text: &mut String) {
        let labels = |name: &str| format!("{own},command=\"sentinel\",series=\"{}\"", escaped(name));
        for counter in Counter::ALL
            .into_iter()
            .filter(|counter| *counter != Counter::WatchedNs)
        {
            let name = format!("triptime_{}_total", counter.name());
            let _ = writeln!(text, "# HELP {name} {}.\n# TYPE {name} counter", counter.what());
            for (series, totals) in &self.series {
                let _ = writeln!(text, "{name}{{{}}} {}", labels(series), totals.counters.get(counter));
            }
        }
        for (name, help) in [
            ("triptime_sample_min_seconds", "Smallest sample since the watch began."),
            ("triptime_sample_max_seconds", "Largest sample since the watch began."),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (series, totals) in &self.series {
                let ns = if name.contains("min") {
                    totals.min_ns
                } else {
                    totals.max_ns
                };
                if let Some(ns) = ns {
                    let _ = writeln!(text, "{name}{{{}}} {}", labels(series), ns as f64 / 1e9);
                }
            }
        }
    }

    /// Replaces the file at once: a reader sees the old text or the new one.
    pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
        // The collector reads files that end in .prom only.
        let part = path.with_extension("part");
        let written = fs::File::create(&part).and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
    }
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
