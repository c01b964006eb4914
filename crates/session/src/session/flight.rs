//! The flight recorder of a run: it explains late samples, and reports its own cost.

use model::{Fact, Question, QuestionKind};
use run::{Answer, Explain};
use std::time::{Duration, Instant};
use sys::thread::{Policy, RtThread};
use sys::wait::Wait;
use trace::flight::Packer;
use trace::{Cost, FlightRecorder, Osnoise, TraceError, Tracefs, Tracer};
use units::{Grid, format_ns};

/// How long the kernel's statistics are on, to measure the cost of an event.
const COST_SPAN: Duration = Duration::from_millis(100);

/// Wake-ups per block of the comparison with and without the recorder.
const BLOCK_CYCLES: u64 = 100;

/// Interval of these wake-ups in ns.
const BLOCK_INTERVAL_NS: u64 = 500_000;

/// Group of the inventory with the flight recorder's counts and cost.
const GROUP: &str = "flight recorder";

/// Fact with the kernel's own tracers, and the ones it was built without.
pub(super) fn tracers_fact() -> Fact {
    let tracers = Tracefs::find().and_then(|tracefs| tracefs.tracers());
    Fact {
        group: "kernel".into(),
        name: "tracers".into(),
        value: tracers
            .map(|tracers| tracers.describe())
            .map_err(|error| error.to_string()),
        source: "/sys/kernel/tracing/available_tracers".into(),
    }
}

/// Explains late samples by the kernel's events around them.
pub(super) struct Flight {
    recorder: FlightRecorder,
    packer: Packer,
    /// The osnoise tracer, or the reason why it is not used; `None`: it was not requested, or this kernel has none.
    osnoise: Option<Result<Osnoise, String>>,
    started: Instant,
    cost: Result<Cost, String>,
    effect: Option<Effect>,
}

/// Median wake-up latency in ns without and with the recorder, in blocks off, on, on, off.
struct Effect {
    cpu: u32,
    without_ns: [i64; 2],
    with_ns: [i64; 2],
}

impl Flight {
    /// Starts recording, after comparing wake-ups of `cpu` without and with it. Takes a third of a second. With `osnoise`, the
    /// kernel's tracer of that name is used as well, if there is one.
    ///
    /// # Errors
    /// Why it cannot run here, and the remedy.
    pub(super) fn start(cpu: Option<u32>, osnoise: bool) -> Result<Self, TraceError> {
        let before = cpu.and_then(median_wakeup);
        let mut recorder = FlightRecorder::start()?;
        let with = [cpu.and_then(median_wakeup), cpu.and_then(median_wakeup)];
        let after = recorder.while_paused(|| cpu.and_then(median_wakeup))?;
        let effect = match (cpu, before, with, after) {
            (Some(cpu), Some(before), [Some(first), Some(second)], Some(after)) => Some(Effect {
                cpu,
                without_ns: [before, after],
                with_ns: [first, second],
            }),
            _ => None,
        };
        Ok(Self {
            cost: recorder.cost(COST_SPAN).map_err(|error| error.to_string()),
            recorder,
            packer: Packer::default(),
            osnoise: osnoise.then(start_osnoise).flatten(),
            started: Instant::now(),
            effect,
        })
    }
}

fn start_osnoise() -> Option<Result<Osnoise, String>> {
    let tracefs = Tracefs::find().ok()?;
    // A tracer that is not built in is already among the facts.
    tracefs.need(Tracer::Osnoise).ok()?;
    Some(Osnoise::start(&tracefs).map_err(|error| format!("not used: {error}")))
}

impl Explain for Flight {
    fn watch(&mut self, cpu: u32, thread: i32) {
        // If this fails, wake-ups of real-time threads are still recorded.
        let _ = self.recorder.watch(cpu, thread);
        if let Some(Ok(osnoise)) = &mut self.osnoise {
            osnoise.watch(cpu, thread);
        }
    }

