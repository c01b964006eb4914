//! Contents of a capture, as text for a person.

use std::fmt::Write;

use analysis::{Detail, Gap, Shaping, SrClass, StreamSummary, Summary};
use jiff::Timestamp;
use units::foreign::{self, Show};
use units::format_ns;
use wire::ether::Hidden;

use super::first_events::FirstEvents;
use super::lans;

/// Number of worst gaps shown per stream.
const GAPS: usize = 3;

/// Number of places shown per stream at which samples are missing.
const LOSSES: usize = 10;

/// Input of the listing.
pub(super) struct Listing<'a> {
    /// The capture.
    pub(super) file: String,
    /// The totals.
    pub(super) summary: &'a Summary,
    /// Number of dropped frames that the capture itself reports.
    pub(super) dropped: Option<u64>,
    /// Events to show; `None` if they are shown elsewhere.
    pub(super) events: Option<&'a FirstEvents>,
}

impl Listing<'_> {
    /// The whole text.
    pub(super) fn text(&self) -> String {
        let mut out = self.head();
        for remark in remarks(self.summary, self.dropped) {
            let _ = writeln!(out, "  {}", foreign::shown(&remark));
        }
        let streams = &self.summary.streams;
        if streams.is_empty() {
            return out + &lans::section(self.summary);
        }
        out.push('\n');
        let rows = std::iter::once(HEADER.map(str::to_owned)).chain(streams.iter().map(row));
        out.push_str(&table(&rows.collect::<Vec<_>>(), WORDS));
        out.push_str(&lans::section(self.summary));
        out.push_str(&section("Worst gaps", streams.iter().filter_map(gaps)));
        out.push_str(&section("Lost", streams.iter().flat_map(losses)));
        let bursts = streams.iter().filter_map(bursts);
        out.push_str(&section(
            "Bursts (frames closer than a quarter of the median spacing)",
            bursts,
        ));
        out.push_str(&section(
            "Shaping (IEEE 802.1Qav, one frame in each interval)",
            streams.iter().filter_map(shaping),
        ));
        let oddities = streams
            .iter()
            .flat_map(|stream| oddities(stream).into_iter().map(|text| line(stream, &text)));
        out.push_str(&section("Counters", oddities));
        if let Some(events) = self.events {
            let of_stream = streams
                .iter()
                .enumerate()
                .flat_map(|(at, stream)| events.of(at).map(|text| line(stream, text)));
            out.push_str(&section("States and changes", of_stream));
        }
        out
    }

    fn head(&self) -> String {
        let summary = self.summary;
        let span = match (summary.first_ns, summary.last_ns) {
            (Some(first), Some(last)) => {
                let span = last.saturating_sub(first);
                format!(" in {} from {}", format_ns(span as f64), wall_clock(first))
            }
            _ => String::new(),
        };
        let streams = match summary.streams.len() {
            0 => "no stream of sampled values, GOOSE, AVTP or test frames".to_owned(),
            n => plural(n as u64, "stream"),
        };
        let file = foreign::shown(&self.file);
        format!("{file}: {}{span}; {streams}\n", plural(summary.frames, "frame"))
    }
}

/// Remarks on the part of the capture that the figures leave out, and on doubts about the figures.
pub(super) fn remarks(summary: &Summary, dropped: Option<u64>) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut add = |count: u64, text: &str| {
        if count > 0 {
            remarks.push(format!("{}{text}", plural(count, "frame")));
        }
    };
    add(summary.other, " of other protocols");
    let routed = &summary.routed;
    add(routed.unsigned, " of R-GOOSE or R-SV without a signature");
    add(routed.signed, " of R-GOOSE or R-SV with a signature, not checked");
    add(routed.right, " of R-GOOSE or R-SV with the right signature");
    add(routed.wrong, " of R-GOOSE or R-SV with a wrong signature, not used");
    add(
        routed.refused,
        " of R-GOOSE or R-SV without a signature by one of the keys, not used",
    );
    add(
        summary.extended,
        " with an authentication value of IEC 62351-6 after the APDU, not checked",
    );
    add(routed.encrypted, " of R-GOOSE or R-SV encrypted");
    for (&header, &count) in &summary.hidden {
        let hidden = hidden(header);
        add(
            count,
            &format!(" with {hidden}: capture where the frames travel without"),
        );
    }
    add(
        summary.not_ethernet,
        " not Ethernet, so skipped (capture on one interface, not on `any`)",
    );
    add(
        summary.cut,
        " cut by the capture's own limit (snaplen), so not read: capture whole frames",
    );
    if let Some(first) = &summary.first_malformed {
        let text = format!(
            " breaking a rule of the protocol; the first is frame {}: {}",
            first.frame, first.why
        );
        add(summary.malformed, &text);
    }
    add(summary.unplaced, " of further streams (--max-streams)");
    add(summary.unstamped, " without a stamp: their spacing is not known");
    add(summary.stamps_back, " with a stamp before that of the frame before");
    add(
        dropped.unwrap_or(0),
        " dropped while capturing, as the capture says: losses may be the capture's own",
    );
    remarks
}

