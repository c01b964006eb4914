//! Run files with the size of runs of the shipped plans and invented samples: the same numbers of series, windows, individually stored samples, and
//! events.

use model::fact::SWITCH;
use model::{Cause, Counters, Event, EventKind, Explanation, Extent, Part};
use model::{RunInfo, RunState, SeriesId, SeriesSpec, Spike, Window};
use stats::Histogram;
use std::path::Path;
use store::{Batch, RunWriter};
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;

/// Number of individually stored samples of a series.
const SPIKES: u64 = 100;

/// Number of different values in a window.
const VALUES: u64 = 400;

/// Size of a plan's run.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    streams: u64,
    /// Length of all windows together, and of one window.
    seconds: u64,
    window_s: u64,
    /// Events of the relay while the trips are timed.
    relay_events: u64,
    /// Of the invented samples, and how many times longer than usual they are.
    seed: u64,
    times: u64,
}

/// Size of the plan `substation`, cut to ten minutes.
pub(crate) const SUBSTATION: Shape = Shape {
    streams: 20,
    seconds: 600,
    window_s: 20,
    relay_events: 8_000,
    seed: 0,
    times: 1,
};

/// Size of the plan `quick`.
pub(crate) const QUICK: Shape = Shape {
    streams: 8,
    seconds: 15,
    window_s: 1,
    relay_events: 800,
    seed: 0,
    times: 1,
};

impl Shape {
    /// The same size with other samples, so many times longer.
    pub(crate) const fn again(self, seed: u64, times: u64) -> Self {
        Self { seed, times, ..self }
    }

    /// Writes a run file of this size; returns the number of its series.
    pub(crate) fn write(&self, path: &Path) -> usize {
        let info = RunInfo {
            id: "18eab2807ce6fe84-1a94".into(),
            command: "qualify".into(),
            arguments: vec!["triptime".into(), "qualify".into()],
            tool_version: "0".into(),
            started: Realtime::from_ns(1_780_000_000_000_000_000),
            window_ns: self.window_s * SECOND_NS,
        };
        let mut writer = RunWriter::create(path, &info, None).expect("a run file");
        let names = self.names();
        let facts = testing::synthetic::facts();
        writer.add_facts(&facts).expect("facts");
        let switch = SWITCH.fact(Ok("bridge".to_owned()), "rtnetlink(7)");
        writer.add_facts(&[switch]).expect("the switch");
        for (number, name) in (0..).zip(&names) {
            let id = writer.add_series(&spec(name)).expect("a series");
            writer.write(&self.samples(id, number)).expect("written");
        }
        let events = Batch {
            events: self.events(),
            ..Batch::default()
        };
        writer.write(&events).expect("events");
        writer
            .finish(RunState::Complete, self.seconds * SECOND_NS)
            .expect("finished");
        names.len()
    }

    fn names(&self) -> Vec<String> {
        let relay = format!("bays{}", self.streams);
        let mut names: Vec<String> = [
            "wakeup/cpu1",
            "noise/cpu1",
            "turnaround/reflect",
            "rtt/reflect",
            "delivery/subscribe",
            "publish/lateness",
            "trip/overcurrent",
            "security/load",
            "security/inrush",
        ]
        .map(str::to_owned)
        .to_vec();
        names.extend([format!("task/{relay}"), format!("delivery/{relay}")]);
        for stage in ["receive", "align", "measure", "decide", "send"] {
            names.push(format!("task-stage/{relay}/{stage}"));
        }
        for stream in 1..=self.streams {
            for hop in [
                "nic-to-port",
                "port-to-edge",
                "nic-to-edge",
                "edge-to-app",
                "nic-to-app",
            ] {
                names.push(format!("hop/{hop}/MU{stream:02}"));
            }
            for kind in ["spacing", "arrival", "age"] {
                names.push(format!("{kind}/MU{stream:02}"));
                names.push(format!("{kind}/{relay}-MU{stream:02}"));
                names.push(format!("{kind}/{relay}-load-MU{stream:02}"));
            }
            names.extend(["", "-load"].map(|part| format!("use/{relay}{part}-MU{stream:02}")));
        }
        names
    }

