//! Reasons that may hide a worse figure than the measured one. There is one function for each row of the table in
//! `docs/formats/limits.md`.

use super::{reach, uncounted};
use crate::contradiction::Contradiction;
use crate::limits::Quantity;
use crate::one_way::OneWay;
use crate::text::{count, plural};
use model::{Counters, EventKind, IMPORTED, RunState, RunView, SeriesClock, SeriesView, WindowRow, kind, setting};
use units::Ns;

/// The largest value that a histogram can hold.
const HISTOGRAM_END_NS: i64 = 60_000_000_000;

/// One reason to doubt a figure.
pub(super) struct Doubt {
    /// Text with the counts.
    pub(super) text: String,
    /// True if the reason could also make a good host look bad: then a figure over its limit does not fail.
    pub(super) explains_excess: bool,
}

/// How a quantity depends on the samples.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// A duration over all samples: max, mean, quantiles.
    Value,
    /// A count of samples by their value: late, overflow.
    CountByValue,
    /// Periods that the thread skipped.
    Missed,
    /// The fate of the samples that were due: lost, duplicate, reordered.
    Delivery,
    /// Number of samples.
    Received,
}

fn nature(quantity: Quantity) -> Nature {
    match quantity {
        Quantity::Late | Quantity::Overflow => Nature::CountByValue,
        Quantity::Missed => Nature::Missed,
        Quantity::Lost
        | Quantity::Duplicate
        | Quantity::Conflicting
        | Quantity::Reordered
        | Quantity::Unwanted
        | Quantity::Wrong => Nature::Delivery,
        Quantity::Received => Nature::Received,
        _ => Nature::Value,
    }
}

/// Setting with the uncertainty of a series' values: `1000 ns`.
const UNCERTAINTY: &str = "uncertainty";

/// The doubt about a figure that is closer to its limit than the uncertainty of its clocks and stamps.
pub(super) fn near_limit(series: &SeriesView, quantity: Quantity, measured: f64, allowed: u64) -> Option<Doubt> {
    let setting = series.setting(UNCERTAINTY)?;
    let uncertain_ns: u64 = setting.strip_suffix(" ns")?.parse().ok()?;
    let is_near = nature(quantity) == Nature::Value && (measured - allowed as f64).abs() <= uncertain_ns as f64;
    is_near.then(|| Doubt {
        text: format!("it is closer to the limit than its uncertainty of {}", Ns(uncertain_ns)),
        explains_excess: true,
    })
}

/// All doubts about this figure of this series.
pub(super) fn of(run: &RunView, series: &SeriesView, quantity: Quantity, clocks: Option<&OneWay>) -> Vec<Doubt> {
    let nature = nature(quantity);
    let by_value = matches!(nature, Nature::Value | Nature::CountByValue);
    let mut doubts = Vec::new();
    if by_value {
        doubts.extend(uncounted::watch(series).map(plain));
        hidden(series, &mut doubts);
        skipped(series, quantity, &mut doubts);
    }
    if nature == Nature::Value && !clipped_by_clocks(series, clocks) {
        clipped(series, &mut doubts);
    }
    if let Some(clocks) = clocks.filter(|_| by_value) {
        apart(series, nature, clocks, &mut doubts);
    }
    if quantity.quantile().is_some() {
        thin_histogram(series, &mut doubts);
    }
    if quantity == Quantity::Missed && run.info.command == IMPORTED && series.counters.clipped > 0 {
        let beyond = plural(series.counters.clipped, "sample");
        doubts.push(plain(format!(
            "{beyond} beyond the imported histogram: the periods they skipped are unknown"
        )));
    }
    if quantity == Quantity::Missed {
        unaccounted(series, "they may be skipped too", &mut doubts);
    }
    if quantity == Quantity::Lost {
        unaccounted(series, "they may be lost too", &mut doubts);
        doubts.extend(never_sent(run, series));
    }
    if series.counters.received == 0 && !by_value && nature != Nature::Received {
        doubts.push(plain("nothing was received".to_owned()));
    }
    if quantity == Quantity::Wrong {
        unaccounted(series, "they may be wrong too", &mut doubts);
    }
    let is_of_trips = series.is(&kind::PHASE) || series.is(&kind::ZONE);
    if quantity == Quantity::Wrong && is_of_trips && series.counters.lost > 0 {
        let untold = plural(series.counters.lost, "trip");
        doubts.push(plain(format!(
            "{untold} of {} not reported",
            count(series.counters.expected)
        )));
    }
    overrun(series, nature, &mut doubts);
    events(run, series, (nature, quantity), clocks, &mut doubts);
    interrupted(run, nature, &mut doubts);
    doubts
}

