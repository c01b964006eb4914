//! Writes the start of each waveform state as an event of the run: the fault, its first sample, and the due instant of that
//! sample.
//!
//! A separate thread writes the events, with ordinary priority and on no particular CPU. The publishing threads are not involved.

use super::config::StreamConfig;
use super::waveform::Begin;
use crate::hot::Beside;
use model::EventKind;
use run::{Events, Stop};
use std::time::Duration;
use units::{Grid, Monotonic, Ns};

/// Maximum number of events in one run; later states are only counted.
const MOST: u64 = 1_000;

/// Maximum number of svIDs in one event.
const MOST_NAMES: usize = 4;

const SECOND_NS: i64 = 1_000_000_000;

/// A state that several streams of one rate enter together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// Samples a second.
    rate: u32,
    /// The state, its first sample, and its period in samples.
    begin: Begin,
    /// Names of the first streams.
    named: Vec<String>,
    /// Number of streams.
    streams: usize,
}

/// The marks of a set of streams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks(Vec<Mark>);

impl Marks {
    /// Collects the marks of `streams`, each only once. A stream that stays in one state has none.
    pub(super) fn of(streams: &[StreamConfig]) -> Self {
        let mut marks: Vec<Mark> = Vec::new();
        for stream in streams {
            for begin in stream.waveform.begins(stream.ahead) {
                let shared = |mark: &&mut Mark| mark.rate == stream.spec.rate && mark.begin == begin;
                match marks.iter_mut().find(shared) {
                    Some(mark) => mark.add(&stream.spec.sv_id),
                    None => {
                        let mut mark = Mark {
                            rate: stream.spec.rate,
                            begin,
                            named: Vec::new(),
                            streams: 0,
                        };
                        mark.add(&stream.spec.sv_id);
                        marks.push(mark);
                    }
                }
            }
        }
        Self(marks)
    }

    /// Starts the thread that writes the events at their due instants, for a run whose first second begins at `start` and that
    /// lasts `duration_ns`; `None` if there are none to write.
    pub(super) fn announce(
        self,
        start: Monotonic,
        duration_ns: Option<u64>,
        events: Events,
        stop: &Stop,
    ) -> Option<Beside> {
        if self.0.is_empty() {
            return None;
        }
        let stop = stop.clone();
        let mut pending = Pending {
            marks: self.0,
            start,
            second: second_at(start),
            end: duration_ns.map(|ns| start + Ns(ns)),
            written: 0,
            left_out: 0,
        };
        let work = move |over: &Stop| pending.run(&events, &stop, over);
        // If the thread cannot start, the run lacks only these events.
        Beside::start("triptime-marks", work).ok()
    }
}

impl Mark {
    fn add(&mut self, sv_id: &str) {
        self.streams += 1;
        if self.named.len() < MOST_NAMES {
            self.named.push(sv_id.to_owned());
        }
    }

    fn due(&self, start: Monotonic) -> Monotonic {
        Grid::per_second(start, u64::from(self.rate)).due(self.begin.sample)
    }

    fn text(&self, due: Monotonic, start: Monotonic, second: i64) -> String {
        let more = match self.streams - self.named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "`{}` begins: svID {}{more}, smpCnt {}, due {}",
            self.begin.name,
            self.named.join(", "),
            self.begin.sample % u64::from(self.rate),
            time_of_day(second * SECOND_NS + (due - start))
        )
    }
}

/// Marks that are still to come.
struct Pending {
    marks: Vec<Mark>,
    start: Monotonic,
    /// Second of the wall clock that begins at `start`, since 1970.
    second: i64,
    end: Option<Monotonic>,
    written: u64,
    left_out: u64,
}

impl Pending {
    /// Writes each mark when it is due, until the publishing is over or stopped.
    fn run(&mut self, events: &Events, stop: &Stop, over: &Stop) {
        while let Some((due, index)) = self.next() {
            let left = due - sys::clock::monotonic();
            if left <= 0 {
                self.write(due, index, events);
            } else if over.requested() || stop.requested() {
                break;
            } else {
                // The call that ends the thread also wakes it.
                std::thread::park_timeout(Duration::from_nanos(left.unsigned_abs()));
            }
            if stop.requested() {
                break;
            }
        }
        if self.left_out > 0 {
            let text = format!("{} more states began: the first {MOST} are events", self.left_out);
            events.write(EventKind::Stream, text);
        }
    }

    /// The next mark and its due instant; `None` if none is left in this run.
    fn next(&self) -> Option<(Monotonic, usize)> {
        let due = |(index, mark): (usize, &Mark)| (mark.due(self.start), index);
        let next = self.marks.iter().enumerate().map(due).min()?;
        self.end.is_none_or(|end| next.0 < end).then_some(next)
    }

