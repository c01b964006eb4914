//! Checks windows in time: no windows overlap, and none is missing.

use super::{Findings, IMPORTED};
use model::{Event, EventKind, RunView, SeriesView, WindowRow, kind::Accounts, setting};
use units::Ns;

/// Command whose samples are times between two stamps: after a silence, one sample is as long as the silence.
const OF_STAMPS: &str = "pcap";

/// Events that report a silence of the stream or of the path to us.
const TOLD: [EventKind; 8] = [
    EventKind::Stream,
    EventKind::Note,
    EventKind::Incomplete,
    EventKind::SocketDrop,
    EventKind::NicDrop,
    EventKind::Link,
    EventKind::ClockStep,
    EventKind::Refused,
];

pub(super) fn look(run: &RunView, series: &SeriesView, found: &mut Findings) {
    for (at, pair) in series.windows.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        if after.start_ns < before.end_ns {
            found.add("overlap", || {
                format!(
                    "a window ends at {}, and the next one begins at {}",
                    Ns(before.end_ns),
                    Ns(after.start_ns)
                )
            });
        }
        let gap = Gap {
            from_ns: before.end_ns,
            to_ns: after.start_ns,
        };
        if gap.is_on_the_grid(run.info.window_ns)
            && is_continuous(run, series)
            && !gap.is_accounted(series, &series.windows[at + 1..])
            && !gap.is_told(run, series)
        {
            found.add("gap", || {
                format!(
                    "there is no window from {} to {}, and nothing says why",
                    Ns(gap.from_ns),
                    Ns(gap.to_ns)
                )
            });
        }
    }
}

/// True if each window of this series accounts for the silence before it.
fn is_continuous(run: &RunView, series: &SeriesView) -> bool {
    let is_accounted = match accounts(series) {
        Accounts::Periods => series.interval_ns().is_some(),
        Accounts::Watched => true,
        Accounts::None => false,
    };
    run.info.command != IMPORTED && (is_accounted || run.info.command == OF_STAMPS)
}

fn accounts(series: &SeriesView) -> Accounts {
    series.kind().map_or(Accounts::None, |kind| kind.accounts)
}

/// Time that a reflecting probe waits for answers and greetings around a rest, in files from before
/// [`setting::PAUSES_NS`].
const AROUND_A_REST_NS: f64 = 150e6;

/// Length of a pause of the series in ns, in which its probe sleeps so that the kernel does not throttle it.
fn pauses_ns(series: &SeriesView) -> f64 {
    let setting = |name| series.spec.setting(name);
    if let Some(stated) = setting(setting::PAUSES_NS).and_then(|text| text.parse().ok()) {
        return stated;
    }
    let rest = setting(setting::REST).and_then(|words| words.split(" after ").next());
    let length_ns = rest.and_then(|length| units::parse_ns(&length.replace(' ', "")).ok());
    length_ns.map_or(0.0, |ns| ns as f64 + AROUND_A_REST_NS)
}

/// Time between two windows of a series.
struct Gap {
    from_ns: u64,
    to_ns: u64,
}

impl Gap {
    /// True if both ends are on the run's grid. That is so only if the windows were closed during continuous
    /// measurement; a pause between two steps begins and ends with a sample.
    fn is_on_the_grid(&self, window_ns: u64) -> bool {
        let is_on = |ns: u64| window_ns > 0 && ns.is_multiple_of(window_ns);
        self.from_ns < self.to_ns && is_on(self.from_ns) && is_on(self.to_ns)
    }

    fn length_ns(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64
    }

    /// True if the following windows account for the silence, without pauses. They may hold a sample of that length,
    /// losses that are counted when no answer is expected any more, or more samples than their own time allows.
    /// Catching up after a stall may be spread over several windows.
    fn is_accounted(&self, series: &SeriesView, after: &[WindowRow]) -> bool {
        let silent_ns = self.length_ns() - pauses_ns(series);
        let is_as_long = |window: &WindowRow| window.max_ns.is_some_and(|max| max as f64 >= 0.9 * silent_ns);
        if silent_ns <= 0.0 || after.iter().take(2).any(is_as_long) {
            return true;
        }
        let interval_ns = series.spec.interval_ns.unwrap_or(0.0);
        let lost: f64 = after.iter().map(|window| window.counters.lost as f64).sum();
        // A long silence includes several rests, in which nothing is sent that could be lost.
        if lost * interval_ns >= silent_ns / 4.0 {
            return true;
        }
        let mut ahead_ns = 0.0;
        after.iter().any(|window| {
            let counted_ns = match accounts(series) {
                Accounts::Watched => window.counters.watched_ns as f64,
                _ => window.counters.expected as f64 * interval_ns,
            };
            ahead_ns += counted_ns - window.end_ns.saturating_sub(window.start_ns) as f64;
            ahead_ns >= silent_ns / 2.0
        })
    }

    /// True if an event between the window before and the window after the gap explains it.
    fn is_told(&self, run: &RunView, series: &SeriesView) -> bool {
        let around_ns = run.info.window_ns;
        let (from_ns, to_ns) = (
            self.from_ns.saturating_sub(around_ns),
            self.to_ns.saturating_add(around_ns),
        );
        let is_then = |event: &Event| (from_ns..=to_ns).contains(&event.at_ns);
        let tells = |event: &Event| match event.kind {
            // A recorder that fell behind says so once it has caught up; older files do not have since when.
            EventKind::RecorderOverrun if event.since_ns.is_some() => event.overlaps(from_ns, to_ns),
            EventKind::RecorderOverrun if event.series == Some(series.id) => event.at_ns >= from_ns,
            EventKind::RecorderOverrun => is_then(event),
            kind => TOLD.contains(&kind) && is_then(event),
        };
        run.events_of(series).any(tells)
    }
}