/// Doubts about the samples of a series that its own figures do not show: by events, by the early end of the run, and by contradictions in its file.
/// Idle states that the run held off are a setting, which a comparison compares; those that another program held off are not.
pub(crate) fn unseen(run: &RunView, series: &SeriesView, contradictions: &[Contradiction]) -> Vec<String> {
    let clocks = OneWay::of(run, series);
    let mut doubts = Vec::new();
    let value = (Nature::Value, Quantity::Max);
    let idle = series.setting(setting::IDLE_STATES).unwrap_or_default();
    let is_by_others = idle.starts_with(setting::AS_THE_SYSTEM_HAS_THEM);
    let all = EventKind::ALL
        .into_iter()
        .filter(|kind| *kind != EventKind::HeldByUs || is_by_others);
    all.for_each(|kind| events_of_kind(run, series, kind, value, clocks.as_ref(), &mut doubts));
    interrupted(run, Nature::Value, &mut doubts);
    doubts.extend(of_the_file(series, contradictions));
    doubts.into_iter().map(|doubt| doubt.text).collect()
}

/// If the file contradicts itself about a series, none of its figures is known, good or bad.
pub(super) fn of_the_file(series: &SeriesView, contradictions: &[Contradiction]) -> Option<Doubt> {
    let of_series = contradictions.iter().filter(|found| found.id == series.id);
    let texts: Vec<&str> = of_series.map(|found| found.text.as_str()).collect();
    (!texts.is_empty()).then(|| Doubt {
        text: format!("the run file contradicts itself: {}", texts.join("; ")),
        explains_excess: true,
    })
}

/// Frames that a sender of the same run left out, or could not send, are missing at its receivers: at most that many
/// missing frames need not be lost.
fn never_sent(run: &RunView, series: &SeriesView) -> Option<Doubt> {
    if !series.is_of_a_stream() {
        return None;
    }
    let senders = run.series.iter();
    let senders = senders.filter(|one| one.is(&kind::PUBLISH) || one.is(&kind::TALK));
    let never_sent: u64 = senders.map(|sender| left_out(sender, series)).sum();
    let lost = series.counters.lost;
    (1..=never_sent).contains(&lost).then(|| Doubt {
        text: format!(
            "the sender in this run left out {}, which may be the missing ones",
            plural(never_sent, "frame")
        ),
        explains_excess: true,
    })
}

/// Number of frames that a sender left out while a series was measured. Frames left out in another step of a plan are
/// missing in that step.
fn left_out(sender: &SeriesView, series: &SeriesView) -> u64 {
    // A listener uses the numbers that a talker assigns, and a talker assigns none in a missed cycle.
    let is_numbered = sender.is(&kind::TALK) && series.is(&kind::LISTEN);
    let of = |counters: &Counters| match is_numbered {
        true => counters.lost,
        false => counters.missed + counters.lost,
    };
    let begin = series.windows.iter().map(|window| window.start_ns).min();
    let end = series.windows.iter().map(|window| window.end_ns).max();
    let is_beside = |window: &&WindowRow| {
        begin.is_none_or(|begin| window.end_ns > begin) && end.is_none_or(|end| window.start_ns < end)
    };
    let elsewhere = sender.windows.iter().filter(|window| !is_beside(window));
    of(&sender.counters).saturating_sub(elsewhere.map(|window| of(&window.counters)).sum())
}

fn plain(text: String) -> Doubt {
    Doubt {
        text,
        explains_excess: false,
    }
}

