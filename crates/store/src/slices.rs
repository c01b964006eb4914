//! Slices of series in the run file: coded to about three bytes a slice, older ones merged to stay within their budget.

use crate::columns::{integer, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::{RunFile, rows};
use model::{Along, Alongs, SeriesId, Shot, Slice, Slices};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Slices of all rows may take this part of the bytes that histograms may take.
const PART_OF_BUDGET: u64 = 4;

/// Most slices of one row that a reader accepts.
const MOST_SLICES: u64 = 100_000;

/// A stored row.
#[derive(Debug, Clone, Copy)]
struct Stored {
    id: i64,
    slice_ns: u64,
    bytes: u64,
    is_one: bool,
}

/// Keeps the stored slices within their budget: while they exceed it, the finest and oldest row is merged to half as many.
#[derive(Debug, Clone)]
pub(crate) struct SliceKeeper {
    budget: u64,
    bytes: u64,
    stored: Vec<Stored>,
}

impl SliceKeeper {
    /// No slices yet; `file_budget` is the number of bytes that histograms may take.
    pub(crate) fn new(file_budget: u64) -> Self {
        Self {
            budget: file_budget / PART_OF_BUDGET,
            bytes: 0,
            stored: Vec::new(),
        }
    }

    /// Inserts slices after the existing ones.
    pub(crate) fn insert(&mut self, tx: &Connection, slices: &Slices) -> Result<(), Fault> {
        let octets = encode(&slices.slices);
        tx.prepare_cached("INSERT INTO slices (series, start_ns, slice_ns, octets) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                slices.series.0,
                integer(slices.start_ns, "the start of slices")?,
                integer(slices.slice_ns, "the length of slices")?,
                octets
            ])?;
        self.bytes += octets.len() as u64;
        self.stored.push(Stored {
            id: tx.last_insert_rowid(),
            slice_ns: slices.slice_ns,
            bytes: octets.len() as u64,
            is_one: slices.slices.len() <= 1,
        });
        Ok(())
    }

    /// Merges slices until they fit the budget, or every row is one slice.
    pub(crate) fn shrink(&mut self, tx: &Connection) -> Result<(), Fault> {
        while self.bytes > self.budget {
            let mergeable = self.stored.iter_mut().filter(|stored| !stored.is_one);
            let Some(stored) = mergeable.min_by_key(|stored| (stored.slice_ns, stored.id)) else {
                break;
            };
            let mut slices = tx
                .prepare_cached("SELECT series, start_ns, slice_ns, octets FROM slices WHERE id = ?1")?
                .query_row([stored.id], slices_of)?;
            slices.halve();
            let octets = encode(&slices.slices);
            tx.prepare_cached("UPDATE slices SET slice_ns = ?2, octets = ?3 WHERE id = ?1")?
                .execute(params![
                    stored.id,
                    integer(slices.slice_ns, "the length of slices")?,
                    octets
                ])?;
            self.bytes = self.bytes - stored.bytes + octets.len() as u64;
            stored.slice_ns = slices.slice_ns;
            stored.bytes = octets.len() as u64;
            stored.is_one = slices.slices.len() <= 1;
        }
        Ok(())
    }
}

impl RunFile {
    /// The slices of a series, in order of time. Empty for series without slices, and for files from before this table.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn slices(&self, id: SeriesId) -> Result<Vec<Slices>, StoreError> {
        self.read("read the slices", |db| {
            if !has_slices(db)? {
                return Ok(Vec::new());
            }
            let sql = "SELECT series, start_ns, slice_ns, octets FROM slices WHERE series = ?1 ORDER BY start_ns, id";
            rows(db, sql, [id.0], slices_of)
        })
    }

    /// The series with slices along each of these shots, shot by shot.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn along(&self, shots: &[Shot]) -> Result<Vec<Along>, StoreError> {
        if shots.is_empty() {
            return Ok(Vec::new());
        }
        self.read("read the slices", |db| {
            let mut all: Vec<Along> = Vec::new();
            if !has_slices(db)? {
                return Ok(all);
            }
            let series: Vec<i64> = rows(db, "SELECT DISTINCT series FROM slices ORDER BY series", [], |row| {
                row.get(0)
            })?;
            for number in series {
                let mut alongs = Alongs::of(shots);
                let sql =
                    "SELECT series, start_ns, slice_ns, octets FROM slices WHERE series = ?1 ORDER BY start_ns, id";
                let mut statement = db.prepare_cached(sql)?;
                let mut found = statement.query([number])?;
                while let Some(row) = found.next()? {
                    alongs.take(&slices_of(row)?);
                }
                let id = u32::try_from(number).map_err(|_| Fault::Damaged(format!("slices of series {number}")))?;
                all.extend(alongs.end(SeriesId(id)));
            }
            all.sort_by_key(|along| (along.shot, along.series));
            Ok(all)
        })
    }
}

