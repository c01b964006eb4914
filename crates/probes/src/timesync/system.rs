//! Time keeping apart from `ptp4l`: the kernel's view, the network card's clock, chrony.

use std::path::Path;
use std::process::{Command, Stdio};
use sys::phc::{Phc, PhcMethod};
use sys::timex::KernelClock;
use units::format_ns;

const SECOND_NS: i64 = 1_000_000_000;

/// Daemons that keep the time, by the names of their processes; units may have other names.
const DAEMONS: [&str; 5] = ["ptp4l", "phc2sys", "ts2phc", "timemaster", "chronyd"];

/// Names of the running daemons, each once.
pub(super) fn processes() -> Vec<&'static str> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut running: Vec<&str> = entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok())
        .filter_map(|name| DAEMONS.into_iter().find(|daemon| *daemon == name.trim_end()))
        .collect();
    running.sort_unstable();
    running.dedup();
    running
}

/// The kernel's view of its clock, as text.
pub(super) fn kernel_text(kernel: &KernelClock) -> String {
    let state = match kernel.unsynchronised {
        true => "not synchronised",
        false => "synchronised",
    };
    let (most, estimated) = (kernel.max_error_ns as f64, kernel.estimated_error_ns as f64);
    format!(
        "{state}, TAI {:+} s, error at most {}, estimated {}",
        kernel.tai_offset_s,
        format_ns(most),
        format_ns(estimated)
    )
}

/// Changes in the kernel's view, as text; without the usual growth of the error estimates.
pub(super) fn kernel_changes(before: &KernelClock, now: &KernelClock) -> Vec<String> {
    let mut changes = Vec::new();
    if before.unsynchronised != now.unsynchronised {
        changes.push(format!("the kernel's clock is now {}", kernel_text(now)));
    }
    if before.tai_offset_s != now.tai_offset_s {
        let (from, to) = (before.tai_offset_s, now.tai_offset_s);
        changes.push(format!("the kernel's TAI offset changed from {from} s to {to} s"));
    }
    for (was, is, what) in [
        (before.inserts_second, now.inserts_second, "a second is to be inserted"),
        (before.deletes_second, now.deletes_second, "a second is to be deleted"),
    ] {
        if is && !was {
            changes.push(format!(
                "leap second announced to the kernel: {what} at the end of the day"
            ));
        }
    }
    changes
}

/// The clock of the network card that `ptp4l` steers.
pub(super) struct CardClock {
    clock: Phc,
    /// Device of the clock.
    pub(super) path: String,
}

impl CardClock {
    /// Finds the clock of an interface in this network namespace.
    ///
    /// # Errors
    /// Reason why there is no clock to read, as text.
    pub(super) fn of(interface: &str) -> Result<Self, String> {
        let facts = sys::ethtool::read(interface).map_err(|error| error.to_string())?;
        let stamping = facts.stamping.map_err(|silence| format!("{interface}: {silence}"))?;
        let number = stamping
            .phc
            .ok_or_else(|| format!("{interface} has no PTP hardware clock"))?;
        let clock = Phc::open(number).map_err(|error| error.to_string())?;
        Ok(Self {
            clock,
            path: format!("/dev/ptp{number}"),
        })
    }

    /// Distance of the system clock from the card's clock in ns, beyond whole seconds (the card's clock runs on TAI), with the
    /// uncertainty and the method of the reading.
    pub(super) fn distance(&self) -> Result<(u64, u64, PhcMethod), String> {
        let read = self.clock.offset().map_err(|error| error.to_string())?;
        Ok((within_second(read.offset_ns), read.uncertainty_ns, read.method))
    }
}

/// Distance from the nearest whole second.
fn within_second(ns: i64) -> u64 {
    let rest = ns.rem_euclid(SECOND_NS);
    rest.min(SECOND_NS - rest).unsigned_abs()
}

/// Reference that chrony gives for its own clock (`local stratum`), if it serves time without following a source.
const LOCAL: &str = "7F7F0101";

/// State of chrony, as it reports it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chrony {
    /// Reference that chrony follows.
    pub(super) reference: String,
    /// Distance of the system clock from chrony's estimate of the true time, in ns.
    pub(super) offset_ns: f64,
    /// Leap status: `Normal`, `Not synchronised`…
    pub(super) leap: String,
}

impl Chrony {
    /// Queries chronyd through chronyc, which is installed with it and prints fields in a fixed order; chrony's own protocol
    /// changes with its versions. `None` if chronyd does not run or does not answer.
    pub(super) fn ask() -> Option<Self> {
        let program = ["/usr/bin/chronyc", "/usr/sbin/chronyc", "/bin/chronyc"];
        let program = program.into_iter().find(|path| Path::new(path).exists())?;
        let output = Command::new(program)
            .args(["-n", "-c", "tracking"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        Self::read(&String::from_utf8_lossy(&output.stdout))
    }

    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.trim_end().split(',').collect();
        let [id, address, _, _, offset, _, _, _, _, _, _, _, _, leap, ..] = fields[..] else {
            return None;
        };
        // A reference clock of this machine has no address.
        let reference = if address.is_empty() { id } else { address };
        Some(Self {
            reference: reference.to_owned(),
            offset_ns: offset.parse::<f64>().ok()? * 1e9,
            leap: leap.to_owned(),
        })
    }

    /// True if chrony follows a source other than itself.
    pub(super) fn synchronised(&self) -> bool {
        !self.leap.starts_with("Not") && self.reference != LOCAL
    }
}

#[cfg(test)]
mod tests {
    use super::{Chrony, kernel_changes, within_second};
    use sys::timex::KernelClock;

    #[test]
    fn whole_seconds_between_tai_and_utc_are_no_distance() {
        assert_eq!(within_second(37_000_000_000), 0);
        assert_eq!(within_second(37_000_001_500), 1_500);
        assert_eq!(within_second(36_999_998_000), 2_000);
        assert_eq!(within_second(-37_000_000_300), 300);
    }

    #[test]
    fn chronys_fields_as_chrony_4_3_prints_them() {
        let line = "50545030,PTP0,1,1795281000.1,-0.000000123,0.000000034,0.000000100,-5.2,0.001,0.03,0.000000001,\
                    0.00001,1.0,Normal\n";
        let chrony = Chrony::read(line).expect("read");
        assert_eq!((chrony.reference.as_str(), chrony.leap.as_str()), ("PTP0", "Normal"));
        assert!((chrony.offset_ns + 123.0).abs() < 0.001 && chrony.synchronised());
        let lost = line.replace("Normal", "Not synchronised");
        assert!(!Chrony::read(&lost).expect("read").synchronised());
        let local = "7F7F0101,,10,1795283574.2,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,Normal\n";
        assert!(!Chrony::read(local).expect("read").synchronised());
        assert_eq!(Chrony::read("506 Cannot talk to daemon\n"), None);
    }

    #[test]
    fn changes_of_the_kernels_clock_are_told_once() {
        let before = KernelClock {
            unsynchronised: false,
            inserts_second: false,
            deletes_second: false,
            tai_offset_s: 0,
            max_error_ns: 1,
            estimated_error_ns: 1,
            frequency_ppb: 0,
        };
        let grown = KernelClock {
            max_error_ns: 500_000,
            ..before
        };
        assert!(kernel_changes(&before, &grown).is_empty());
        let changed = KernelClock {
            unsynchronised: true,
            inserts_second: true,
            tai_offset_s: 37,
            ..before
        };
        assert_eq!(kernel_changes(&before, &changed).len(), 3);
        assert_eq!(kernel_changes(&changed, &changed), Vec::<String>::new());
    }
}
