//! Prints explained late wake-ups of this machine, live: `flight [SECONDS] [LIMIT_US] [CPU] [FILE.json]`.
//!
//! A real-time thread sleeps 1 ms at a time on the CPU; wake-ups later than the limit are explained. With a file, a trace for
//! ui.perfetto.dev is written at the end.

// Printing is the purpose of this example.
#![allow(clippy::print_stdout)]

use model::{Explanation, Question, QuestionKind};
use std::fs::File;
use std::io::BufWriter;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use sys::thread::{Policy, RtThread};
use trace::FlightRecorder;
use trace::perfetto::{Spike, write};
use units::{Ns, SignedNs};

/// Length of a cycle in ns.
const INTERVAL_NS: i64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (seconds, limit_us, cpu) = (number(1, 5)?, number(2, 100)?, number(3, 0)?);
    let cpu = u32::try_from(cpu)?;

    let recorder = FlightRecorder::start()?;
    println!("{}", recorder.describe());
    let (late, questions) = channel();
    let measuring = std::thread::spawn(move || measure(cpu, seconds, i64::try_from(limit_us * 1_000)?, &late));

    let mut spikes = Vec::new();
    let mut explaining_ns = 0;
    loop {
        match questions.recv_timeout(Duration::from_millis(50)) {
            Ok(question) => {
                recorder.watch(question.cpu, question.thread)?;
                let begin = sys::clock::monotonic();
                let answer = recorder.explain(&question)?;
                explaining_ns += sys::clock::monotonic() - begin;
                show(&question, &answer.explanation);
                spikes.push(Spike {
                    series: format!("wakeup/cpu{cpu}"),
                    cpu,
                    from: question.from,
                    to: question.to,
                    explanation: Some(answer.explanation),
                    events: answer.events,
                });
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => recorder.observe(),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let measured = measuring.join().map_err(|_| "the measuring thread panicked")?;
    measured.map_err(|error| error.to_string())?;
    println!(
        "{} events recorded, {} late wake-ups explained in {}",
        recorder.events_recorded()?,
        spikes.len(),
        SignedNs(explaining_ns)
    );
    match recorder.cost(Duration::from_secs(1)) {
        Ok(cost) => println!(
            "at most {:.0} ns an event (an empty program shows {:.0} ns), {:.0} events a second, {:.3} % of a CPU",
            cost.ns_per_event,
            cost.statistics_ns,
            cost.events_per_second,
            cost.share_of_a_cpu * 100.0
        ),
        Err(error) => println!("{error}"),
    }
    if let Some(file) = arguments.get(4) {
        write(&spikes, &mut BufWriter::new(File::create(file)?))?;
    }
    Ok(())
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Sleeps from due instant to due instant and passes on the late wake-ups.
fn measure(cpu: u32, seconds: u64, limit_ns: i64, late: &Sender<Question>) -> Result<(), Failure> {
    sys::thread::set_name("flight");
    let thread = RtThread {
        policy: Policy::Fifo(80),
        cpu: Some(cpu),
        stack_bytes: 64 * 1024,
    };
    thread.enter()?;
    let mut due = sys::clock::monotonic() + INTERVAL_NS;
    let end = due + i64::try_from(seconds)? * 1_000_000_000;
    while due < end {
        sys::wait::sleep_until(due);
        let now = sys::clock::monotonic();
        if now - due > limit_ns {
            late.send(Question {
                cpu,
                thread: sys::thread::number(),
                from: due,
                to: now,
                kind: QuestionKind::WakeUp,
            })?;
        }
        while due <= now {
            due = due + INTERVAL_NS;
        }
    }
    Ok(())
}

fn show(question: &Question, explanation: &Explanation) {
    println!(
        "{}  {}: {}",
        Ns(question.ns()),
        explanation.cause.word(),
        explanation.text
    );
    let list = |parts: &[model::Part]| {
        let parts = parts.iter().map(|part| format!("{} {}", part.what, Ns(part.ns)));
        parts.collect::<Vec<_>>().join(", ")
    };
    println!("    stages: {}", list(&explanation.stages));
    println!(
        "    had the CPU: {}; unexplained {}",
        list(&explanation.occupants),
        Ns(explanation.unexplained_ns)
    );
    println!(
        "    extent: {:?}; {}",
        explanation.extent,
        explanation.around.join("; ")
    );
}