fn has_slices(db: &Connection) -> Result<bool, Fault> {
    let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'slices'";
    Ok(db.query_row(there, [], |_| Ok(())).optional()?.is_some())
}

fn slices_of(row: &Row<'_>) -> Result<Slices, rusqlite::Error> {
    let octets: Vec<u8> = row.get(3)?;
    let refused = || rusqlite::Error::InvalidColumnType(3, "slices that cannot be read".to_owned(), Type::Blob);
    let slice_ns = unsigned(row, 2)?;
    Ok(Slices {
        series: SeriesId(row.get(0)?),
        start_ns: unsigned(row, 1)?,
        slice_ns: if slice_ns > 0 { slice_ns } else { return Err(refused()) },
        slices: decode(&octets).ok_or_else(refused)?,
    })
}

/// Codes slices column by column, each number as a LEB128: their number; runs of equal numbers of samples; the largest samples of
/// the slices with samples, in zigzag; late samples and skipped periods as pairs of distance and number.
fn encode(slices: &[Slice]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4 * slices.len() + 8);
    put(&mut out, slices.len() as u64);
    for run in slices.chunk_by(|one, other| one.samples == other.samples) {
        put(&mut out, run[0].samples);
        put(&mut out, run.len() as u64);
    }
    for slice in slices.iter().filter(|slice| slice.samples > 0) {
        put(&mut out, ((slice.max_ns << 1) ^ (slice.max_ns >> 63)) as u64);
    }
    put_seldom(&mut out, slices, |slice| slice.late);
    put_seldom(&mut out, slices, |slice| slice.missed);
    out
}

fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7F) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn put_seldom(out: &mut Vec<u8>, slices: &[Slice], of: impl Fn(&Slice) -> u64) {
    let met = || slices.iter().enumerate().filter(|(_, slice)| of(slice) > 0);
    put(out, met().count() as u64);
    let mut before = 0;
    for (index, slice) in met() {
        put(out, (index - before) as u64);
        put(out, of(slice));
        before = index;
    }
}

/// The slices in these bytes; `None` if they are not such bytes, or go on after them.
fn decode(octets: &[u8]) -> Option<Vec<Slice>> {
    let mut from = octets;
    let many = take(&mut from).filter(|many| *many <= MOST_SLICES)? as usize;
    let mut slices = Vec::with_capacity(many);
    while slices.len() < many {
        let (samples, run) = (take(&mut from)?, take(&mut from)?);
        let room = (many - slices.len()) as u64;
        let run = (1..=room).contains(&run).then_some(run as usize)?;
        let slice = Slice {
            samples,
            ..Slice::default()
        };
        slices.resize(slices.len() + run, slice);
    }
    for slice in slices.iter_mut().filter(|slice| slice.samples > 0) {
        let n = take(&mut from)?;
        slice.max_ns = (n >> 1) as i64 ^ -((n & 1) as i64);
    }
    take_seldom(&mut from, &mut slices, |slice| &mut slice.late)?;
    take_seldom(&mut from, &mut slices, |slice| &mut slice.missed)?;
    from.is_empty().then_some(slices)
}

