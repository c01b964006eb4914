//! The LANs of a redundant network in a capture: a section of the listing, and series of the run.

use super::listing;
use analysis::{LanSummary, RedundancySummary, Summary};
use capture::Stamps;
use model::{Counter, EventKind, SeriesClock, SeriesSpec, kind, setting};
use store::{Batch, RunWriter, StoreError};
use units::format_ns;
use wire::redundancy::{KnownNode, Lan, LanCounts};

/// Number of sources and of nodes that the listing shows.
const SHOWN: usize = 20;

/// Cells of a row of the listing.
const COLUMNS: usize = 11;

const HEADER: [&str; COLUMNS] = [
    "LAN",
    "frames",
    "without marks",
    "received",
    "lost",
    "late",
    "again",
    "reordered",
    "wrong LAN",
    "not decided",
    "longest after the first",
];

/// Text after a number of frames of a LAN, of which the other one says nothing.
const UNWITNESSED: &str =
    "frames came while the other LAN was not captured, or from a source silent there: a loss here does not show then";

/// Text after a number of frames of protection without marks.
const UNMARKED: &str =
    "frames of sampled values or GOOSE have no marks of PRP or HSR: their losses on this LAN do not show";

/// Text after a number of cut frames.
const CUT: &str = "frames are cut by the capture, which may have cut their marks: their losses on this LAN do not show \
                   (capture whole frames: snap length 0)";

/// The section of the listing; empty if the capture shows no redundant network.
pub(super) fn section(summary: &Summary) -> String {
    let Some(of) = &summary.redundancy else {
        return String::new();
    };
    let rows = [HEADER.map(str::to_owned)].into_iter().chain(rows(of));
    let table = listing::table(&rows.collect::<Vec<_>>(), 1);
    let lines = table.lines().map(str::to_owned).chain(lines(of));
    listing::section(
        "Redundant LANs (IEC 62439-3; a copy counts for 400 ms after the first)",
        lines,
    )
}

/// The counts of each LAN. A LAN without a frame has no number of losses.
fn rows(lans: &RedundancySummary) -> [[String; COLUMNS]; 2] {
    Lan::BOTH.map(|lan| {
        let of = &lans.lans[lan.number()];
        let counts = &of.counts;
        let after = match of.has_spoken() {
            true => format_ns(counts.most_after_ns as f64),
            false => "-".to_owned(),
        };
        [
            lan.letter().to_string(),
            of.frames.to_string(),
            of.unmarked.to_string(),
            counts.received.to_string(),
            if is_known(lans, lan) {
                counts.lost.to_string()
            } else {
                "-".to_owned()
            },
            counts.late.to_string(),
            counts.again.to_string(),
            counts.reordered.to_string(),
            if lans.has_ports {
                counts.wrong.to_string()
            } else {
                "-".to_owned()
            },
            undecided(counts).to_string(),
            after,
        ]
    })
}

/// True if the losses of a LAN are counted: a frame of it came, or its port was watched while others came.
fn is_known(lans: &RedundancySummary, lan: Lan) -> bool {
    let of = &lans.lans[lan.number()];
    of.has_spoken() || lans.has_ports && of.counts.lost > 0
}

const fn undecided(counts: &LanCounts) -> u64 {
    counts.undecided + counts.on_its_way
}

/// Statements about the LANs beyond the counts.
fn lines(lans: &RedundancySummary) -> Vec<String> {
    let mut lines = remarks(lans);
    let both: u64 = lans.sources.iter().map(|source| source.neither).sum();
    let together: u64 = lans.sources.iter().map(|source| source.together).sum();
    lines.push(format!(
        "together: {together} frames came at least once; {both} numbers between them came on neither LAN (a node numbers its frames to \
         others, too: the losses of a stream on both LANs are its own `lost`)"
    ));
    for source in lans.sources.iter().take(SHOWN) {
        let [a, b] = Lan::BOTH.map(|lan| {
            let counts = &source.lans[lan.number()];
            let lost = if is_known(lans, lan) {
                counts.lost.to_string()
            } else {
                "?".to_owned()
            };
            format!("{lan} {} received, {lost} lost", counts.received)
        });
        let protocol = source.protocol.word();
        lines.push(format!(
            "source {} ({protocol}): {a}; {b}; {} on neither",
            source.mac, source.neither
        ));
    }
    lines.extend(more(lans.sources.len(), "source"));
    lines.extend(lans.nodes.iter().take(SHOWN).map(node));
    lines.extend(more(lans.nodes.len(), "node"));
    lines
}

