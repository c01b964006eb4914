//! Simulated runs, equal on every machine: for tests, and for viewing the report without a lab.

use model::{
    Cause, Counters, Event, EventKind, Explanation, Extent, Fact, Part, Rows, RunInfo, RunState, RunView, SeriesClock,
    SeriesId, SeriesSpec, SeriesView, Spike, WindowRow,
};
use stats::Histogram;
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;

/// A small random generator (Knuth's MMIX constants) with a fixed seed, so that tests are reproducible.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) / ((1u64 << 53) as f64)
    }

    /// Roughly normal with deviation 1: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

/// Shape of a simulated series.
pub struct Shape {
    /// Name of the series.
    pub name: String,
    /// Total number of samples.
    pub samples: u64,
    /// Seconds, one window each.
    pub seconds: u64,
    /// Median of the values.
    pub median_ns: f64,
    /// Deviation of the logarithm.
    pub spread: f64,
    /// The largest sample; it is in the window after two thirds of the time.
    pub max_ns: i64,
    /// Seed: another one gives another series.
    pub seed: u64,
}

/// A series of `samples` around a third of `max_ns`, none larger than that, over `seconds` windows of a second.
pub fn series(name: &str, samples: u64, max_ns: i64, seconds: u64) -> SeriesView {
    shaped(&Shape {
        name: name.to_owned(),
        samples,
        seconds,
        median_ns: max_ns as f64 / 3.0,
        spread: 0.12,
        max_ns,
        seed: 1,
    })
}

/// A series of the given shape.
pub fn shaped(shape: &Shape) -> SeriesView {
    let mut dice = Dice(shape.seed);
    let mut whole = Histogram::new();
    let mut part = Histogram::new();
    let mut view = SeriesView {
        id: SeriesId(0),
        spec: spec(&shape.name),
        counters: Counters::default(),
        sum_ns: 0,
        min_ns: None,
        max_ns: None,
        spikes_dropped: 0,
        causes: Vec::new(),
        histogram: Histogram::new(),
        windows: Rows::default(),
        spikes: Rows::default(),
        spikes_kept: 0,
    };
    for second in 0..shape.seconds {
        let share = shape.samples / shape.seconds + u64::from(second < shape.samples % shape.seconds);
        if share > 0 {
            let worst = (second == shape.seconds * 2 / 3).then_some(shape.max_ns);
            one_window(shape, &mut dice, &mut part, &mut view, second, share, worst);
            whole.merge(&part);
            part.reset();
        }
    }
    view.spikes.sort_by_key(|spike| -spike.value_ns);
    view.spikes.truncate(100);
    view.spikes_kept = view.spikes.len() as u64;
    view.histogram = whole;
    view
}

fn one_window(
    shape: &Shape,
    dice: &mut Dice,
    part: &mut Histogram,
    view: &mut SeriesView,
    second: u64,
    share: u64,
    worst: Option<i64>,
) {
    let draws = share.min(300);
    let mut sum = 0i128;
    let (mut min, mut max) = (i64::MAX, i64::MIN);
    let mut left = share;
    for draw in 0..draws {
        // A longer tail in a small share of samples, as with interrupts, limited to the maximum. The last draw represents the rest.
        let tail = if dice.roll() < 0.004 {
            1.0 + 0.8 * dice.roll()
        } else {
            0.0
        };
        let value = shape.median_ns * (shape.spread * dice.normal() + tail).exp();
        let mut value = (value as i64).clamp(1, (shape.max_ns - 1).max(1));
        let mut weight = if tail > 0.0 { 1 } else { share / draws };
        if let (Some(worst), 0) = (worst, draw) {
            (value, weight) = (worst, 1);
        } else if draw + 1 == draws {
            (value, weight) = (shape.median_ns as i64, left);
        }
        left -= weight;
        part.record_n(value.unsigned_abs(), weight);
        sum += i128::from(value) * i128::from(weight);
        (min, max) = (min.min(value), max.max(value));
    }
    let start_ns = second * SECOND_NS;
    let received = part.count();
    let is_watched = view.spec.family() == "noise";
    let counters = Counters {
        expected: received,
        received,
        watched_ns: if is_watched { SECOND_NS } else { 0 },
        ..Counters::default()
    };
    view.counters.add(&counters);
    view.sum_ns += sum;
    view.min_ns = Some(view.min_ns.map_or(min, |old| old.min(min)));
    view.max_ns = Some(view.max_ns.map_or(max, |old| old.max(max)));
    view.spikes.push(Spike {
        series: view.id,
        at_ns: start_ns + (dice.roll() * 1e9) as u64,
        value_ns: max,
        cpu: Some(1),
        sequence: Some(second * share + share / 2),
        explanation: None,
    });
    view.windows.push(WindowRow {
        start_ns,
        end_ns: start_ns + SECOND_NS,
        counters,
        samples: received,
        sum_ns: sum,
        mean_ns: Some(sum as f64 / received as f64),
        min_ns: Some(min),
        max_ns: Some(max),
        p50_ns: part.scheduled(None, 0).supported_quantile(0.5),
        p99_ns: part.scheduled(None, 0).supported_quantile(0.99),
        p999_ns: part.scheduled(None, 0).supported_quantile(0.999),
    });
}

