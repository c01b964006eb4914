//! A series gets the threshold for its own name, which may come over the network.

mod common;

use common::Run;
use model::{SeriesClock, SeriesSpec};
use run::{Describe, Thresholds};

/// Series that ask for this threshold, and for another one if no limit judges them.
#[derive(Clone, Copy)]
struct Series {
    asked: Option<u64>,
    otherwise: Option<u64>,
}

impl Describe for Series {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            what: String::new(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: self.asked,
            settings: Vec::new(),
            ..SeriesSpec::named(&format!("age/{label}"))
        }
    }

    fn threshold_otherwise(&self, _: u16) -> Option<u64> {
        self.otherwise
    }
}

/// Threshold of the series `age/LABEL`, and the number of samples of 10, 20 and 30 ns above it.
fn found(label: &str, series: Series) -> (Option<u64>, u64) {
    let mut run = Run::start();
    run.recorder
        .set_thresholds(Thresholds::new(|name| (name == "age/judged").then_some(15)));
    let mut feed = run.recorder.feed(16, 1, Box::new(series));
    feed.announce(0, label);
    for value_ns in [10, 20, 30] {
        feed.sample(0, run.start + 1_000, value_ns, 0);
    }
    drop(feed);
    let recorded = run.finish();
    let name = format!("age/{label}");
    let all = recorded.file.series().expect("series");
    let spec = all.into_iter().map(|(_, spec)| spec).find(|spec| spec.name == name);
    (
        spec.expect("the series").threshold_ns,
        recorded.counters(&name).overflow,
    )
}

#[test]
fn what_judges_a_series_by_its_name_says_from_when_on_a_sample_is_over() {
    let none = Series {
        asked: None,
        otherwise: None,
    };
    assert_eq!(found("judged", none), (Some(15), 2));
    assert_eq!(found("other", none), (None, 0));
}

#[test]
fn what_was_asked_for_comes_first_and_what_is_had_otherwise_last() {
    let series = Series {
        asked: Some(25),
        otherwise: Some(5),
    };
    assert_eq!(found("judged", series), (Some(25), 1));
    let otherwise = Series { asked: None, ..series };
    assert_eq!(found("judged", otherwise), (Some(15), 2));
    assert_eq!(found("other", otherwise), (Some(5), 3));
}
