//! Events around a late sample that the flight recorder kept: of the longest stall for the page, of any sample for a picture of its own.

use crate::failure::Failure;
use crate::samples::{Kept, SampleArg};
use model::fact::RUN_START;
use model::{Flight, Spike};
use report::stall::Stall;
use report::timeline::{Lane, Occupant, Stretch, Timeline};
use std::collections::BTreeSet;
use store::RunFile;
use trace::{Event, Segment, Snapshot, Who};
use units::Monotonic;

/// Number of stalls examined: the longest ones for which events may have been kept.
const LOOKED_AT: usize = 8;

/// Time shown before and after the wait: a fraction of the wait, and a minimum in ns.
const MARGIN_SHARE: i64 = 6;
const LEAST_MARGIN_NS: i64 = 50_000;

/// Events of the longest stall that has any; `stalls` lists the longest first. An unreadable flight counts as missing: the run is reported
/// without the picture.
///
/// # Errors
/// The run file cannot be read.
pub(crate) fn of_longest(run: &RunFile, stalls: &[Stall]) -> Result<Option<Timeline>, Failure> {
    let Some(start) = RUN_START.of(&run.facts()?) else {
        return Ok(None);
    };
    for stall in stalls.iter().take(LOOKED_AT) {
        if let Some((spike, flight)) = flight(run, stall)? {
            let events = trace::flight::decode(&flight.bytes).unwrap_or_default();
            if !events.is_empty() {
                return Ok(Some(timeline(start, &stall.series, &spike, &events)));
            }
        }
    }
    Ok(None)
}

/// The longest sample of a stall's series that has a flight.
fn flight(run: &RunFile, stall: &Stall) -> Result<Option<(Spike, Flight)>, Failure> {
    let of_name = |(_, spec): &(_, model::SeriesSpec)| spec.name == stall.series;
    let Some((id, _)) = run.series()?.into_iter().find(of_name) else {
        return Ok(None);
    };
    let is_in = |spike: &Spike| (stall.from_ns..=stall.to_ns).contains(&spike.at_ns);
    let mut spikes: Vec<Spike> = run.spikes(id)?.into_iter().filter(is_in).collect();
    spikes.sort_by_key(|spike| std::cmp::Reverse(spike.value_ns));
    let flights = run.flights(id)?;
    let found = spikes.into_iter().find_map(|spike| {
        let flight = flights.iter().find(|flight| flight.at_ns == spike.at_ns)?;
        Some((spike, flight.clone()))
    });
    Ok(found)
}

/// Events around the sample that `wanted` names, or around the longest sample that has any.
///
/// # Errors
/// The run file cannot be read, has no such sample, or no events around it were kept.
pub(crate) fn around(run: &RunFile, wanted: Option<&SampleArg>) -> Result<Timeline, Failure> {
    let start = RUN_START.of(&run.facts()?).ok_or_else(|| {
        Failure::CouldNotMeasure("the run does not say when it began: its file is of an earlier version".into())
    })?;
    let kept = Kept::read(run)?;
    let (series, spike) = match wanted {
        Some(wanted) => wanted.of(&kept)?,
        None => kept.longest()?,
    };
    let events = kept.events(series, spike).ok_or_else(|| kept.refusal(series, spike))?;
    Ok(timeline(start, &series.name, spike, &events))
}

fn timeline(start: Monotonic, series: &str, spike: &Spike, events: &[Event]) -> Timeline {
    let came = start + i64::try_from(spike.at_ns).unwrap_or(i64::MAX / 2);
    let due = came - spike.value_ns;
    let margin = (spike.value_ns / MARGIN_SHARE).max(LEAST_MARGIN_NS);
    let (from, to) = (due - margin, came + margin);
    let ns = |at: Monotonic| u64::try_from(at - start).unwrap_or(0);
    let cpus: BTreeSet<u32> = events.iter().map(|event| event.cpu).collect();
    let lane = |cpu: u32| {
        let own: Vec<Event> = events.iter().filter(|event| event.cpu == cpu).copied().collect();
        let segments = trace::segments(&Snapshot::of(cpu, from, to, &own, false));
        let stretch = |segment: &Segment| Stretch {
            from_ns: ns(segment.from),
            to_ns: ns(segment.to),
            who: segment.who.to_string(),
            occupant: occupant(segment.who),
        };
        Lane {
            cpu,
            stretches: segments.iter().map(stretch).collect(),
        }
    };
    Timeline {
        from_ns: ns(from),
        to_ns: ns(to),
        waited_ns: (ns(due), spike.at_ns),
        series: series.to_owned(),
        lanes: cpus.into_iter().map(lane).collect(),
    }
}

fn occupant(who: Who) -> Occupant {
    match who {
        Who::Thread(_) => Occupant::Thread,
        Who::Nmi | Who::Interrupt { .. } | Who::Vector(_) | Who::Timer => Occupant::Interrupt,
        Who::Softirq(_) => Occupant::Softirq,
        Who::Idle => Occupant::Idle,
        Who::Lost | Who::Unknown => Occupant::Unknown,
    }
}
