//! The series that an event touches, decided here and nowhere else. The table is in `docs/doubts.md`.

use model::{Event, EventKind, IMPORTED, RunView, SeriesView, kind};

/// The events of a kind that touch a series: those that name it, and of those that name none the ones that its kind of series
/// can suffer from and that fall into the time in which it was measured.
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

/// True where an event that names no series can touch this one.
fn concerns(of_kind: EventKind, run: &RunView, series: &SeriesView) -> bool {
    match of_kind {
        // Of an interface that two measure on.
        EventKind::SecondMeasurement => series.sends_frames() || series.receives_frames(),
        EventKind::HeldByUs => wakes(series) && run.info.command != IMPORTED,
        _ => true,
    }
}

/// True where a CPU that sleeps deeply makes its samples longer: not where a thread spins, is awake already, or reads clocks.
fn wakes(series: &SeriesView) -> bool {
    let is_awake = [&kind::NOISE, &kind::SEND, &kind::CLOCK];
    !is_awake.into_iter().any(|awake| series.is(awake))
}

/// True where a series was measured in the span of an event. One without windows says nothing of when it was.
fn is_measured_meanwhile(event: &Event, series: &SeriesView) -> bool {
    let mut windows = series.windows.iter();
    series.windows.is_empty() || windows.any(|window| event.overlaps(window.start_ns, window.end_ns))
}
