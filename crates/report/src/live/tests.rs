use super::{Live, LiveState};
use crate::Report;
use crate::html::tests::visible;
use crate::limits::Profile;
use model::{Event, EventKind, RunView};
use testing::synthetic;

fn live(state: LiveState) -> Live {
    Live {
        state,
        why: None,
        doing: Some("step 2 of 3: noise".into()),
        left_ns: Some(90_000_000_000),
        age_ns: 400_000_000,
    }
}

fn page(run: RunView, live: &Live) -> String {
    let report = Report::new(run, vec![Profile::find("substation").expect("embedded")]);
    visible(&report.live_page(live).expect("rendered"))
}

const RUNNING: [LiveState; 4] = [
    LiveState::Starting,
    LiveState::Measuring,
    LiveState::Finishing,
    LiveState::Stuck,
];

#[test]
fn what_is_not_over_never_passes() {
    let good = synthetic::qualify(2, 10);
    for state in RUNNING {
        let page = page(good.clone(), &live(state));
        assert!(page.contains("Within so far</h1>"), "{state:?}");
        assert!(!page.contains("class=\"pass\"") && !page.contains(">Pass"), "{state:?}");
        assert!(
            page.contains("class=\"sign partial\"") && !page.contains("sign pass"),
            "{state:?}"
        );
        assert!(
            page.contains("1.50 min") && page.contains("step 2 of 3: noise"),
            "{page}"
        );
    }
    let over = page(good, &live(LiveState::Complete));
    assert!(over.contains("pass</h1>") || over.contains("Pass</h1>"), "{over}");
    assert!(
        over.contains("class=\"sign pass\"") && !over.contains("so far"),
        "{over}"
    );
}

#[test]
fn what_exceeds_a_limit_fails_so_far() {
    let mut run = synthetic::qualify(2, 10);
    for series in &mut run.series {
        series.max_ns = series.max_ns.map(|_| 900_000_000);
        series
            .windows
            .iter_mut()
            .for_each(|window| window.max_ns = Some(900_000_000));
    }
    let page = page(run, &live(LiveState::Measuring));
    assert!(
        page.contains("Fails so far</h1>") || page.contains("Undecided so far</h1>"),
        "{page}"
    );
}

#[test]
fn a_writer_that_is_gone_is_told() {
    let mut run = synthetic::qualify(2, 10);
    run.state = model::RunState::Interrupted;
    let killed = Live {
        why: Some("process 7 is gone".into()),
        doing: None,
        left_ns: None,
        ..live(LiveState::Killed)
    };
    let page = page(run, &killed);
    assert!(
        page.contains("data-state=\"killed\"") && page.contains("process 7 is gone"),
        "{page}"
    );
    assert!(page.contains("Inconclusive</h1>") && !page.contains("so far"), "{page}");
}

#[test]
fn the_latest_come_first_and_text_of_others_stays_text() {
    let mut run = synthetic::qualify(2, 10);
    for at_ns in 1..=40 {
        run.events.push(Event {
            at_ns: at_ns * 1_000_000_000,
            since_ns: None,
            kind: EventKind::Note,
            series: None,
            text: format!("<script>alert({at_ns})</script>"),
        });
    }
    let page = page(run, &live(LiveState::Measuring));
    assert!(!page.contains("<script>alert"), "{page}");
    let [last, before] = ["alert(40)", "alert(39)"].map(|text| page.find(text).expect(text));
    assert!(last < before && !page.contains("alert(20)"), "{page}");
}
