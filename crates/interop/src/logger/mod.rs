//! The text of sv_timestamp_logger (`iteration:svID:smpCnt:timestamp_us`), one file or a pair, converted to a recording.
//!
//! The logger's pass number is not used: all streams share it, and it increases at any step back. Samples are numbered by their own streams'
//! counters. Stamps are in microseconds; a difference of two has an uncertainty of a microsecond.
//!
//! A publisher's and a subscriber's file give the latency of every sample, which is matched by stream, count and time. The difference is a latency
//! only as far as the clocks agree: it is judged only if their relation was stated.

pub(crate) mod lines;
mod log;
mod maker;
mod pair;
#[cfg(test)]
mod tests;

use log::Log;
use maker::Maker;
use model::{EventKind, kind};
use pair::{Pairing, Publisher};
use recording::SegmentError;
use run::Thresholds;
use std::io::Read;
use store::{RunWriter, StoreError};
use units::{Ns, SignedNs};

/// Relation between the clocks of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// One clock.
    SameHost,
    /// Two clocks that agree to this many ns.
    Synchronised(u64),
    /// Not stated.
    Unknown,
}

/// Options for reading a file.
#[derive(Debug, Clone)]
pub struct LoggerOptions {
    /// Samples per second of every stream; detected if not given.
    pub rate: Option<u32>,
    /// Relation of the clocks.
    pub clock: Relation,
    /// Longest time between a sample's two stamps.
    pub within_ns: u64,
    /// Start of the run in ns since 1970.
    pub started_ns: i64,
    /// Length of a window.
    pub window_ns: u64,
    /// Thresholds above which samples are stored, by name of the series.
    pub thresholds: Thresholds,
}

/// Reasons why files cannot be converted to a recording.
#[derive(Debug, thiserror::Error)]
pub enum LoggerError {
    /// A file cannot be read.
    #[error("{0}: {1}")]
    Io(String, String),
    /// The file has no sample.
    #[error("{0}: no line of sv_timestamp_logger (iteration:svID:smpCnt:timestamp_us) in it; {1} other lines")]
    Empty(String, u64),
    /// More streams than a recording can have.
    #[error("{0}: more than 4096 svIDs: is it the right file?")]
    TooManyStreams(String),
    /// No sample was found in both files.
    #[error(
        "no sample of {subscriber} is in {publisher} within {}: {why}", Ns(*within_ns)
    )]
    NoPairs {
        /// The subscriber's file.
        subscriber: String,
        /// The publisher's file.
        publisher: String,
        /// The window.
        within_ns: u64,
        /// Advice.
        why: String,
    },
    /// Error of the run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Error of a segment.
    #[error("cannot pack the samples: {0}")]
    Segment(#[from] SegmentError),
}

/// A file and its name.
pub struct LoggerFile<R> {
    /// Its name, for messages.
    pub name: String,
    /// Its content.
    pub source: R,
}

/// Results of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Length of the run in ns.
    pub duration_ns: u64,
    /// Samples in the recording.
    pub samples: u64,
    /// Samples of the subscriber's file that are not in the publisher's.
    pub unpaired: u64,
    /// Duplicate samples in the subscriber's file.
    pub duplicates: u64,
}

/// Time stamp of the first sample of a logger's text, in ns since 1970; `None` if the text is of another kind.
pub fn first_stamp_ns(text: &[u8]) -> Option<i64> {
    let mut lines = text.split(|octet| *octet == b'\n');
    lines.find_map(lines::parse).map(|line| line.at_us * 1_000)
}

/// Converts one logger's file to a recording in `run`.
///
/// # Errors
/// The file cannot be read or has no line, or the run cannot be written.
pub fn import<R: Read>(
    file: LoggerFile<R>,
    options: &LoggerOptions,
    run: &mut RunWriter,
) -> Result<Imported, LoggerError> {
    let mut log = Log::new(file.name, file.source, options.rate);
    let mut maker = Maker::new(&["application"], Some(&kind::SPACING), options);
    while let Some(logged) = log.next()? {
        let stamps = recording::instants([Some(logged.at_ns)]);
        maker.sample(&log, &logged, (logged.number, logged.flags), stamps, run)?;
        maker.settle(&log, logged.stream);
        maker.tell(&mut log, logged.stream, logged.stream, logged.at_ns);
    }
    if log.samples == 0 {
        return Err(LoggerError::Empty(log.file, log.malformed));
    }
    maker.note(
        EventKind::Note,
        format!(
            "imported from {}: sv_timestamp_logger, stamps in whole microseconds, read by the application",
            log.file
        ),
    );
    maker.malformed(&log);
    log.end();
    for stream in 0..log.streams.len() {
        maker.settle_rest(&log, stream);
        let end_ns = log.last_ns;
        maker.tell(&mut log, stream, stream, end_ns);
    }
    maker.finish(run)
}