/// The words for frames after a header that is not read.
pub(super) fn hidden(header: Hidden) -> String {
    format!("sampled values or GOOSE inside {}, not read", header.words())
}

/// `1 frame`, `2 frames`.
fn plural(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

const HEADER: [&str; 15] = [
    "kind",
    "stream",
    "dst",
    "VID",
    "APPID",
    "frames",
    "rate",
    "min",
    "p50",
    "p99",
    "max",
    "lost",
    "duplicate",
    "reordered",
    "stamps back",
];

/// Columns of words; the others hold numbers, aligned right.
const WORDS: usize = 5;

fn row(stream: &StreamSummary) -> [String; 15] {
    let identity = &stream.identity;
    let none = || "-".to_owned();
    let ns = |ns: Option<i64>| ns.map_or_else(none, |ns| format_ns(ns as f64));
    let quantile = |q| ns(stream.tally.histogram.quantile(q).and_then(|ns| i64::try_from(ns).ok()));
    let counts = &stream.tally.counters;
    [
        identity.kind.word().to_owned(),
        stream.label.shown(),
        identity.destination.map_or_else(String::new, |mac| mac.to_string()),
        identity.vid.map_or_else(none, |vid| vid.to_string()),
        identity.appid.map_or_else(none, |appid| format!("0x{appid:04X}")),
        stream.frames.to_string(),
        rate(stream),
        ns(stream.tally.min_ns),
        quantile(0.5),
        quantile(0.99),
        ns(stream.tally.max_ns),
        counts.lost.to_string(),
        counts.duplicate.to_string(),
        counts.reordered.to_string(),
        stream.stamps_back.to_string(),
    ]
}

/// Samples per second by smpCnt; without smpCnt, frames per second by the stamps, after a `~`.
fn rate(stream: &StreamSummary) -> String {
    match stream.detail {
        Detail::SampledValues { rate: Some(rate), .. } => format!("{rate}/s"),
        Detail::Goose { .. } => "-".to_owned(),
        Detail::SampledValues { .. } | Detail::Counted { .. } => {
            let per_second = stream.frames_per_second();
            per_second.map_or_else(|| "-".to_owned(), |rate| format!("~{rate:.0}/s"))
        }
    }
}

fn gaps(stream: &StreamSummary) -> Option<String> {
    let text = |gap: &Gap| format!("{} before frame {}", format_ns(gap.ns as f64), gap.frame);
    let gaps: Vec<String> = stream.worst.iter().take(GAPS).map(text).collect();
    (!gaps.is_empty()).then(|| line(stream, &gaps.join(", ")))
}

/// Places where samples are missing.
fn losses(stream: &StreamSummary) -> Vec<String> {
    let shown = stream.losses.iter().take(LOSSES);
    let mut lines: Vec<String> = shown.map(|loss| line(stream, &loss.to_string())).collect();
    let more = stream.losses.len().saturating_sub(LOSSES) as u64;
    if more > 0 {
        lines.push(line(stream, &format!("at {} more", plural(more, "place"))));
    }
    lines
}

/// How far the frames of an AVB stream came before their interval, and which shaper allows that.
fn shaping(stream: &StreamSummary) -> Option<String> {
    let shaping = stream.shaping?;
    let (class, pcp) = match shaping.class {
        SrClass::A => ("A", 3),
        SrClass::B => ("B", 2),
    };
    let begin = format!("class {class} by its priority {pcp}");
    if stream.stamps_back > 0 || stream.unstamped > 0 {
        return Some(line(
            stream,
            &format!("{begin}: not judged, because stamps are missing or go back"),
        ));
    }
    let most = |mbit| Shaping::most_ns(mbit);
    let [fast, slow] = [1_000, 100].map(|mbit| format_ns(most(mbit) as f64));
    let outcome = match shaping.lead_ns {
        lead if lead <= most(1_000) => format!("within the credit of a shaper at 1 Gbit/s ({fast})"),
        lead if lead <= most(100) => {
            format!("within the credit of a shaper at 100 Mbit/s ({slow}), more than that at 1 Gbit/s ({fast})")
        }
        _ => format!(
            "no shaper lets that through at 100 Mbit/s ({slow}) or more: the stream was not shaped, or more frames are reserved"
        ),
    };
    let interval = format_ns(shaping.class.interval_ns() as f64);
    let ahead = match shaping.lead_ns {
        0 => format!("no frame before its {interval}"),
        lead => format!(
            "up to {} before its {interval} (frame {})",
            format_ns(lead as f64),
            shaping.frame
        ),
    };
    Some(line(stream, &format!("{begin}; {ahead}: {outcome}")))
}

fn bursts(stream: &StreamSummary) -> Option<String> {
    let (count, longest) = (stream.bursts.count, stream.bursts.longest);
    let bursts = plural(count, "burst");
    (count > 0).then(|| line(stream, &format!("{bursts}, the longest of {longest} frames")))
}

/// Counters of a stream that the table does not show, in words.
fn oddities(stream: &StreamSummary) -> Vec<String> {
    let mut texts = Vec::new();
    let mut add = |count: u64, text: String| {
        if count > 0 {
            texts.push(text);
        }
    };
    match stream.detail {
        Detail::SampledValues {
            rate,
            lowest,
            highest,
            gaps,
            restarts,
            out_of_range,
            too_late,
            ..
        } => {
            let unknown = u64::from(rate.is_none());
            add(
                unknown,
                format!("smpCnt ran from {lowest} to {highest} and showed no rate: give it with --rate"),
            );
            add(gaps, format!("smpCnt had {}", plural(gaps, "gap")));
            add(restarts, format!("smpCnt jumped {}", plural(restarts, "time")));
            add(
                out_of_range,
                format!("{} with a smpCnt beyond the rate", plural(out_of_range, "sample")),
            );
            add(
                too_late,
                format!(
                    "{} came more than 16 counts late: the missing ones still count as lost",
                    plural(too_late, "sample")
                ),
            );
        }
        Detail::Goose { counts: c, gaps } => {
            let repeated = plural(c.repetitions, "repetition");
            add(1, format!("{}, {repeated}", plural(c.states, "new state")));
            add(gaps, format!("sqNum had {}", plural(gaps, "gap")));
            add(
                c.expired,
                format!("silent beyond timeAllowedtoLive {}", plural(c.expired, "time")),
            );
            add(
                c.missed_states,
                format!("{} never came", plural(c.missed_states, "state")),
            );
            add(
                c.begun_late,
                format!("{} without its sqNum 0", plural(c.begun_late, "state")),
            );
            add(c.old, format!("{} of an old state", plural(c.old, "message")));
            add(
                c.conflicting,
                format!(
                    "{} with numbers seen before, but other contents",
                    plural(c.conflicting, "message")
                ),
            );
            add(
                c.altered,
                format!(
                    "{} with values that differ from those of their state",
                    plural(c.altered, "repetition")
                ),
            );
            add(
                c.restarts,
                format!("the publisher restarted {}", plural(c.restarts, "time")),
            );
            add(
                c.without_life,
                format!("{} with timeAllowedtoLive 0", plural(c.without_life, "message")),
            );
        }
        Detail::Counted {
            gaps,
            restarts,
            too_late,
        } => {
            add(gaps, format!("the counter had {}", plural(gaps, "gap")));
            add(restarts, format!("the counter restarted {}", plural(restarts, "time")));
            add(
                too_late,
                format!(
                    "{} came more than 16 counts late: the missing ones still count as lost",
                    plural(too_late, "frame")
                ),
            );
        }
    }
    let unlisted = stream.events_unlisted;
    add(unlisted, format!("{} not listed", plural(unlisted, "further change")));
    texts
}

fn line(stream: &StreamSummary, text: &str) -> String {
    foreign::shown(&format!("{}: {text}", stream.label)).into_owned()
}

pub(super) fn section(heading: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\n{heading}\n{lines}")
}

/// A table whose first `words` columns hold words; the others hold numbers, aligned right.
pub(super) fn table<const N: usize>(rows: &[[String; N]], words: usize) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if column < words {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    out
}

fn wall_clock(ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(ns)).map_or_else(|_| ns.to_string(), |time| format!("{time:.9}"))
}
