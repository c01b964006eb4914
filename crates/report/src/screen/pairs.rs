//! A property test: no two sentences in the same output of a report contradict each other, and reasons are cut off only
//! on a terminal.

use super::Size;
use crate::Report;
use crate::about::About;
use crate::limits::{Limit, Pattern, Profile, Quantity};
use crate::verdict::Verdict;
use model::{Cause, Event, EventKind, RunState, RunView, SeriesView};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, proptest};
use proptest::sample::select;
use testing::synthetic;

/// Pairs of texts that contradict each other.
const PAIRS: [(&str, &str); 18] = [
    ("nothing was seen that could hide one", "The test set itself left out"),
    ("nothing was seen that could hide one", "not count: the test set"),
    ("nothing was seen that could hide one", " is undecided: "),
    ("nothing was seen that could hide one", "contradicts itself"),
    ("nothing was seen that could hide one", "A control did not hold"),
    ("nothing was seen that could hide one", "A processor is emulated"),
    ("nothing was seen that could hide one", "the recorder fell behind"),
    ("nothing was seen that could hide one", "Nothing explains"),
    ("No figure was beyond its limit", "was exceeded in this run"),
    ("No figure was beyond its limit", " exceeded"),
    ("No figure was beyond its limit", " undecided"),
    ("No figure was beyond its limit", "over the limit"),
    ("Nothing explains any of", "Nothing explains most"),
    ("Nothing explains any of", " had the CPU: "),
    ("within their limits", " undecided"),
    ("within their limits", "over the limit,"),
    ("these may be the missing ones", "their fate is not known"),
    ("was exceeded in this run", "Proves  0 of "),
];

/// The parts of a generated run.
#[derive(Debug, Clone)]
struct Made {
    /// Number of late samples, and of those with a known cause.
    late: u64,
    told: u64,
    cause: Cause,
    events: Vec<EventKind>,
    /// Number of frames that the sender left out, and that did not arrive.
    left_out: u64,
    lost: u64,
    missed: u64,
    interrupted: bool,
    /// The limit in us.
    allowed_us: u64,
}

fn made() -> impl Strategy<Value = Made> {
    let some = || select(vec![0_u64, 0, 0, 1, 3, 42]);
    let events = proptest::collection::vec(select(EventKind::ALL.to_vec()), 0..3);
    let late = (
        0..60_u64,
        0..60_u64,
        select(Cause::ALL.to_vec()),
        select(vec![50_u64, 120, 1_000]),
    );
    let counts = (some(), some(), some(), any::<bool>());
    (late, events, counts).prop_map(|((late, told, cause, allowed_us), events, counts)| {
        let (left_out, lost, missed, interrupted) = counts;
        Made {
            late: late.saturating_sub(20),
            told,
            cause,
            events,
            left_out,
            lost,
            missed,
            interrupted,
            allowed_us,
        }
    })
}

impl Made {
    fn run(&self) -> RunView {
        let mut sent = synthetic::series("publish/MU01", 40_000, 30_000, 10);
        count(&mut sent, |counters| {
            counters.missed += self.left_out;
            counters.expected += self.left_out;
        });
        let mut received = synthetic::series("age/MU01", 40_000, 40_000, 10);
        count(&mut received, |counters| {
            counters.lost += self.lost;
            counters.expected += self.lost;
        });
        let mut run = synthetic::run(vec![self.wakeups(), sent, received]);
        if self.interrupted {
            run.state = RunState::Interrupted;
        }
        let events = self.events.iter().map(|kind| Event {
            at_ns: 5_000_000_000,
            since_ns: None,
            kind: *kind,
            series: None,
            text: "something of this kind".into(),
        });
        run.events.extend(events);
        run.facts = synthetic::facts();
        run
    }

    fn wakeups(&self) -> SeriesView {
        let mut series = synthetic::series("wakeup/cpu1", 40_000, 45_000, 10);
        let spike = series.spikes[0].clone();
        series.spikes.clear();
        for at in 0..self.late {
            let value_ns = 500_000 + at as i64;
            synthetic::add_worst(&mut series, value_ns);
            let mut late = model::Spike {
                value_ns,
                ..spike.clone()
            };
            let mut explanation = synthetic::explanation();
            explanation.cause = if at < self.told { self.cause } else { Cause::Unexplained };
            late.explanation = Some(explanation);
            series.spikes.insert(0, late);
        }
        count(&mut series, |counters| {
            counters.missed += self.missed;
            counters.expected += self.missed;
        });
        series
    }

    fn report(&self) -> Report {
        self.judged(self.run())
    }

