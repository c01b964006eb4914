//! Merges several runs of the same set-up: rounds of a measurement that alternated with another.

use model::{Event, RunState, RunView, SeriesId, SeriesView, WindowRow};

/// The rounds as one run: windows and events one after the other, samples and counters together. Facts are those of the first round. The run was ended
/// early if any round was. `None` without rounds.
pub fn joined(rounds: Vec<RunView>) -> Option<RunView> {
    let mut rounds = rounds.into_iter();
    let mut whole = rounds.next()?;
    for round in rounds {
        let begin_ns = whole.duration_ns;
        whole.duration_ns += round.duration_ns;
        if round.state == RunState::Interrupted {
            whole.state = round.state;
        }
        let events: Vec<Event> = round
            .events
            .iter()
            .map(|event| later(event, begin_ns, &round, &whole))
            .collect();
        whole.events.extend(events);
        for series in round.series {
            match whole
                .series
                .iter_mut()
                .find(|known| known.spec.name == series.spec.name)
            {
                Some(known) => append(known, series, begin_ns),
                None => whole.series.push(series),
            }
        }
    }
    Some(whole)
}

/// An event of a round whose begin is at `begin_ns` of the whole. Its series is that of the same name; a series that the whole gets from this round
/// keeps its number.
fn later(event: &Event, begin_ns: u64, round: &RunView, whole: &RunView) -> Event {
    let of_whole = |id: SeriesId| {
        let series = round.series.iter().find(|series| series.id == id)?;
        Some(whole.series_named(&series.spec.name).map_or(id, |known| known.id))
    };
    Event {
        at_ns: event.at_ns + begin_ns,
        // An event of an unknown time is one of its round.
        since_ns: event.since_ns.map(|ns| ns + begin_ns).or(Some(begin_ns)),
        series: event.series.map(|id| of_whole(id).unwrap_or(id)),
        ..event.clone()
    }
}

fn append(whole: &mut SeriesView, round: SeriesView, begin_ns: u64) {
    whole.counters.add(&round.counters);
    whole.sum_ns += round.sum_ns;
    whole.min_ns = [whole.min_ns, round.min_ns].into_iter().flatten().min();
    whole.max_ns = [whole.max_ns, round.max_ns].into_iter().flatten().max();
    whole.spikes_dropped += round.spikes_dropped;
    whole.histogram.merge(&round.histogram);
    whole.windows.extend(round.windows.iter().map(|window| WindowRow {
        start_ns: window.start_ns + begin_ns,
        end_ns: window.end_ns + begin_ns,
        ..*window
    }));
    whole.spikes.extend(round.spikes.iter().cloned());
    whole.spikes_kept += round.spikes_kept;
    whole.spikes.sort_by_key(|spike| std::cmp::Reverse(spike.value_ns));
    for cause in round.causes {
        match whole.causes.iter_mut().find(|known| known.cause == cause.cause) {
            Some(known) => {
                known.count += cause.count;
                known.total_ns += cause.total_ns;
                known.max_ns = known.max_ns.max(cause.max_ns);
            }
            None => whole.causes.push(cause),
        }
    }
}
