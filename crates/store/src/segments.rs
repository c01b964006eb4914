//! Sealed segments of recordings, stored and returned unchanged. This crate does not read their contents.

use crate::columns::{integer, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::RunFile;
use crate::writer::RunWriter;
use rusqlite::{OptionalExtension, params};

/// A sealed part of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSegment {
    /// Earliest time stamp in it, in ns of the recording's clock.
    pub first_ns: i64,
    /// Latest time stamp in it, in ns of the recording's clock.
    pub last_ns: i64,
    /// Number of samples in it.
    pub samples: u64,
    /// Contents of the segment.
    pub octets: Vec<u8>,
}

/// Position of a segment in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentPlace {
    id: i64,
    /// Number of samples in it.
    pub samples: u64,
    /// Earliest time stamp in it, in ns of the recording's clock.
    pub first_ns: i64,
    /// Latest time stamp in it, in ns of the recording's clock.
    pub last_ns: i64,
}

/// Totals over all segments of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentTotals {
    /// Number of segments.
    pub segments: u64,
    /// Number of samples, as counted when the segments were sealed.
    pub samples: u64,
    /// Bytes of the segments.
    pub octets: u64,
    /// Earliest time stamp, in ns of the recording's clock.
    pub first_ns: i64,
    /// Latest time stamp, in ns of the recording's clock.
    pub last_ns: i64,
}

impl RunWriter {
    /// Stores a sealed segment; it is on the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] if there is no space.
    pub fn add_segment(&mut self, segment: &SealedSegment) -> Result<(), StoreError> {
        self.transaction("write a segment", |tx, _| {
            tx.prepare_cached("INSERT INTO segment (first_ns, last_ns, samples, octets) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    segment.first_ns,
                    segment.last_ns,
                    integer(segment.samples, "a number of samples")?,
                    segment.octets
                ])?;
            Ok(())
        })
    }
}

impl RunFile {
    /// The totals of the run's segments; `None` if it has none.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn segment_totals(&self) -> Result<Option<SegmentTotals>, StoreError> {
        self.read("read the segments", |db| {
            let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'segment'";
            if db.query_row(there, [], |_| Ok(())).optional()?.is_none() {
                // The file was made by a version that recorded no segments.
                return Ok(None);
            }
            let sql = "SELECT count(*), coalesce(sum(samples), 0), coalesce(sum(length(octets)), 0),
                              coalesce(min(first_ns), 0), coalesce(max(last_ns), 0) FROM segment";
            let totals = db.query_row(sql, [], |row| {
                Ok(SegmentTotals {
                    segments: unsigned(row, 0)?,
                    samples: unsigned(row, 1)?,
                    octets: unsigned(row, 2)?,
                    first_ns: row.get(3)?,
                    last_ns: row.get(4)?,
                })
            })?;
            Ok((totals.segments > 0).then_some(totals))
        })
    }

    /// Passes every segment to `take` in the order they were sealed, with only one in memory at a time. A segment that
    /// the database cannot read is passed as an error; the others follow.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if not even the list of segments can be read.
    pub fn each_segment(&self, mut take: impl FnMut(Result<&[u8], String>)) -> Result<(), StoreError> {
        if self.segment_totals()?.is_none() {
            return Ok(());
        }
        self.read("read the segments", |db| {
            let ids = crate::reader::rows(db, "SELECT id FROM segment ORDER BY id", [], |row| row.get::<_, i64>(0))?;
            let mut statement = db.prepare("SELECT octets FROM segment WHERE id = ?1")?;
            for id in ids {
                let mut given = false;
                let read = statement.query_row([id], |row| {
                    let octets = row.get_ref(0)?.as_blob()?;
                    given = true;
                    take(Ok(octets));
                    Ok(())
                });
                if let Err(error) = read
                    && !given
                {
                    take(Err(error.to_string()));
                }
            }
            Ok::<(), Fault>(())
        })
    }

    /// The positions of the segments, in the order they were sealed.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the list cannot be read.
    pub fn segment_places(&self) -> Result<Vec<SegmentPlace>, StoreError> {
        if self.segment_totals()?.is_none() {
            return Ok(Vec::new());
        }
        self.read("read the segments", |db| {
            let sql = "SELECT id, first_ns, last_ns, samples FROM segment ORDER BY id";
            crate::reader::rows(db, sql, [], |row| {
                Ok(SegmentPlace {
                    id: row.get(0)?,
                    first_ns: row.get(1)?,
                    last_ns: row.get(2)?,
                    samples: unsigned(row, 3)?,
                })
            })
        })
    }

    /// Passes one segment to `take`.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the database cannot read it.
    pub fn segment<T>(&self, place: &SegmentPlace, take: impl FnOnce(&[u8]) -> T) -> Result<T, StoreError> {
        self.read("read a segment", |db| {
            let mut statement = db.prepare_cached("SELECT octets FROM segment WHERE id = ?1")?;
            let taken = statement.query_row([place.id], |row| Ok(take(row.get_ref(0)?.as_blob()?)))?;
            Ok(taken)
        })
    }
}
