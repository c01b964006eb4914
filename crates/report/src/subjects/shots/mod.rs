//! Tasks and receive latencies of relays along the shots of a test set, by fault pattern. Shown only if relays were measured beside
//! the test set.

mod document;
mod page;
mod text;

use crate::Report;
use crate::section::{Fields, Section};
use crate::strain::Strain;
use crate::terminal::Paint;
use crate::text::count;
use model::RunView;
use std::io;
use units::Ns;

/// The section of the report.
pub(crate) struct ShotsSection;

impl Section for ShotsSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::patterns(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries = document::shots(&report.run);
        fields.some("shots", (!entries.is_empty()).then_some(entries))
    }
}

/// Headings of the table.
const HEADS: [&str; 8] = [
    "fault pattern",
    "shots",
    "watched",
    "longest task",
    "overruns",
    "delivery max",
    "age max",
    "use max",
];

/// Meaning of the table, in one sentence for each doubtful word.
const MEANING: &str = "From the fault to the end of the watch of each shot, in slices of at least 100 ms. Watched: shots over which every relay's \
                       task was measured; without them, 0 overruns prove nothing. Overruns: cycles longer than their interval, and skipped ones.";

/// The shots of one fault pattern.
struct Pattern<'a> {
    name: &'a str,
    shots: Vec<Strain>,
}

/// The patterns of a run in order of first occurrence; empty if no relay was measured along its shots.
fn patterns(run: &RunView) -> Vec<Pattern<'_>> {
    let mut all: Vec<Pattern<'_>> = Vec::new();
    if run.along.is_empty() {
        return all;
    }
    for (index, shot) in run.shots.iter().enumerate() {
        let strain = Strain::of(run, index);
        match all.iter_mut().find(|pattern| pattern.name == shot.name) {
            Some(pattern) => pattern.shots.push(strain),
            None => all.push(Pattern {
                name: &shot.name,
                shots: vec![strain],
            }),
        }
    }
    all
}