    fn samples(&self, series: SeriesId, number: u64) -> Batch {
        let mut dice = Dice(self.seed + number);
        let mut batch = Batch::default();
        let windows = self.seconds / self.window_s;
        for window in 0..windows {
            // Late samples are distributed over the windows in turn.
            let late = (window..SPIKES).step_by(usize::try_from(windows).expect("small"));
            let late: Vec<Spike> = late.map(|n| self.late(series, window, n, &mut dice)).collect();
            batch.windows.push(self.window(series, window, &late, &mut dice));
            batch.spikes.extend(late);
        }
        batch
    }

    fn late(&self, series: SeriesId, window: u64, number: u64, dice: &mut Dice) -> Spike {
        let length_ns = self.window_s * SECOND_NS;
        let at_ns = window * length_ns + dice.below(length_ns);
        let value_ns = i64::try_from(self.times * (200_000 + dice.below(3_000_000))).expect("small");
        Spike {
            series,
            at_ns,
            value_ns,
            cpu: Some(1),
            sequence: Some(at_ns / 250_000),
            explanation: Some(explanation(number, value_ns)),
        }
    }

    fn window(&self, series: SeriesId, window: u64, late: &[Spike], dice: &mut Dice) -> Window {
        let usual = (0..VALUES).map(|_| self.times * (20_000 + dice.below(40_000)));
        let values: Vec<u64> = usual
            .chain(late.iter().map(|spike| spike.value_ns.unsigned_abs()))
            .collect();
        let mut histogram = Histogram::new();
        for value in &values {
            histogram.record(*value);
        }
        let whole = |ns: Option<&u64>| ns.map(|ns| i64::try_from(*ns).expect("small"));
        Window {
            series,
            start_ns: window * self.window_s * SECOND_NS,
            end_ns: (window + 1) * self.window_s * SECOND_NS,
            counters: Counters {
                expected: values.len() as u64,
                received: values.len() as u64,
                ..Counters::default()
            },
            sum_ns: values.iter().map(|value| i128::from(*value)).sum(),
            min_ns: whole(values.iter().min()),
            max_ns: whole(values.iter().max()),
            histogram,
        }
    }

    fn events(&self) -> Vec<Event> {
        let event = |kind: EventKind, n: u64, of: u64, text: String| Event {
            at_ns: n * self.seconds * SECOND_NS / of,
            since_ns: None,
            kind,
            series: None,
            text,
        };
        let relay = (0..self.relay_events).map(|n| {
            event(
                EventKind::Relay,
                n,
                self.relay_events,
                format!("F1: bay {}: 51-1 picked up", n % 20),
            )
        });
        let steal = (0..self.seconds).map(|n| {
            let text = "cpu1: the hypervisor ran something else for about 10 ms".to_owned();
            event(EventKind::Steal, n, self.seconds, text)
        });
        relay.chain(steal).collect()
    }
}

fn spec(name: &str) -> SeriesSpec {
    SeriesSpec {
        what: "due instant -> the application has the sample".into(),
        interval_ns: Some(250_000.0),
        settings: vec![("cpu".into(), "1".into()), ("policy".into(), "fifo:60".into())],
        ..SeriesSpec::named(name)
    }
}

fn explanation(number: u64, value_ns: i64) -> Explanation {
    let causes = [Cause::Hypervisor, Cause::Thread, Cause::Softirq];
    let part = |what: &str| Part {
        what: what.to_owned(),
        ns: value_ns.unsigned_abs() / 2,
    };
    Explanation {
        cause: causes[usize::try_from(number % 3).expect("small")],
        text: format!("thread worker-{number} had CPU 1 for {value_ns} ns, and its steal counter moved"),
        extent: Extent::OneCpu,
        stages: vec![part("timer interrupt"), part("switch-in")],
        occupants: vec![part(&format!("thread worker-{number}")), part("softirq NET_RX")],
        unexplained_ns: 0,
        around: vec!["steal time of CPU 1: 10 ms".to_owned()],
    }
}

/// Pseudorandom numbers, the same in each run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
