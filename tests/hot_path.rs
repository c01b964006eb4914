//! The measuring threads make no system call but the one they measure: every probe, at each of its ends, under strace.

use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{binary, namespace, root_or_skip, signal, start, stderr, until_sent, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

/// One measuring thread, watched.
struct Case {
    /// Its probe.
    probe: &'static str,
    /// The command, run in a namespace with `v0` and `v1`. `FILE` is replaced by a capture to replay, `RELAY` by a relay file.
    words: &'static str,
    /// Command that runs at the far end, and its thread.
    far: Option<(&'static str, &'static str)>,
    /// Name of the thread.
    thread: &'static str,
    /// Allowed system calls, by which it waits, sends or receives.
    calls: &'static [&'static str],
    /// Smallest number of calls in the examined part.
    least: u64,
}

const TALK: (&str, &str) = ("talk v0 --interval 2ms", "talk");
const PUBLISH: (&str, &str) = ("publish v0 --streams 2 --rate 400", "publish");
const REFLECTOR: (&str, &str) = ("reflect v1 --role reflector --engine block", "reflector");
const INITIATOR: (&str, &str) = ("reflect v0 --role initiator --engine block --interval 2ms", "initiator");

/// A relay of the stream below.
const RELAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/relay.toml");

/// The same relay in three threads, which share CPU 0, because every machine has it.
const RELAY_APART: &str = "relay RELAY v1 --cpu receive=0,functions=0,output=0";

/// Sender of samples for a relay.
const SAMPLES: (&str, &str) = ("publish v0 --streams 1 --rate 4000", "publish");

/// A relay that answers a ping, and two that decide side by side.
const MIRROR: (&str, &str) = (
    concat!("relay ", env!("CARGO_MANIFEST_DIR"), "/data/mirror.toml v1"),
    "relay",
);
const TWO_RELAYS: (&str, &str) = (
    concat!(
        "publish v0 --goose ",
        env!("CARGO_MANIFEST_DIR"),
        "/data/two-relays.toml"
    ),
    "publish-goose",
);

