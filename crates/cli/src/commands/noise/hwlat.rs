//! Watches the hardware with the kernel's hwlat tracer, before the spinning starts.

use crate::failure::Failure;
use crate::run_file::Run;
use model::EventKind;
use session::SessionError;
use trace::{Hwlat, HwlatSample, Tracefs, Tracer};
use units::{CpuList, format_ns};

/// Refuses to start, before a run is made, if the kernel has no such tracer.
pub(super) fn check() -> Result<(), Failure> {
    let there = Tracefs::find().and_then(|tracefs| tracefs.need(Tracer::Hwlat));
    there.map_err(|error| Failure::CouldNotMeasure(format!("--hwlat: {error}")))
}

/// Runs the tracer for `ns`. Its findings become events of the run; returns all of them as the text of a setting.
pub(super) fn look(run: &mut Run, cpus: &CpuList, threshold_ns: u64, ns: u64) -> Result<String, SessionError> {
    let mut hwlat = Hwlat::start(&Tracefs::find()?, cpus, threshold_ns)?;
    let begun = std::time::Instant::now();
    let mut found = Found::default();
    run.runner().pass(ns, "looking at the hardware", |session| {
        for sample in hwlat.look()? {
            session.recorder.events().write(EventKind::Note, text(&sample));
            found.add(&sample);
        }
        Ok::<(), SessionError>(())
    })?;
    let above = format_ns(hwlat.threshold_ns() as f64);
    let span = format_ns(begun.elapsed().as_secs_f64() * 1e9);
    Ok(format!(
        "{} above {above} in {span} on CPU {cpus} ({})",
        found.text(),
        hwlat.settings()
    ))
}

/// Totals of all windows.
#[derive(Default)]
struct Found {
    windows: u64,
    longest_ns: u64,
    with_nmis: u64,
}

impl Found {
    fn add(&mut self, sample: &HwlatSample) {
        self.windows += 1;
        self.longest_ns = self.longest_ns.max(sample.longest_ns);
        self.with_nmis += u64::from(sample.nmis > 0);
    }

    fn text(&self) -> String {
        match self.windows {
            0 => "nothing".into(),
            windows => format!(
                "{windows} windows with gaps of up to {}, {} of them with non-maskable interrupts,",
                format_ns(self.longest_ns as f64),
                self.with_nmis
            ),
        }
    }
}

fn text(sample: &HwlatSample) -> String {
    let longest = format_ns(sample.longest_ns as f64);
    let count = match sample.count {
        Some(count) if count > 1 => format!("{count} gaps, the longest {longest},"),
        _ => format!("a gap of {longest}"),
    };
    let blame = match sample.nmis {
        0 => "the firmware or the hypervisor".to_owned(),
        nmis => format!("{nmis} non-maskable interrupts, the firmware or the hypervisor"),
    };
    format!("hwlat: cpu{}: {count} while interrupts were off: {blame}", sample.cpu)
}

#[cfg(test)]
mod tests {
    use super::{Found, text};
    use trace::HwlatSample;

    #[test]
    fn what_was_found_reads_well() {
        let sample = HwlatSample {
            cpu: 2,
            longest_ns: 12_000,
            count: Some(6),
            nmis: 0,
        };
        assert_eq!(
            text(&sample),
            "hwlat: cpu2: 6 gaps, the longest 12.0 µs, while interrupts were off: the firmware or the hypervisor"
        );
        let mut found = Found::default();
        assert_eq!(found.text(), "nothing");
        found.add(&sample);
        found.add(&HwlatSample {
            longest_ns: 3_000,
            count: None,
            nmis: 1,
            ..sample
        });
        assert_eq!(
            found.text(),
            "2 windows with gaps of up to 12.0 µs, 1 of them with non-maskable interrupts,"
        );
    }
}