    fn judged(&self, run: RunView) -> Report {
        let limit = |id: &str, series: &str, quantity, allowed| Limit {
            id: id.to_owned(),
            name: id.to_owned(),
            series: Pattern::new(series),
            quantity,
            allowed,
            source: "tests".into(),
            why: String::new(),
            classes: Vec::new(),
            samples: None,
            exposure_ns: None,
            needs_known_stamps: false,
            needs_load: false,
        };
        let allowed_ns = self.allowed_us * 1_000;
        let limits = vec![
            limit("wakeup.max", "wakeup/*", Quantity::Max, allowed_ns),
            limit("wakeup.p99", "wakeup/*", Quantity::P99, allowed_ns),
            limit("age.lost", "age/*", Quantity::Lost, 0),
            limit("age.max", "age/*", Quantity::Max, 60_000),
        ];
        let profile = Profile {
            name: "site".into(),
            what: "tests".into(),
            limits,
            requirements: Vec::new(),
            decision: crate::limits::Decision::default(),
        };
        Report::new(run, vec![profile])
    }
}

/// Changes counters of a series and of its last window.
fn count(series: &mut SeriesView, change: impl Fn(&mut model::Counters)) {
    change(&mut series.counters);
    if let Some(last) = series.windows.last_mut() {
        change(&mut last.counters);
    }
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every output that contains sentences.
fn faces(report: &Report) -> [(&'static str, String); 6] {
    let page = report.html(&About::default(), None).expect("a page");
    let junit = report.junit().expect("a file");
    [
        ("screen", report.screen(Size::LARGEST, false, None)),
        ("pipe", report.uncut(None)),
        ("summary", report.summary()),
        ("full text", report.text(false, None)),
        ("page", page),
        ("junit", junit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_two_sentences_of_one_face_contradict(made in made()) {
        let report = made.report();
        for (face, text) in faces(&report) {
            let text = joined(&text);
            // The legends of a page also contain such words.
            let is_sentence = |word: &str| face != "page" || !word.starts_with(' ');
            for (one, other) in PAIRS.into_iter().filter(|(one, other)| is_sentence(one) && is_sentence(other)) {
                prop_assert!(!(text.contains(one) && text.contains(other)), "{face}: {one:?} beside {other:?}:\n{text}");
            }
        }
    }

    #[test]
    fn the_first_cause_is_that_of_most_or_said_to_be_of_few(made in made()) {
        let report = made.report();
        let screen = joined(&report.uncut(None));
        let told = made.told.min(made.late);
        let is_late = made.late > 0 && made.allowed_us < 500 && made.cause != Cause::Unexplained;
        // In a run that fails because of a loss, late samples may be undecided: the reason is then a doubt.
        let mut checks = report.judgement.checks.iter();
        let fails = checks.any(|check| check.verdict == Verdict::Fail && check.series.starts_with("wakeup/"));
        if is_late && fails && told * 2 < made.late {
            prop_assert!(screen.contains("Nothing explains"), "{screen}");
        }
    }

    #[test]
    fn a_reason_is_whole_in_a_pipe_on_the_page_and_in_junit(made in made()) {
        let report = made.report();
        let rows = super::limits::rows(&report);
        let whys = rows.iter().filter(|row| row.state == super::State::Undecided).map(|row| joined(&row.why));
        let whys: Vec<String> = whys.collect();
        for (face, text) in faces(&report) {
            if ["pipe", "junit", "full text"].contains(&face) {
                let text = joined(&text).replace("&#39;", "'").replace("&apos;", "'");
                for why in &whys {
                    prop_assert!(text.contains(why), "{face}: {why:?} is not in\n{text}");
                }
            }
        }
    }
}

#[test]
fn the_doubt_comes_before_the_worst_sample() {
    let made = Made {
        late: 1,
        told: 1,
        cause: Cause::Thread,
        events: Vec::new(),
        left_out: 0,
        lost: 0,
        missed: 0,
        interrupted: false,
        allowed_us: 120,
    };
    let mut run = made.run();
    let near = ("uncertainty".to_owned(), "1000000 ns".to_owned());
    run.series[0].spec.settings.push(near);
    let report = made.judged(run);
    let screen = report.screen(Size::LARGEST, false, None);
    let row = screen.lines().skip_while(|line| !line.starts_with("? wakeup.max"));
    let reason = row.take(2).collect::<Vec<_>>().join(" ");
    assert!(reason.contains("it is closer to the limit"), "{screen}");
    assert!(report.summary().contains("wakeup.max is undecided: it is closer"));
}
