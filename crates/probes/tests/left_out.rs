//! A control block that was left out doubts the stream that has its name.

mod common;

use common::{Pair, Run, can_run};
use model::EventKind;
use probes::Probe;
use probes::subscribe::{ClockRelation, SubscribeConfig, port_options, say_unread};
use streamset::{LeftOut, StreamSpec};

#[test]
fn the_stream_of_the_first_of_two_like_control_blocks_is_in_doubt() {
    if !can_run("the_stream_of_the_first_of_two_like_control_blocks_is_in_doubt") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let named = |name: &str| StreamSpec {
        rate: 4_800,
        origin: format!("test.scd, {name}"),
        ..StreamSpec::named(name)
    };
    let config = SubscribeConfig {
        expected: vec![named("TWIN"), named("OTHER")],
        duration_ns: Some(300_000_000),
        ..SubscribeConfig::default()
    };
    let subscription = config
        .start(pair.port_b(&port_options()), &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    subscription.running.join().expect_err("nothing came");
    let left_out = LeftOut {
        is_sampled_values: true,
        name: "TWIN".to_owned(),
        why: "stream TWIN: it is listed twice".to_owned(),
    };
    say_unread(&[left_out], ClockRelation::Unknown, &run.recorder);
    let recorded = run.finish();
    let doubts = |series: &str| -> Vec<String> {
        let events = recorded.events(series).into_iter();
        let incomplete = events.filter(|event| event.kind == EventKind::Incomplete);
        incomplete.map(|event| event.text).collect()
    };
    assert_eq!(doubts("spacing/TWIN"), ["stream TWIN: it is listed twice: left out"]);
    assert_eq!(doubts("spacing/OTHER"), Vec::<String>::new());
    assert!(
        recorded.counters("spacing/TWIN").lost > 0,
        "the first is still expected"
    );
    let names = recorded.names();
    assert_eq!(
        names.iter().filter(|name| *name == "spacing/TWIN").count(),
        1,
        "{names:?}"
    );
}
