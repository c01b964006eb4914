//! A property test over generated profiles and runs: no limit passes unless its series counted the quantity over a time
//! that was observed. The counters of each kind are listed here a second time, as found in the code that makes its
//! series.

use crate::limits::{Limit, Pattern, Profile, Quantity};
use crate::verdict::{Check, Judgement, Verdict};
use model::{Counter, RunView, SeriesView, kind, setting};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert, proptest};
use testing::synthetic::{run, series};

/// Kinds of series, and the counters that their code counts in addition to the samples.
const COUNTED: [(&str, &str); 33] = [
    ("wakeup", "missed"),
    ("noise", ""),
    ("rtt", "lost late duplicate reordered missed"),
    ("stage", ""),
    ("turnaround", ""),
    ("publish", "lost late missed"),
    ("talk", "lost late missed"),
    ("send", ""),
    ("departure", ""),
    ("listen", "lost late duplicate reordered"),
    ("credit", ""),
    ("arrival", "lost duplicate conflicting reordered"),
    ("hop", "lost duplicate reordered"),
    ("delivery", ""),
    ("age", "lost duplicate conflicting reordered"),
    ("use", "lost duplicate conflicting reordered"),
    ("spacing", "lost duplicate conflicting reordered"),
    ("lan", "lost late duplicate conflicting reordered wrong"),
    ("latency", "lost reordered"),
    ("goose", "lost late duplicate conflicting reordered"),
    ("clock", "lost"),
    ("goose-transfer", ""),
    ("task", "late missed"),
    ("task-stage", ""),
    ("trip", "lost unwanted"),
    ("start", "lost"),
    ("security", "unwanted"),
    ("phase", "lost wrong"),
    ("zone", "lost wrong"),
    ("pong", "lost late unwanted"),
    ("ping", "lost"),
    ("decision", "lost"),
    ("lead", ""),
];

/// A generated series, in the generator's terms.
#[derive(Debug, Clone)]
struct Made {
    kind: usize,
    /// True if it is not one of our kinds.
    is_foreign: bool,
    samples: u64,
    has_threshold: bool,
    not_counted: Vec<&'static str>,
    /// For a series of gaps: true if the observed time is known.
    was_watched: bool,
}

impl Made {
    fn name(&self, number: usize) -> String {
        let family = if self.is_foreign {
            "foreign"
        } else {
            COUNTED[self.kind].0
        };
        format!("{family}/cpu{number}")
    }

    fn series(&self, number: usize) -> SeriesView {
        let mut one = series(&self.name(number), self.samples.max(1), 40_000, 10);
        if self.samples == 0 {
            (one.counters.expected, one.counters.received) = (0, 0);
        }
        let watched_ns = if self.is("noise") && self.was_watched {
            10_000_000_000
        } else {
            0
        };
        one.counters.watched_ns = watched_ns;
        if self.is("security") {
            let control = (setting::POSITIVE_CONTROL.to_owned(), "before and after".to_owned());
            one.spec.settings.push(control);
        }
        one.spec.threshold_ns = self.has_threshold.then_some(50_000);
        if !self.not_counted.is_empty() {
            one.spec
                .settings
                .push(("not counted".into(), self.not_counted.join(", ")));
        }
        one
    }

    fn is(&self, family: &str) -> bool {
        !self.is_foreign && COUNTED[self.kind].0 == family
    }