/// Samples that were due but have no value: any of them may be worse than the worst measured one.
fn hidden(series: &SeriesView, doubts: &mut Vec<Doubt>) {
    let c = &series.counters;
    if c.lost > 0 {
        let lost = plural(c.lost, "sample");
        doubts.push(plain(format!(
            "{lost} of {} lost: their latency is unknown",
            count(c.expected)
        )));
    }
    unaccounted(series, "their latency is unknown", doubts);
}

fn unaccounted(series: &SeriesView, so_what: &str, doubts: &mut Vec<Doubt>) {
    let n = series.unaccounted();
    if n > 0 {
        let of = count(series.counters.expected);
        doubts.push(plain(format!(
            "{} of {of} due are neither measured nor counted as lost: {so_what}",
            count(n)
        )));
    }
}

/// Skipped periods belong to a stall whose first sample has its full latency: the maximum includes it, and quantiles
/// and mean are computed over scheduled activations. Only periods that no measured stall explains, and counts by value,
/// are in doubt.
fn skipped(series: &SeriesView, quantity: Quantity, doubts: &mut Vec<Doubt>) {
    let missed = series.counters.missed;
    if missed == 0 {
        return;
    }
    let periods = plural(missed, "period");
    if matches!(quantity, Quantity::Late | Quantity::Overflow) {
        doubts.push(plain(format!(
            "{periods} skipped: not measured one by one, so not counted here"
        )));
        return;
    }
    if series.interval_ns().is_none() {
        doubts.push(plain(format!(
            "{periods} skipped in a series whose period is not known"
        )));
        return;
    }
    let unplaced = series.scheduled().map_or(0, |scheduled| scheduled.unplaced());
    if unplaced > 0 {
        let rest = count(unplaced);
        doubts.push(plain(format!(
            "{periods} skipped, {rest} of them in no measured stall: their latency is unknown"
        )));
    }
}

fn clipped(series: &SeriesView, doubts: &mut Vec<Doubt>) {
    let n = series.counters.clipped;
    // Samples of an imported file without a bucket are judged separately: their maximum is known.
    if n == 0 || n == series.only_bounded() {
        return;
    }
    let negative = if series.min_ns.is_some_and(|min| min < 0) {
        ", some below zero: its clocks disagree"
    } else {
        ""
    };
    doubts.push(plain(format!(
        "{} outside the histogram's range{negative}",
        plural(n, "sample")
    )));
}

/// True if all samples outside the histogram's range arrived before their time: either within the uncertainty of the
/// clocks, or reported as a fault of a clock.
fn clipped_by_clocks(series: &SeriesView, clocks: Option<&OneWay>) -> bool {
    clocks.is_some() && series.max_ns.is_some_and(|max| max <= HISTOGRAM_END_NS)
}

/// The uncertainty of the two clocks. It shifts the values of samples, so it also affects counts of samples by value.
fn apart(series: &SeriesView, nature: Nature, clocks: &OneWay, doubts: &mut Vec<Doubt>) {
    let explains_excess = nature == Nature::CountByValue;
    let mut say = |text| {
        doubts.push(Doubt { text, explains_excess });
    };
    clocks.doubts().into_iter().for_each(&mut say);
    let apart_ns = clocks.uncertainty.as_ref().map_or(0, |known| known.ns);
    let reaches = |threshold: u64| {
        let max = series.max_ns.and_then(|max| u64::try_from(max).ok()).unwrap_or(0);
        max.saturating_add(apart_ns) > threshold
    };
    if explains_excess && apart_ns > 0 && series.spec.threshold_ns.is_none_or(reaches) {
        say(format!(
            "counted without regard to the clocks' uncertainty of{}",
            clocks.plus_minus()
        ));
    }
}

fn thin_histogram(series: &SeriesView, doubts: &mut Vec<Doubt>) {
    let (held, received) = (series.histogram.count(), series.counters.received);
    if held < received {
        doubts.push(plain(format!(
            "the histogram holds {} of {} samples",
            count(held),
            count(received)
        )));
    }
}