/// Converts a publisher's and a subscriber's file to one recording in `run`.
///
/// # Errors
/// A file cannot be read or has no line, no sample is in both, or the run cannot be written.
pub fn import_pair<R: Read>(
    publisher: LoggerFile<R>,
    subscriber: LoggerFile<R>,
    options: &LoggerOptions,
    run: &mut RunWriter,
) -> Result<Imported, LoggerError> {
    let mut log = Log::new(subscriber.name, subscriber.source, options.rate);
    let window_ns = i64::try_from(options.within_ns).unwrap_or(i64::MAX);
    let mut sent = Publisher::new(Log::new(publisher.name, publisher.source, options.rate), window_ns);
    let kind = (options.clock != Relation::Unknown).then_some(&kind::LATENCY);
    let mut maker = Maker::new(&["publisher", "subscriber"], kind, options);
    let mut streams: Vec<Option<usize>> = Vec::new();
    let mut first_ns = None;
    while let Some(logged) = log.next()? {
        first_ns.get_or_insert(logged.at_ns);
        sent.read_to(logged.at_ns)?;
        if streams.len() <= logged.stream {
            streams.resize(logged.stream + 1, None);
        }
        if streams[logged.stream].is_none() {
            let name = &log.streams[logged.stream].name;
            streams[logged.stream] = sent.log.streams.iter().position(|stream| stream.name == *name);
        }
        match sent.pair(streams[logged.stream], logged.smp_cnt, logged.at_ns) {
            Pairing::Sent {
                at_ns,
                number,
                flags,
                is_first,
            } => {
                maker.imported.duplicates += u64::from(!is_first);
                let stamps = recording::instants([Some(at_ns), Some(logged.at_ns)]);
                maker.sample(&log, &logged, (number, flags), stamps, run)?;
            }
            Pairing::Unpaired => maker.imported.unpaired += 1,
        }
    }
    if log.samples == 0 {
        return Err(LoggerError::Empty(log.file, log.malformed));
    }
    sent.read_to(i64::MAX)?;
    log.end();
    sent.log.end();
    if maker.imported.samples == 0 {
        return Err(no_pairs(&log, &sent, first_ns, options));
    }
    maker.said_of_pair(&log, &sent, options);
    let end_ns = log.last_ns;
    for (stream, publisher) in streams.iter().enumerate() {
        let Some(publisher) = *publisher else { continue };
        maker.settle_pair(stream, sent.newest(publisher));
        maker.tell(&mut sent.log, publisher, stream, end_ns);
        maker.tell(&mut log, stream, stream, end_ns);
    }
    maker.finish(run)
}

fn no_pairs<R: Read>(log: &Log<R>, sent: &Publisher<R>, first_ns: Option<i64>, options: &LoggerOptions) -> LoggerError {
    let common = log
        .streams
        .iter()
        .filter(|stream| sent.log.streams.iter().any(|other| other.name == stream.name));
    let why = if sent.log.samples == 0 {
        format!("{} has no line of sv_timestamp_logger", sent.log.file)
    } else if common.count() == 0 {
        "they have no svID in common".to_owned()
    } else {
        let apart = first_ns
            .zip(sent.first_ns)
            .map_or(0, |(ours, theirs)| ours.saturating_sub(theirs));
        format!(
            "the first sample of one is {} after that of the other: do the clocks differ (TAI and UTC: 37 s)?",
            SignedNs(apart)
        )
    };
    LoggerError::NoPairs {
        subscriber: log.file.clone(),
        publisher: sent.log.file.clone(),
        within_ns: options.within_ns,
        why,
    }
}
