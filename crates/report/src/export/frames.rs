//! A recording as comma-separated values (RFC 4180).

use super::ExportError;
use super::csv::quoted;
use recording::{Block, SegmentReader};
use std::io::Write;
use store::RunFile;

/// Writes one row for each recorded frame: stream, count, number, how many samples, and its instant at each point, in ns since 1970. An
/// instant that is not there is empty. Returns how many segments cannot be read; their frames are missing.
///
/// # Errors
/// When the run file cannot be read, has no recording, or the output cannot be written.
pub fn frames(file: &RunFile, out: &mut impl Write) -> Result<u64, ExportError> {
    let mut reader = SegmentReader::new();
    let mut points: Option<Vec<String>> = None;
    let mut unreadable = 0;
    for place in file.segment_places()? {
        let read = file.segment(&place, |octets| reader.read(octets).is_ok());
        if !read.unwrap_or(false) {
            unreadable += 1;
            continue;
        }
        let segment = reader.segment();
        if points.is_none() {
            header(&segment.points, out)?;
            points = Some(segment.points.clone());
        }
        if points.as_ref() != Some(&segment.points) {
            unreadable += 1;
            continue;
        }
        rows(&reader, out)?;
    }
    match points {
        Some(_) => Ok(unreadable),
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

fn rows(reader: &SegmentReader, out: &mut impl Write) -> Result<(), ExportError> {
    let segment = reader.segment();
    let block = &segment.block;
    let names: Vec<String> = segment.streams.iter().map(|info| quoted(&info.name)).collect();
    for index in 0..block.len() {
        let place = segment
            .streams
            .iter()
            .position(|info| info.number == block.stream[index]);
        let Some(place) = place else { continue };
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
    Ok(())
}