fn more(count: usize, what: &str) -> Option<String> {
    let more = count.saturating_sub(SHOWN);
    (more > 0).then(|| format!("{more} more: {what}s"))
}

fn node(node: &KnownNode) -> String {
    let frame = &node.newest;
    let [a, b] = node.frames;
    let red_box = frame.red_box.map(|mac| format!(", behind the redundancy box {mac}"));
    let elsewhere = match node.without_lan {
        0 => String::new(),
        count => format!(", {count} of which the LAN is not known"),
    };
    format!(
        "node {} ({}{}): {a} supervision frames on LAN A, {b} on LAN B{elsewhere}; longest silence {}",
        frame.mac,
        frame.node.words(),
        red_box.unwrap_or_default(),
        format_ns(node.longest_silence_ns as f64)
    )
}

/// Findings that a reader must know before the counts.
fn remarks(lans: &RedundancySummary) -> Vec<String> {
    let mut remarks = Vec::new();
    for lan in Lan::BOTH {
        let of = &lans.lans[lan.number()];
        let counts = &of.counts;
        if !of.has_spoken() {
            remarks.push(silence(lans, lan));
        }
        if counts.undecided > 0 {
            remarks.push(format!(
                "{lan}: {} missing copies are not decided: the LAN was not captured then, or the capture ended first",
                counts.undecided
            ));
        }
        if counts.unwitnessed > 0 {
            remarks.push(format!("{lan}: {} {UNWITNESSED}", counts.unwitnessed));
        }
        let unproven = of.unproven;
        for (count, what) in [(unproven.of_protection, UNMARKED), (unproven.cut, CUT)] {
            if count > 0 {
                remarks.push(format!("{lan}: {count} {what}"));
            }
        }
        if counts.conflicting > 0 {
            remarks.push(format!(
                "{lan}: {} copies have other contents than the first",
                counts.conflicting
            ));
        }
    }
    let restarts: u64 = lans.sources.iter().map(|source| source.restarts).sum();
    if restarts > 0 {
        remarks.push(format!("a source began its numbers anew {restarts} times"));
    }
    if lans.unplaced > 0 {
        remarks.push(format!(
            "{} frames of further sources: their copies are not discarded",
            lans.unplaced
        ));
    }
    let one_way: u64 = lans.lans.iter().map(|lan| lan.counts.one_way).sum();
    if one_way > 0 {
        remarks.push(format!(
            "{one_way} frames of a ring came in one direction, as those to one address or to a neighbour do: nothing shows their losses"
        ));
    }
    if lans.unplaced_nodes > 0 {
        remarks.push(format!(
            "{} supervision frames of further nodes, which are not in the list",
            lans.unplaced_nodes
        ));
    }
    if lans.elsewhere > 0 {
        remarks.push(format!(
            "{} frames of further interfaces are in no account of a LAN",
            lans.elsewhere
        ));
    }
    if !lans.has_ports {
        remarks.push(
            "the LAN of a frame is the one it states: name the ports with --lan-b or --lans, and a frame on the wrong LAN shows".to_owned(),
        );
    }
    remarks
}

fn silence(lans: &RedundancySummary, lan: Lan) -> String {
    let counts = &lans.lans[lan.number()].counts;
    match (is_known(lans, lan), lans.has_ports) {
        (true, _) if counts.wrong > 0 => format!(
            "{lan}: no frame with the marks of this LAN came, and {} with those of the other one (are the cables crossed?): each of the \
             {} frames that were due is lost",
            counts.wrong, counts.lost
        ),
        (true, _) => format!(
            "{lan}: no frame of it came: each of the {} frames that were due is lost",
            counts.lost
        ),
        (false, true) => format!("{lan}: no frame of it came, so nothing is known about it"),
        (false, false) => format!("{lan}: no frame of it is in the capture, so its losses are not known"),
    }
}

