//! Adds the run of another place to the current run.

use super::Work;
use crate::adopted::Adopted;
use crate::copied::copy;
use model::{Change, ChangeWatch, Doubtful, Event, EventKind, Fact, RunState, SeriesId, SeriesSpec, setting};
use std::collections::BTreeMap;
use store::{Batch, RunFile, RunWriter, SealedSegment, StoreError};

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
        if adopted.with_recording {
            take_recording(&from, writer)?;
        }
        let events = events(&from, adopted, shift_ns, &series)?;
        let (changes, watches) = changes(&from, adopted, shift_ns)?;
        writer.write(&Batch {
            events,
            changes,
            watches,
            last_facts: of_place(from.last_facts()?, adopted),
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
    Ok(of_place(from.facts()?, adopted))
}

fn of_place(facts: Vec<Fact>, adopted: &Adopted) -> Vec<Fact> {
    let named = |fact: Fact| Fact {
        group: format!("{}: {}", adopted.place, fact.group),
        ..fact
    };
    facts.into_iter().map(named).collect()
}

/// Changes that the run there saw, and its watch. CPUs of a place are not those of this machine.
fn changes(from: &RunFile, adopted: &Adopted, shift_ns: i64) -> Result<(Vec<Change>, Vec<ChangeWatch>), StoreError> {
    let shifted = |at_ns: u64| at_ns.saturating_add_signed(shift_ns);
    let place = |inner: Option<String>| match inner {
        Some(inner) => format!("{}: {inner}", adopted.place),
        None => adopted.place.clone(),
    };
    let change = |there: Change| Change {
        since_ns: shifted(there.since_ns),
        at_ns: shifted(there.at_ns),
        place: Some(place(there.place.clone())),
        ..there
    };
    let watch = |there: ChangeWatch| ChangeWatch {
        from_ns: shifted(there.from_ns),
        to_ns: shifted(there.to_ns),
        audited_ns: there.audited_ns.map(shifted),
        place: Some(place(there.place.clone())),
        ..there
    };
    let changes = from.changes()?.into_iter().map(change).collect();
    Ok((changes, from.watches()?.into_iter().map(watch).collect()))
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

fn take_recording(from: &RunFile, writer: &mut RunWriter) -> Result<(), StoreError> {
    for place in from.segment_places()? {
        let octets = from.segment(&place, <[u8]>::to_vec)?;
        writer.add_segment(&SealedSegment {
            first_ns: place.first_ns,
            last_ns: place.last_ns,
            samples: place.samples,
            octets,
        })?;
    }
    Ok(())
}

/// Settings of a series, followed by those of its place. If both have a setting of the same name, the series was measured in a
/// place inside that place: the outer one comes first.
fn settings(own: &[(String, String)], of_place: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = own.to_vec();
    for (name, outer) in of_place {
        match all.iter_mut().find(|(known, _)| known == name) {
            // One distance on the way to the other clock, and the next: together they are the whole.
            Some((_, inner)) if name == setting::CLOCK_APART_NS => {
                *inner = match (inner.parse::<u64>(), outer.parse::<u64>()) {
                    (Ok(near), Ok(far)) => near.saturating_add(far).to_string(),
                    _ => setting::NOT_STATED.to_owned(),
                };
            }
            Some((_, inner)) => *inner = format!("{outer}; in it, {inner}"),
            None => all.push((name.clone(), outer.clone())),
        }
    }
    all
}

/// Events of that run. An event that affects every series there affects the same series here, and no others.
fn events(from: &RunFile, adopted: &Adopted, shift_ns: i64, series: &Series) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    let mut of_publisher = Vec::new();
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
            // The words of the watch over that clock became spans below: no word of another clock's watch may end them.
            None if there.is_clock_word() => {}
            // A doubt about the clock of the place, and no other, is about all of its measurement.
            None if there.kind == EventKind::ClockDoubt && there.since_ns.is_some() => {
                events.extend(series.values().map(|id| event(Some(*id))));
            }
            None if !there.kind.touches_samples() || series.is_empty() => events.push(event(None)),
            None => events.extend(series.values().map(|id| event(Some(*id)))),
        }
    };
    let told = from.events()?;
    for doubt in clock_doubts(&told, from.duration_ns()) {
        if adopted.publishes {
            of_publisher.push(Event {
                at_ns: shifted(doubt.at_ns),
                since_ns: doubt.since_ns.map(shifted),
                text: format!("the publisher's machine: {}", doubt.text),
                ..doubt.clone()
            });
        }
        say(doubt);
    }
    // Doubts of a publisher in a place of that place, which are spans already.
    let inner = told.iter().filter(|event| {
        adopted.publishes && event.series.is_none() && event.kind == EventKind::ClockDoubt && event.since_ns.is_some()
    });
    of_publisher.extend(inner.map(|event| Event {
        at_ns: shifted(event.at_ns),
        since_ns: event.since_ns.map(shifted),
        text: format!("the publisher's machine: {}", event.text),
        ..event.clone()
    }));
    told.into_iter().for_each(&mut say);
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
    events.extend(of_publisher);
    Ok(events)
}

