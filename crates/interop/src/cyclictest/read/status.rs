//! Status lines: `T: 0 (20397) P:90 I:200 C:   9985 Min:     11 Act:   17 Avg:   18 Max:    1060`.

use super::super::{CyclictestError, MIN_WITHOUT_SAMPLES, Mean, Thread};
use super::lines::NumberedLine;
use std::collections::BTreeMap;

/// The threads in the status lines, by number. A repeated line replaces the earlier one.
pub(super) fn threads(lines: &[NumberedLine]) -> Result<BTreeMap<u32, Thread>, CyclictestError> {
    let mut threads = BTreeMap::new();
    for line in lines {
        if let Some(thread) = thread(line)? {
            threads.insert(thread.number, thread);
        }
    }
    Ok(threads)
}

fn thread(line: &NumberedLine) -> Result<Option<Thread>, CyclictestError> {
    let Some(rest) = line.text.strip_prefix("T:") else {
        return Ok(None);
    };
    // Cycles and extremes identify a status line; an option prints the similar `T:01 Spike:` line.
    let (Some(cycles), Some(min)) = (field(line, " C:")?, field(line, " Min:")?) else {
        return Ok(None);
    };
    let missing = |label: &str| line.error(format!("a status line without \"{label}\""));
    let average = field(line, " Avg:")?.ok_or_else(|| missing("Avg:"))?;
    let max = field(line, " Max:")?.ok_or_else(|| missing("Max:"))?;
    let number = rest.split_whitespace().next().unwrap_or_default();
    let number = line.number_of(number)?;
    let number = u32::try_from(number).map_err(|_| line.error(format!("there is no thread {number}")))?;
    let any = cycles > 0 && !(min == MIN_WITHOUT_SAMPLES && max == 0);
    Ok(Some(Thread {
        number,
        cpu: None,
        cycles: if any { cycles } else { 0 },
        min: any.then_some(min),
        max: any.then_some(max),
        mean: any.then_some(Mean {
            value: average as f64,
            resolution: 1.0,
        }),
        buckets: Vec::new(),
        priority: field(line, " P:")?,
        interval_ns: field(line, " I:")?
            .and_then(|us| us.checked_mul(1_000))
            .filter(|ns| *ns > 0),
    }))
}

/// The number after a label; `None` without the label.
fn field(line: &NumberedLine, label: &str) -> Result<Option<u64>, CyclictestError> {
    let Some((_, rest)) = line.text.split_once(label) else {
        return Ok(None);
    };
    let word = rest.split_whitespace().next().unwrap_or_default();
    line.number_of(word).map(Some)
}
