use crate::Report;
use crate::about::{About, Evidence};
use crate::limits::Profile;
use crate::subjects::nics::samples::{card_facts, veth_facts};
use crate::tables::Layout;
use model::fact::TRACED_WAY;
use model::{
    Cell, Change, ChangeWatch, Event, EventKind, Fact, Outcome, Reading, ReadingUnit, Readings, RunView, Shot, Subject,
    kind,
};
use testing::synthetic;

fn report(run: RunView) -> Report {
    Report::new(run, vec![Profile::find("substation").expect("embedded")])
}

fn html(run: RunView) -> String {
    report(run).html(&About::default(), None).expect("rendered")
}

/// The visible part of the page: without styles, scripts and data.
pub(crate) fn visible(html: &str) -> String {
    let mut out = html.to_owned();
    for (open, close) in [("<style>", "</style>"), ("<script", "</script>")] {
        while let Some(from) = out.find(open) {
            let to = out[from..].find(close).expect("closed") + from + close.len();
            out.replace_range(from..to, "");
        }
    }
    out
}

#[test]
fn verdict_and_figures_are_those_of_the_run() {
    let report = report(synthetic::qualify(2, 10));
    let page = visible(&report.html(&About::default(), None).expect("rendered"));
    assert!(page.contains("data-verdict=\"pass\""));
    assert!(page.contains("within"), "the tally of the screen");
    for series in &report.run.series {
        let max = units::format_ns(series.max_ns.expect("a maximum") as f64);
        let cell = format!("data-max-of=\"{}\">{max}</td>", series.spec.name);
        assert!(page.contains(&cell), "{cell}");
    }
    let verdict = page.find("id=\"verdict\"").expect("a verdict");
    assert!(
        verdict < page.find("id=\"limits\"").expect("limits"),
        "the verdict comes first"
    );
    assert!(page.contains("unknown: no right to read /dev/cpu/0/msr"));
}

