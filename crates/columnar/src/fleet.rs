//! The tables of a run in a folder with the runs of many hosts: partitioned by host, and the long ones by day.

use crate::counted::Counted;
use crate::origin::Origin;
use crate::table::ParquetTable;
use crate::{
    CHANGES_SCHEMA, ColumnarError, DAYS_SCHEMA, FACTS_SCHEMA, SPIKES_SCHEMA, WINDOWS_SCHEMA, changes, days, facts,
    spikes, windows,
};
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use store::RunFile;
use units::foreign::Show;

/// A day of a run, in UTC. The days of a run divide all instants between them, so each row of it is on one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day {
    /// Its date: `2026-11-30`.
    pub(crate) name: String,
    /// Its part of the run, in ns since the start.
    within: Range<u64>,
}

impl Day {
    /// True if this instant, in ns since the start of the run, is on this day.
    pub(crate) fn has(&self, at_ns: u64) -> bool {
        self.within.contains(&at_ns)
    }

    /// The days of a run, from the first to the last. All instants outside the calendar are on the first one.
    fn all(started_ns: i64, duration_ns: u64) -> Vec<Self> {
        let start = Timestamp::from_nanosecond(started_ns.into()).unwrap_or(Timestamp::UNIX_EPOCH);
        let end = i128::from(started_ns) + i128::from(duration_ns);
        let mut days: Vec<Self> = Vec::new();
        let mut midnight = start
            .to_zoned(TimeZone::UTC)
            .start_of_day()
            .unwrap_or(start.to_zoned(TimeZone::UTC));
        loop {
            let Ok(next) = midnight.checked_add(1.day()) else { break };
            let from = u64::try_from(midnight.timestamp().as_nanosecond() - i128::from(started_ns)).unwrap_or(0);
            let to = u64::try_from(next.timestamp().as_nanosecond() - i128::from(started_ns)).unwrap_or(u64::MAX);
            days.push(Self {
                name: midnight.strftime("%Y-%m-%d").to_string(),
                within: from..to,
            });
            if next.timestamp().as_nanosecond() > end {
                break;
            }
            midnight = next;
        }
        if let Some(last) = days.last_mut() {
            last.within.end = u64::MAX;
        }
        days
    }

    /// The first day of a run, and each other one on which something of it is: a file can claim any duration.
    fn with_rows(run: &RunFile, origin: &Origin) -> Result<Vec<Self>, ColumnarError> {
        let mut instants = vec![0];
        for (id, _) in run.series()? {
            instants.extend(run.windows(id)?.iter().map(|window| window.start_ns));
            instants.extend(run.spikes(id)?.iter().map(|spike| spike.at_ns));
        }
        instants.extend(run.changes()?.iter().map(|change| change.at_ns));
        let mut days = Self::all(origin.started_ns, run.duration_ns());
        instants.sort_unstable();
        days.retain(|day| {
            let first = instants.partition_point(|at| *at < day.within.start);
            instants.get(first).is_some_and(|at| day.has(*at))
        });
        Ok(days)
    }
}

/// A table of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Windows(Day),
    Spikes(Day),
    Changes(Day),
    Days,
    Facts,
}

/// A file that a run has in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFile {
    /// Its path in the folder: `windows/host=relays1/day=2026-11-30/RUN.parquet`.
    pub path: PathBuf,
    content: Content,
}

/// The files of a run in the folder: for each day its windows, spikes and changes, and for the whole run its days and facts.
///
/// # Errors
/// The run cannot be read.
pub fn fleet(run: &RunFile) -> Result<Vec<FleetFile>, ColumnarError> {
    let origin = Origin::of(run)?;
    let host = if origin.host.is_empty() {
        "unknown".to_owned()
    } else {
        encoded(&origin.host)
    };
    let file = format!("{}.parquet", encoded(&origin.run));
    let mut files = Vec::new();
    for day in Day::with_rows(run, &origin)? {
        let of_day = [
            ("windows", Content::Windows(day.clone())),
            ("spikes", Content::Spikes(day.clone())),
            ("changes", Content::Changes(day.clone())),
        ];
        files.extend(of_day.map(|(table, content)| {
            FleetFile {
                path: [table, &format!("host={host}"), &format!("day={}", day.name), &file]
                    .iter()
                    .collect(),
                content,
            }
        }));
    }
    let of_run = [("days", Content::Days), ("facts", Content::Facts)];
    files.extend(of_run.map(|(table, content)| FleetFile {
        path: [table, &format!("host={host}"), &file].iter().collect(),
        content,
    }));
    Ok(files)
}

