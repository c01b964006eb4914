//! Writes the report of a run that was never measured, for looking at the page without a lab:
//! `cargo run -p triptime-tests -- report.html [pass|fail|doubt|wakeup|many]`.

use model::{Event, EventKind, RunState, RunView};
use report::Report;
use report::about::About;
use report::limits::Profile;
use std::fs::File;
use std::io::BufWriter;
use testing::synthetic;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file is to be written?")?;
    let run = match arguments.next().as_deref() {
        None | Some("pass") => synthetic::qualify(8, 60),
        Some("fail") => failing(),
        Some("doubt") => doubtful(),
        Some("wakeup") => synthetic::run(vec![synthetic::series("wakeup/cpu1", 40_000, 84_310, 10)]),
        Some("many") => synthetic::qualify(100, 300),
        Some(other) => return Err(format!("{other}: pass, fail, doubt, wakeup or many").into()),
    };
    let report = Report::new(run, vec![Profile::find("substation")?]);
    std::fs::write(&path, report.html(&About::default(), None)?)?;
    report.write_json(&mut BufWriter::new(File::create(format!("{path}.json"))?))?;
    std::fs::write(format!("{path}.txt"), report.text(false, Some(path.as_ref())))?;
    Ok(())
}

/// One wake-up over the limit, and an early end.
fn failing() -> RunView {
    let mut run = synthetic::qualify(8, 60);
    let worst = 412_870;
    let wakeup = &mut run.series[1];
    wakeup.max_ns = Some(worst);
    wakeup.histogram.record(worst.unsigned_abs());
    wakeup.counters.received += 1;
    wakeup.counters.expected += 3;
    wakeup.counters.missed = 2;
    wakeup.spikes[0].value_ns = worst;
    wakeup.spikes[0].explanation = Some(synthetic::explanation());
    let window = wakeup.windows.len() * 2 / 3;
    wakeup.windows[window].max_ns = Some(worst);
    run.state = RunState::Interrupted;
    run
}

/// Lost samples and drops in our own socket.
fn doubtful() -> RunView {
    let mut run = synthetic::qualify(8, 60);
    for series in run
        .series
        .iter_mut()
        .filter(|series| series.spec.name.starts_with("age/MU0"))
        .take(2)
    {
        series.counters.expected += 12;
        series.counters.lost = 12;
    }
    run.events.push(Event {
        at_ns: 31_500_000_000,
        since_ns: None,
        kind: EventKind::SocketDrop,
        series: None,
        text: "24 frames dropped in the receive ring of dut0".to_owned(),
    });
    run
}
