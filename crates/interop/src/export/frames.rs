//! A recording as comma-separated values (RFC 4180).

use super::ExportError;
use super::csv::quoted;
use recording::{Block, SegmentReader};
use std::io::Write;
use store::{RunFile, StoreError};

/// Parts of a recording that have no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Segments that cannot be read.
    pub unreadable: u64,
    /// Segments with points other than those of the first segment: they would need other columns.
    pub of_other_points: u64,
    /// Frames of streams that their segment does not name.
    pub nameless: u64,
}

impl LeftOut {
    /// A sentence for each kind; empty if every frame has a row.
    pub fn said(&self) -> Vec<String> {
        let said = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        };
        let all = [
            said(
                self.unreadable,
                "segment of the recording cannot be read: its frames are missing",
                "segments of the recording cannot be read: their frames are missing",
            ),
            said(
                self.of_other_points,
                "segment has other points than the first: its frames are missing",
                "segments have other points than the first: their frames are missing",
            ),
            said(
                self.nameless,
                "frame of a stream that is not named is missing",
                "frames of streams that are not named are missing",
            ),
        ];
        all.into_iter().flatten().collect()
    }
}

/// Writes one row for each recorded frame: stream, count, number, number of samples, and its time at each point, in ns since 1970. A missing time is
/// empty. Returns the parts without rows.
///
/// # Errors
/// The run file cannot be read, has no recording, or the output cannot be written.
pub fn frames(file: &RunFile, out: &mut impl Write) -> Result<LeftOut, ExportError> {
    let mut reader = SegmentReader::new();
    let mut points: Option<Vec<String>> = None;
    let mut left_out = LeftOut::default();
    for place in file.segment_places()? {
        let is_read = match file.segment(&place, |octets| reader.read(octets).is_ok()) {
            // The other segments can still be read.
            Err(StoreError::Damaged { .. }) => false,
            read => read?,
        };
        if !is_read {
            left_out.unreadable += 1;
            continue;
        }
        let segment = reader.segment();
        if points.is_none() {
            header(&segment.points, out)?;
            points = Some(segment.points.clone());
        }
        if points.as_ref() != Some(&segment.points) {
            left_out.of_other_points += 1;
            continue;
        }
        left_out.nameless += rows(&reader, out)?;
    }
    match points {
        Some(_) => Ok(left_out),
        None => Err(ExportError::NoRecording),
    }
}

fn header(points: &[String], out: &mut impl Write) -> Result<(), ExportError> {
    write!(out, "stream,smpCnt,number,samples")?;
    for point in points {
        write!(out, ",{}", quoted(&format!("{point}_ns")))?;
    }
    Ok(write!(out, "\r\n")?)
}

/// Returns the number of frames whose stream is not named.
fn rows(reader: &SegmentReader, out: &mut impl Write) -> Result<u64, ExportError> {
    let mut nameless = 0;
    let segment = reader.segment();
    let block = &segment.block;
    let names: Vec<String> = segment.streams.iter().map(|info| quoted(&info.name)).collect();
    for index in 0..block.len() {
        let place = segment
            .streams
            .iter()
            .position(|info| info.number == block.stream[index]);
        let Some(place) = place else {
            nameless += 1;
            continue;
        };
        let count = segment.streams[place].count(block.number[index], block.flags[index]);
        write!(
            out,
            "{},{count},{},{}",
            names[place], block.number[index], block.samples[index]
        )?;
        for column in &block.stamps {
            match column[index] {
                Block::NO_STAMP => write!(out, ",")?,
                ns => write!(out, ",{ns}")?,
            }
        }
        write!(out, "\r\n")?;
    }
    Ok(nameless)
}

#[cfg(test)]
mod tests {
    use super::{LeftOut, frames};
    use model::{RunInfo, RunState};
    use recording::{Record, SegmentWriter, StreamInfo};
    use store::{RunFile, RunWriter, SealedSegment};
    use units::Realtime;

    /// A segment of two frames at these points.
    fn segment(points: &[&str]) -> Vec<u8> {
        let mut segment = SegmentWriter::new(points);
        segment.set_stream(StreamInfo::named(0, "MU01")).expect("a stream");
        for number in 0..2 {
            let record = Record {
                stream: 0,
                samples: 1,
                flags: 0,
                number,
                stamps: recording::instants([Some(1_000), Some(2_000)]),
            };
            segment.push(&record).expect("a record");
        }
        segment.seal().expect("sealed")
    }

    #[test]
    fn what_has_no_row_is_said_for_what_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run");
        let info = RunInfo {
            id: "x".into(),
            command: "trace".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: Realtime::from_ns(0),
            window_ns: 1_000_000_000,
        };
        let mut run = RunWriter::create(&path, &info, None).expect("a run");
        let others = segment(&["nic", "app"]);
        for octets in [segment(&["nic", "tap"]), b"torn".to_vec(), others.clone(), others] {
            let sealed = SealedSegment {
                first_ns: 1_000,
                last_ns: 2_000,
                samples: 2,
                octets,
            };
            run.add_segment(&sealed).expect("room");
        }
        run.finish(RunState::Complete, 1).expect("finished");
        let mut out = Vec::new();
        let left_out = frames(&RunFile::open(&path).expect("a run"), &mut out).expect("exported");
        assert_eq!(
            String::from_utf8_lossy(&out).lines().count(),
            3,
            "a head and two frames"
        );
        assert_eq!(
            left_out,
            LeftOut {
                unreadable: 1,
                of_other_points: 2,
                nameless: 0
            }
        );
        assert_eq!(
            left_out.said(),
            [
                "1 segment of the recording cannot be read: its frames are missing",
                "2 segments have other points than the first: their frames are missing"
            ]
        );
        assert!(LeftOut::default().said().is_empty());
    }
}
