//! The histogram block, and the complete standard output that contains it.
//!
//! Up to 2.6 every bucket has a row and `# Total:` follows; since 2.7 rows of zeros are omitted and there is no total. An additional column after the
//! threads (`-H`) is their sum.

use super::super::command::Command;
use super::super::{Bucket, CyclictestError, Mean, Measurement, Thread};
use super::lines::{NumberedLine, lines};
use super::status;

/// First line of the block.
const HEAD: &str = "# Histogram";
/// Sum of the buckets, up to 2.6.
const TOTAL: &str = "# Total:";
const MIN: &str = "# Min Latencies:";
const AVERAGE: &str = "# Avg Latencies:";
const MAX: &str = "# Max Latencies:";
const OVERFLOWS: &str = "# Histogram Overflows:";
/// The sample above the limit of `-b`.
const BREAK: &str = "# Break value:";

/// Parses the text; see [`super::read`].
pub(super) fn read(text: &str, bucket: Bucket) -> Result<Measurement, CyclictestError> {
    let lines = lines(text);
    let command_line = lines.iter().find_map(|line| command_line(&line.text));
    let status = status::threads(&lines)?;
    let block = block(&lines)?;
    let mut measurement = match &block {
        Some(block) => block.measurement(bucket)?,
        None if status.is_empty() => return Err(CyclictestError::NotCyclictest),
        None => Measurement {
            threads: status.values().cloned().collect(),
            ..empty(bucket)
        },
    };
    let command = command_line.as_deref().and_then(Command::of);
    // Without its rows a sample may be in any bucket, and none is known to be beyond the last.
    if block.is_some_and(|block| !block.lacks_rows()) {
        let asked = command.as_ref().and_then(|command| command.buckets);
        measurement.range = measurement.range.or(asked);
    }
    for thread in &mut measurement.threads {
        let shown = status.get(&thread.number);
        let asked = command.as_ref().and_then(|command| command.interval_ns(thread.number));
        thread.interval_ns = shown.and_then(|shown| shown.interval_ns).or(asked);
        thread.priority = shown.and_then(|shown| shown.priority);
    }
    measurement.stopped = lines.iter().any(|line| line.text.starts_with(BREAK));
    measurement.command_line = command_line;
    Ok(measurement)
}

fn empty(bucket: Bucket) -> Measurement {
    Measurement {
        bucket,
        range: None,
        threads: Vec::new(),
        command_line: None,
        version: None,
        started_ns: None,
        ended_ns: None,
        system: None,
        stopped: false,
    }
}

/// A command line that a script wrote before the output; the first comment may follow without a line feed.
fn command_line(text: &str) -> Option<String> {
    let line = text.split('#').next().unwrap_or_default().trim();
    Command::of(line).map(|_| line.to_owned())
}

/// The parsed lines of a histogram block.
struct Block<'a> {
    /// Line of its head.
    from: usize,
    rows: Vec<Row<'a>>,
    total: Option<(&'a NumberedLine, Vec<u64>)>,
    min: (&'a NumberedLine, Vec<u64>),
    average: (&'a NumberedLine, Vec<u64>),
    max: (&'a NumberedLine, Vec<u64>),
    overflows: (&'a NumberedLine, Vec<u64>),
}

/// A bucket and its counts by thread, optionally with their sum.
struct Row<'a> {
    line: &'a NumberedLine,
    bucket: u64,
    counts: Vec<u64>,
}

/// The only histogram block of a text, if there is one.
fn block(lines: &[NumberedLine]) -> Result<Option<Block<'_>>, CyclictestError> {
    let mut heads = lines.iter().enumerate().filter(|(_, line)| line.text.ends_with(HEAD));
    let Some((at, head)) = heads.next() else {
        return Ok(None);
    };
    if let Some((_, second)) = heads.next() {
        return Err(second.error("a second histogram in one file: give each run of cyclictest its own file"));
    }
    let rest = &lines[at + 1..];
    let rows: Vec<Row<'_>> = rest
        .iter()
        .take_while(|line| line.text.starts_with(|c: char| c.is_ascii_digit()))
        .map(row)
        .collect::<Result<_, _>>()?;
    let footer = &rest[rows.len()..];
    let found = |heading: &'static str| find(footer, heading);
    let needed = |heading: &'static str| {
        found(heading)?.ok_or(CyclictestError::Cut {
            from: head.number,
            missing: heading,
        })
    };
    Ok(Some(Block {
        from: head.number,
        total: found(TOTAL)?,
        min: needed(MIN)?,
        average: needed(AVERAGE)?,
        max: needed(MAX)?,
        overflows: needed(OVERFLOWS)?,
        rows,
    }))
}

fn find<'a>(lines: &'a [NumberedLine], heading: &str) -> Result<Option<(&'a NumberedLine, Vec<u64>)>, CyclictestError> {
    for line in lines {
        if let Some(numbers) = line.numbers(heading)? {
            return Ok(Some((line, numbers)));
        }
    }
    Ok(None)
}