fn overrun(series: &SeriesView, nature: Nature, doubts: &mut Vec<Doubt>) {
    let n = series.counters.overrun;
    if n > 0 {
        doubts.push(Doubt {
            text: format!(
                "{} lost between the measuring thread and the recorder",
                plural(n, "record")
            ),
            explains_excess: nature == Nature::Received,
        });
    }
}

fn interrupted(run: &RunView, nature: Nature, doubts: &mut Vec<Doubt>) {
    let text = match run.state {
        RunState::Complete => return,
        RunState::Interrupted => format!("the run was ended early, after {}", Ns(run.duration_ns)),
        RunState::Running => format!("the run is still measured, {} so far", Ns(run.duration_ns)),
    };
    doubts.push(Doubt {
        text,
        explains_excess: nature == Nature::Received,
    });
}

/// The effect of an event on a figure: `None`, a doubt, or a doubt that also explains an excess.
fn effect(kind: EventKind, series: &SeriesView, nature: Nature, quantity: Quantity) -> Option<bool> {
    let of_a_thread = !matches!(nature, Nature::Delivery | Nature::Received);
    let by_value = matches!(nature, Nature::Value | Nature::CountByValue);
    match kind {
        EventKind::ClockStep => (by_value && series.spec.clock == SeriesClock::Realtime).then_some(true),
        EventKind::RtThrottled | EventKind::HeldUp => Some(false),
        EventKind::StreamDoubt | EventKind::NotCounted | EventKind::Unproven | EventKind::ActionFailed => Some(false),
        // A figure over its limit would also be over it in service.
        EventKind::HeldByUs => of_a_thread.then_some(false),
        EventKind::Link => series.sends_frames().then_some(false),
        EventKind::PageFaults | EventKind::Migration => of_a_thread.then_some(false),
        // The figures do not belong to the thread that the settings name.
        EventKind::ThreadChanged => of_a_thread.then_some(true),
        // With a second measurement or an emulated processor, neither a pass nor a fail is meaningful.
        EventKind::SecondMeasurement | EventKind::Emulated => Some(true),
        EventKind::ControlFailed => Some(true),
        EventKind::RecorderOverrun => (series.counters.overrun == 0).then_some(nature == Nature::Received),
        EventKind::Incomplete => Some(quantity == Quantity::Lost || nature == Nature::Received),
        EventKind::HopGap => series
            .is(&kind::HOP)
            .then_some(quantity == Quantity::Lost || nature == Nature::Received),
        // A dropped frame of a stream is in `lost`; what it was otherwise is not known, such as a copy or one of another publisher. An excess of
        // what came is one all the same.
        EventKind::NicDrop => {
            let is_unseen = nature == Nature::Received || nature == Nature::Delivery && quantity != Quantity::Lost;
            (series.receives_frames() && is_unseen).then_some(false)
        }
        EventKind::SocketDrop => series
            .receives_frames()
            .then_some(quantity == Quantity::Lost || nature == Nature::Received),
        _ => None,
    }
}

fn events(
    run: &RunView,
    series: &SeriesView,
    of: (Nature, Quantity),
    clocks: Option<&OneWay>,
    doubts: &mut Vec<Doubt>,
) {
    for kind in EventKind::ALL {
        events_of_kind(run, series, kind, of, clocks, doubts);
    }
}

fn events_of_kind(
    run: &RunView,
    series: &SeriesView,
    kind: EventKind,
    (nature, quantity): (Nature, Quantity),
    clocks: Option<&OneWay>,
    doubts: &mut Vec<Doubt>,
) {
    // If the two clocks are monitored, a step affects only its window: the monitoring reports when they agree again.
    if kind == EventKind::ClockStep && clocks.is_some() {
        return;
    }
    let Some(explains_excess) = effect(kind, series, nature, quantity) else {
        return;
    };
    let mut of_kind = reach::events(run, series, kind);
    let Some(first) = of_kind.next() else { return };
    let more = of_kind.count() as u64;
    let more = if more > 0 {
        format!(", and {} more", count(more))
    } else {
        String::new()
    };
    let at = Ns(first.at_ns);
    doubts.push(Doubt {
        text: format!("{} at {at}: {}{more}", kind.word(), first.text),
        explains_excess,
    });
}