/// Facts of the capture that the series state.
pub(super) struct OfCapture<'a> {
    pub(super) name: &'a str,
    pub(super) stamps: &'a Stamps,
    /// Largest step of the stamps that the periodic streams show, or their unit, in ns.
    pub(super) step_ns: u64,
    /// True if the LANs are in two captures.
    pub(super) is_of_two: bool,
    pub(super) duration_ns: u64,
}

/// Writes a series for each LAN that was captured, in one window, and the findings. One without a frame has no sample, so no limit on it
/// passes.
///
/// # Errors
/// The run file cannot be written.
pub(super) fn write(
    lans: &RedundancySummary,
    capture: &OfCapture<'_>,
    writer: &mut RunWriter,
) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    let end_ns = capture.duration_ns;
    let mut event = |series, kind, text| {
        batch.events.push(model::Event {
            at_ns: end_ns,
            since_ns: None,
            kind,
            series,
            text,
        });
    };
    let mut windows = Vec::new();
    for lan in Lan::BOTH
        .into_iter()
        .filter(|lan| is_known(lans, *lan) || lans.has_ports)
    {
        let of = &lans.lans[lan.number()];
        let series = writer.add_series(&spec(lans, lan, capture))?;
        windows.push(tally(of).window(series, 0, end_ns.max(1)));
        let doubts = [
            (
                of.counts.undecided,
                "missing copies are not decided: the LAN was not captured then, or the capture ended first",
            ),
            (lans.unplaced, "frames of further sources are not accounted for"),
            (of.counts.unwitnessed, UNWITNESSED),
            (of.unproven.of_protection, UNMARKED),
            (of.unproven.cut, CUT),
        ];
        for (count, what) in doubts.into_iter().filter(|(count, _)| *count > 0) {
            event(
                Some(series),
                EventKind::StreamDoubt,
                format!("lan/{}: {count} {what}", lan.letter()),
            );
        }
    }
    for text in remarks(lans) {
        event(None, EventKind::Note, text);
    }
    batch.windows = windows;
    writer.write(&batch)
}

fn spec(lans: &RedundancySummary, lan: Lan, capture: &OfCapture<'_>) -> SeriesSpec {
    let by = if lans.has_ports {
        "its port"
    } else {
        "its own statement"
    };
    let mut settings = vec![
        ("capture".to_owned(), capture.name.to_owned()),
        (
            "discard window".to_owned(),
            "400 ms (IEC 62439-3, EntryForgetTime)".to_owned(),
        ),
        ("LAN of a frame by".to_owned(), by.to_owned()),
        (setting::STAMP_STEP_NS.to_owned(), capture.step_ns.to_string()),
    ];
    if let Some(made_by) = &capture.stamps.made_by {
        settings.push((setting::STAMPED_BY.to_owned(), made_by.clone()));
    } else if capture.is_of_two {
        settings.push((setting::CAPTURE_CLOCKS.to_owned(), setting::NOT_ONE.to_owned()));
    }
    let spec = SeriesSpec {
        clock: SeriesClock::Realtime,
        settings,
        ..SeriesSpec::of(
            &kind::LAN,
            &lan.letter().to_string(),
            "first copy of a frame -> its copy on this LAN",
        )
    };
    match lans.has_ports {
        true => spec,
        false => spec.not_counting(&[Counter::Wrong]),
    }
}

/// The samples of a LAN with its counters.
fn tally(of: &LanSummary) -> model::Tally {
    let mut tally = of.tally.clone();
    let counts = &of.counts;
    for (counter, count) in [
        (Counter::Lost, counts.lost),
        (Counter::Late, counts.late),
        (Counter::Duplicate, counts.again),
        (Counter::Conflicting, counts.conflicting),
        (Counter::Reordered, counts.reordered),
        (Counter::Wrong, counts.wrong),
    ] {
        tally.count(counter, count);
    }
    tally
}