fn row(line: &NumberedLine) -> Result<Row<'_>, CyclictestError> {
    let mut numbers = line.text.split_whitespace().map(|word| line.number_of(word));
    let bucket = numbers.next().unwrap_or_else(|| Err(line.error("an empty row")))?;
    Ok(Row {
        line,
        bucket,
        counts: numbers.collect::<Result<_, _>>()?,
    })
}

impl Block<'_> {
    /// True if the rows were left out: a total remains, and only the extremes of its samples are known. (From 2.7 on there is no total, and rows
    /// are missing if all samples are beyond the histogram.)
    fn lacks_rows(&self) -> bool {
        self.rows.is_empty() && self.total.is_some()
    }

    /// Samples of a thread in the buckets.
    fn in_buckets(&self, index: usize, buckets: &[(u64, u64)]) -> Result<Option<u64>, CyclictestError> {
        let Some((line, totals)) = self.total.as_ref().filter(|_| self.lacks_rows()) else {
            let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
            return Ok(added(&counts));
        };
        let total = totals.get(index).copied();
        total
            .map(Some)
            .ok_or_else(|| line.error(format!("{} totals for {} threads", totals.len(), self.min.1.len())))
    }

    fn measurement(&self, bucket: Bucket) -> Result<Measurement, CyclictestError> {
        let threads = self.min.1.len();
        if threads == 0 {
            return Err(self.min.0.error("no thread"));
        }
        per_thread(&self.average, threads)?;
        per_thread(&self.max, threads)?;
        per_thread(&self.overflows, threads)?;
        self.check_rows(threads)?;
        let threads: Vec<Thread> = (0..threads).map(|index| self.thread(index)).collect::<Result<_, _>>()?;
        self.check_total(&threads)?;
        Ok(Measurement {
            // Only a text with a row for every bucket shows the last bucket.
            range: self.total.as_ref().and(self.rows.last()).map(|row| row.bucket + 1),
            threads,
            ..empty(bucket)
        })
    }

    /// Checks that rows ascend, have one count per thread, and a correct sum.
    fn check_rows(&self, threads: usize) -> Result<(), CyclictestError> {
        let mut least = 0;
        for row in &self.rows {
            if row.bucket < least || row.bucket == u64::MAX {
                return Err(row.line.error(format!("bucket {} is out of order", row.bucket)));
            }
            least = row.bucket + 1;
            let counts = row.counts.len();
            if counts != threads && counts != threads + 1 {
                return Err(row.line.error(format!("{counts} counts for {threads} threads")));
            }
            let sum = added(&row.counts[..threads]);
            if counts > threads && sum != Some(row.counts[threads]) {
                return Err(row.line.error("the last count is not the sum of the others"));
            }
        }
        Ok(())
    }

    fn thread(&self, index: usize) -> Result<Thread, CyclictestError> {
        let of = |line: &(&NumberedLine, Vec<u64>)| line.1[index];
        let buckets: Vec<(u64, u64)> = self
            .rows
            .iter()
            .map(|row| (row.bucket, row.counts[index]))
            .filter(|(_, count)| *count > 0)
            .collect();
        let cycles = self
            .in_buckets(index, &buckets)?
            .and_then(|sum| sum.checked_add(of(&self.overflows)))
            .ok_or_else(|| self.overflows.0.error("the counts add up to more than 2^64"))?;
        let any = cycles > 0;
        Ok(Thread {
            number: u32::try_from(index).map_err(|_| self.min.0.error("too many threads"))?,
            cpu: None,
            cycles,
            min: any.then(|| of(&self.min)),
            max: any.then(|| of(&self.max)),
            mean: any.then(|| Mean {
                value: of(&self.average) as f64,
                resolution: 1.0,
            }),
            buckets,
            interval_ns: None,
            priority: None,
        })
    }

    /// Checks that `# Total:` is the sum of the rows, without the overflows.
    fn check_total(&self, threads: &[Thread]) -> Result<(), CyclictestError> {
        let Some((line, totals)) = self.total.as_ref().filter(|_| !self.lacks_rows()) else {
            return Ok(());
        };
        for (thread, total) in threads.iter().zip(totals) {
            let sum = thread.in_buckets();
            if sum != *total {
                return Err(line.error(format!(
                    "thread {}: a total of {total}, but the rows from line {} on add up to {sum}",
                    thread.number,
                    self.from + 1
                )));
            }
        }
        Ok(())
    }
}

/// Checks that a line has a value for each thread; `-H` adds a total.
fn per_thread((line, numbers): &(&NumberedLine, Vec<u64>), threads: usize) -> Result<(), CyclictestError> {
    if numbers.len() == threads || numbers.len() == threads + 1 {
        return Ok(());
    }
    Err(line.error(format!("{} values for {threads} threads", numbers.len())))
}

fn added(counts: &[u64]) -> Option<u64> {
    counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count))
}