/// Adds a sample that is larger than all others, in the last window.
pub fn add_worst(series: &mut SeriesView, ns: i64) {
    let one = Counters {
        expected: 1,
        received: 1,
        ..Counters::default()
    };
    series.histogram.record(ns.unsigned_abs());
    series.counters.add(&one);
    series.sum_ns += i128::from(ns);
    series.max_ns = Some(ns);
    if let Some(window) = series.windows.last_mut() {
        window.counters.add(&one);
        window.samples += 1;
        window.sum_ns += i128::from(ns);
        window.mean_ns = Some(window.sum_ns as f64 / window.samples as f64);
        window.max_ns = Some(ns);
    }
}

fn spec(name: &str) -> SeriesSpec {
    let family = name.split('/').next().unwrap_or_default();
    let (what, clock, interval_ns) = match family {
        "wakeup" => (
            "Due instant of a cycle to the instant the thread runs.",
            SeriesClock::Monotonic,
            250_000.0,
        ),
        "rtt" => (
            "Just before the send call to just after the reflected frame is received; not halved.",
            SeriesClock::Monotonic,
            250_000.0,
        ),
        "publish" => (
            "Due instant of a sample to the return of its send call.",
            SeriesClock::Monotonic,
            208_333.333,
        ),
        "arrival" => (
            "Due instant of a sample to the kernel's receive time stamp.",
            SeriesClock::Realtime,
            208_333.333,
        ),
        "delivery" => (
            "The kernel's receive time stamp to the application having the frame.",
            SeriesClock::Realtime,
            208_333.333,
        ),
        "age" => (
            "Due instant of a sample to the application having it.",
            SeriesClock::Realtime,
            208_333.333,
        ),
        _ => (
            "Time between two consecutive frames of a stream.",
            SeriesClock::Monotonic,
            208_333.333,
        ),
    };
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    SeriesSpec {
        what: what.to_owned(),
        clock,
        interval_ns: Some(interval_ns),
        threshold_ns: None,
        settings: vec![
            setting("policy", "SCHED_FIFO 80"),
            setting("cpu", "1"),
            setting("interval", "250 µs"),
        ],
        ..SeriesSpec::named(name)
    }
}

/// A run around these series, complete and without events.
pub fn run(mut series: Vec<SeriesView>) -> RunView {
    for (number, one) in (0..).zip(series.iter_mut()) {
        one.id = SeriesId(number);
        for spike in one.spikes.iter_mut() {
            spike.series = SeriesId(number);
        }
    }
    let duration_ns = series
        .iter()
        .flat_map(|one| one.windows.last())
        .map(|last| last.end_ns)
        .max()
        .unwrap_or(0);
    RunView {
        info: RunInfo {
            id: "20261121T020000Z-7f3a".to_owned(),
            command: "qualify".to_owned(),
            arguments: ["triptime", "qualify", "quick"].map(str::to_owned).to_vec(),
            tool_version: "0.1.0".to_owned(),
            started: Realtime::from_ns(1_795_226_400_000_000_000),
            window_ns: SECOND_NS,
        },
        state: RunState::Complete,
        duration_ns,
        file: "runs/20261121T020000Z-qualify.triptime".into(),
        series,
        events: Rows::default(),
        along: Vec::new(),
        shots: Vec::new(),
        actions: Vec::new(),
        readings: Vec::new(),
        changes: Vec::new(),
        watches: Vec::new(),
        facts: Vec::new(),
        last_facts: Vec::new(),
        lacks: Vec::new(),
        lacks_log: None,
    }
}

