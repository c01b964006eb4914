//! Keeps the histograms of a long run within its file budget.
//!
//! When the histograms exceed the budget, two neighbouring spans of a series are merged. Spans that cover the fewest
//! windows are merged first, and among these the oldest. So the whole run keeps about the same resolution in time,
//! coarser in the older part, and each window is merged only once each time the run doubles in length. Only the borders
//! between windows are lost; their counters, extremes and quantiles stay in the `window` table.

use crate::error::Fault;
use rusqlite::{Transaction, params};
use stats::Histogram;

/// Bytes of a database page, as set by the schema.
const PAGE_BYTES: u64 = 4_096;

/// Bytes of a histogram's row without the histogram itself, rounded up.
const ROW_BYTES: u64 = 64;

/// Bytes that a histogram takes in the file, in whole pages: most histograms fill half a page or more, so no second one
/// fits into the same page. The budget therefore limits the file and the number of histograms.
pub(crate) fn stored_bytes(hdr: &[u8]) -> u64 {
    (hdr.len() as u64 + ROW_BYTES).next_multiple_of(PAGE_BYTES)
}

/// One stored histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) id: i64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) windows: u64,
    /// Bytes in the file, as computed by [`stored_bytes`].
    pub(crate) bytes: u64,
}

/// The stored histograms of all series, without their contents.
#[derive(Debug, Clone)]
pub(crate) struct Spans {
    by_series: Vec<Vec<Span>>,
    bytes: u64,
    budget: u64,
}

impl Spans {
    /// No histograms yet, and a budget of `budget` bytes.
    pub(crate) fn new(budget: u64) -> Self {
        Self {
            by_series: Vec::new(),
            bytes: 0,
            budget,
        }
    }

    /// Adds one more series.
    pub(crate) fn add_series(&mut self) {
        self.by_series.push(Vec::new());
    }

    /// Records a stored histogram. Windows arrive in order of time, with few exceptions.
    pub(crate) fn add(&mut self, series: usize, span: Span) {
        let spans = &mut self.by_series[series];
        let at = spans.partition_point(|other| other.start_ns < span.start_ns);
        spans.insert(at, span);
        self.bytes += span.bytes;
    }

    /// Merges stored histograms until they fit the budget, or none can be merged.
    pub(crate) fn shrink(&mut self, tx: &Transaction<'_>) -> Result<(), Fault> {
        while self.bytes > self.budget {
            let Some((series, first)) = self.next_merge() else {
                break;
            };
            let (kept, gone) = (self.by_series[series][first], self.by_series[series][first + 1]);
            let merged = merge_rows(tx, kept, gone)?;
            self.by_series[series][first] = merged;
            self.by_series[series].remove(first + 1);
            self.bytes = self.bytes - kept.bytes - gone.bytes + merged.bytes;
        }
        Ok(())
    }

    /// Series and index of the first of the two spans to merge next.
    fn next_merge(&self) -> Option<(usize, usize)> {
        let pairs = self.by_series.iter().enumerate().flat_map(|(series, spans)| {
            spans.windows(2).enumerate().map(move |(first, pair)| {
                let windows = pair[0].windows.max(pair[1].windows);
                (windows, pair[0].start_ns, series, first)
            })
        });
        pairs.min().map(|(_, _, series, first)| (series, first))
    }
}

/// Adds the samples of `gone` to the row of `kept`, and deletes the row of `gone`.
fn merge_rows(tx: &Transaction<'_>, kept: Span, gone: Span) -> Result<Span, Fault> {
    let mut histogram = read(tx, kept.id)?;
    histogram.merge(&read(tx, gone.id)?);
    let hdr = histogram.to_bytes();
    let merged = Span {
        end_ns: gone.end_ns.max(kept.end_ns),
        windows: kept.windows + gone.windows,
        bytes: stored_bytes(&hdr),
        ..kept
    };
    tx.prepare_cached("UPDATE histogram SET end_ns = ?2, windows = ?3, samples = ?4, hdr = ?5 WHERE id = ?1")?
        .execute(params![
            kept.id,
            merged.end_ns as i64,
            merged.windows as i64,
            histogram.count() as i64,
            hdr
        ])?;
    tx.prepare_cached("DELETE FROM histogram WHERE id = ?1")?
        .execute([gone.id])?;
    Ok(merged)
}

/// Reads the histogram of one row.
fn read(tx: &Transaction<'_>, id: i64) -> Result<Histogram, Fault> {
    let mut statement = tx.prepare_cached("SELECT hdr, samples FROM histogram WHERE id = ?1")?;
    let (bytes, samples): (Vec<u8>, i64) = statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    decode(&bytes, samples)
}

/// Reads a stored histogram and checks it against the stored count.
pub(crate) fn decode(bytes: &[u8], samples: i64) -> Result<Histogram, Fault> {
    let histogram = Histogram::from_bytes(bytes).map_err(|error| Fault::Damaged(error.to_string()))?;
    if u64::try_from(samples) != Ok(histogram.count()) {
        return Err(Fault::Damaged(format!(
            "a histogram holds {} samples where {samples} were stored",
            histogram.count()
        )));
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::{Span, Spans};

    /// Merges in memory only, like `shrink`, until at most `most` spans are left; returns the number of windows in
    /// each.
    fn windows_after(total: u64, most: usize) -> Vec<u64> {
        let mut spans = Spans::new(0);
        spans.add_series();
        for index in 0..total {
            let (start_ns, end_ns) = (index * 10, index * 10 + 10);
            spans.add(
                0,
                Span {
                    id: index as i64,
                    start_ns,
                    end_ns,
                    windows: 1,
                    bytes: 1,
                },
            );
            while spans.by_series[0].len() > most {
                let (series, first) = spans.next_merge().expect("two spans are neighbours");
                let gone = spans.by_series[series].remove(first + 1);
                let kept = &mut spans.by_series[series][first];
                assert_eq!(kept.end_ns, gone.start_ns, "only neighbours are merged");
                kept.end_ns = gone.end_ns;
                kept.windows += gone.windows;
            }
        }
        spans.by_series[0].iter().map(|span| span.windows).collect()
    }

    #[test]
    fn the_oldest_grow_coarser_first() {
        assert_eq!(windows_after(8, 8), [1; 8]);
        assert_eq!(windows_after(9, 8), [2, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(windows_after(11, 8), [2, 2, 2, 1, 1, 1, 1, 1]);
        assert_eq!(windows_after(17, 8), [4, 2, 2, 2, 2, 2, 2, 1]);
    }

    #[test]
    fn no_span_becomes_much_coarser_than_the_rest() {
        for total in [100, 1_000, 4_321] {
            let windows = windows_after(total, 50);
            assert_eq!(windows.iter().sum::<u64>(), total);
            let coarsest = windows.iter().max().expect("there are spans");
            assert!(*coarsest <= 4 * total.div_ceil(50), "{total}: {windows:?}");
        }
    }

    #[test]
    fn a_series_with_one_span_is_left_alone() {
        let mut spans = Spans::new(0);
        spans.add_series();
        spans.add_series();
        for series in [0, 1] {
            spans.add(
                series,
                Span {
                    id: 0,
                    start_ns: 0,
                    end_ns: 10,
                    windows: 1,
                    bytes: 100,
                },
            );
        }
        assert_eq!(spans.next_merge(), None);
    }
}
