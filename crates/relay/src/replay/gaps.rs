//! Parts of a record that are too slow for protection: they have no wave, only its trend.

use std::ops::Range;

/// Least samples in a rated cycle. Between fewer, a straight line is no current or voltage: undervoltage would operate on it.
const LEAST_PER_CYCLE: f64 = 8.0;

/// Rounding of time stamps, as a share of a step.
const ROUNDING: f64 = 1e-3;

/// Largest number of parts named one by one.
const MOST_NAMED: usize = 8;

/// The times in s between which the samples of a record are too far apart at `hz`, in order.
pub(super) fn slow(times_s: &[f64], hz: f64) -> Vec<Range<f64>> {
    let longest = (1.0 + ROUNDING) / (LEAST_PER_CYCLE * hz);
    let mut parts: Vec<Range<f64>> = Vec::new();
    for pair in times_s.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if to - from <= longest {
            continue;
        }
        match parts.last_mut() {
            Some(last) if last.end == from => last.end = to,
            _ => parts.push(from..to),
        }
    }
    parts
}

/// Removes the values inside these parts from columns at `rate` samples a second that begin at `start_s`: functions are blocked by their quality.
pub(super) fn blank(columns: &mut [Vec<f64>], rate: f64, start_s: f64, parts: &[Range<f64>]) {
    let near = ROUNDING / rate;
    for part in parts {
        let number = |seconds: f64| ((seconds - start_s) * rate).max(0.0);
        let first = number(part.start + near).ceil() as usize;
        let end = number(part.end - near).ceil() as usize;
        for column in columns.iter_mut() {
            let end = end.min(column.len());
            column[first.min(end)..end].fill(f64::NAN);
        }
    }
}

/// Notes for the reader of the replay.
pub(super) fn notes(start_s: f64, parts: &[Range<f64>]) -> Vec<String> {
    let mut notes: Vec<String> = parts
        .iter()
        .take(MOST_NAMED)
        .map(|part| {
            format!(
                "from {:.3} s to {:.3} s the record has fewer than {LEAST_PER_CYCLE} samples a cycle: no values there, and functions are blocked",
                part.start - start_s,
                part.end - start_s
            )
        })
        .collect();
    if parts.len() > MOST_NAMED {
        notes.push(format!("{} more parts like these", parts.len() - MOST_NAMED));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{blank, notes, slow};

    #[test]
    fn a_slow_part_has_no_values() {
        let fast = |from: f64| (0..100).map(move |n| from + f64::from(n) / 1000.0);
        let times: Vec<f64> = fast(2.0).chain([2.12, 2.14, 2.16]).chain(fast(2.18)).collect();
        let parts = slow(&times, 50.0);
        assert_eq!(parts, [2.099..2.18]);
        let mut columns = vec![vec![1.0; 280]];
        blank(&mut columns, 1000.0, 2.0, &parts);
        let gone: Vec<usize> = (0..280).filter(|n| columns[0][*n].is_nan()).collect();
        assert_eq!((gone[0], gone[gone.len() - 1], gone.len()), (100, 179, 80));
        let expected = "from 0.099 s to 0.180 s the record has fewer than 8 samples a cycle: no values there, and functions are blocked";
        assert_eq!(notes(2.0, &parts), [expected]);
        assert_eq!(slow(&fast(0.0).collect::<Vec<_>>(), 50.0), []);
        blank(&mut columns, 1000.0, 2.0, &[5.0..6.0]);
    }
}
