//! The histogram text.

use super::super::{MIN_WITHOUT_SAMPLES, MOST_BUCKETS, Measurement, Thread};
use super::Dialect;
use std::io::{self, Write};

/// Writes the block of `-h --histfile`; for several threads that of `-H`, whose last column is their sum and whose last number of `# Max Latencies:`
/// is the overall maximum.
///
/// Samples beyond the last bucket are counted as overflows; their unknown cycle numbers are all written as "others".
///
/// # Errors
/// `out` cannot be written.
pub fn write_text(measurement: &Measurement, dialect: Dialect, out: &mut impl Write) -> io::Result<()> {
    let sum = measurement.threads.len() > 1;
    let rows = rows(measurement);
    writeln!(out, "# Histogram")?;
    write_rows(measurement, dialect, rows, sum, out)?;
    let threads = &measurement.threads;
    if dialect == Dialect::AllRows {
        let totals: Vec<u64> = threads.iter().map(|thread| within(thread, rows)).collect();
        footer(out, "Total", 9, &totals, sum.then_some(Over::Sum))?;
    }
    let of = |value: fn(&Thread) -> u64| threads.iter().map(value).collect::<Vec<u64>>();
    footer(
        out,
        "Min Latencies",
        5,
        &of(|thread| thread.min.unwrap_or(MIN_WITHOUT_SAMPLES)),
        None,
    )?;
    footer(
        out,
        "Avg Latencies",
        5,
        &of(|thread| thread.mean.map_or(0, |mean| mean.value as u64)),
        None,
    )?;
    footer(
        out,
        "Max Latencies",
        5,
        &of(|thread| thread.max.unwrap_or(0)),
        sum.then_some(Over::Largest),
    )?;
    let beyond: Vec<u64> = threads
        .iter()
        .map(|thread| thread.cycles.saturating_sub(within(thread, rows)))
        .collect();
    footer(out, "Histogram Overflows", 5, &beyond, sum.then_some(Over::Sum))?;
    writeln!(out, "# Histogram Overflow at cycle number:")?;
    for (thread, others) in threads.iter().zip(beyond) {
        write!(out, "# Thread {}:", thread.number)?;
        if dialect == Dialect::SparseRows {
            write!(out, " ")?;
        }
        if others > 0 {
            write!(out, " # {others:05} others")?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// Meaning of the value after the threads' own.
#[derive(Clone, Copy)]
enum Over {
    Sum,
    Largest,
}

/// Number of buckets to write: the original number, or if it is unknown, up to the last one with samples; with overflows no further, because a
/// written bucket would claim to have all samples in its range.
fn rows(measurement: &Measurement) -> u64 {
    let last = |thread: &Thread| thread.buckets.last().map_or(0, |(k, _)| k.saturating_add(1));
    let filled = measurement.threads.iter().map(last).max().unwrap_or(0);
    measurement.range.unwrap_or(filled).clamp(1, MOST_BUCKETS)
}

/// Number of samples of a thread in the first `rows` buckets.
fn within(thread: &Thread, rows: u64) -> u64 {
    let inside = thread.buckets.iter().take_while(|(k, _)| *k < rows);
    inside.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

fn write_rows(
    measurement: &Measurement,
    dialect: Dialect,
    rows: u64,
    sum: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut left: Vec<&[(u64, u64)]> = measurement
        .threads
        .iter()
        .map(|thread| thread.buckets.as_slice())
        .collect();
    for bucket in 0..rows {
        let counts: Vec<u64> = left.iter_mut().map(|buckets| take(buckets, bucket)).collect();
        if dialect == Dialect::SparseRows && counts.iter().all(|count| *count == 0) {
            continue;
        }
        write!(out, "{bucket:06} ")?;
        for (index, count) in counts.iter().enumerate() {
            let tab = if index == 0 { "" } else { "\t" };
            write!(out, "{tab}{count:06}")?;
        }
        if sum {
            write!(out, "\t{:06}", total(&counts))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The count of `bucket`, if it is the next one with samples; otherwise 0.
fn take(buckets: &mut &[(u64, u64)], bucket: u64) -> u64 {
    match buckets.split_first() {
        Some(((k, count), rest)) if *k == bucket => {
            *buckets = rest;
            *count
        }
        _ => 0,
    }
}

fn footer(out: &mut impl Write, name: &str, width: usize, values: &[u64], over: Option<Over>) -> io::Result<()> {
    write!(out, "# {name}:")?;
    for value in values {
        write!(out, " {value:0width$}")?;
    }
    match over {
        Some(Over::Sum) => writeln!(out, " {:0width$}", total(values)),
        Some(Over::Largest) => writeln!(out, " {:0width$}", values.iter().max().unwrap_or(&0)),
        None => writeln!(out),
    }
}

fn total(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}