/// A run like those of `qualify`: wake-up, round trip, and `streams` streams of sampled values over `seconds`.
pub fn qualify(streams: u64, seconds: u64) -> RunView {
    let shape = |name: String, per_second: u64, median_ns: f64, spread: f64, max_ns: i64, seed: u64| {
        shaped(&Shape {
            name,
            samples: per_second * seconds,
            seconds,
            median_ns,
            spread,
            max_ns,
            seed,
        })
    };
    let mut all = vec![
        shape("wakeup/cpu1".into(), 4000, 9_200.0, 0.22, 84_310, 11),
        shape("wakeup/cpu2".into(), 4000, 8_100.0, 0.25, 61_872, 12),
        shape("rtt/reflect".into(), 4000, 21_400.0, 0.18, 187_204, 13),
        shape("publish/lateness".into(), 4800 * streams, 11_300.0, 0.30, 96_407, 14),
    ];
    for stream in 1..=streams {
        let worst = i64::try_from(stream).unwrap_or(1) * 2_113;
        all.push(shape(
            format!("arrival/MU{stream:02}"),
            4800,
            27_000.0,
            0.24,
            143_090 + worst,
            20 + stream,
        ));
        all.push(shape(
            format!("delivery/MU{stream:02}"),
            4800,
            9_700.0,
            0.28,
            77_501 + worst,
            400 + stream,
        ));
        all.push(shape(
            format!("age/MU{stream:02}"),
            4800,
            37_400.0,
            0.22,
            191_660 + worst,
            800 + stream,
        ));
        all.push(shape(
            format!("spacing/MU{stream:02}"),
            4800,
            208_333.0,
            0.05,
            331_002 + worst,
            1200 + stream,
        ));
    }
    let mut run = run(all);
    run.events = events(&run, seconds * SECOND_NS).into();
    run.facts = facts();
    for spike in run.series[0].spikes.iter_mut().take(3) {
        spike.explanation = Some(explanation());
    }
    run
}

fn events(run: &RunView, duration_ns: u64) -> Vec<Event> {
    let event = |share: f64, kind: EventKind, series: Option<SeriesId>, text: &str| Event {
        at_ns: (duration_ns as f64 * share) as u64,
        since_ns: None,
        kind,
        series,
        text: text.to_owned(),
    };
    let wakeup = run.series.first().map(|series| series.id);
    vec![
        event(0.02, EventKind::StepStarted, None, "wakeup on cpu1-2"),
        event(0.10, EventKind::LoadStarted, None, "scheduler load on cpu0, 20 groups"),
        event(0.41, EventKind::Steal, wakeup, "cpu1: 10 ms of steal time"),
        event(0.60, EventKind::LoadStarted, None, "memory load on cpu0, 512 MB"),
        event(0.90, EventKind::LoadStopped, None, "memory load on cpu0"),
        event(0.92, EventKind::LoadStopped, None, "scheduler load on cpu0"),
        event(0.98, EventKind::StepStopped, None, "wakeup on cpu1-2"),
    ]
}

/// Facts about a fictional machine.
pub fn facts() -> Vec<Fact> {
    let known = |group: &str, name: &str, value: &str, source: &str| Fact {
        group: group.to_owned(),
        name: name.to_owned(),
        value: Ok(value.to_owned()),
        source: source.to_owned(),
    };
    let mut facts = vec![
        known("kernel", "host name", "ied-host-07", "/proc/sys/kernel/hostname"),
        known("kernel", "release", "6.18.0-rt4-amd64", "/proc/sys/kernel/osrelease"),
        known("kernel", "preemption model", "PREEMPT_RT", "/sys/kernel/realtime"),
        known(
            "kernel",
            "command line",
            "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro isolcpus=managed_irq,domain,1-3 nohz_full=1-3 rcu_nocbs=1-3 quiet",
            "/proc/cmdline",
        ),
        known(
            "cpu",
            "model",
            "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz",
            "/proc/cpuinfo",
        ),
        known("cpu", "online", "0-3", "/sys/devices/system/cpu/online"),
        known(
            "cpu",
            "governor",
            "performance",
            "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        ),
        known(
            "virtualisation",
            "hypervisor",
            "kvm (KVM in /sys/class/dmi/id)",
            "/sys/class/dmi/id",
        ),
        known(
            "clock",
            "clock source",
            "kvm-clock",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
    ];
    facts.push(Fact {
        group: "cpu".to_owned(),
        name: "SMI count".to_owned(),
        value: Err("no right to read /dev/cpu/0/msr: needs CAP_SYS_RAWIO".to_owned()),
        source: "/dev/cpu/0/msr".to_owned(),
    });
    facts
}

/// An explanation of a spike held up by an interrupt and its softirq.
pub fn explanation() -> Explanation {
    let part = |what: &str, ns| Part {
        what: what.to_owned(),
        ns,
    };
    Explanation {
        cause: Cause::Softirq,
        text: "irq 131 (virtio1-input.0) 21 µs, softirq NET_RX 38 µs".to_owned(),
        extent: Extent::OneCpu,
        stages: vec![part("timer interrupt", 59_000), part("switch-in", 4_000)],
        occupants: vec![
            part("softirq NET_RX", 38_000),
            part("interrupt 131 virtio1-input.0", 21_000),
        ],
        unexplained_ns: 4_000,
        around: Vec::new(),
    }
}