fn take(from: &mut &[u8]) -> Option<u64> {
    let mut n = 0_u64;
    for shift in (0..64).step_by(7) {
        let (octet, rest) = from.split_first()?;
        *from = rest;
        n |= u64::from(octet & 0x7F) << shift;
        if octet & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

fn take_seldom(from: &mut &[u8], slices: &mut [Slice], of: impl Fn(&mut Slice) -> &mut u64) -> Option<()> {
    let mut at = 0_usize;
    for _ in 0..take(from)? {
        at = at.checked_add(usize::try_from(take(from)?).ok()?)?;
        *of(slices.get_mut(at)?) = take(from)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{MOST_SLICES, decode, encode};
    use crate::{Batch, RunFile, RunWriter};
    use model::{RunInfo, RunState, SeriesSpec, Slice, Slices};
    use units::Realtime;

    fn slice(samples: u64, max_ns: i64, late: u64, missed: u64) -> Slice {
        Slice {
            samples,
            max_ns,
            late,
            missed,
        }
    }

    fn info() -> RunInfo {
        RunInfo {
            id: "x".to_owned(),
            command: "relay".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(1),
            window_ns: 20_000_000_000,
        }
    }

    #[test]
    fn slices_come_back_as_they_were_and_other_bytes_are_refused() {
        let slices = [
            slice(100, 12_345, 0, 0),
            slice(100, -3, 0, 0),
            slice(0, 0, 0, 0),
            slice(1, i64::MAX, 1, 299),
            slice(u64::MAX, i64::MIN, 0, u64::MAX),
        ];
        let octets = encode(&slices);
        assert_eq!(decode(&octets).expect("slices"), slices);
        assert_eq!(decode(&encode(&[])), Some(Vec::new()));
        for end in 0..octets.len() {
            assert_eq!(decode(&octets[..end]), None, "cut after {end} bytes");
        }
        assert_eq!(decode(&[octets, vec![0]].concat()), None, "a byte more");
        let mut many = Vec::new();
        super::put(&mut many, MOST_SLICES + 1);
        assert_eq!(decode(&many), None);
        assert_eq!(decode(&[2, 5, 3]), None, "a run longer than the slices");
    }

    #[test]
    fn a_usual_course_takes_about_three_bytes_a_slice() {
        let course: Vec<Slice> = (0..200).map(|at| slice(100, 30_000 + 977 * (at % 37), 0, 0)).collect();
        assert!((400..700).contains(&encode(&course).len()), "{}", encode(&course).len());
    }

    #[test]
    fn a_long_run_keeps_every_count_within_its_budget() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("slices.triptime");
        let mut writer = RunWriter::create(&path, &info(), Some(64_000)).expect("a file");
        let series = writer.add_series(&SeriesSpec::named("task/relay")).expect("a series");
        for window in 0..100_u64 {
            let course = |at: u64| slice(100, 30_000 + at as i64, u64::from(at == 7), window);
            let slices = Slices {
                series,
                start_ns: window * 20_000_000_000,
                slice_ns: model::SLICE_NS,
                slices: (0..200).map(course).collect(),
            };
            let slices = vec![slices];
            writer
                .write(&Batch {
                    slices,
                    ..Batch::default()
                })
                .expect("written");
        }
        writer.finish(RunState::Complete, 5).expect("closed");
        let all = RunFile::open(&path).expect("opened").slices(series).expect("read");
        let octets: usize = all.iter().map(|slices| encode(&slices.slices).len()).sum();
        assert!(octets <= 16_000, "{octets} bytes");
        let of_all = || all.iter().flat_map(|slices| &slices.slices);
        assert_eq!(of_all().map(|slice| slice.samples).sum::<u64>(), 100 * 200 * 100);
        assert_eq!(of_all().map(|slice| slice.late).sum::<u64>(), 100);
        assert_eq!(
            of_all().map(|slice| slice.missed).sum::<u64>(),
            200 * (0..100).sum::<u64>()
        );
        assert_eq!(of_all().map(|slice| slice.max_ns).max(), Some(30_199));
        let ends = all.windows(2).all(|pair| pair[0].end_ns() >= pair[1].start_ns);
        assert!(ends, "no gap between the rows");
        let first = all.first().expect("rows").slice_ns;
        assert!(
            first > all.last().expect("rows").slice_ns,
            "the oldest are the longest: {first} ns"
        );
    }

    #[test]
    fn files_from_before_slices_have_none() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("old.triptime");
        let mut writer = RunWriter::create(&path, &info(), None).expect("a file");
        let series = writer.add_series(&SeriesSpec::named("task/relay")).expect("a series");
        writer.finish(RunState::Complete, 5).expect("closed");
        let db = rusqlite::Connection::open(&path).expect("a database");
        db.execute_batch("DROP TABLE slices")
            .expect("as an older version made it");
        drop(db);
        let file = RunFile::open(&path).expect("opened");
        assert_eq!(file.slices(series).expect("read"), []);
        assert_eq!(file.view().expect("read").along, []);
    }
}
