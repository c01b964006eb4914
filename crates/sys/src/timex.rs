//! State of the kernel's own wall clock (reads `adjtimex` without changing anything).

use crate::error::{SysError, last_errno};

/// The kernel's view of `CLOCK_REALTIME`. It rests on reports of a time service alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelClock {
    /// True if no time service has recently confirmed that the clock is right (`STA_UNSYNC`, or the maximum error grew beyond 16
    /// s).
    pub unsynchronised: bool,
    /// True if a second will be inserted at the end of the day.
    pub inserts_second: bool,
    /// True if a second will be left out at the end of the day.
    pub deletes_second: bool,
    /// TAI minus UTC in seconds; 0 when no time service has set it.
    pub tai_offset_s: i32,
    /// Upper bound of the error in ns, as the time service set it; the kernel lets it grow by 500 ppm.
    pub max_error_ns: u64,
    /// Estimated error in ns, as the time service set it.
    pub estimated_error_ns: u64,
    /// Correction of the frequency, in units of 10^-9.
    pub frequency_ppb: i64,
}

/// Reads the kernel's view of its wall clock. Needs no privilege, and changes nothing.
///
/// # Errors
/// A refusal of the kernel.
pub fn kernel_clock() -> Result<KernelClock, SysError> {
    // SAFETY: struct timex holds integers only, for which all bits zero is a value; modes 0 only reads and changes nothing.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole struct timex that lives through the call, which writes nothing else.
    let state = unsafe { libc::adjtimex(&raw mut timex) };
    if state < 0 {
        return Err(SysError::refused("ask adjtimex about", "CLOCK_REALTIME", last_errno()));
    }
    let microseconds = |value: libc::c_long| u64::try_from(value).unwrap_or(0).saturating_mul(1_000);
    // freq is in ppm with 16 fractional bits.
    let frequency_ppb = (timex.freq.saturating_mul(1_000)) >> 16;
    Ok(KernelClock {
        unsynchronised: state == libc::TIME_ERROR || timex.status & libc::STA_UNSYNC != 0,
        inserts_second: timex.status & libc::STA_INS != 0,
        deletes_second: timex.status & libc::STA_DEL != 0,
        tai_offset_s: timex.tai,
        max_error_ns: microseconds(timex.maxerror),
        estimated_error_ns: microseconds(timex.esterror),
        frequency_ppb,
    })
}

#[cfg(test)]
mod tests {
    use super::kernel_clock;

    #[test]
    fn the_kernel_says_the_same_tai_offset_as_its_clocks() {
        let kernel = kernel_clock().expect("adjtimex takes no privilege");
        let ahead = crate::clock::tai().as_ns() - crate::clock::realtime().as_ns();
        let seconds = (ahead as f64 / 1e9).round() as i32;
        assert_eq!(kernel.tai_offset_s, seconds);
        assert!(kernel.frequency_ppb.abs() <= 500_000, "{kernel:?}");
    }
}
