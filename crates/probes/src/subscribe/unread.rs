//! Control blocks of an SCL file that cannot be expected, because the file does not say what would have to come.

use super::ClockRelation;
use super::series::{Family, families};
use model::{EventKind, Kind, SeriesSpec, kind};
use run::{Counted, CountedSpan};
use streamset::LeftOut;

/// Says of each what it lacks, so that limits on it are undecided. Messages that came under its name nevertheless were not held against the
/// file, and are in doubt; so this is called when all have come.
pub fn say_unread(left_out: &[LeftOut], clock: ClockRelation, counted: &Counted) {
    for block in left_out {
        for kind in kinds(block, clock) {
            let series = SeriesSpec::of(kind, &block.name, kind.what);
            counted.add(CountedSpan::not_measured(series.clone(), &block.why));
            counted.write(series, EventKind::Incomplete, &format!("{}: left out", block.why));
        }
    }
}

/// The kinds of series that it would have.
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