    fn write(&mut self, due: Monotonic, index: usize, events: &Events) {
        if self.written < MOST {
            let text = self.marks[index].text(due, self.start, self.second);
            events.write_at(due, EventKind::Stream, text);
            self.written += 1;
        } else {
            self.left_out += 1;
        }
        match self.marks[index].begin.again() {
            Some(again) => self.marks[index].begin = again,
            None => drop(self.marks.swap_remove(index)),
        }
    }
}

/// Second of the wall clock that begins at `start`, since 1970.
fn second_at(start: Monotonic) -> i64 {
    let pair = sys::clock::pair();
    let ns = pair.realtime.as_ns() + (start - pair.monotonic);
    (ns + SECOND_NS / 2).div_euclid(SECOND_NS)
}

/// Formats a time as `20:00:01.500000000 UTC`.
fn time_of_day(utc_ns: i64) -> String {
    let ns = utc_ns.rem_euclid(86_400 * SECOND_NS);
    let seconds = ns / SECOND_NS;
    format!(
        "{:02}:{:02}:{:02}.{:09} UTC",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        ns % SECOND_NS
    )
}

#[cfg(test)]
mod tests {
    use super::{Marks, Pending, time_of_day};
    use crate::publish::{StreamConfig, Waveform};
    use std::sync::Arc;
    use units::Monotonic;
    use waveform::sample::Sampling;
    use waveform::synth::parse;

    const FAULTS: &str = r#"
        repeat_every = "2s"
        [[state]]
        name = "ag"
        at = "500ms"
        duration = "100ms"
        currents_a = [4000, 400, 400]
    "#;

    fn streams(text: &str, rates: &[u32]) -> Vec<StreamConfig> {
        let synth = parse(text, "x.toml").expect("a waveform");
        let stream = |(number, rate): (u16, &u32)| {
            let table = synth.table(&Sampling::new(*rate)).expect("a table");
            let mut stream = StreamConfig {
                waveform: Arc::new(Waveform::of(Arc::new(table), "x".into())),
                ..StreamConfig::default()
            };
            stream.spec.rate = *rate;
            stream.numbered(number)
        };
        (0..).zip(rates).map(stream).collect()
    }

    fn all(marks: Marks, seconds: i64) -> Vec<String> {
        let start = Monotonic::from_ns(7_000_000_000);
        let mut pending = Pending {
            marks: marks.0,
            start,
            second: 3_600,
            end: Some(start + seconds * 1_000_000_000),
            written: 0,
            left_out: 0,
        };
        let mut texts = Vec::new();
        while let Some((due, index)) = pending.next() {
            texts.push(pending.marks[index].text(due, start, 3_600));
            match pending.marks[index].begin.again() {
                Some(again) => pending.marks[index].begin = again,
                None => drop(pending.marks.swap_remove(index)),
            }
        }
        texts
    }

    #[test]
    fn streams_that_begin_a_state_together_share_an_event() {
        let texts = all(Marks::of(&streams(FAULTS, &[4_800; 6])), 3);
        let id = "svID MU01, MU02, MU03, MU04 and 2 more";
        let wanted = [
            ("nominal", 0, "01:00:00.000000000"),
            ("ag", 2_400, "01:00:00.500000000"),
            ("nominal", 2_880, "01:00:00.600000000"),
            ("nominal", 0, "01:00:02.000000000"),
            ("ag", 2_400, "01:00:02.500000000"),
            ("nominal", 2_880, "01:00:02.600000000"),
        ];
        let wanted: Vec<String> = wanted
            .map(|(name, count, at)| format!("`{name}` begins: {id}, smpCnt {count}, due {at} UTC"))
            .to_vec();
        assert_eq!(texts, wanted);
    }

    #[test]
    fn each_rate_has_its_own_smp_cnt() {
        let texts = all(Marks::of(&streams(FAULTS, &[4_800, 4_000])), 1);
        let faults: Vec<&String> = texts.iter().filter(|text| text.starts_with("`ag`")).collect();
        assert_eq!(faults.len(), 2);
        assert!(faults.iter().any(|text| text.contains("MU01, smpCnt 2400")));
        assert!(faults.iter().any(|text| text.contains("MU02, smpCnt 2000")));
    }

    #[test]
    fn a_last_state_begins_once_and_a_steady_one_not_at_all() {
        let once = FAULTS.replace("repeat_every = \"2s\"", "");
        let texts = all(Marks::of(&streams(&once, &[4_800])), 60);
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert_eq!(Marks::of(&streams("", &[4_800])), Marks::default());
        assert_eq!(Marks::of(&[StreamConfig::default()]), Marks::default());
    }

    #[test]
    fn the_time_of_day() {
        assert_eq!(time_of_day(86_400_000_000_000 + 1), "00:00:00.000000001 UTC");
        assert_eq!(time_of_day(86_399_999_999_999), "23:59:59.999999999 UTC");
    }
}