#[test]
fn a_counter_says_what_it_counts_in_series_of_its_kind() {
    let page = html(synthetic::qualify(2, 10));
    for (kind, says) in [(&kind::PUBLISH, "did not take"), (&kind::WAKEUP, "never came")] {
        let part = page
            .split(&format!("<h2>{}</h2>", kind.title))
            .nth(1)
            .expect("its part");
        let head = part.split("Lost</th>").next().expect("a head");
        let title = head.rsplit("title=").next().expect("what it counts");
        assert!(title.contains(says), "{}: {title}", kind.name);
    }
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    let page = html(synthetic::qualify(2, 10));
    for attribute in ["src=", "href=", "url(", "action=", "data="] {
        for (at, _) in page.match_indices(attribute) {
            let target: String = page[at + attribute.len()..].chars().take(12).collect();
            let local = ["\"#", "#", "\"data:,"].iter().any(|prefix| target.starts_with(prefix));
            let is_code = !target.starts_with(['"', '\'']) && attribute != "url(";
            assert!(local || is_code, "{attribute}{target}");
        }
    }
    assert!(!visible(&page).contains("://"), "no address in what is shown");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn names_from_the_network_are_text_not_markup() {
    let evil = "age/<script>alert(1)</script>\"'&";
    let mut run = synthetic::run(vec![synthetic::series(evil, 1000, 60_000, 10)]);
    run.series[0].spec.what = "<b>what</b>".into();
    run.series[0].spec.settings = vec![("<i>".into(), "</dd>".into())];
    run.info.arguments = vec!["<img src=x>".into()];
    run.events.push(Event {
        at_ns: 5,
        since_ns: None,
        kind: EventKind::Note,
        series: None,
        text: "</script><script>alert(2)</script>".into(),
    });
    run.facts.push(Fact {
        group: "<h1>".into(),
        name: "<u>".into(),
        value: Ok("<s>".into()),
        source: "\"><q>".into(),
    });
    let page = html(run);
    for markup in ["<script>alert", "<b>what", "<i>:", "<img", "<u>", "<s>", "<q>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(page.matches("<script").count(), 3, "data, uPlot, ours");
    assert_eq!(page.matches("</script>").count(), 3);
}

#[test]
fn a_run_without_anything_still_gives_a_page() {
    let page = visible(&html(synthetic::run(Vec::new())));
    assert!(page.contains("data-verdict=\"inconclusive\""));
    assert!(page.contains("11 of 11 limits not measured"));
    assert_eq!(
        page.matches("badge none\">not measured</span>").count(),
        11,
        "each limit of the profile"
    );
    let empty = synthetic::run(vec![synthetic::series("wakeup/cpu1", 0, 1, 10)]);
    assert!(visible(&html(empty)).contains("nothing was measured"));
}

#[test]
fn alike_rows_fold_behind_the_worst_of_them() {
    let page = visible(&html(synthetic::qualify(20, 5)));
    assert!(page.contains("18 more like these, none worse"));
    let mut bad = synthetic::qualify(20, 5);
    for series in bad
        .series
        .iter_mut()
        .filter(|series| series.spec.name.starts_with("age/"))
    {
        synthetic::add_worst(series, 9_000_000);
    }
    let page = visible(&html(bad));
    assert!(
        page.contains("18 more like these, none worse"),
        "the two worst fails are in sight"
    );
    assert_eq!(page.matches("<td><span class=\"badge fail\">").count(), 20);
}

#[test]
fn every_counter_is_on_the_page() {
    let mut run = synthetic::run(vec![synthetic::series("rtt/reflect", 1000, 60_000, 10)]);
    let c = &mut run.series[0].counters;
    (c.expected, c.lost, c.late, c.duplicate) = (41_001, 41_002, 41_003, 41_004);
    (c.reordered, c.missed, c.clipped, c.overflow, c.overrun) = (41_005, 41_006, 41_007, 41_008, 41_009);
    let page = visible(&html(run));
    for n in 1..=9 {
        assert!(page.contains(&format!(">41 00{n}</td>")), "41 00{n}");
    }
    assert!(page.contains("41 002 lost, 41 003 late"), "in the summary");
}

#[test]
fn hundreds_of_long_series_stay_a_file_that_opens() {
    let mut run = synthetic::qualify(1, 2);
    let long = synthetic::series("age/MU01", 8_000, 60_000, 4_000);
    run.series = (0..300)
        .map(|n| {
            let mut one = long.clone();
            one.spec.name = format!("age/MU{n:03}");
            one
        })
        .collect();
    let page = html(run);
    assert!(page.len() < 30_000_000, "{} bytes", page.len());
}

#[test]
fn interfaces_have_a_part_of_their_own_with_every_fact() {
    let mut run = synthetic::qualify(1, 2);
    run.facts.extend(card_facts("eth1"));
    run.facts.extend(veth_facts("ts0"));
    let report = Report::new(run, vec![Profile::find("avb").expect("embedded")]);
    let page = visible(&report.html(&About::default(), None).expect("rendered"));
    let (from, to) = (
        page.find("id=\"interfaces\"").expect("a part"),
        page.find("id=\"inventory\"").expect("after"),
    );
    let part = &page[from..to];
    for fact in report.run.facts.iter().filter(|fact| fact.group.starts_with("nic ")) {
        assert!(part.contains(&format!("<th>{}</th>", fact.name)), "{}", fact.name);
    }
    assert!(!page[to..].contains("nic eth1"), "not in the inventory again");
    assert!(page.contains("eee is on, in use; wanted: off"));
    assert!(page.contains("nic.rx-usecs, nic.rx-frames, nic.tx-usecs, nic.tx-frames: veth has no such thing."));
    assert!(
        !visible(&html(synthetic::qualify(1, 2))).contains("id=\"interfaces\""),
        "only where there are some"
    );
}

#[test]
fn type_tests_are_drawn_with_a_line_for_each_ratio_and_points_over_the_curve() {
    let shot = |number: u64, name: &str, cell: Cell| Shot {
        number,
        at_ns: number,
        name: name.to_owned(),
        watched_ns: None,
        uncertain_ns: None,
        reset_ns: None,
        point_deg: Some(0.0),
        cell: Some(cell),
        outcome: Outcome::Tripped,
        trip_ns: Some(20_000_000 + i64::try_from(number).expect("small") * 1_000_000),
    };
    let zone = |sir: f64, position: f64| Cell::Distance {
        sir,
        fault: "<AG>".to_owned(),
        position,
    };
    let curve = |multiple: f64, expected_ns: u64| Cell::Overcurrent {
        multiple,
        expected_ns,
        tolerance_ns: 5_000_000,
    };
    let mut run = synthetic::qualify(1, 10);
    assert!(!html(run.clone()).contains("Type test"));
    run.shots = vec![
        shot(1, "z", zone(1.0, 50.0)),
        shot(2, "z", zone(5.0, 50.0)),
        shot(3, "z", zone(5.0, 105.0)),
        shot(4, "c", curve(2.0, 20_000_000)),
        shot(5, "c", curve(10.0, 12_000_000)),
    ];
    let page = html(run);
    let part = |name: &str| {
        let begin = page
            .split(&format!("<h2>Type test {name}</h2>"))
            .nth(1)
            .expect("its part");
        begin.split("</section>").next().expect("its end").to_owned()
    };
    let (zone, curve) = (part("z"), part("c"));
    assert_eq!(
        (zone.matches("<circle").count(), curve.matches("<circle").count()),
        (3, 2)
    );
    assert!(zone.contains("SIR 1<") && zone.contains("SIR 5<") && !zone.contains("<AG>"));
    assert!(zone.contains("105 % or more") && curve.contains("± 5"));
}

#[test]
fn the_record_says_what_was_given_and_leaves_the_rest_to_be_filled_in() {
    let about = About {
        object: "Bay <1>".into(),
        remarks: "none".into(),
        signatures: vec!["Customer".into()],
        document: "SAT-17".into(),
        revision: "B".into(),
        approved: "A. <N>".into(),
        ..About::default()
    };
    let evidence = |sha256: Result<String, String>| Evidence { octets: 4096, sha256 };
    let mut run = synthetic::qualify(1, 2);
    run.info.id = "x\"} body { display: none } /*".into();
    run.facts.extend(card_facts("eth<1>"));
    let page = |evidence: Evidence| report(run.clone()).html(&about, Some(&evidence)).expect("rendered");
    let known = page(evidence(Ok("ab12".into())));
    let record = known
        .split("id=\"record\"")
        .nth(1)
        .and_then(|rest| rest.split("</section>").next())
        .expect("a record");
    assert!(record.contains("<th>Object</th><td>Bay &#60;1&#62;</td>"), "{record}");
    assert!(record.contains("<th>Site</th><td></td>") && record.contains("<th>Customer</th>"));
    assert!(
        record.contains("<th>Document</th><td>SAT-17, revision B</td>"),
        "{record}"
    );
    assert!(
        record.contains("<th>Interface eth&#60;1&#62;</th><td>driver igc; speed 1000 Mbit/s full;"),
        "{record}"
    );
    assert!(record.contains("PTP clock /dev/ptp0</td>") && record.contains("<th>Clock</th><td>"));
    assert!(
        record.contains("Wake-up latency <span class=\"limit-id\">wakeup.max</span>"),
        "{record}"
    );
    let roles = [
        "Prepared</th><td></td>",
        "Reviewed</th><td></td>",
        "Recommended</th><td></td>",
        "Approved</th><td>A. &#60;N&#62;</td>",
    ];
    assert!(roles.iter().all(|role| record.contains(role)), "{record}");
    assert!(record.contains("<th>SHA-256</th><td>ab12</td>") && record.contains("4 096 bytes"));
    let style = known
        .split("<style>")
        .nth(1)
        .and_then(|rest| rest.split("</style>").next());
    let style = style.expect("a style");
    assert!(
        style.ends_with("\"triptime, run x???body???display:?none?????\"; } }\n"),
        "a name cannot end a string of the style"
    );
    assert!(page(evidence(Err("its log is beside it".into()))).contains("none: its log is beside it"));
}

/// A run with subjects that few runs have: interfaces, the path of a frame, a published layout, readings, late samples,
/// foreign texts.
#[test]
fn all_faces_of_a_run_with_rare_subjects() {
    let mut run = synthetic::qualify(1, 3);
    synthetic::add_worst(&mut run.series[0], 412_870);
    run.series[0].counters.missed = 4;
    run.series[0].counters.expected += 4;
    run.facts.extend(card_facts("eth1"));
    run.facts.extend(veth_facts("ts0"));
    run.facts
        .push(TRACED_WAY.fact(Ok("eth1: card\n  br\\0: bridge\n    tap <1>: tap\n".into()), "hops"));
    run.facts.push(Fact {
        group: "\u{202e}group".into(),
        name: "a\\b".into(),
        value: Ok("<s>".into()),
        source: "test".into(),
    });
    let mut values = Readings::default();
    values.value(3e6);
    run.readings.push(Reading {
        name: "cache/rt/L3:0/occupancy".to_owned(),
        unit: ReadingUnit::Octets,
        start_ns: 0,
        end_ns: 1,
        values,
    });
    run.watches = vec![ChangeWatch {
        to_ns: 3_000_000_000,
        looks: 4,
        longest_ns: 1_000_000_000,
        unread: vec!["idle: <denied>".to_owned()],
        ..ChangeWatch::default()
    }];
    run.changes = vec![Change {
        since_ns: 1_000_000_000,
        at_ns: 2_000_000_000,
        subject: Subject::Interrupt,
        name: "24 (eth1\u{7})".to_owned(),
        before: Some("CPU 0".to_owned()),
        after: Some("CPU 1".to_owned()),
        who: None,
        cpus: Some([0, 1].into_iter().collect()),
        place: None,
    }];
    run.events.extend((0..120).map(|at_ns| Event {
        at_ns,
        since_ns: None,
        kind: EventKind::Relay,
        series: None,
        text: format!("trip\u{7} {at_ns}"),
    }));
    let profiles = ["substation", "avb"].map(|name| Profile::find(name).expect("embedded"));
    let report = Report::new(run, profiles.into()).with_table(Some(Layout::Vm));
    let page = visible(&report.html(&About::default(), None).expect("rendered"));
    insta::assert_snapshot!("rare_subjects_page", page);
    insta::assert_snapshot!("rare_subjects_text", report.text(false, None));
    insta::assert_snapshot!("rare_subjects_document", report.json());
}
