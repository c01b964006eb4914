//! The only place that decides which series an event affects. The table is in `docs/doubts.md`.

use model::{Event, EventKind, IMPORTED, RunView, SeriesView, kind};

/// The events of a kind that affect a series. These are the events that name it. Events that name no series are
/// included if they can affect this kind of series and happened during its measurement.
pub(super) fn events<'a>(
    run: &'a RunView,
    series: &'a SeriesView,
    of_kind: EventKind,
) -> impl Iterator<Item = &'a Event> {
    let events = run.events_of(series).filter(move |event| event.kind == of_kind);
    let is_concerned = move |event: &&Event| event.series.is_some() || concerns(of_kind, run, series);
    events
        .filter(is_concerned)
        .filter(|event| is_measured_meanwhile(event, series))
}

/// True if an event that names no series can affect this one.
fn concerns(of_kind: EventKind, run: &RunView, series: &SeriesView) -> bool {
    match of_kind {
        // An event about an interface that two measurements use.
        EventKind::SecondMeasurement => series.sends_frames() || series.receives_frames(),
        EventKind::HeldByUs => wakes(series) && run.info.command != IMPORTED,
        _ => true,
    }
}

/// True if a CPU in a deep sleep state makes its samples longer: not if a thread spins, is already awake, or reads
/// clocks.
fn wakes(series: &SeriesView) -> bool {
    let is_awake = [&kind::NOISE, &kind::SEND, &kind::CLOCK];
    !is_awake.into_iter().any(|awake| series.is(awake))
}

/// True if a series was measured during the span of an event. The time of a series without windows is not known.
fn is_measured_meanwhile(event: &Event, series: &SeriesView) -> bool {
    let mut windows = series.windows.iter();
    series.windows.is_empty() || windows.any(|window| event.overlaps(window.start_ns, window.end_ns))
}
