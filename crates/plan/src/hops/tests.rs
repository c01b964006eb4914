use super::{Hops, Wanted};
use bed::{Bed, End};
use model::{EventKind, RunInfo, RunState, setting};
use probes::Probe;
use probes::ProbeError;
use probes::publish::{self, PublishConfig};
use run::{Recorder, RecorderOptions, Stop, Thresholds};
use std::path::Path;
use store::{RunFile, RunWriter};

/// Records what `work` does.
fn recorded(work: impl FnOnce(&mut Recorder)) -> RunFile {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run");
    let start = sys::clock::pair();
    let info = RunInfo {
        id: "x".to_owned(),
        command: "qualify".to_owned(),
        arguments: Vec::new(),
        tool_version: "0".to_owned(),
        started: start.realtime,
        window_ns: 200_000_000,
    };
    let writer = RunWriter::create(&path, &info, None).expect("a run");
    let options = RecorderOptions {
        start: start.monotonic,
        window_ns: info.window_ns,
        explain: None,
    };
    let mut recorder = Recorder::start(writer, options, &Stop::new());
    work(&mut recorder);
    recorder.finish(RunState::Complete).expect("written");
    RunFile::open(&path).expect("a run")
}

/// A bed; `None` if the test is skipped.
fn bed(test: &str) -> Option<Bed> {
    if !rustix::process::geteuid().is_root() || !Path::new("/sys/kernel/btf/vmlinux").exists() {
        testing::skip(test, "needs root and a kernel with BTF");
        return None;
    }
    Some(Bed::build().expect("a bed"))
}

fn wanted<'a>(bed: &'a Bed, streams: &[&str]) -> Wanted<'a> {
    Wanted {
        bed,
        network: None,
        streams: streams.iter().map(ToString::to_string).collect(),
        threshold_ns: None,
        window_ns: 200_000_000,
        record: false,
    }
}

/// Number of samples of a series, and the reason if there are none.
fn found(run: &RunFile, name: &str) -> (u64, Option<String>) {
    let all = run.series().expect("series");
    let (id, spec) = all.iter().find(|(_, spec)| spec.name == name).expect(name);
    let why = spec.settings.iter().find(|(name, _)| name == setting::NOT_MEASURED);
    let samples = run.totals(*id).expect("totals").samples;
    (samples, why.map(|(_, why)| why.clone()))
}

fn gaps(run: &RunFile) -> Vec<String> {
    let events = run.events().expect("events").into_iter();
    let gaps = events.filter(|event| event.kind == EventKind::HopGap);
    gaps.map(|event| event.text).collect()
}

#[test]
fn a_stream_that_never_came_is_not_left_out() {
    let Some(bed) = bed("a_stream_that_never_came_is_not_left_out") else {
        return;
    };
    let run = recorded(|recorder| {
        let stop = Stop::new();
        let hops = Hops::start(wanted(&bed, &["MU01", "MU02"]), recorder, &stop);
        let config = PublishConfig {
            duration_ns: Some(1_000_000_000),
            ..PublishConfig::default()
        };
        let port = bed.port(End::TestSet, &publish::port_options()).expect("a port");
        let publisher = config.start(port, recorder, &stop).expect("started");
        publisher.join().expect("published");
        stop.request();
        hops.finish(recorder);
    });
    let (samples, why) = found(&run, "hop/nic-to-edge/MU01");
    assert!(samples > 0 && why.is_none(), "{samples} {why:?}");
    for hop in [
        "nic-to-port",
        "port-to-edge",
        "nic-to-edge",
        "edge-to-app",
        "nic-to-app",
    ] {
        let why = Some("MU02 was never seen at nic".to_owned());
        assert_eq!(found(&run, &format!("hop/{hop}/MU02")), (0, why), "{hop}");
    }
    // A machine that stalls for half a second leaves gaps in the other stream.
    let never: Vec<String> = gaps(&run)
        .into_iter()
        .filter(|gap| !gap.starts_with("MU01: nothing has come to "))
        .collect();
    assert_eq!(never, ["MU02 was never seen at nic"]);
}

#[test]
fn tracing_that_dies_or_never_began_leaves_its_series_with_the_reason() {
    let Some(bed) = bed("tracing_that_dies_or_never_began_leaves_its_series_with_the_reason") else {
        return;
    };
    for (ended, said) in [
        (
            ProbeError::Panicked("trace".to_owned()),
            "tracing ended before its time: ",
        ),
        (
            ProbeError::NoTraffic("nothing came".to_owned()),
            "hops are not traced: ",
        ),
    ] {
        let why = ended.to_string();
        let run = recorded(|recorder| {
            let stop = Stop::new();
            let mut hops = Hops::start(wanted(&bed, &["MU01"]), recorder, &stop);
            stop.request();
            let tracing = hops.tracing.take().expect("it is traced");
            assert!(tracing.join().is_err(), "no frame came");
            hops.ended(Err(ended), recorder);
        });
        let (samples, reason) = found(&run, "hop/nic-to-edge/MU01");
        assert_eq!(samples, 0);
        assert!(reason.is_some_and(|reason| reason.ends_with(&why)));
        assert_eq!(
            gaps(&run),
            [format!("{said}{why}")],
            "no pass of what another round traced"
        );
    }
}

#[test]
fn a_judged_hop_over_a_bridge_counts_what_is_over_its_limit() {
    let Some(bed) = bed("a_judged_hop_over_a_bridge_counts_what_is_over_its_limit") else {
        return;
    };
    let run = recorded(|recorder| {
        recorder.set_thresholds(Thresholds::new(|name| {
            name.starts_with("hop/nic-to-edge/").then_some(1)
        }));
        let stop = Stop::new();
        let hops = Hops::start(wanted(&bed, &["MU01"]), recorder, &stop);
        let config = PublishConfig {
            duration_ns: Some(500_000_000),
            ..PublishConfig::default()
        };
        let port = bed.port(End::TestSet, &publish::port_options()).expect("a port");
        let publisher = config.start(port, recorder, &stop).expect("started");
        publisher.join().expect("published");
        stop.request();
        hops.finish(recorder);
    });
    let all = run.series().expect("series");
    for (name, threshold_ns) in [("hop/nic-to-edge/MU01", Some(1)), ("hop/nic-to-port/MU01", None)] {
        let (id, spec) = all.iter().find(|(_, spec)| spec.name == name).expect(name);
        let counters = run.totals(*id).expect("totals").counters;
        assert!(counters.received > 0, "{name}");
        let over = threshold_ns.map_or(0, |_| counters.received);
        assert_eq!((spec.threshold_ns, counters.overflow), (threshold_ns, over), "{name}");
    }
}
