//! Talker and listener in the terms of Sienda's linuxEthernetTest, and the result of a search for a spin-ahead.

use super::table::{Align, TextTable};
use super::{Paint, section};
use crate::Report;
use crate::pacing::SEARCH;
use crate::text::{count, plural};
use model::{Kind, SeriesView, kind};
use std::fmt::Write;
use units::format_ns;

pub(crate) fn paced(report: &Report, paint: &Paint) -> String {
    let of_kind = |kind: &Kind| -> Vec<&SeriesView> {
        let all = report.run.series.iter();
        all.filter(|series| series.is(kind)).collect()
    };
    let (talkers, listeners) = (of_kind(&kind::TALK), of_kind(&kind::LISTEN));
    let steps: Vec<SearchStep<'_>> = talkers.iter().filter_map(|series| SearchStep::of(series)).collect();
    if !steps.is_empty() {
        return search(steps, paint);
    }
    if talkers.is_empty() && listeners.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", paint.heading("In the words of linuxEthernetTest"));
    for series in &talkers {
        line(&mut out, "Talker", series, talkers.len() > 1);
    }
    for series in &listeners {
        line(&mut out, "Listener", series, listeners.len() > 1);
    }
    if let ([talker], [listener]) = (&talkers[..], &listeners[..]) {
        let _ = writeln!(out, "  {}", identity(talker, listener));
    }
    out
}

/// Text such as `Talker: Late packets: 0, Max delta: 76 ns (late: > 125 µs after due)`. Nanoseconds, as
/// linuxEthernetTest prints them.
fn line(out: &mut String, role: &str, series: &SeriesView, many: bool) {
    let who = match series.spec.name.split_once('/').filter(|_| many) {
        Some((_, label)) => format!("{role} {label}"),
        None => role.to_owned(),
    };
    let max = series.max_ns.map_or_else(|| "–".to_owned(), |ns| format!("{ns} ns"));
    let late = series.counters.late;
    let _ = write!(out, "  {who}: Late packets: {late}, Max delta: {max}");
    if let Some(after) = setting(series, "late after") {
        let _ = write!(out, " (late: > {after})");
    }
    for (n, what) in [(series.counters.missed, "cycle"), (series.counters.lost, "packet")] {
        if n > 0 {
            let fate = if what == "cycle" { "missed" } else { "lost" };
            let _ = write!(out, "; {} {fate}", plural(n, what));
        }
    }
    out.push('\n');
}

/// A sentence on the fate of every frame, if both ends are in one run.
fn identity(talker: &SeriesView, listener: &SeriesView) -> String {
    // A frame that the kernel refused also took a number, so the listener misses it.
    let (sent, received, lost) = (
        talker.counters.received + talker.counters.lost,
        listener.counters.received,
        listener.counters.lost,
    );
    let said = format!("{} received + {} lost", count(received), count(lost));
    if sent == received + lost {
        format!("Self-test: {} sent = {said}", count(sent))
    } else {
        format!(
            "Self-test: {} sent, but {said}: the rest is not accounted for",
            count(sent)
        )
    }
}

fn setting<'a>(series: &'a SeriesView, key: &str) -> Option<&'a str> {
    let mut settings = series.spec.settings.iter();
    settings.find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// One step of a search.
struct SearchStep<'a> {
    spin_ahead_ns: u64,
    series: &'a SeriesView,
}

impl<'a> SearchStep<'a> {
    fn of(series: &'a SeriesView) -> Option<Self> {
        let spin_ahead_ns = units::parse_ns(series.spec.name.strip_prefix(SEARCH)?).ok()?;
        Some(Self { spin_ahead_ns, series })
    }

    fn is_good(&self) -> bool {
        let counters = &self.series.counters;
        counters.late + counters.missed == 0 && counters.received > 0
    }
}

fn search(mut steps: Vec<SearchStep<'_>>, paint: &Paint) -> String {
    steps.sort_by_key(|step| step.spin_ahead_ns);
    let mut table = TextTable::new(&[("spin ahead", Align::Right), ("frames", Align::Right)]);
    table.columns(&[
        ("late", Align::Right),
        ("missed", Align::Right),
        ("max delta", Align::Right),
    ]);
    for step in &steps {
        let counters = &step.series.counters;
        let max = step
            .series
            .max_ns
            .map_or_else(|| "–".to_owned(), |ns| format!("{ns} ns"));
        table.row(vec![
            format_ns(step.spin_ahead_ns as f64),
            count(counters.received),
            count(counters.late),
            count(counters.missed),
            max,
        ]);
    }
    section(paint, "Search for the smallest spin-ahead", &table) + &answer(&steps)
}