const CASES: [Case; 25] = [
    Case {
        probe: "wakeup",
        words: "wakeup --cpus 0 --interval 2ms",
        far: None,
        thread: "wakeup/0",
        calls: &["clock_nanosleep"],
        least: 80,
    },
    Case {
        probe: "noise",
        words: "noise --cpus 0",
        far: None,
        thread: "noise/0",
        calls: &[],
        least: 0,
    },
    Case {
        probe: "talk",
        words: "talk v0 --interval 2ms --spin-ahead 100us",
        far: None,
        thread: "talk",
        calls: &["clock_nanosleep", "sendto"],
        least: 200,
    },
    Case {
        probe: "listen",
        words: "listen v1 --interval 2ms",
        far: Some(TALK),
        thread: "listen",
        calls: &["ppoll"],
        least: 40,
    },
    Case {
        probe: "listen",
        words: "listen v1 --interval 2ms --receive spin",
        far: Some(TALK),
        thread: "listen",
        calls: &[],
        least: 0,
    },
    Case {
        probe: "reflect",
        words: "reflect v0 --role initiator --interval 2ms --stamps off",
        far: Some(REFLECTOR),
        thread: "initiator",
        calls: &["clock_nanosleep", "sendto"],
        least: 80,
    },
    Case {
        probe: "reflect",
        words: "reflect v0 --role initiator --interval 0",
        far: Some(REFLECTOR),
        thread: "initiator",
        calls: &["sendto", "clock_nanosleep"],
        least: 80,
    },
    // The stamps of sent frames come through the error queue.
    Case {
        probe: "reflect",
        words: "reflect v0 --role initiator --interval 2ms --engine block --stamps software",
        far: Some(REFLECTOR),
        thread: "initiator",
        calls: &["clock_nanosleep", "sendto", "recvmsg", "ppoll"],
        least: 80,
    },
    Case {
        probe: "reflect",
        words: "reflect v0 --role initiator --interval 2ms --engine packet-xdp",
        far: Some(REFLECTOR),
        thread: "initiator",
        calls: &["clock_nanosleep", "sendto"],
        least: 80,
    },
    Case {
        probe: "reflect",
        words: "reflect v0 --role initiator --interval 2ms --engine xdp",
        far: Some(REFLECTOR),
        thread: "initiator",
        calls: &["clock_nanosleep", "sendto"],
        least: 80,
    },
    Case {
        probe: "reflect",
        words: "reflect v1 --role reflector",
        far: Some(INITIATOR),
        thread: "reflector",
        // It sleeps through the rests that the initiator announces.
        calls: &["sendto", "clock_nanosleep"],
        least: 40,
    },
    Case {
        probe: "publish",
        words: "publish v0 --streams 2 --rate 400",
        far: None,
        thread: "publish",
        calls: &["clock_nanosleep", "sendmmsg"],
        least: 80,
    },
    Case {
        probe: "publish",
        words: "publish v0 --streams 2 --rate 400 --engine xdp",
        far: None,
        thread: "publish",
        calls: &["clock_nanosleep", "sendto"],
        least: 80,
    },
    Case {
        probe: "replay",
        words: "publish v0 --replay FILE --rate 400",
        far: None,
        thread: "replay",
        calls: &["clock_nanosleep", "sendmmsg"],
        least: 80,
    },
    Case {
        probe: "subscribe",
        words: "subscribe v1 --rate 400",
        far: Some(PUBLISH),
        thread: "subscribe",
        calls: &["ppoll"],
        least: 80,
    },
    Case {
        probe: "subscribe",
        words: "subscribe v1 --rate 400 --receive spin --record",
        far: Some(PUBLISH),
        thread: "subscribe",
        calls: &[],
        least: 0,
    },
    Case {
        probe: "relay",
        words: "relay RELAY v1",
        far: Some(SAMPLES),
        thread: "relay",
        calls: &["clock_nanosleep", "sendto"],
        least: 80,
    },
    // It shares its CPU with the functions, so it gathers frames after each wake-up.
    Case {
        probe: "relay",
        words: RELAY_APART,
        far: Some(SAMPLES),
        thread: "relay-receive",
        calls: &["ppoll", "clock_nanosleep"],
        least: 80,
    },
    // A change wakes the sending thread, if it sleeps.
    Case {
        probe: "relay",
        words: RELAY_APART,
        far: Some(SAMPLES),
        thread: "relay-functions",
        calls: &["clock_nanosleep", "futex"],
        least: 80,
    },
    Case {
        probe: "relay",
        words: RELAY_APART,
        far: Some(SAMPLES),
        thread: "relay-output",
        calls: &["futex", "sendto"],
        least: 5,
    },
    Case {
        probe: "trip",
        words: "trip v0 --goose NONE --profile F400S1I4U4 --spin-ahead 100us",
        far: None,
        thread: "trip-publish",
        calls: &["clock_nanosleep", "sendto"],
        least: 400,
    },
    Case {
        probe: "trip",
        words: "trip v1 --goose NONE --profile F400S1I4U4 --receive spin",
        far: Some(PUBLISH),
        thread: "trip-listen",
        calls: &[],
        least: 0,
    },
    // The stamps of sent frames come through the error queue.
    Case {
        probe: "ping_pong",
        words: "trip v0 --ping-pong --goose MIRRORLD0/LLN0$GO$gcbPong --cases none --pause 1ms",
        far: Some(MIRROR),
        thread: "ping",
        calls: &["sendto", "ppoll", "recvmsg", "clock_nanosleep"],
        least: 80,
    },
    Case {
        probe: "watch",
        words: "trip v1 --watch MAINLD0/LLN0$GO$gcbTrip,PILOTLD0/LLN0$GO$gcbTrip",
        far: Some(TWO_RELAYS),
        thread: "watch",
        calls: &["ppoll"],
        least: 20,
    },
    Case {
        probe: "observe",
        words: "trip v1 --observe change:20% --goose NONE",
        far: Some(SAMPLES),
        thread: "observe",
        calls: &["ppoll"],
        least: 80,
    },
];

/// Calls of a thread that has waited long without a frame: it sleeps, and checks every 100 ms that the interface still exists. A stall of the far end
/// can cause this in a test; nothing is measured then.
const IN_VAIN: [&str; 2] = ["ppoll", "getsockname"];

/// Largest number of such calls in a second.
const MOST_IN_VAIN: u64 = 20;

/// Number of seconds that are examined until there are enough calls, because the machine may stand still for half a second.
const LOOKS: usize = 4;

/// Probes without a measuring thread: the kernel counts, and an ordinary thread reads the counts at the end of each span.
const WITHOUT: [&str; 1] = ["trace"];

#[test]
fn every_probe_is_watched() {
    for about in probes::LIST {
        let watched = CASES.iter().any(|case| case.probe == about.name);
        assert_ne!(watched, WITHOUT.contains(&about.name), "{}", about.name);
    }
}

