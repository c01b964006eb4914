//! A run as OpenMetrics text, version 1.0: for a scraper, or node_exporter's textfile collector.
//!
//! Durations are seconds and counts are counters, as that format requires. Lost, skipped, clipped or overrun samples have counters in addition to the
//! measured values, and each limit has its verdict.

mod judged;
mod snapshot;
#[cfg(test)]
mod tests;

use super::ExportError;
use judged::Judged;
use model::Counter;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use report::Report;
use report::live::Live;
use snapshot::{Series, Snapshot};
use std::fmt;
use std::io::Write;
use units::foreign::Show;

/// First word of every name.
const PREFIX: &str = "triptime";

/// Writes the run and its judgement, with `# EOF` at the end.
///
/// # Errors
/// The output cannot be written.
pub fn openmetrics(report: &Report, out: &mut impl Write) -> Result<(), ExportError> {
    written(report, None, out)
}

/// Writes a run under way in the same way, with what it does now.
///
/// # Errors
/// As of [`openmetrics`].
pub fn openmetrics_of_live(report: &Report, live: &Live, out: &mut impl Write) -> Result<(), ExportError> {
    written(report, Some(live), out)
}

fn written(report: &Report, live: Option<&Live>, out: &mut impl Write) -> Result<(), ExportError> {
    let report = &report.shown();
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Snapshot::of(&report.run, live)));
    registry.register_collector(Box::new(Judged::of(report)));
    let mut metrics = String::new();
    // Only the writer can fail, and a String never does.
    text::encode(&mut metrics, &registry).map_err(std::io::Error::other)?;
    let mut lines = metrics.lines();
    while let Some(line) = lines.next() {
        if is_no_sum(line) {
            lines.next();
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The library always writes a histogram with sum and count, but the format omits both together. An omitted sum is written as NaN here, and its count
/// is the next line.
fn is_no_sum(line: &str) -> bool {
    line.starts_with("triptime_sample_seconds_sum{") && line.ends_with("} NaN")
}

/// A family of gauges in seconds: its name, its help, and its value for a series.
type Gauge = (&'static str, &'static str, fn(&Series) -> Option<f64>);

const GAUGES: [Gauge; 4] = [
    ("sample_min", "Smallest sample", |series| series.min_s),
    ("sample_max", "Largest sample", |series| series.max_s),
    ("sample_mean", "Mean of the samples", |series| series.mean_s),
    ("exposure", "How long the series was measured", |series| {
        Some(series.exposure_s)
    }),
];

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        self.run(&mut encoder)?;
        for counter in Counter::ALL {
            self.counter(&mut encoder, counter)?;
        }
        for (name, help, value) in GAUGES {
            let mut family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Gauge)?;
            for series in &self.series {
                if let Some(value) = value(series) {
                    family.encode_family(&self.labels(series))?.encode_gauge(&value)?;
                }
            }
        }
        self.quantiles(&mut encoder)?;
        self.histograms(&mut encoder)
    }
}

impl Snapshot {
    /// Writes the values of the whole run.
    fn run(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let mut family = encoder.encode_descriptor("run", "The run: always 1", None, MetricType::Gauge)?;
        family.encode_family(&self.identity)?.encode_gauge(&1i64)?;
        let command = [("command", self.command.as_str())];
        let help = "1 when the run ran to its end, 0 when it was interrupted";
        let mut family = encoder.encode_descriptor("run_complete", help, None, MetricType::Gauge)?;
        family
            .encode_family(&command)?
            .encode_gauge(&i64::from(self.complete))?;
        let help = "What the run does: always 1";
        let mut family = encoder.encode_descriptor("run_state", help, None, MetricType::Gauge)?;
        let state = [("command", self.command.as_str()), ("state", self.state)];
        family.encode_family(&state)?.encode_gauge(&1i64)?;
        let seconds = Some(&Unit::Seconds);
        if let Some(left_s) = self.left_s {
            let help = "How long the run will still measure";
            let mut family = encoder.encode_descriptor("run_left", help, seconds, MetricType::Gauge)?;
            family.encode_family(&command)?.encode_gauge(&left_s)?;
        }
        let help = "Start of the run, since 1970 UTC";
        let mut family = encoder.encode_descriptor("run_start_timestamp", help, seconds, MetricType::Gauge)?;
        family.encode_family(&command)?.encode_gauge(&self.started_s)?;
        let help = "End of the run, or of the last window so far, since 1970 UTC: how old its figures are";
        let mut family = encoder.encode_descriptor("run_end_timestamp", help, seconds, MetricType::Gauge)?;
        family
            .encode_family(&command)?
            .encode_gauge(&(self.started_s + self.duration_s))?;
        let mut family = encoder.encode_descriptor("run_duration", "Length of the run", seconds, MetricType::Gauge)?;
        family.encode_family(&command)?.encode_gauge(&self.duration_s)
    }

    /// A counter of every series; times in seconds.
    fn counter(&self, encoder: &mut DescriptorEncoder, counter: Counter) -> fmt::Result {
        let time = counter.name().strip_suffix("_ns");
        let (name, unit) = time.map_or((counter.name(), None), |name| (name, Some(&Unit::Seconds)));
        let mut family = encoder.encode_descriptor(name, counter.what(), unit, MetricType::Counter)?;
        for series in &self.series {
            let Some((_, value)) = series.counted.iter().find(|(counted, _)| *counted == counter) else {
                continue;
            };
            let labels = self.labels(series);
            let mut metric = family.encode_family(&labels)?;
            match unit {
                None => metric.encode_counter::<NoLabelSet, u64, u64>(value, None)?,
                Some(_) => metric.encode_counter::<NoLabelSet, f64, u64>(&(*value as f64 / 1e9), None)?,
            }
        }
        Ok(())
    }

    fn quantiles(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let help = "Quantiles of the measured samples, where at least ten lie beyond";
        let seconds = Some(&Unit::Seconds);
        let mut family = encoder.encode_descriptor("sample_quantile", help, seconds, MetricType::Gauge)?;
        for series in &self.series {
            for (quantile, value_s) in &series.quantiles {
                let [command, name] = self.labels(series);
                let labels = [command, name, ("quantile", quantile.as_str())];
                family.encode_family(&labels)?.encode_gauge(value_s)?;
            }
        }
        Ok(())
    }

    fn histograms(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let seconds = Some(&Unit::Seconds);
        let mut family = encoder.encode_descriptor("sample", "The samples", seconds, MetricType::Histogram)?;
        for series in &self.series {
            let labels = self.labels(series);
            let mut metric = family.encode_family(&labels)?;
            metric.encode_histogram::<NoLabelSet>(
                series.sum_s.unwrap_or(f64::NAN),
                series.samples,
                &series.buckets,
                None,
            )?;
        }
        Ok(())
    }

    /// Includes the command, because a directory may have the last run of each command.
    fn labels<'a>(&'a self, series: &'a Series) -> [(&'static str, &'a str); 2] {
        [("command", &self.command), ("series", &series.name)]
    }
}