impl Pattern<'_> {
    /// The cells under [`HEADS`].
    fn cells(&self) -> [String; 8] {
        let largest = |of: &dyn Fn(&Strain) -> Option<i64>| {
            let ns = self.shots.iter().filter_map(of).max();
            ns.map_or_else(|| "–".to_owned(), |ns| Ns(ns.max(0).unsigned_abs()).to_string())
        };
        let watched = self.shots.iter().filter(|shot| shot.is_watched).count() as u64;
        let overruns: u64 = self.shots.iter().map(|shot| shot.overruns).sum();
        let has_count = watched > 0 || overruns > 0;
        [
            self.name.to_owned(),
            count(self.shots.len() as u64),
            count(watched),
            largest(&|shot| shot.task_ns),
            if has_count { count(overruns) } else { "–".to_owned() },
            largest(&|shot| shot.latencies_ns[0]),
            largest(&|shot| shot.latencies_ns[1]),
            largest(&|shot| shot.latencies_ns[2]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::patterns;
    use crate::limits::Profile;
    use crate::strain::{Strain, overruns};
    use crate::verdict::{Judgement, Verdict};
    use model::{Along, Event, EventKind, Outcome, RunView, SeriesId, SeriesSpec, Shot, Slice, kind};
    use testing::synthetic::{run, series};

    /// A run with a relay and two shots; along the second, its task took so long and had so many overruns.
    fn shots(task_ns: i64, late: u64, is_whole: bool) -> RunView {
        let mut all = vec![
            series("trip/overcurrent", 2, 30_000_000, 1),
            series("task/F1", 9, 70_000, 1),
        ];
        all[0].spec = SeriesSpec::of(&kind::TRIP, "overcurrent", "x");
        all[1].spec = SeriesSpec::of(&kind::TASK, "F1", "x");
        let mut run = run(all);
        (run.series[0].id, run.series[1].id) = (SeriesId(0), SeriesId(1));
        let shot = |number: u64| Shot {
            number,
            at_ns: number * 1_000_000_000,
            watched_ns: Some(200_000_000),
            uncertain_ns: None,
            reset_ns: None,
            name: "overcurrent".into(),
            point_deg: None,
            cell: None,
            outcome: Outcome::Tripped,
            trip_ns: Some(30_000_000),
        };
        run.shots = vec![shot(1), shot(2)];
        let along = |shot: usize, max_ns: i64, late: u64, is_whole: bool| Along {
            shot,
            series: SeriesId(1),
            sum: Slice {
                samples: 300,
                max_ns,
                late,
                missed: 0,
            },
            is_whole,
        };
        run.along = vec![along(0, 70_000, 0, true), along(1, task_ns, late, is_whole)];
        run
    }

    #[test]
    fn a_shot_has_the_longest_task_and_the_overruns_of_its_time() {
        let run = shots(1_200_000, 2, true);
        let (first, second) = (Strain::of(&run, 0), Strain::of(&run, 1));
        assert_eq!(
            (first.task_ns, first.overruns, first.is_watched),
            (Some(70_000), 0, true)
        );
        assert_eq!((second.task_ns, second.overruns), (Some(1_200_000), 2));
        let cells = patterns(&run)[0].cells();
        assert_eq!(cells[..5], ["overcurrent", "2", "2", "1.20 ms", "2"].map(str::to_owned));
        assert_eq!(cells[5..], ["–", "–", "–"].map(str::to_owned));
        assert!(patterns(&run_without_relay()).is_empty());
    }

    fn run_without_relay() -> RunView {
        RunView {
            along: Vec::new(),
            ..shots(0, 0, true)
        }
    }

    #[test]
    fn no_overrun_counts_only_where_the_task_was_measured() {
        assert_eq!(overruns(&shots(70_000, 0, true), "overcurrent"), Ok(0));
        assert_eq!(
            overruns(&shots(70_000, 3, false), "overcurrent"),
            Ok(3),
            "overruns are overruns"
        );
        let why = overruns(&shots(70_000, 0, false), "overcurrent").expect_err("unknown");
        assert!(why.starts_with("in 1 of 2 shots the task"), "{why}");
        let why = overruns(&run_without_relay(), "overcurrent").expect_err("unknown");
        assert!(why.starts_with("in 2 of 2 shots"), "{why}");
        assert!(overruns(&shots(1, 0, true), "other").is_err());
    }

    #[test]
    fn the_limit_of_overruns_passes_fails_or_stays_open_with_the_shots() {
        let text = "name = \"x\"\nwhat = \"x\"\n[[limit]]\nid = \"trip.overruns\"\nseries = \"trip/*\"\nquantity = \"overruns\"\nallowed = 0\n\
                    source = \"x\"\n";
        let profile = Profile::parse_given(text, "x").expect("a profile");
        let verdict = |run: &RunView| {
            Judgement::of(run, std::slice::from_ref(&profile))
                .checks
                .remove(0)
                .verdict
        };
        assert_eq!(verdict(&shots(70_000, 0, true)), Verdict::Pass);
        assert_eq!(verdict(&shots(1_200_000, 1, true)), Verdict::Fail);
        assert_eq!(verdict(&shots(70_000, 0, false)), Verdict::Inconclusive);
        assert_eq!(verdict(&run_without_relay()), Verdict::Inconclusive);
    }

    #[test]
    fn a_task_that_lost_records_or_is_missing_proves_nothing() {
        let mut run = shots(70_000, 0, true);
        run.series[1].counters.overrun = 3;
        assert!(overruns(&run, "overcurrent").is_err(), "the lost ones may be overruns");
        let mut run = shots(70_000, 0, true);
        run.shots
            .iter_mut()
            .for_each(|shot| shot.name = "two-1-overcurrent".into());
        run.series[1].spec = SeriesSpec::of(&kind::TASK, "two-1", "x");
        assert_eq!(overruns(&run, "two-1-overcurrent"), Ok(0));
        run.series[1].spec = SeriesSpec::of(&kind::TASK, "two-2", "x");
        assert_eq!(
            overruns(&run, "two-1-overcurrent"),
            Ok(0),
            "of a relay elsewhere nothing is known by name"
        );
        let mut silent = series("task/two-1", 0, 1, 1);
        silent.spec = SeriesSpec::of(&kind::TASK, "two-1", "x");
        silent.id = SeriesId(2);
        run.series.push(silent);
        assert!(overruns(&run, "two-1-overcurrent").is_err(), "its own task is silent");
    }

    #[test]
    fn a_doubt_about_a_task_is_a_doubt_about_its_overruns() {
        let text = "name = \"x\"\nwhat = \"x\"\n[[limit]]\nid = \"trip.overruns\"\nseries = \"trip/*\"\nquantity = \"overruns\"\nallowed = 0\n\
                    source = \"x\"\n";
        let profile = Profile::parse_given(text, "x").expect("a profile");
        let mut run = shots(70_000, 0, true);
        run.events.extend([Event {
            at_ns: 1,
            since_ns: None,
            kind: EventKind::Incomplete,
            series: Some(SeriesId(1)),
            text: "F1: some of its cycles are not in the run".into(),
        }]);
        let check = Judgement::of(&run, std::slice::from_ref(&profile)).checks.remove(0);
        assert_eq!(check.verdict, Verdict::Inconclusive, "{}", check.why);
        assert!(check.why.contains("some of its cycles"), "{}", check.why);
    }
}
