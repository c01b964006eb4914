//! One line per stream of a capture.

use std::collections::BTreeMap;
use std::io::{self, Write};

use capture::Frame;
use jiff::Timestamp;
use wire::ether::{self, EthernetView, Mac};
use wire::sequence::Sequence;
use wire::{goose, sv};

use super::DecodeCounts;

/// Everything that tells streams apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: &'static str,
    dst: Mac,
    vid: Option<u16>,
    appid: u16,
    /// svID or gocbRef.
    name: Vec<u8>,
}

#[derive(Debug)]
struct Stream {
    frames: u64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    /// Number of the last frame counted: a frame with two ASDUs of a stream counts once.
    last_frame: u64,
    /// Sampled values only.
    sequence: Option<Sequence>,
}

/// The streams seen so far.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: BTreeMap<Key, Stream>,
}

impl Streams {
    /// Takes a frame. Frames that break a rule are only counted.
    pub(super) fn add(&mut self, frame: &Frame<'_>, ethernet: &EthernetView<'_>, counts: &mut DecodeCounts) {
        match ethernet.ether_type() {
            ether::SV => {
                counts.sv_frames += 1;
                let Ok(parsed) = sv::Frame::parse(ethernet) else {
                    counts.errors += 1;
                    return;
                };
                for asdu in parsed.asdus() {
                    counts.asdus += 1;
                    let stream = self.stream("sv", frame, ethernet, parsed.appid(), asdu.sv_id());
                    stream
                        .sequence
                        .get_or_insert_with(Sequence::learning)
                        .accept(asdu.smp_cnt());
                }
            }
            ether::GOOSE => {
                counts.goose += 1;
                match goose::Frame::parse(ethernet) {
                    Ok(parsed) => _ = self.stream("goose", frame, ethernet, parsed.header().appid, parsed.gocb_ref()),
                    Err(_) => counts.errors += 1,
                }
            }
            _ => {}
        }
    }

    fn stream(
        &mut self,
        kind: &'static str,
        frame: &Frame<'_>,
        ethernet: &EthernetView<'_>,
        appid: u16,
        name: &[u8],
    ) -> &mut Stream {
        let vid = ethernet.vlan().map(|tag| tag.vid());
        let key = Key {
            kind,
            dst: ethernet.dst(),
            vid,
            appid,
            name: name.to_vec(),
        };
        let stream = self.streams.entry(key).or_insert(Stream {
            frames: 0,
            first_ns: frame.time_ns,
            last_ns: None,
            last_frame: 0,
            sequence: None,
        });
        if stream.last_frame != frame.number {
            stream.last_frame = frame.number;
            stream.frames += 1;
            stream.last_ns = frame.time_ns;
        }
        stream
    }

    /// Writes the table; nothing when there is no stream.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.streams.is_empty() {
            return Ok(());
        }
        let header = [
            "kind",
            "dst",
            "VID",
            "APPID",
            "svID or gocbRef",
            "frames",
            "first (UTC)",
            "last (UTC)",
            "rate",
            "lost",
            "gaps",
            "duplicate",
            "late",
            "restart",
            "beyond rate",
        ];
        let mut rows = vec![header.map(str::to_owned)];
        rows.extend(self.streams.iter().map(|(key, stream)| row(key, stream)));
        let widths: [usize; 15] =
            std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
        out.flush()
    }
}

/// The cells of a stream; `-` where there is nothing to say.
fn row(key: &Key, stream: &Stream) -> [String; 15] {
    let none = || "-".to_owned();
    let counters = stream.sequence.as_ref().map(|sequence| sequence.counters());
    let count = |value: Option<u64>| value.map_or_else(none, |value| value.to_string());
    [
        key.kind.to_owned(),
        key.dst.to_string(),
        key.vid.map_or_else(none, |vid| vid.to_string()),
        format!("0x{:04X}", key.appid),
        printable(&key.name),
        stream.frames.to_string(),
        stream.first_ns.map_or_else(none, time),
        stream.last_ns.map_or_else(none, time),
        stream
            .sequence
            .as_ref()
            .map_or_else(none, |s| s.rate().map_or("unknown".to_owned(), |rate| rate.to_string())),
        count(counters.map(|c| c.lost)),
        count(counters.map(|c| c.gaps)),
        count(counters.map(|c| c.duplicates)),
        count(counters.map(|c| c.out_of_order)),
        count(counters.map(|c| c.restarts)),
        count(counters.map(|c| c.out_of_range)),
    ]
}

/// Names come from the network: what could move the cursor of a terminal is shown as `?`.
fn printable(name: &[u8]) -> String {
    name.iter()
        .map(|&octet| {
            if matches!(octet, 0x20..0x7f) {
                char::from(octet)
            } else {
                '?'
            }
        })
        .collect()
}

fn time(ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(ns)).map_or_else(|_| ns.to_string(), |time| format!("{time:.9}"))
}