/// Doubts of the watch over that clock, each about its span alone.
fn clock_doubts(told: &[Event], end_ns: u64) -> impl Iterator<Item = Event> {
    let of_run = told.iter().filter(|event| event.series.is_none());
    let spans = Doubtful::watched(of_run).unwrap_or_default();
    spans.into_iter().map(move |span| Event {
        at_ns: span.to_ns.unwrap_or(end_ns),
        since_ns: Some(span.from_ns),
        kind: EventKind::ClockDoubt,
        series: None,
        text: span.why,
    })
}

#[cfg(test)]
mod tests {
    use super::{setting, settings};
    use crate::test_run::TestRun;
    use crate::{Adopted, Recorder, Stop};
    use model::{Counters, Event, EventKind, RunInfo, RunState, SeriesId, SeriesSpec, Window};
    use proptest::prelude::*;
    use stats::Histogram;
    use store::{Batch, RunFile, RunWriter};
    use units::Realtime;

    #[test]
    fn of_places_in_places_the_outer_one_stands_first() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let inner = settings(&[of("idle", "held")], &[of("place", "container: crun")]);
        assert_eq!(inner, [of("idle", "held"), of("place", "container: crun")]);
        let both = settings(&inner, &[of("place", "vm: QEMU")]);
        assert_eq!(both[1], of("place", "vm: QEMU; in it, container: crun"));
    }

    #[test]
    fn distances_of_clocks_add_up_over_places_in_places() {
        let apart = |ns: &str| [(setting::CLOCK_APART_NS.to_owned(), ns.to_owned())];
        assert_eq!(settings(&apart("1500"), &apart("700")), apart("2200"));
        for unknown in [
            [apart("1500"), apart(setting::NOT_STATED)],
            [apart(setting::NOT_STATED), apart("1500")],
        ] {
            assert_eq!(settings(&unknown[0], &unknown[1]), apart(setting::NOT_STATED));
        }
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
                publishes: false,
                settings: vec![("place".into(), "container".into())],
                doubts: vec![
                    (EventKind::Incomplete, "emulated".into()),
                    (EventKind::ClockDoubt, "3 ms apart".into()),
                ],
                with_recording: false,
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

    /// Events of a run of a far machine whose watch said `words`: a doubt or not, and the time since the word before.
    fn after(words: &[(bool, u64)], publishes: bool, with_series: bool) -> (Vec<Event>, SeriesId) {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("there.triptime");
        let info = RunInfo {
            id: "2".into(),
            command: "device".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: Realtime::from_ns(0),
            window_ns: 1_000_000,
        };
        let mut writer = RunWriter::create(&file, &info, None).expect("a run file");
        let there = writer.add_series(&SeriesSpec::named("age/MU01")).expect("a series");
        let mut at_ns = 0;
        let mut events = Vec::new();
        for (is_doubt, after_ns) in words {
            at_ns += after_ns;
            let kind = [EventKind::ClockGood, EventKind::ClockDoubt][usize::from(*is_doubt)];
            events.push(Event {
                at_ns,
                since_ns: None,
                kind,
                series: None,
                text: "said there".into(),
            });
        }
        let batch = Batch {
            events,
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
        writer.finish(RunState::Complete, END_NS).expect("closed");
        let here = SeriesId(7);
        let adopted = Adopted {
            file: file.clone(),
            place: "far machine".into(),
            ahead_ns: 0,
            publishes,
            settings: Vec::new(),
            doubts: Vec::new(),
            with_recording: false,
        };
        let series = with_series.then_some((there, here)).into_iter().collect();
        let run = RunFile::open(&file).expect("the file");
        (super::events(&run, &adopted, 0, &series).expect("its events"), here)
    }

    const END_NS: u64 = 10_000;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Each instant at which the far watch was in doubt is in a span of the series there that no word ends, and none of its words becomes
        /// one of the watch here.
        #[test]
        fn a_far_clock_in_doubt_is_a_span_of_the_series_there(
            words in prop::collection::vec((any::<bool>(), 1_u64..1_000), 0..10),
            publishes in any::<bool>(),
            with_series in any::<bool>(),
        ) {
            let (events, here) = after(&words, publishes, with_series);
            prop_assert!(events.iter().all(|event| !event.is_clock_word()), "{events:?}");
            prop_assert!(events.iter().all(|event| event.kind == EventKind::ClockDoubt), "{events:?}");
            let is_in = |series: Option<SeriesId>, at_ns: u64| {
                let of = events.iter().filter(|event| event.series == series);
                of.into_iter().any(|event| event.since_ns.is_some_and(|from| from <= at_ns) && at_ns < event.at_ns)
            };
            let mut doubted = words.first().is_some_and(|(is_doubt, _)| *is_doubt);
            let mut from_ns = 0;
            let ends = words.iter().map(|(is_doubt, after_ns)| (*is_doubt, *after_ns));
            for (next, after_ns) in ends.chain([(false, 0)]) {
                let to_ns = if after_ns == 0 { END_NS } else { from_ns + after_ns };
                for at_ns in [from_ns, to_ns - 1] {
                    prop_assert_eq!(is_in(Some(here), at_ns), doubted && with_series, "at {} of {:?}", at_ns, events);
                    prop_assert_eq!(is_in(None, at_ns), doubted && publishes, "at {} of {:?}", at_ns, events);
                }
                (doubted, from_ns) = (next, to_ns);
            }
        }
    }
}
