//! The calibration for a person.

use super::Calibration;
use session::effect::OwnEffect;
use std::fmt::Write as _;
use sys::readout::Readout;
use units::{Ns, format_ns};

pub(super) fn text(calibration: &Calibration) -> String {
    let mut out = String::from("Clocks\n");
    for (cpu, clock) in &calibration.clocks {
        let line = match clock {
            Err(why) => format!("not known: {why}"),
            Ok(clock) => format!(
                "{}; wall clock {}; by a system call {}; counter {}; one clock from the other within {}",
                of(&clock.monotonic),
                of(&clock.realtime),
                Ns(clock.system_call_ns),
                Ns(clock.counter_ns),
                Ns(clock.apart_ns)
            ),
        };
        let _ = writeln!(out, "  cpu{cpu}  {line}");
    }
    out.push_str("\nEffect on the median wake-up\n");
    let effect = match &calibration.effects.0 {
        Ok(effect) => of_effect(effect),
        Err(why) => format!("not known: {why}"),
    };
    let _ = writeln!(out, "  {effect}");
    if !calibration.stamps.is_empty() {
        out.push_str("\nStamp to wire\n");
    }
    for one in &calibration.stamps {
        let _ = writeln!(out, "  {}  {}", one.interface, one.text());
    }
    let budgets = calibration.budgets.text();
    if !budgets.is_empty() {
        let _ = write!(out, "\n{budgets}");
        let _ = writeln!(
            out,
            "  For figures of 100 µs, without synchronisation between machines and without the lateness of a sender."
        );
    }
    out
}

/// A clock: `reading it 90 ns (99 %: 232 ns), in steps of 1 ns`.
fn of(clock: &Readout) -> String {
    let step = clock
        .step_ns
        .map_or_else(|| "not known".to_owned(), |ns| Ns(ns).to_string());
    format!("{} (99 %: {}) in steps of {step}", Ns(clock.mean_ns), Ns(clock.long_ns))
}

fn of_effect(effect: &OwnEffect) -> String {
    let mean = |blocks: &[f64]| blocks.iter().sum::<f64>() / blocks.len().max(1) as f64;
    let difference = effect.difference_ns().map_or_else(
        || "not known".to_owned(),
        |(mean, standard)| format!("{} ± {} (k = 2)", format_ns(mean), format_ns(2.0 * standard)),
    );
    let path = match &effect.no_flight {
        None => "probe, recorder and flight recorder".to_owned(),
        Some(why) => format!("probe and recorder; no flight recorder: {why}"),
    };
    format!(
        "cpu{}  {difference}: {} bare, {} with the whole path ({path}), {} pairs of blocks",
        effect.cpu,
        format_ns(mean(&effect.bare_ns)),
        format_ns(mean(&effect.whole_ns)),
        effect.bare_ns.len()
    )
}