#[test]
fn measuring_threads_make_no_other_system_call() {
    if !root_or_skip("measuring_threads_make_no_other_system_call") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let capture = capture(directory.path());
    for case in &CASES {
        let namespace = namespace();
        let far = case.far.map(|(words, thread)| {
            let mut far = begin(&namespace, directory.path(), words);
            until_thread(&mut far, thread);
            if [PUBLISH.0, TALK.0, SAMPLES.0].contains(&words) {
                until_sent(&far, "v0", 20);
            }
            far
        });
        let mut looks = (0..LOOKS).map(|_| watched(case, &namespace, directory.path(), &capture));
        let enough = looks.find(|calls| {
            assert_no_other(case, calls);
            calls.values().sum::<u64>() >= case.least
        });
        assert!(enough.is_some(), "{}: fewer than {} calls", case.words, case.least);
        if let Some(far) = far {
            signal(&far, Signal::INT);
            wait(far, &["far end"]);
        }
    }
}

fn assert_no_other(case: &Case, calls: &BTreeMap<String, u64>) {
    let in_vain = |call: &str, n: u64| case.far.is_some() && IN_VAIN.contains(&call) && n <= MOST_IN_VAIN;
    let others = calls
        .iter()
        .filter(|(call, n)| !case.calls.contains(&call.as_str()) && !in_vain(call, **n));
    assert_eq!(others.count(), 0, "{}: {calls:?}", case.words);
}

/// The arguments of a command whose run goes into this new file.
fn options(out: &Path, words: &str) -> Vec<String> {
    let _ = std::fs::remove_file(out);
    let more = "--policy other --quiet --json --no-flight-recorder --out";
    let mut all: Vec<String> = words.split(' ').chain(more.split(' ')).map(str::to_owned).collect();
    all.push(out.display().to_string());
    all
}

fn begin(namespace: &NetNs, directory: &Path, words: &str) -> Running {
    let all = options(&directory.join("far.triptime"), &format!("{words} --duration 60s"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    namespace.run(|| start(&all)).expect("a thread in the namespace")
}

/// A capture of a quarter of a second with a frame every 2.5 ms.
fn capture(directory: &Path) -> String {
    let path = directory.join("sent.pcapng").display().to_string();
    let namespace = namespace();
    let words = format!("publish v0 --rate 400 --duration 250ms --capture-all --capture {path}");
    let all = options(&directory.join("sent.triptime"), &words);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let sent = namespace.run(|| start(&all)).expect("a thread in the namespace");
    assert!(wait(sent, &all).status.success());
    path
}

/// Calls of the measuring thread, in the middle of the measurement.
fn watched(case: &Case, namespace: &NetNs, directory: &Path, capture: &str) -> BTreeMap<String, u64> {
    let trace = directory.join("trace");
    let words = case.words.replace("FILE", capture).replace("RELAY", RELAY) + " --duration 1s";
    let mut command = Command::new("strace");
    command.args(["-f", "-Y", "-ttt", "-o"]).arg(&trace).arg(binary());
    let all = options(&directory.join("watched.triptime"), &words);
    command.args(all).stdin(Stdio::null());
    let output = namespace.run(|| command.output());
    let output = output.expect("a thread in it").expect("strace is installed");
    // A test set to which no relay answers has measured nothing. The limits of a relay that answers are not checked here.
    let may_be: &[i32] = match case.probe {
        "trip" => &[3],
        "ping_pong" | "watch" | "observe" => &[0, 1, 3],
        _ => &[0],
    };
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| may_be.contains(&status)),
        "{words}: {}",
        stderr(&output)
    );
    middle(&std::fs::read_to_string(&trace).expect("a trace"), case.thread)
}

/// The calls of the thread of that name between the tenth and the ninth tenth of its measuring. The measurement begins and ends with a reading of the
/// thread's CPU time.
fn middle(trace: &str, thread: &str) -> BTreeMap<String, u64> {
    let calls: Vec<(f64, &str)> = trace.lines().filter_map(|line| call(line, thread)).collect();
    let marks: Vec<f64> = calls
        .iter()
        .filter(|(_, name)| *name == "getrusage")
        .map(|(at, _)| *at)
        .collect();
    let [begin, .., end] = marks[..] else {
        panic!("{thread} did not look at its usage at both ends: {marks:?}");
    };
    let tenth = (end - begin) / 10.0;
    let mut counts = BTreeMap::new();
    for (at, name) in calls {
        if at > begin + tenth && at < end - tenth {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

/// Instant and name of the call of that thread in a line of the trace: `1234<wakeup/0> 1700000000.123456 clock_nanosleep(...`.
fn call<'a>(line: &'a str, thread: &str) -> Option<(f64, &'a str)> {
    let (_, behind) = line.split_once('<')?;
    let (name, behind) = behind.split_once("> ")?;
    let (at, call) = behind.trim_start().split_once(' ')?;
    let is_call = name == thread && !call.starts_with(['<', '+', '-']);
    let name = call.split('(').next()?;
    is_call.then(|| at.parse().ok().map(|at| (at, name))).flatten()
}
