//! UtcTime and its quality (IEC 61850-8-1): 8 octets of seconds, fraction and quality.

/// A UTC instant with 24 bits of fraction (59.6 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UtcTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: u32,
    /// Fraction of the second in units of 2^-24 s; the top octet is not sent.
    pub fraction: u32,
    /// Quality of the sender's clock.
    pub quality: TimeQuality,
}

impl UtcTime {
    /// Reads the 8 octets.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, quality] = bytes;
        Self {
            seconds: u32::from_be_bytes([a, b, c, d]),
            fraction: u32::from_be_bytes([0, e, f, g]),
            quality: TimeQuality(quality),
        }
    }

    /// The 8 octets.
    pub const fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.seconds.to_be_bytes();
        let [_, e, f, g] = self.fraction.to_be_bytes();
        [a, b, c, d, e, f, g, self.quality.0]
    }

    /// Nanoseconds since 1970 UTC, rounded down.
    pub const fn as_ns(self) -> i64 {
        let fraction = (self.fraction & 0x00ff_ffff) as i64;
        self.seconds as i64 * 1_000_000_000 + ((fraction * 1_000_000_000) >> 24)
    }

    /// The instant `ns` nanoseconds after 1970 UTC, its fraction rounded up so that [`Self::as_ns`] is not earlier.
    /// Times before 1970 give the zero instant; the seconds wrap in 2106.
    pub const fn from_ns(ns: i64, quality: TimeQuality) -> Self {
        let ns = if ns < 0 { 0 } else { ns };
        let mut seconds = ns / 1_000_000_000;
        let mut fraction = (((ns % 1_000_000_000) << 24) + 999_999_999) / 1_000_000_000;
        if fraction == 1 << 24 {
            seconds += 1;
            fraction = 0;
        }
        Self {
            seconds: seconds as u32,
            fraction: fraction as u32,
            quality,
        }
    }
}

/// The quality octet of a [`UtcTime`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeQuality(pub u8);

#[cfg(test)]
mod tests {
    use super::{TimeQuality, UtcTime};

    #[test]
    fn the_worked_example() {
        let bytes = [0x6a, 0xb1, 0x3b, 0x81, 0x06, 0x24, 0xdd, 0x0a];
        let time = UtcTime::from_bytes(bytes);
        assert_eq!(time.as_ns(), 1_790_000_001_023_999_989);
        assert_eq!(time.quality, TimeQuality(0x0a));
        assert_eq!(time.to_bytes(), bytes);
    }

    #[test]
    fn ns_round_trip_within_one_step_and_never_early() {
        for ns in [
            0,
            1,
            59,
            60,
            999_999_999,
            1_790_000_001_024_000_000,
            1_790_000_000_999_999_999,
        ] {
            let back = UtcTime::from_ns(ns, TimeQuality(0)).as_ns();
            assert!((0..60).contains(&(back - ns)), "{ns} became {back}");
        }
        assert_eq!(UtcTime::from_ns(-5, TimeQuality(0)).as_ns(), 0);
    }
}
