//! PTP hardware clocks: their offset from `CLOCK_REALTIME`.

use crate::error::{SysError, errno_of, last_errno};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use units::Realtime;

const SECOND_NS: i64 = 1_000_000_000;

/// Number of readings; the narrowest is used.
const READINGS: u32 = 5;

/// The way an offset was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhcMethod {
    /// Both clocks latched by hardware at one instant (`PTP_SYS_OFFSET_PRECISE`).
    Precise,
    /// The system clock read before and after the hardware clock (`PTP_SYS_OFFSET_EXTENDED`).
    Extended,
}

impl PhcMethod {
    /// The request's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Precise => "PTP_SYS_OFFSET_PRECISE",
            Self::Extended => "PTP_SYS_OFFSET_EXTENDED",
        }
    }
}

/// A hardware clock against the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhcOffset {
    /// Hardware clock minus `CLOCK_REALTIME` in ns. Hardware clocks that PTP steers run on TAI, so the offset includes whole
    /// seconds.
    pub offset_ns: i64,
    /// `CLOCK_REALTIME` at the instant of the reading.
    pub at: Realtime,
    /// Bound of the error in ns: the two were read at the same instant to within this.
    pub uncertainty_ns: u64,
    /// How it was read.
    pub method: PhcMethod,
}

/// An open hardware clock.
#[derive(Debug)]
pub struct Phc {
    file: File,
    path: Arc<str>,
}

impl Phc {
    /// Opens `/dev/ptpN`.
    ///
    /// # Errors
    /// An error of opening it: there is no such clock, or reading it is not permitted.
    pub fn open(number: u32) -> Result<Self, SysError> {
        let path: Arc<str> = format!("/dev/ptp{number}").into();
        match File::open(&*path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err(SysError::refused("open", path, errno_of(&error))),
        }
    }

    /// Reads its offset from `CLOCK_REALTIME`, by the best method its driver has.
    ///
    /// # Errors
    /// The driver has neither method, or it failed.
    pub fn offset(&self) -> Result<PhcOffset, SysError> {
        match self.precise() {
            Ok(offset) => Ok(offset),
            // Not supported by this driver, or not at this moment.
            Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::TIMEDOUT | Errno::NODEV) => self
                .extended()
                .map_err(|errno| SysError::refused("read the offset of", Arc::clone(&self.path), errno)),
            Err(errno) => Err(SysError::refused("read the offset of", Arc::clone(&self.path), errno)),
        }
    }

    fn precise(&self) -> Result<PhcOffset, Errno> {
        // SAFETY: the structure holds integers only, for which all bits zero is a value.
        let mut both: libc::ptp_sys_offset_precise = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the request writes one struct ptp_sys_offset_precise, which lives through the
        // call.
        let done = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::PTP_SYS_OFFSET_PRECISE, &raw mut both) };
        if done < 0 {
            return Err(last_errno());
        }
        Ok(PhcOffset {
            offset_ns: ns(&both.device) - ns(&both.sys_realtime),
            at: Realtime::from_ns(ns(&both.sys_realtime)),
            uncertainty_ns: 0,
            method: PhcMethod::Precise,
        })
    }

    fn extended(&self) -> Result<PhcOffset, Errno> {
        // SAFETY: the structure holds integers only, for which all bits zero is a value; as clockid, 0 is CLOCK_REALTIME.
        let mut readings: libc::ptp_sys_offset_extended = unsafe { std::mem::zeroed() };
        readings.n_samples = READINGS;
        // SAFETY: the descriptor is open; the request reads n_samples and writes that many of the 25 readings of one struct
        // ptp_sys_offset_extended, which lives through the call.
        let done = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::PTP_SYS_OFFSET_EXTENDED, &raw mut readings) };
        if done < 0 {
            return Err(last_errno());
        }
        let taken = readings.ts.iter().take(READINGS as usize);
        narrowest(taken.map(|[before, device, after]| [ns(before), ns(device), ns(after)])).ok_or(Errno::IO)
    }
}

fn ns(time: &libc::ptp_clock_time) -> i64 {
    time.sec.saturating_mul(SECOND_NS).saturating_add(i64::from(time.nsec))
}

/// The reading whose two system times are closest together.
fn narrowest(readings: impl Iterator<Item = [i64; 3]>) -> Option<PhcOffset> {
    let offset = |[before, device, after]: [i64; 3]| {
        let span = u64::try_from(after - before).ok()?;
        let at_ns = before + (after - before) / 2;
        Some(PhcOffset {
            offset_ns: device - at_ns,
            at: Realtime::from_ns(at_ns),
            uncertainty_ns: span.div_ceil(2),
            method: PhcMethod::Extended,
        })
    };
    readings.filter_map(offset).min_by_key(|offset| offset.uncertainty_ns)
}

#[cfg(test)]
mod tests {
    use super::{Phc, PhcMethod, PhcOffset, narrowest};
    use units::Realtime;

    #[test]
    fn the_narrowest_reading_counts_and_one_that_a_step_fell_into_does_not() {
        let readings = [[100, 37_000, 180], [200, 37_120, 240], [400, 37_000, 300]];
        assert_eq!(
            narrowest(readings.into_iter()),
            Some(PhcOffset {
                offset_ns: 36_900,
                at: Realtime::from_ns(220),
                uncertainty_ns: 20,
                method: PhcMethod::Extended
            })
        );
        assert_eq!(narrowest([[400, 1, 300]].into_iter()), None);
    }

    #[test]
    fn a_clock_that_is_not_there_is_named() {
        let error = Phc::open(4_000).expect_err("no machine has so many");
        assert!(error.to_string().contains("/dev/ptp4000"), "{error}");
    }

    #[test]
    fn the_first_clock_answers_where_there_is_one() {
        let Ok(clock) = Phc::open(0) else {
            testing::not_in_this_kernel("the_first_clock_answers_where_there_is_one", "no /dev/ptp0");
            return;
        };
        let offset = clock.offset().expect("its offset");
        assert!(offset.uncertainty_ns < 1_000_000, "{offset:?}");
    }
}
