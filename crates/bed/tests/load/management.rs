//! A management network: the device's kernel answers every request, and missing answers are
//! reported.

use crate::support::{alone, has_network, last_cpu, on, wait_until};
use bed::StationWay;
use bed::load::{Load, LoadKind, ManagementLoad, Rate};
use bed::loads::Loads;
use bed::{Bed, Management, Network};
use model::{Event, EventKind, RunInfo, RunState};
use run::{Events, Recorder, RecorderOptions, Stop};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use store::{RunFile, RunWriter};
use units::CpuList;

/// Two devices on one bed, each with a second interface.
fn two_devices() -> (Bed, Management) {
    let bed = Bed::over(Network::Bridge, 2).expect("a bed");
    let network = Management::beside(&bed, CpuList::default()).expect("a second network");
    (bed, network)
}

fn load(rate: Rate, bytes: usize, way: StationWay) -> LoadKind {
    LoadKind::Management(ManagementLoad { rate, bytes, way })
}

#[test]
fn each_device_answers_every_request() {
    let _alone = alone();
    if !has_network("each_device_answers_every_request") {
        return;
    }
    let (_bed, network) = two_devices();
    let ways = network.ways();
    assert_eq!(ways.len(), 2);
    for (way, bytes) in ways.into_iter().zip([60, 1514]) {
        let load = Load::start(&on(last_cpu(), load(Rate::Frames(500), bytes, way))).expect("a load");
        wait_until("200 answers", || load.work_done() >= 200);
        let report = load.stop();
        let (sent, unit) = report.extra.expect("a second count");
        assert_eq!(
            (report.unit, unit, report.note.as_str()),
            ("answers", "frames sent", "")
        );
        assert_eq!(report.work, sent, "none is lost on a bridge: {report}");
        let most = 500.0 * report.seconds + 1.0;
        assert!(sent as f64 <= most, "{sent} frames in {} s", report.seconds);
    }
}

#[test]
fn as_fast_as_it_can_is_faster_and_is_answered_too() {
    let _alone = alone();
    if !has_network("as_fast_as_it_can_is_faster_and_is_answered_too") {
        return;
    }
    let (_bed, network) = two_devices();
    let way = network.ways().remove(0);
    let load = Load::start(&on(last_cpu(), load(Rate::Most, 1514, way))).expect("a load");
    wait_until("20 000 answers", || load.work_done() >= 20_000);
    let report = load.stop();
    let (sent, _) = report.extra.expect("a second count");
    assert!(report.work <= sent && report.work * 2 > sent, "{report}");
}

/// The events of a run with this load and duration.
fn events_of(kind: LoadKind, for_a_while: Duration) -> Vec<Event> {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("run.triptime");
    let pair = sys::clock::pair();
    let info = RunInfo {
        id: "test".into(),
        command: "test".into(),
        arguments: Vec::new(),
        tool_version: "0".into(),
        started: pair.realtime,
        window_ns: 200_000_000,
    };
    let writer = RunWriter::create(&path, &info, None).expect("a run file");
    let options = RecorderOptions {
        start: pair.monotonic,
        window_ns: info.window_ns,
        explain: None,
    };
    let recorder = Recorder::start(writer, options, &Stop::new());
    let events: Events = recorder.events();
    let mut loads = Loads::start([on(last_cpu(), kind)], &events).expect("a load");
    std::thread::sleep(for_a_while);
    loads.stop(&events);
    recorder.finish(RunState::Complete).expect("closed");
    RunFile::open(&path).expect("a run").events().expect("events")
}

#[test]
fn a_network_over_which_nothing_comes_back_is_no_silent_one() {
    let _alone = alone();
    if !has_network("a_network_over_which_nothing_comes_back_is_no_silent_one") {
        return;
    }
    let (_bed, network) = two_devices();
    let way = network.ways().remove(0);
    let nobody = StationWay {
        to: Ipv4Addr::new(198, 18, 0, 99),
        ..way.clone()
    };
    let begin = Instant::now();
    let events = events_of(load(Rate::Frames(100), 300, nobody), Duration::from_millis(300));
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "it ends though nothing comes"
    );
    let of = |kind: EventKind, events: &[Event]| {
        let found = events.iter().find(|event| event.kind == kind);
        found.map(|event| event.text.clone())
    };
    let stopped = of(EventKind::LoadStopped, &events).expect("its end");
    assert!(
        stopped.contains(": 0 answers, ") && !stopped.contains(", 0 frames sent"),
        "{stopped}"
    );
    let missed = of(EventKind::Incomplete, &events).expect("a doubt of all that was measured beside it");
    assert!(
        missed.contains("nothing came back over the management network"),
        "{missed}"
    );
    let events = events_of(load(Rate::Frames(100), 300, way), Duration::from_millis(300));
    assert_eq!(of(EventKind::Incomplete, &events), None);
}

#[test]
fn a_command_runs_in_the_network_namespace_it_is_given() {
    let _alone = alone();
    if !has_network("a_command_runs_in_the_network_namespace_it_is_given") {
        return;
    }
    let (bed, _network) = two_devices();
    let namespace = bed.device(1).expect("a device").namespace.map(sys::netns::NetNs::path);
    let command = |namespace| LoadKind::Command {
        line: "sh -c 'grep -q mgmt1 /proc/self/net/dev || exit 7; exec sleep 60'".to_owned(),
        namespace,
    };
    let load = Load::start(&on(last_cpu(), command(None))).expect("started");
    wait_until("its end", || load.failed().is_some());
    assert!(load.stop().note.contains("exit status: 7"), "no such interface here");
    let load = Load::start(&on(last_cpu(), command(namespace))).expect("started");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(load.failed(), None, "it finds the device's interface");
    drop(load);
}