    /// True if this quantity was counted in the series.
    fn has(&self, quantity: Quantity, lacks: &[Counter]) -> bool {
        let word = quantity.word();
        let by_kind = || !self.is_foreign && COUNTED[self.kind].1.split(' ').any(|counted| counted == word);
        let is_known = !self.not_counted.contains(&word) && lacks.iter().all(|counter| counter.name() != word);
        match word {
            "received" => true,
            "overflow" => self.has_threshold && (!self.is("noise") || self.was_watched),
            // No run here has shots.
            "overruns" => false,
            "excess" => self.is("spacing") || self.is("listen"),
            "lost" | "late" | "duplicate" | "conflicting" | "reordered" | "missed" | "unwanted" | "wrong" => {
                by_kind() && is_known
            }
            _ => !self.is("security") && (!self.is("noise") || self.was_watched),
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    let not_counted = prop::sample::subsequence(
        vec![
            "lost",
            "late",
            "duplicate",
            "conflicting",
            "reordered",
            "missed",
            "unwanted",
            "wrong",
        ],
        0..3,
    );
    let kind = (0..COUNTED.len(), prop::bool::weighted(0.1));
    let samples = prop::sample::select(vec![0u64, 1, 20, 20_000]);
    (kind, samples, any::<bool>(), not_counted, any::<bool>()).prop_map(
        |((kind, is_foreign), samples, has_threshold, not_counted, was_watched)| Made {
            kind,
            is_foreign,
            samples,
            has_threshold,
            not_counted,
            was_watched,
        },
    )
}

/// Limits that every counted figure meets.
fn limit() -> impl Strategy<Value = Limit> {
    let pattern = prop::sample::subsequence(COUNTED.map(|(family, _)| format!("{family}/*")).to_vec(), 1..6)
        .prop_map(|patterns| patterns.join("|"));
    let pattern = prop::strategy::Union::new([pattern.boxed(), Just("*".to_owned()).boxed()]);
    let quantity = prop::sample::select(Quantity::ALL.to_vec());
    (pattern, quantity).prop_map(|(pattern, quantity)| Limit {
        id: "generated".into(),
        name: "generated".into(),
        series: Pattern::new(pattern),
        quantity,
        allowed: if quantity == Quantity::Received {
            0
        } else {
            1_000_000_000
        },
        source: "tests".into(),
        why: String::new(),
        classes: Vec::new(),
        samples: None,
        exposure_ns: None,
        needs_known_stamps: false,
        needs_load: false,
    })
}

fn judged(run: &RunView, limits: Vec<Limit>) -> Vec<Check> {
    let profile = Profile {
        name: "generated".into(),
        what: "tests".into(),
        limits,
        requirements: Vec::new(),
        decision: crate::limits::Decision::default(),
    };
    Judgement::of(run, &[profile]).checks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_limit_passes_unless_its_series_counted_that_over_time_that_was_watched(
        all in prop::collection::vec(made(), 1..5),
        limits in prop::collection::vec(limit(), 1..6),
        lacks in prop::sample::subsequence(Counter::ADDED.to_vec(), 0..=Counter::ADDED.len()),
    ) {
        let made_series = all.iter().enumerate().map(|(number, made)| made.series(number));
        let mut run = run(made_series.collect());
        run.lacks.clone_from(&lacks);
        for check in judged(&run, limits) {
            let number = all.iter().enumerate().position(|(number, made)| made.name(number) == check.series);
            let made = &all[number.expect("one of them")];
            let is_counted = made.samples > 0 && made.has(check.limit.quantity, &lacks);
            prop_assert!(check.verdict != Verdict::Pass || is_counted, "{made:?} {check:?}");
            prop_assert!(check.verdict != Verdict::Fail, "{check:?}");
            // The reverse: a counted figure within its limit passes. With few samples, some quantiles and intervals are
            // not known.
            let is_known = made.samples >= 20_000 && (made.has_threshold || check.limit.quantity != Quantity::Overflow);
            let is_deep = matches!(check.limit.quantity, Quantity::P9999 | Quantity::P99999);
            prop_assert!(check.verdict == Verdict::Pass || !is_counted || !is_known || is_deep, "{check:?}");
        }
    }
}

#[test]
fn the_kinds_here_are_all_there_are() {
    let names = kind::ALL.map(|kind| kind.name);
    assert_eq!(names, COUNTED.map(|(name, _)| name));
    for (kind, (_, counted)) in kind::ALL.into_iter().zip(COUNTED) {
        let declared = Counter::ALL.into_iter().filter(|counter| kind.counts.contains(counter));
        let declared: Vec<&str> = declared.map(Counter::name).collect();
        assert_eq!(declared.join(" "), counted, "{}", kind.name);
    }
}

#[test]
fn what_nobody_counted_is_undecided_and_says_what_is_counted() {
    let why = |name: &str, quantity: Quantity, change: fn(&mut RunView)| {
        let mut run = run(vec![series(name, 1_000, 40_000, 10)]);
        change(&mut run);
        let limit = Limit {
            id: "one".into(),
            name: "one".into(),
            series: Pattern::new("*"),
            quantity,
            allowed: 0,
            source: "tests".into(),
            why: String::new(),
            classes: Vec::new(),
            samples: None,
            exposure_ns: None,
            needs_known_stamps: false,
            needs_load: false,
        };
        let check = judged(&run, vec![limit]).remove(0);
        assert_eq!(
            (check.verdict, check.measured),
            (Verdict::Inconclusive, None),
            "{check:?}"
        );
        check.why
    };
    let late = why("spacing/MU01", Quantity::Late, |_| {});
    assert!(
        late.starts_with("spacing/* does not count \"late\": it has max, "),
        "{late}"
    );
    let of_a_log = why("spacing/MU01", Quantity::Conflicting, |run| {
        run.series[0].spec = run.series[0].spec.clone().not_counting(&[Counter::Conflicting]);
    });
    assert!(of_a_log.contains("cannot detect it"), "{of_a_log}");
    let old = why("trip/F1", Quantity::Unwanted, |run| run.lacks = vec![Counter::Unwanted]);
    assert_eq!(old, "the run is from before \"unwanted\" was counted");
    let foreign = why("foreign/1", Quantity::Lost, |_| {});
    assert!(foreign.contains("not known to this version"), "{foreign}");
    let unwatched = why("noise/cpu1", Quantity::Missed, |_| {});
    assert!(unwatched.starts_with("noise/* does not count"), "{unwatched}");
}
