//! Months of the wall clock, in UTC.

use std::fmt;

const DAY_NS: i64 = 86_400_000_000_000;

/// A month in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    /// The year.
    pub year: i32,
    /// The month, 1 to 12.
    pub month: u8,
}

impl Month {
    /// The month of an instant, in ns since 1970 UTC.
    pub fn of(wall_ns: i64) -> Self {
        let (year, month, _) = civil(wall_ns.div_euclid(DAY_NS));
        Self { year, month }
    }
}

impl fmt::Display for Month {
    /// `2026-11`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// An instant in ns since 1970 UTC, as `20261130T195501Z`: such names sort by time.
pub fn stamp(wall_ns: i64) -> String {
    let (year, month, day) = civil(wall_ns.div_euclid(DAY_NS));
    let second = wall_ns.rem_euclid(DAY_NS) / 1_000_000_000;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The date of a day since 1970-01-01, in the proleptic Gregorian calendar: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
/// `civil_from_days`.
fn civil(days: i64) -> (i32, u8, u8) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // An i64 of nanoseconds ends in the year 2262.
    (year as i32, month as u8, day as u8)
}

#[cfg(test)]
mod tests {
    use super::{DAY_NS, Month, civil, stamp};

    #[test]
    fn days_are_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (20_787, (2026, 11, 30)),
            (20_788, (2026, 12, 1)),
        ] {
            assert_eq!(civil(days), date, "{days}");
        }
    }

    #[test]
    fn a_month_ends_with_its_last_nanosecond() {
        let december = 20_788 * DAY_NS;
        assert_eq!(Month::of(december - 1).to_string(), "2026-11");
        assert_eq!(Month::of(december).to_string(), "2026-12");
        assert!(Month::of(december) > Month::of(december - 1));
        assert_eq!(stamp(december - 1_000_000_000), "20261130T235959Z");
    }
}
