//! Adds the run of another place to the current run.

use super::Work;
use crate::adopted::Adopted;
use crate::copied::copy;
use model::{Event, EventKind, Fact, RunState, SeriesId, SeriesSpec};
use std::collections::BTreeMap;
use store::{Batch, RunFile, RunWriter, StoreError};

/// New numbers by the numbers in that run.
type Series = BTreeMap<SeriesId, SeriesId>;

impl Work {
    /// Writes the series, the events and the inventory of the adopted run, each under the name of the place.
    pub(super) fn adopt(&mut self, adopted: &Adopted) -> Result<(), StoreError> {
        let from = RunFile::open(&adopted.file)?;
        let shift_ns = self.shift_ns(&from, adopted);
        let Some(writer) = self.writer.as_mut().filter(|_| self.failure.is_none()) else {
            return Ok(());
        };
        writer.add_facts(&facts(&from, adopted)?)?;
        let series = take_series(&from, adopted, shift_ns, writer)?;
        let events = events(&from, adopted, shift_ns, &series)?;
        writer.write(&Batch {
            events,
            ..Batch::default()
        })
    }

    /// Number to add to its instants to get ns since the start of this run.
    fn shift_ns(&self, from: &RunFile, adopted: &Adopted) -> i64 {
        let now = sys::clock::pair();
        let began_ns = from.info().started.as_ns().saturating_sub(adopted.ahead_ns);
        let ago_ns = now.realtime.as_ns().saturating_sub(began_ns);
        (now.monotonic - self.start).saturating_sub(ago_ns)
    }
}

fn facts(from: &RunFile, adopted: &Adopted) -> Result<Vec<Fact>, StoreError> {
    let of_place = |fact: Fact| Fact {
        group: format!("{}: {}", adopted.place, fact.group),
        ..fact
    };
    Ok(from.facts()?.into_iter().map(of_place).collect())
}

fn take_series(from: &RunFile, adopted: &Adopted, shift_ns: i64, writer: &mut RunWriter) -> Result<Series, StoreError> {
    let mut series = Series::new();
    for (id, spec) in from.series()? {
        let settings = settings(&spec.settings, &adopted.settings);
        let new = writer.add_series(&SeriesSpec { settings, ..spec })?;
        series.insert(id, new);
        writer.write(&copy(from, id, &from.windows(id)?, new, shift_ns)?)?;
    }
    Ok(series)
}

/// Settings of a series, followed by those of its place. If both have a setting of the same name, the series was measured in a
/// place inside that place: the outer one comes first.
fn settings(own: &[(String, String)], of_place: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = own.to_vec();
    for (name, outer) in of_place {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, inner)) => *inner = format!("{outer}; in it, {inner}"),
            None => all.push((name.clone(), outer.clone())),
        }
    }
    all
}

