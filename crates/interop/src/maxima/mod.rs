//! The log of an application that reports its own maxima: at each report the number of samples and the largest one of each quantity, as the
//! application of ABB and the University of Torino reports its tasks every 20 s. The format is described in `docs/formats/maxima.md`.
//!
//! Each report is a window without a histogram: quantiles and mean are unknown. A value counts as the longest that it can have been, if its digits
//! were cut off. A missing report is an event that puts every figure in doubt: its maximum may have been the largest.

mod error;
mod read;
#[cfg(test)]
mod tests;

pub use error::MaximaError;
use model::{Counter, Counters, Event, EventKind, SeriesId, SeriesSpec, Window, setting};
use read::{Column, Report, parse};
use stats::Histogram;
use store::Batch;
use units::{Ns, Realtime};

/// A log converted to a run, to be written.
#[derive(Debug, Clone)]
pub struct MaximaLog {
    /// Beginning of the first report's time.
    pub started: Realtime,
    /// From there to the last report, in ns.
    pub duration_ns: u64,
    /// Time that a report covers, in ns.
    pub window_ns: u64,
    /// The series, numbered as in the windows.
    pub series: Vec<SeriesSpec>,
    /// Windows and events.
    pub batch: Batch,
}

/// True if a text begins as such a log.
pub fn is_log(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    read::head(&text).is_some_and(|(_, head)| read::names_columns(head))
}

impl MaximaLog {
    /// Converts a log. `interval_ns` is the time that a report covers; without it, the usual time between two reports.
    ///
    /// # Errors
    /// A line is not as described, with its number; or there is one report, and no interval was given.
    pub fn of(file: &str, text: &str, interval_ns: Option<u64>) -> Result<Self, MaximaError> {
        let (columns, reports) = parse(file, text)?;
        let window_ns = interval_ns.or_else(|| usual_ns(&reports));
        let window_ns = window_ns.ok_or_else(|| MaximaError::NoInterval(file.to_owned()))?;
        let first_ns = reports[0].at_ns.saturating_sub_unsigned(window_ns);
        let since = |at_ns: i64| at_ns.abs_diff(first_ns);
        let mut batch = Batch::default();
        batch.events.push(of_file(file, &columns, reports.len(), window_ns));
        let mut before_ns = 0;
        for report in &reports {
            let end_ns = since(report.at_ns);
            // The reports of a timer jitter by a little; half a report more is a report that is missing.
            let is_missing = end_ns - before_ns > window_ns + window_ns / 2;
            let start_ns = if is_missing { end_ns - window_ns } else { before_ns };
            if is_missing {
                batch.events.push(missing(before_ns, start_ns));
            }
            add(report, (start_ns, end_ns), &columns, &mut batch);
            before_ns = end_ns;
        }
        Ok(Self {
            started: Realtime::from_ns(first_ns),
            duration_ns: before_ns,
            window_ns,
            series: columns.iter().map(|column| spec(file, column, window_ns)).collect(),
            batch,
        })
    }
}

/// The median of the times between two reports, the shorter of two: a missing report makes a time longer. `None` for a single report.
fn usual_ns(reports: &[Report]) -> Option<u64> {
    let mut between: Vec<u64> = reports
        .windows(2)
        .map(|pair| pair[1].at_ns.abs_diff(pair[0].at_ns))
        .collect();
    between.sort_unstable();
    between.get(between.len().checked_sub(1)? / 2).copied()
}

/// The windows of a report, and notes about the quantities that it lacks.
fn add(report: &Report, (start_ns, end_ns): (u64, u64), columns: &[Column], batch: &mut Batch) {
    for (number, (value, column)) in (0..).zip(report.values.iter().zip(columns)) {
        let series = SeriesId(number);
        let Some((count, max_ns)) = value else {
            let text = format!("a report has no sample of {}: its largest is not known", column.name);
            batch.events.push(incomplete(Some(series), (start_ns, end_ns), text));
            continue;
        };
        batch.windows.push(Window {
            series,
            start_ns,
            end_ns,
            counters: Counters {
                expected: *count,
                received: *count,
                ..Counters::default()
            },
            sum_ns: 0,
            min_ns: None,
            max_ns: Some(*max_ns),
            histogram: Histogram::new(),
        });
    }
}

fn spec(file: &str, column: &Column, window_ns: u64) -> SeriesSpec {
    let uncounted = column
        .kind
        .counts
        .iter()
        .filter(|counter| !matches!(counter, Counter::Expected | Counter::Received));
    let uncounted: Vec<&str> = uncounted.map(|counter| counter.name()).collect();
    let settings = [
        (setting::TOOL, "the application itself".to_owned()),
        ("file", file.to_owned()),
        ("report every", Ns(window_ns).to_string()),
        ("resolution", Ns(column.step_ns).to_string()),
        (setting::ONLY_MAXIMA, "count and largest sample".to_owned()),
        (setting::NOT_COUNTED, uncounted.join(", ")),
    ];
    let settings = settings.into_iter().filter(|(_, value)| !value.is_empty());
    SeriesSpec {
        settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
        ..SeriesSpec::of(
            column.kind,
            column.label(),
            "as the application measures and reports it",
        )
    }
}

fn of_file(file: &str, columns: &[Column], reports: usize, window_ns: u64) -> Event {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    Event {
        at_ns: 0,
        since_ns: None,
        kind: EventKind::Note,
        series: None,
        text: format!(
            "imported from {file}: {reports} reports of an application about itself, one every {}, of {}; only the number of samples and the \
             largest one are known, each as the longest that it can have been. Such a file does not say when a sample was taken, what was lost \
             or skipped, or what else ran",
            Ns(window_ns),
            names.join(", ")
        ),
    }
}

fn missing(from_ns: u64, to_ns: u64) -> Event {
    let text = format!(
        "no report covers {}: its largest samples are not known",
        Ns(to_ns - from_ns)
    );
    incomplete(None, (from_ns, to_ns), text)
}

/// An event concerns the windows that it overlaps: this one reaches into those on both sides.
fn incomplete(series: Option<SeriesId>, (from_ns, to_ns): (u64, u64), text: String) -> Event {
    Event {
        at_ns: to_ns + 1,
        since_ns: Some(from_ns.saturating_sub(1)),
        kind: EventKind::Incomplete,
        series,
        text,
    }
}
