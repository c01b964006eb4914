//! The series of a watch, as they stand in a run file.

use crate::block::WatchedBlock;
use crate::relay::WatchedRelay;
use crate::sentinel::WAKEUP;
use crate::stream::WatchedStream;
use model::{SeriesSpec, kind, setting};
use observation::Rule;
use units::Ns;

pub(crate) fn of_relay(relay: &WatchedRelay, is_of_trips: bool) -> SeriesSpec {
    let (kind, bit) = if is_of_trips {
        (&kind::TRIP, "trip")
    } else {
        (&kind::START, "start")
    };
    let begin = match relay.observed.rule {
        Rule::Contact { .. } => "stamp of the first GOOSE frame with the start",
        _ => "stamp of the frame with the first faulted sample",
    };
    let mut settings = vec![
        (setting::FAULT_WHERE.to_owned(), relay.observed.rule.to_string()),
        ("relay".to_owned(), relay.observed.gocb_ref.clone()),
        ("trip member".to_owned(), relay.observed.trip.to_string()),
        ("deadline".to_owned(), Ns(relay.observed.deadline_ns).to_string()),
    ];
    if let Some(ns) = relay.within_ns {
        settings.push(("required within".to_owned(), Ns(ns).to_string()));
    }
    SeriesSpec {
        settings,
        threshold_ns: relay.within_ns.filter(|_| is_of_trips),
        ..SeriesSpec::of(
            kind,
            &relay.name,
            format!("{begin} -> that of the first GOOSE frame with the {bit} bit"),
        )
    }
}

pub(crate) fn of_stream(stream: &WatchedStream) -> SeriesSpec {
    SeriesSpec {
        interval_ns: None,
        threshold_ns: stream.within_ns,
        ..SeriesSpec::of(
            &kind::SPACING,
            &stream.sv_id,
            "kernel receive stamp of one frame -> that of the next",
        )
    }
}

pub(crate) fn of_block(block: &WatchedBlock) -> SeriesSpec {
    SeriesSpec::of(
        &kind::GOOSE,
        &block.gocb_ref,
        "kernel receive stamp of one message -> that of the next",
    )
}

pub(crate) fn of_wakeup(interval_ns: u64) -> SeriesSpec {
    SeriesSpec {
        interval_ns: Some(interval_ns as f64),
        ..SeriesSpec::of(&kind::WAKEUP, WAKEUP, "due instant of a timer -> its thread runs")
    }
}