/// Events of that run. An event that affects every series there affects the same series here, and no others.
fn events(from: &RunFile, adopted: &Adopted, shift_ns: i64, series: &Series) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    let shifted = |at_ns: u64| at_ns.saturating_add_signed(shift_ns);
    let mut say = |there: Event| {
        let event = |series: Option<SeriesId>| Event {
            at_ns: shifted(there.at_ns),
            since_ns: there.since_ns.map(shifted),
            series,
            text: format!("{}: {}", adopted.place, there.text),
            ..there
        };
        match there.series.and_then(|id| series.get(&id).copied()) {
            Some(id) => events.push(event(Some(id))),
            // A doubt about the clock of the place, and no other, is about all of its measurement.
            None if there.kind == EventKind::ClockDoubt && there.since_ns.is_some() => {
                events.extend(series.values().map(|id| event(Some(*id))));
            }
            None if !there.kind.touches_samples() || series.is_empty() => events.push(event(None)),
            None => events.extend(series.values().map(|id| event(Some(*id)))),
        }
    };
    from.events()?.into_iter().for_each(&mut say);
    let of_all = |at_ns: u64, kind: EventKind, text: &str| Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text: text.to_owned(),
    };
    for (kind, text) in &adopted.doubts {
        say(match kind {
            EventKind::ClockDoubt => Event {
                since_ns: Some(0),
                ..of_all(from.duration_ns(), *kind, text)
            },
            _ => of_all(0, *kind, text),
        });
    }
    if from.state() == RunState::Interrupted {
        say(of_all(
            from.duration_ns(),
            EventKind::Incomplete,
            "the run there ended early",
        ));
    }
    if let Some(why) = from.lacks_log() {
        say(of_all(0, EventKind::Incomplete, &why));
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::settings;
    use crate::test_run::TestRun;
    use crate::{Adopted, Recorder, Stop};
    use model::{Counters, Event, EventKind, RunInfo, RunState, SeriesSpec, Window};
    use stats::Histogram;
    use store::{Batch, RunWriter};
    use units::Realtime;

    #[test]
    fn of_places_in_places_the_outer_one_stands_first() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let inner = settings(&[of("idle", "held")], &[of("place", "container: crun")]);
        assert_eq!(inner, [of("idle", "held"), of("place", "container: crun")]);
        let both = settings(&inner, &[of("place", "vm: QEMU")]);
        assert_eq!(both[1], of("place", "vm: QEMU; in it, container: crun"));
    }

    const AHEAD_NS: i64 = 3_600_000_000_000;

    /// Makes a run of a place whose clock is an hour ahead, with one series that has the same name as one of the run here.
    fn elsewhere(path: &std::path::Path, state: RunState) {
        let info = RunInfo {
            id: "2".into(),
            command: "device".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: Realtime::from_ns(sys::clock::realtime().as_ns() + AHEAD_NS),
            window_ns: 1_000_000,
        };
        let mut writer = RunWriter::create(path, &info, None).expect("a run file");
        let series = writer.add_series(&SeriesSpec::named("wakeup/cpu1")).expect("a series");
        let mut histogram = Histogram::new();
        assert!(histogram.record(700));
        let window = Window {
            series,
            start_ns: 1_000_000,
            end_ns: 2_000_000,
            counters: Counters {
                received: 1,
                ..Counters::default()
            },
            sum_ns: 700,
            min_ns: Some(700),
            max_ns: Some(700),
            histogram,
        };
        let step = Event {
            at_ns: 5,
            since_ns: None,
            kind: EventKind::ClockStep,
            series: None,
            text: "it jumped".into(),
        };
        let batch = Batch {
            windows: vec![window],
            events: vec![step],
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
        writer.finish(state, 2_000_000).expect("closed");
    }

    #[test]
    fn a_run_of_a_place_becomes_series_of_this_one_with_its_doubts_on_them_alone() {
        let run = TestRun::new();
        let (mut writer, options) = run.begin(1_000_000, None);
        writer.add_series(&SeriesSpec::named("wakeup/cpu1")).expect("a series");
        let recorder = Recorder::start(writer, options, &Stop::new());
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("there.triptime");
        elsewhere(&file, RunState::Interrupted);
        recorder
            .adopt(Adopted {
                file,
                place: "container".into(),
                ahead_ns: AHEAD_NS,
                settings: vec![("place".into(), "container".into())],
                doubts: vec![
                    (EventKind::Incomplete, "emulated".into()),
                    (EventKind::ClockDoubt, "3 ms apart".into()),
                ],
            })
            .expect("adopted");
        recorder.finish(RunState::Complete).expect("closed");
        let run = run.read();
        let series = run.series().expect("series");
        let (id, spec) = &series[1];
        assert_eq!(spec.name, "wakeup/cpu1#2");
        assert!(spec.settings.contains(&("place".to_owned(), "container".to_owned())));
        let windows = run.windows(*id).expect("windows");
        assert_eq!((windows.len(), windows[0].max_ns), (1, Some(700)));
        // It began after this run, and not an hour later.
        assert!(
            (1_000_000..10_000_000_000).contains(&windows[0].start_ns),
            "{}",
            windows[0].start_ns
        );
        let events = run.events().expect("events");
        let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::Incomplete).count(), 2);
        assert!(kinds.contains(&EventKind::ClockStep));
        let clock = events.iter().find(|event| event.kind == EventKind::ClockDoubt);
        assert!(
            clock.is_some_and(|doubt| doubt.since_ns < Some(doubt.at_ns)),
            "{clock:?}"
        );
        assert!(events.iter().all(|event| event.series == Some(*id)), "{events:?}");
    }
}