/// A name as a part of a path: bytes other than letters, digits, `.`, `_` and `-` as `%XX`, and a first `.` too.
fn encoded(name: &str) -> String {
    let plain =
        |index: usize, byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || (byte == b'.' && index > 0);
    let letters = name.bytes().enumerate().map(|(index, byte)| match plain(index, byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    letters.collect()
}

impl FleetFile {
    /// Writes the file.
    ///
    /// # Errors
    /// The run cannot be read, or `out` cannot be written.
    pub fn write(&self, run: &RunFile, out: impl Write + Send) -> Result<(), ColumnarError> {
        match &self.content {
            Content::Windows(day) => windows_of(run, Some(day), out),
            Content::Spikes(day) => spikes_of(run, Some(day), out),
            Content::Changes(day) => changes_of(run, day, out),
            Content::Days => days_of(run, out),
            Content::Facts => facts_of(run, out),
        }
    }
}

/// Windows that begin on a day, or all of them.
pub(crate) fn windows_of(run: &RunFile, day: Option<&Day>, out: impl Write + Send) -> Result<(), ColumnarError> {
    let (origin, series, lacks) = (Origin::of(run)?, run.series()?.shown(), run.lacks()?);
    let counted: Vec<Counted<'_>> = series.iter().map(|(_, spec)| Counted::of(spec, &lacks)).collect();
    let mut table = ParquetTable::create(out, windows::columns(), &origin, WINDOWS_SCHEMA)?;
    for ((id, _), counted) in series.iter().zip(&counted) {
        let rows = run.windows(*id)?.into_iter();
        let rows = rows.filter(|window| day.is_none_or(|day| day.has(window.start_ns)));
        let rows = rows.map(|window| windows::Row {
            origin: &origin,
            counted,
            window,
        });
        table.write(&rows.collect::<Vec<_>>())?;
    }
    table.close()
}

/// Spikes of a day, or all of them.
pub(crate) fn spikes_of(run: &RunFile, day: Option<&Day>, out: impl Write + Send) -> Result<(), ColumnarError> {
    let (origin, series) = (Origin::of(run)?, run.series()?.shown());
    let mut table = ParquetTable::create(out, spikes::columns(), &origin, SPIKES_SCHEMA)?;
    for (id, spec) in &series {
        let rows = run.spikes(*id)?.shown().into_iter();
        let rows = rows.filter(|spike| day.is_none_or(|day| day.has(spike.at_ns)));
        let rows = rows.map(|spike| spikes::Row {
            origin: &origin,
            series: &spec.name,
            spike,
        });
        table.write(&rows.collect::<Vec<_>>())?;
    }
    table.close()
}

fn changes_of(run: &RunFile, day: &Day, out: impl Write + Send) -> Result<(), ColumnarError> {
    let origin = Origin::of(run)?;
    let mut table = ParquetTable::create(out, changes::columns(), &origin, CHANGES_SCHEMA)?;
    let all = run.changes()?.shown().into_iter();
    let rows = all.filter(|change| day.has(change.at_ns)).map(|change| changes::Row {
        origin: &origin,
        change,
    });
    table.write(&rows.collect::<Vec<_>>())?;
    table.close()
}

fn days_of(run: &RunFile, out: impl Write + Send) -> Result<(), ColumnarError> {
    let (origin, series, lacks) = (Origin::of(run)?, run.series()?.shown(), run.lacks()?);
    let counted: Vec<Counted<'_>> = series.iter().map(|(_, spec)| Counted::of(spec, &lacks)).collect();
    let all = Day::with_rows(run, &origin)?;
    let mut table = ParquetTable::create(out, days::columns(), &origin, DAYS_SCHEMA)?;
    for ((id, _), counted) in series.iter().zip(&counted) {
        let windows = run.windows(*id)?;
        let rows = all
            .iter()
            .filter_map(|day| days::Row::of(&origin, counted, day, &windows));
        table.write(&rows.collect::<Vec<_>>())?;
    }
    table.close()
}

fn facts_of(run: &RunFile, out: impl Write + Send) -> Result<(), ColumnarError> {
    let origin = Origin::of(run)?;
    let mut table = ParquetTable::create(out, facts::columns(), &origin, FACTS_SCHEMA)?;
    let rows = run
        .facts()?
        .shown()
        .into_iter()
        .map(|fact| facts::Row { origin: &origin, fact });
    table.write(&rows.collect::<Vec<_>>())?;
    table.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_NS: u64 = 86_400_000_000_000;

    #[test]
    fn a_run_over_midnight_has_two_days_that_meet() {
        let started = "2026-11-30T23:00:00Z"
            .parse::<Timestamp>()
            .expect("a time")
            .as_nanosecond();
        let days = Day::all(i64::try_from(started).expect("near"), 2 * 3_600_000_000_000);
        let names: Vec<&str> = days.iter().map(|day| day.name.as_str()).collect();
        assert_eq!(names, ["2026-11-30", "2026-12-01"]);
        assert_eq!(days[0].within, 0..3_600_000_000_000);
        assert_eq!(days[1].within, 3_600_000_000_000..u64::MAX);
        assert!((0..8).all(|hour| days.iter().filter(|day| day.has(hour * DAY_NS / 24)).count() == 1));
    }

    #[test]
    fn a_clock_outside_the_calendar_still_has_a_day_for_each_instant() {
        for (started, duration) in [(i64::MIN, 1), (i64::MAX, 5), (0, 0)] {
            let days = Day::all(started, duration);
            assert_eq!(days.iter().filter(|day| day.has(0)).count(), 1, "{started}: {days:?}");
        }
    }

    #[test]
    fn a_host_name_is_one_part_of_a_path() {
        assert_eq!(encoded("bay-7.site_2"), "bay-7.site_2");
        assert_eq!(encoded("../a b"), "%2E.%2Fa%20b");
        assert_eq!(encoded("Öl"), "%C3%96l");
    }
}
