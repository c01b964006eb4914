use super::of_run;
use crate::Report;
use crate::limits::Profile;
use crate::verdict::Judgement;
use model::{Event, EventKind, RunView, SeriesId, SeriesView, Spike};
use testing::synthetic;

fn spike(at_ns: u64, value_ns: i64) -> Spike {
    Spike {
        series: SeriesId(0),
        at_ns,
        value_ns,
        cpu: Some(1),
        sequence: None,
        explanation: None,
    }
}

fn series(name: &str, spikes: Vec<Spike>) -> SeriesView {
    let mut series = synthetic::series(name, 1000, 60_000, 10);
    series.spikes_kept = spikes.len() as u64;
    series.spikes = spikes.into();
    series
}

fn stalls(run: &RunView) -> Vec<super::Stall> {
    let profile = Profile::find("substation").expect("embedded");
    of_run(run, &Judgement::of(run, &[profile]))
}

/// Two wake-ups and an age in one stall around 1 s, and a separate wake-up at 5 s.
fn run() -> RunView {
    synthetic::run(vec![
        series(
            "wakeup/cpu1",
            vec![
                spike(1_000_500_000, 900_000),
                spike(5_000_000_000, 200_000),
                spike(3_000_000_000, 100_000),
            ],
        ),
        series("age/MU01", vec![spike(1_002_000_000, 1_900_000)]),
    ])
}

#[test]
fn late_samples_that_overlap_are_one_stall_of_all_series() {
    let stalls = stalls(&run());
    let [long, short] = &stalls[..] else {
        panic!("{stalls:?}")
    };
    assert_eq!((long.samples, long.in_series, long.longest_ns), (2, 2, 1_900_000));
    assert_eq!((long.from_ns, long.to_ns), (999_600_000, 1_002_000_000));
    assert_eq!(long.size(), "2 samples of 2 series, 1.90 ms");
    assert_eq!(
        (short.samples, short.longest_ns),
        (1, 200_000),
        "what is within its limit is in none"
    );
    assert_eq!(short.size(), "1 sample of wakeup/cpu1, 200 µs");
}

#[test]
fn samples_that_only_follow_each_other_are_apart() {
    let run = synthetic::run(vec![series(
        "wakeup/cpu1",
        vec![spike(1_000_000_000, 200_000), spike(1_000_250_000, 200_000)],
    )]);
    assert_eq!(stalls(&run).len(), 2);
    let run = synthetic::run(vec![series(
        "wakeup/cpu1",
        vec![spike(1_000_000_000, 200_000), spike(1_000_150_000, 200_000)],
    )]);
    assert_eq!(stalls(&run).len(), 1);
}

#[test]
fn events_and_our_own_sender_are_named() {
    let mut run = run();
    let event = |at_ns: u64, kind: EventKind| Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text: String::new(),
    };
    run.events = vec![
        event(900_000_000, EventKind::Steal),
        event(1_500_000_000, EventKind::Steal),
        event(1_600_000_000, EventKind::Relay),
    ]
    .into();
    let why = |run: &RunView| stalls(run)[0].why(run);
    assert_eq!(why(&run), "not explained; steal at 1.50 s");
    run.series[0].spikes[0].explanation = Some(synthetic::explanation());
    let word = synthetic::explanation().cause.word();
    assert_eq!(why(&run), format!("{word}; steal at 1.50 s"));
    run.series
        .push(series("publish/lateness", vec![spike(1_001_900_000, 1_800_000)]));
    assert!(why(&run).contains("this program's sender was 1.80 ms late itself"));
    run.series[2].spikes[0].value_ns = 300_000;
    assert!(!why(&run).contains("sender"), "less than half of it");
}

#[test]
fn a_series_without_a_limit_makes_no_stall() {
    let run = synthetic::run(vec![series("arrival/MU01", vec![spike(1_000_000_000, 9_000_000)])]);
    assert_eq!(stalls(&run), []);
}

/// One explained sample of each wake-up, half a second apart.
fn many(samples: u64) -> Report {
    let mut spikes: Vec<Spike> = (1..=samples)
        .map(|n| spike(n * 500_000_000, 200_000 + i64::try_from(n).expect("small")))
        .collect();
    spikes[0].explanation = Some(synthetic::explanation());
    let mut run = synthetic::run(vec![series("wakeup/cpu1", spikes)]);
    run.events = vec![Event {
        at_ns: 600_000_000,
        since_ns: None,
        kind: EventKind::Steal,
        series: None,
        text: String::new(),
    }]
    .into();
    Report::new(run, vec![Profile::find("substation").expect("embedded")])
}

#[test]
fn the_full_text_lists_the_longest_and_counts_the_rest() {
    let text = many(9).text(false, None);
    let part = text
        .split("\nStalls\n")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next());
    let part = part.expect("a part");
    let said = part.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("one stall: 9 samples, 9 stalls. The 6 longest are listed."),
        "{part}"
    );
    assert_eq!(
        part.matches("1 sample of wakeup/cpu1, 200 µs").count(),
        super::LISTED,
        "{part}"
    );
    assert!(!many(1).text(false, None).contains("longest are listed"));
    let mut report = many(1);
    report.run.series[0].spikes_kept = 1_235;
    let text = report.text(false, None);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("1 234 more in the run file"), "{text}");
    let explained = many(1).text(false, None);
    assert!(explained.contains("softirq; steal at 600 ms"), "{explained}");
    let none = Report::new(synthetic::run(vec![series("wakeup/cpu1", Vec::new())]), Vec::new());
    assert!(!none.text(false, None).contains("Stalls"));
}

#[test]
fn the_document_has_the_longest_and_how_many_there_are() {
    let json = |report: &Report| -> serde_json::Value { serde_json::from_str(&report.json()).expect("JSON") };
    let one = json(&many(1));
    let stall = &one["stalls"][0];
    assert_eq!(one["stalls_found"], 1);
    assert_eq!((&stall["longest"], &stall["samples"]), (&200_001.into(), &1.into()));
    assert_eq!((&stall["from_s"], &stall["to_s"]), (&0.499_799_999.into(), &0.5.into()));
    assert_eq!(
        (&stall["cause"], &stall["sender_late"]),
        (&"softirq".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&stall["events"], &stall["cpus"]),
        (&serde_json::json!([0]), &serde_json::json!([1]))
    );
    assert_eq!(
        stall["text"],
        "1 sample of wakeup/cpu1, 200 µs: softirq; steal at 600 ms"
    );
    let many = json(&many(150));
    assert_eq!(
        (many["stalls"].as_array().map(Vec::len), &many["stalls_found"]),
        (Some(100), &150.into())
    );
}
