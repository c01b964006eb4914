//! Control blocks of an SCL file that cannot be expected because the file lacks some of their values.

use super::ClockRelation;
use super::series::{Family, families};
use model::{EventKind, Kind, SeriesSpec, kind};
use run::{CountedSpan, Recorder};
use streamset::LeftOut;

/// Adds an event to each block's series with the missing part, so that limits on it are undecided. Received messages with its
/// name were not compared with the file and are in doubt; so this is called after the end of the reception.
pub fn say_unread(left_out: &[LeftOut], clock: ClockRelation, recorder: &Recorder) {
    if !left_out.is_empty() {
        // The series that were measured are known then.
        recorder.settle();
    }
    let counted = recorder.counted();
    for block in left_out {
        for kind in kinds(block, clock) {
            let series = SeriesSpec::of(kind, &block.name, kind.what);
            counted.add(CountedSpan::not_measured(series.clone(), &block.why));
            counted.write(series, EventKind::Incomplete, &format!("{}: left out", block.why));
        }
    }
}

/// Kinds of series that the block would have.
fn kinds(block: &LeftOut, clock: ClockRelation) -> Vec<&'static Kind> {
    if !block.is_sampled_values {
        return vec![&kind::GOOSE];
    }
    let of_family = |family: &Family| match family {
        Family::Spacing => &kind::SPACING,
        Family::Arrival => &kind::ARRIVAL,
        Family::Age => &kind::AGE,
    };
    families(clock).iter().map(of_family).collect()
}
