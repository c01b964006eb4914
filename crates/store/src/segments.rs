//! Sealed segments of recordings: kept and given back as they are. This crate does not read what is in them.

use crate::columns::{integer, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::RunFile;
use crate::writer::RunWriter;
use rusqlite::{OptionalExtension, params};

/// A sealed part of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSegment {
    /// Earliest stamp in it, in ns of the recording's clock.
    pub first_ns: i64,
    /// Latest stamp in it.
    pub last_ns: i64,
    /// Samples in it.
    pub samples: u64,
    /// The segment.
    pub octets: Vec<u8>,
}

/// Where a segment lies in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentPlace {
    id: i64,
    /// Earliest stamp in it.
    pub first_ns: i64,
    /// Latest stamp in it.
    pub last_ns: i64,
}

/// All segments of a run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentTotals {
    /// How many.
    pub segments: u64,
    /// Samples in them, as they were counted when they were sealed.
    pub samples: u64,
    /// Octets of the segments.
    pub octets: u64,
    /// Earliest stamp.
    pub first_ns: i64,
    /// Latest stamp.
    pub last_ns: i64,
}

impl RunWriter {
    /// Keeps a sealed segment, durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] when there is no room.
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
    /// The totals of the run's segments; `None` when it has none.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the file cannot be read.
    pub fn segment_totals(&self) -> Result<Option<SegmentTotals>, StoreError> {
        self.read("read the segments", |db| {
            let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'segment'";
            if db.query_row(there, [], |_| Ok(())).optional()?.is_none() {
                // Made by a version that recorded none.
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

    /// Gives every segment to `take`, in the order they were sealed, one in memory at a time. One that the database cannot
    /// give is an error in its place, and the rest follows.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when not even the list of segments can be read.
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

    /// Where the segments lie, in the order they were sealed.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the list cannot be read.
    pub fn segment_places(&self) -> Result<Vec<SegmentPlace>, StoreError> {
        if self.segment_totals()?.is_none() {
            return Ok(Vec::new());
        }
        self.read("read the segments", |db| {
            let sql = "SELECT id, first_ns, last_ns FROM segment ORDER BY id";
            crate::reader::rows(db, sql, [], |row| {
                Ok(SegmentPlace {
                    id: row.get(0)?,
                    first_ns: row.get(1)?,
                    last_ns: row.get(2)?,
                })
            })
        })
    }

    /// Gives one segment to `take`.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the database cannot give it.
    pub fn segment<T>(&self, place: &SegmentPlace, take: impl FnOnce(&[u8]) -> T) -> Result<T, StoreError> {
        self.read("read a segment", |db| {
            let mut statement = db.prepare_cached("SELECT octets FROM segment WHERE id = ?1")?;
            let taken = statement.query_row([place.id], |row| Ok(take(row.get_ref(0)?.as_blob()?)))?;
            Ok(taken)
        })
    }
}
