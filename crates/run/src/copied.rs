//! Copies a series of another run, with everything known about it, into a run that it becomes part of.

use model::{Counters, Flight, SeriesId, Slices, Spike, Window, WindowRow};
use store::{Batch, HistogramSpan, RunFile, StoreError};

/// Copies the contents of series `id` of `from`, renumbered to `series` of another run. `rows` are its windows; `shift_ns` is added
/// to every instant.
///
/// # Errors
/// The file cannot be read.
pub fn copy(
    from: &RunFile,
    id: SeriesId,
    rows: &[WindowRow],
    series: SeriesId,
    shift_ns: i64,
) -> Result<Batch, StoreError> {
    let mut batch = Batch::default();
    let shifted = |at_ns: u64| at_ns.saturating_add_signed(shift_ns);
    from.for_each_histogram(id, |span| batch.windows.extend(window(series, &shifted, rows, &span)))?;
    batch.spikes.extend(from.spikes(id)?.into_iter().map(|spike| Spike {
        series,
        at_ns: shifted(spike.at_ns),
        ..spike
    }));
    batch.flights.extend(from.flights(id)?.into_iter().map(|flight| Flight {
        series,
        at_ns: shifted(flight.at_ns),
        ..flight
    }));
    batch.slices.extend(from.slices(id)?.into_iter().map(|slices| Slices {
        series,
        start_ns: shifted(slices.start_ns),
        ..slices
    }));
    batch
        .causes
        .extend(from.causes(id)?.into_iter().map(|total| (series, total)));
    Ok(batch)
}

/// Merges the windows that one histogram covers into one.
fn window(series: SeriesId, shifted: &impl Fn(u64) -> u64, rows: &[WindowRow], span: &HistogramSpan) -> Option<Window> {
    let covered = || {
        rows.iter()
            .filter(|row| (span.start_ns..span.end_ns.max(span.start_ns.saturating_add(1))).contains(&row.start_ns))
    };
    let mut counters = Counters::default();
    covered().for_each(|row| counters.add(&row.counters));
    let is_one = covered().count() == 1;
    let samples = |row: &WindowRow| {
        if is_one {
            span.histogram.count()
        } else {
            row.counters.received
        }
    };
    let sum = |row: &WindowRow| row.mean_ns.map_or(0.0, |mean| (mean * samples(row) as f64).round());
    (covered().next().is_some()).then(|| Window {
        series,
        start_ns: shifted(span.start_ns),
        end_ns: shifted(span.end_ns),
        counters,
        sum_ns: covered().map(|row| sum(row) as i128).sum(),
        min_ns: covered().filter_map(|row| row.min_ns).min(),
        max_ns: covered().filter_map(|row| row.max_ns).max(),
        histogram: span.histogram.clone(),
    })
}
