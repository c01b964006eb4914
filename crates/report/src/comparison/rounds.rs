//! Merges several runs of the same set-up: rounds of a measurement that alternated with another.

use model::{RunView, SeriesView, WindowRow};

/// The rounds as one run: windows one after the other, samples and counters together. Facts and events are those of the
/// first round. `None` without rounds.
pub fn joined(rounds: Vec<RunView>) -> Option<RunView> {
    let mut rounds = rounds.into_iter();
    let mut whole = rounds.next()?;
    for round in rounds {
        let begin_ns = whole.duration_ns;
        whole.duration_ns += round.duration_ns;
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
