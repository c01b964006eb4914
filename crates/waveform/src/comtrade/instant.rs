//! Dates and times of the start and the trigger.

use units::Realtime;

/// A time of the recorder's clock; the record may lack its time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    /// Nanoseconds since the start of year 0.
    pub(super) ns: i128,
    /// True if the fraction of the second has more than six digits: then time stamps count nanoseconds instead of microseconds.
    pub(super) nanoseconds: bool,
}

impl Instant {
    /// The same, interpreted as UTC; `None` outside the years that ns since 1970 can represent.
    pub(super) fn realtime(self) -> Option<Realtime> {
        let epoch_ns = i128::from(days(1970, 1, 1)) * 86_400_000_000_000;
        i64::try_from(self.ns - epoch_ns).ok().map(Realtime::from_ns)
    }
}

/// Parses `dd/mm/yyyy` and `hh:mm:ss.ssssss`; `month_first` is the order of the 1991 standard, but a month above 12 implies the other order. Some
/// programs write `yyyy-mm-dd`. `None` if it is not a date and time.
pub(super) fn parse(date: &str, time: &str, month_first: bool) -> Option<Instant> {
    let (day, month, year) = day_month_year(date, month_first)?;
    if !(1..=31).contains(&day) || !(1..=12).contains(&month) || year > 9_999 {
        return None;
    }
    let mut parts = time.splitn(3, ':');
    let hours: u32 = parts.next()?.trim().parse().ok()?;
    let minutes: u32 = parts.next()?.trim().parse().ok()?;
    let last = parts.next()?;
    let (seconds, fraction) = last.split_once('.').unwrap_or((last, ""));
    let whole: u32 = seconds.trim().parse().ok()?;
    if hours > 23 || minutes > 59 || whole > 60 {
        return None;
    }
    let seconds = days(full_year(year), month, day) * 86_400 + i64::from(hours * 3_600 + minutes * 60 + whole);
    Some(Instant {
        ns: i128::from(seconds) * 1_000_000_000 + i128::from(fraction_ns(fraction.trim())?),
        nanoseconds: fraction.trim().len() > 6,
    })
}

fn day_month_year(date: &str, month_first: bool) -> Option<(u32, u32, u32)> {
    let is_iso = date.contains('-');
    let separator = if is_iso { '-' } else { '/' };
    let mut parts = date.split(separator).map(|part| part.trim().parse::<u32>());
    let (first, second, third) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    if parts.next().is_some() {
        return None;
    }
    if is_iso {
        // Only a year of four digits is recognized in first position.
        return (first > 999).then_some((third, second, first));
    }
    let (day, month) = if month_first { (second, first) } else { (first, second) };
    let is_turned = month > 12 && day <= 12;
    Some(if is_turned {
        (month, day, third)
    } else {
        (day, month, third)
    })
}

fn fraction_ns(digits: &str) -> Option<u32> {
    if digits.is_empty() {
        return Some(0);
    }
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    format!("{digits:0<9.9}").parse().ok()
}

/// `dd/mm/yyyy,hh:mm:ss.ssssss` with this many digits of the second, at most 9; further digits are cut off.
pub(super) fn text(at: Realtime, digits: usize) -> String {
    let seconds = at.as_ns().div_euclid(1_000_000_000);
    let fraction = format!("{:09}", at.as_ns().rem_euclid(1_000_000_000));
    let (day, month, year) = date(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hours, minutes, seconds) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!(
        "{day:02}/{month:02}/{year:04},{hours:02}:{minutes:02}:{seconds:02}.{}",
        &fraction[..digits]
    )
}

/// Day, month and year of a day since 1970 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn date(day: i64) -> (i64, i64, i64) {
    // Days since 1 March of year 0, in cycles of 400 years.
    let day = day + 719_468;
    let (cycle, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let is_after_new_year = month >= 10;
    let month = if is_after_new_year { month - 9 } else { month + 3 };
    (day, month, 400 * cycle + year + i64::from(is_after_new_year))
}

/// Years with two digits, as in the 1991 standard, mean 1950 to 2049.
fn full_year(year: u32) -> u32 {
    match year {
        0..=49 => 2_000 + year,
        50..=99 => 1_900 + year,
        _ => year,
    }
}

/// Days since the start of year 0 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days(year: u32, month: u32, day: u32) -> i64 {
    let year = i64::from(if month <= 2 { year.saturating_sub(1) } else { year });
    let shifted = i64::from((month + 9) % 12);
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + i64::from(day) - 1
}

#[cfg(test)]
mod tests {
    use super::{parse, text};
    use units::Realtime;

    fn difference(a: (&str, &str), b: (&str, &str), month_first: bool) -> Option<i128> {
        Some(parse(b.0, b.1, month_first)?.ns - parse(a.0, a.1, month_first)?.ns)
    }

    #[test]
    fn differences() {
        let day = "01/01/2007";
        assert_eq!(
            difference((day, "12:22:50.407500"), (day, "12:22:50.707500"), false),
            Some(300_000_000)
        );
        assert_eq!(
            difference(("28/02/2024", "23:59:59.5"), ("01/03/2024", "00:00:00"), false),
            Some(86_400_500_000_000),
            "a leap year"
        );
        assert_eq!(
            difference(("12/31/91", "23:59:59"), ("01/01/92", "00:00:00"), true),
            Some(1_000_000_000),
            "1991 has the month first and two digits of the year"
        );
        assert_eq!(
            difference(("2024-03-16", "11:57:46.219"), ("16/03/2024", "11:57:46.719"), false),
            Some(500_000_000),
            "a year of four digits that comes first"
        );
    }

    #[test]
    fn nanoseconds_are_seen() {
        assert!(
            parse("17/02/2021", "17:37:12.422969065", false)
                .expect("a time")
                .nanoseconds
        );
        assert!(
            !parse("17/02/2021", "17:37:12.422969", false)
                .expect("a time")
                .nanoseconds
        );
    }

    #[test]
    fn instants_are_written_as_they_are_read() {
        assert_eq!(text(Realtime::from_ns(0), 6), "01/01/1970,00:00:00.000000");
        assert_eq!(text(Realtime::from_ns(-1), 9), "31/12/1969,23:59:59.999999999");
        let leap_day = Realtime::from_ns(1_709_251_199_999_999_999);
        assert_eq!(text(leap_day, 9), "29/02/2024,23:59:59.999999999");
        assert_eq!(text(leap_day, 6), "29/02/2024,23:59:59.999999", "cut off, not rounded");
        let read = |ns: i64| {
            let text = text(Realtime::from_ns(ns), 9);
            let (date, time) = text.split_once(',').expect("two");
            parse(date, time, false).expect("an instant").realtime()
        };
        let most_of_a_day_ns = 73_440_123_456_789;
        for ns in (0..10_000).map(|step| step * most_of_a_day_ns) {
            assert_eq!(read(ns), Some(Realtime::from_ns(ns)));
        }
    }

    #[test]
    fn no_instants() {
        for (date, time) in [
            ("", ""),
            ("1/2", "1:2:3"),
            ("16-03-2024", "1:2:3"),
            ("40/13/2000", "1:2:3"),
            ("1/1/2000", "25:00:00"),
            ("1/1/2000", "1:2:x"),
        ] {
            assert_eq!(parse(date, time, false), None, "{date} {time}");
        }
    }
}