/// The smallest spin-ahead without late frames, unless a longer one had late frames, and the number of frames that
/// support it. `steps` are in ascending order.
fn answer(steps: &[SearchStep<'_>]) -> String {
    let late = steps.first().and_then(|step| setting(step.series, "late after"));
    let late = late.map_or_else(String::new, |after| format!(" (late: > {after})"));
    let too_short = steps.iter().rposition(|step| !step.is_good()).map_or(0, |at| at + 1);
    match steps.get(too_short) {
        Some(step) => {
            let n = step.series.counters.received;
            format!(
                "  Smallest without a late frame: {}{late}. None of {} frames: at most 1 in {} (95 %), for what was measured.\n",
                format_ns(step.spin_ahead_ns as f64),
                count(n),
                count((n / 3).max(1))
            )
        }
        None => format!("  None of them was without late or missed frames{late}: no spin-ahead was found.\n"),
    }
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use model::SeriesView;
    use testing::synthetic::{run, series};

    fn one(name: &str, max_ns: i64, late: u64, late_after: &str) -> SeriesView {
        let mut one = series(name, 100, 60_000, 1);
        one.max_ns = Some(max_ns);
        one.counters.late = late;
        one.spec.settings.push(("late after".into(), late_after.into()));
        one
    }

    fn last_part(of: Vec<SeriesView>) -> String {
        let text = Report::new(run(of), Vec::new()).text(false, None);
        text.rsplit("\n\n").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn both_ends_in_the_words_of_linux_ethernet_test() {
        let mut talker = one("talk/test", 76, 0, "125 µs after due");
        let mut listener = one("listen/test-02", 197_201, 3, "187.5 µs since the frame before");
        (talker.counters.received, talker.counters.missed) = (80_000, 2);
        (listener.counters.received, listener.counters.lost) = (79_999, 1);
        let text = last_part(vec![talker.clone(), listener.clone()]);
        assert_eq!(
            text,
            "In the words of linuxEthernetTest\n\
             \x20 Talker: Late packets: 0, Max delta: 76 ns (late: > 125 µs after due); 2 cycles missed\n\
             \x20 Listener: Late packets: 3, Max delta: 197201 ns (late: > 187.5 µs since the frame before); 1 packet lost\n\
             \x20 Self-test: 80 000 sent = 79 999 received + 1 lost\n"
        );
        listener.counters.lost = 0;
        let text = last_part(vec![talker, listener]);
        assert!(text.contains("80 000 sent, but 79 999 received + 0 lost: the rest is not accounted for"));
    }

    #[test]
    fn several_streams_are_named_and_not_added_up() {
        let listeners = ["listen/avtp-1", "listen/avtp-2"].map(|name| one(name, 130_000, 0, "187.5 µs"));
        let text = last_part(listeners.to_vec());
        assert!(
            text.contains("Listener avtp-2: Late packets: 0") && !text.contains("Self-test"),
            "{text}"
        );
    }

    #[test]
    fn the_answer_of_a_search_is_not_contradicted_by_a_longer_one() {
        let step = |us: u64, late: u64| {
            let name = format!("talk/spin-ahead={us}us");
            let mut step = one(&name, 80, late, "1 µs after due");
            step.counters.received = 30_000;
            step
        };
        let text = last_part(vec![
            step(0, 30_000),
            step(40, 0),
            step(20, 0),
            step(30, 1),
            step(35, 0),
        ]);
        assert!(text.contains("Smallest without a late frame: 35.0 µs"), "{text}");
        assert!(
            text.contains("None of 30 000 frames: at most 1 in 10 000 (95 %)"),
            "{text}"
        );
        let text = last_part(vec![step(0, 30_000), step(40, 0), step(112, 3)]);
        assert!(text.contains("no spin-ahead was found"), "{text}");
    }
}