    fn observe(&mut self) {
        self.recorder.observe();
        if let Some(Ok(osnoise)) = &mut self.osnoise {
            osnoise.look();
        }
    }

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        let mut answer = match self.recorder.explain(question) {
            Ok(explained) => Answer {
                explanation: explained.explanation,
                flight: with_flight.then(|| self.packer.pack(&explained.events)),
            },
            Err(error) => Answer::unknown(question, &error.to_string()),
        };
        if let (Some(Ok(osnoise)), QuestionKind::Gap) = (&mut self.osnoise, question.kind) {
            let told = osnoise.between(question.cpu, question.from, question.to);
            answer.explanation.around.extend(told);
        }
        answer
    }

    fn summary(&mut self) -> Vec<Fact> {
        let seconds = self.started.elapsed().as_secs_f64();
        let events = self.recorder.events_recorded().map_err(|error| error.to_string());
        let rate = events.as_ref().map(|events| *events as f64 / seconds).ok();
        let fact = |name: &str, value, source: &str| Fact {
            group: GROUP.into(),
            name: name.into(),
            value,
            source: source.into(),
        };
        let recorded = events.map(|events| format!("{events}, {:.0} a second", events as f64 / seconds));
        let share = match (&self.cost, rate) {
            (Ok(cost), Some(rate)) => Ok(format!("{:.3} % of one CPU", cost.ns_per_event * rate / 1e7)),
            (Err(why), _) => Err(why.clone()),
            (Ok(_), None) => Err("events were not counted".into()),
        };
        let cost = self.cost.as_ref().map_err(String::clone);
        let cost = cost.map(|cost| format!("{:.0} ns, the kernel's own counting included", cost.ns_per_event));
        let effect = match &self.effect {
            Some(effect) => Ok(effect.text()),
            None => Err("no real-time thread could be started to measure it".into()),
        };
        let mut facts = vec![
            fact("engine", Ok(self.recorder.describe()), "bpf(2)"),
            fact("events", recorded, "its rings"),
            fact("cost of an event", cost, "BPF_ENABLE_STATS"),
            fact("cost in all", share, "cost of an event times events a second"),
            fact(
                "effect on the median wake-up",
                effect,
                "four blocks before the run: without it, with it, with it, without it",
            ),
        ];
        if let Some(osnoise) = &mut self.osnoise {
            let told = osnoise.as_mut().map_err(|why| why.clone()).and_then(Osnoise::totals);
            facts.push(fact("osnoise", told, "tracefs: osnoise, without its workload"));
        }
        facts
    }
}

impl Effect {
    fn text(&self) -> String {
        let mean = |pair: [i64; 2]| (pair[0] + pair[1]) as f64 / 2.0;
        let (without, with) = (mean(self.without_ns), mean(self.with_ns));
        let apart = (self.without_ns[0] - self.without_ns[1]).abs() as f64;
        format!(
            "{:+.2} us on cpu{}: {} without, {} with; two blocks without it differ by {}",
            (with - without) / 1e3,
            self.cpu,
            format_ns(without),
            format_ns(with),
            format_ns(apart)
        )
    }
}

/// Median wake-up latency in ns of a real-time thread on `cpu` over one block; `None` if it cannot be measured.
fn median_wakeup(cpu: u32) -> Option<i64> {
    bare_wakeups(cpu, BLOCK_INTERVAL_NS, BLOCK_CYCLES)
}

/// Median latency in ns of `cycles` wake-ups of a real-time thread on `cpu` that does nothing else; `None` if it cannot be measured.
pub(crate) fn bare_wakeups(cpu: u32, interval_ns: u64, cycles: u64) -> Option<i64> {
    let measure = move || {
        // Known to other runs as a thread of triptime.
        sys::thread::set_name("triptime-cost");
        let thread = RtThread {
            policy: Policy::Fifo(80),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        thread.enter().ok()?;
        let wait = Wait::default();
        let grid = Grid::every_ns(sys::clock::monotonic(), interval_ns);
        let mut latencies: Vec<i64> = (1..=cycles)
            .map(|cycle| wait.until(grid.due(cycle)) - grid.due(cycle))
            .collect();
        latencies.sort_unstable();
        latencies.get(latencies.len() / 2).copied()
    };
    std::thread::spawn(measure).join().ok()?
}
