//! Formatting that all output formats share.

use model::fact::{BUILD, LOCAL_TIME};
use model::{Counter, RunView, SeriesView};
use units::Realtime;

/// A count with digits in groups of three: `600 000`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A counter of a series, or a dash if the series does not count it.
pub(crate) fn counted_text(series: &SeriesView, counter: Counter) -> String {
    match series.lists(counter) {
        true => count(series.counters.get(counter)),
        false => "–".to_owned(),
    }
}

/// The text with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// `1 sample`, `2 samples`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(n))
}

/// A duration, or a dash if there is none.
pub(crate) fn ns_or_dash(ns: Option<f64>) -> String {
    ns.map_or_else(|| "–".to_owned(), units::format_ns)
}

/// The usual name of a quantile: `p99.9` for `p999`.
pub(crate) fn quantile_name(name: &str) -> String {
    match name.strip_prefix("p99") {
        Some(rest) if !rest.is_empty() => format!("p99.{rest}"),
        _ => name.to_owned(),
    }
}

/// An instant as RFC 3339 with nanoseconds, in UTC.
pub(crate) fn rfc3339(at: Realtime) -> String {
    let at = timestamp(at);
    format!("{at:.9}")
}

/// An instant for people, to the second: `2026-11-21 02:00:00 UTC`.
fn wall_clock(at: Realtime) -> String {
    timestamp(at).strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Start of a run in the local time of its host, ISO 8601 with the difference from UTC; in UTC if the run does not state it.
pub(crate) fn start_of(run: &RunView) -> String {
    let local = LOCAL_TIME
        .of(&run.facts)
        .and_then(|offset| local(run.info.started, &offset));
    local.unwrap_or_else(|| wall_clock(run.info.started))
}

fn local(at: Realtime, offset: &str) -> Option<String> {
    let east = offset.strip_prefix('+');
    let (hours, minutes) = east.or_else(|| offset.strip_prefix('-'))?.split_once(':')?;
    let seconds = hours.parse::<i32>().ok()?.checked_mul(3_600)? + minutes.parse::<i32>().ok()?.checked_mul(60)?;
    let offset = jiff::tz::Offset::from_seconds(if east.is_some() { seconds } else { -seconds }).ok()?;
    let local = timestamp(at).to_zoned(offset.to_time_zone());
    Some(local.strftime("%Y-%m-%d %H:%M:%S%:z").to_string())
}

/// The program that measured a run, with commit and build where the run has them.
pub(crate) fn measured_by(run: &RunView) -> String {
    let version = BUILD.of(&run.facts).unwrap_or_else(|| run.info.tool_version.clone());
    format!("triptime {version}")
}

fn timestamp(at: Realtime) -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(i128::from(at.as_ns())).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::{count, local, ns_or_dash, plural, rfc3339, wall_clock};
    use units::Realtime;

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1 000"),
            (600_000, "600 000"),
            (12_345_678, "12 345 678"),
        ] {
            assert_eq!(count(n), text);
        }
        assert_eq!(plural(1, "sample"), "1 sample");
        assert_eq!(plural(1200, "sample"), "1 200 samples");
        assert_eq!(ns_or_dash(None), "–");
    }

    #[test]
    fn instants_keep_their_nanoseconds() {
        let at = Realtime::from_ns(1_795_226_400_000_000_001);
        assert_eq!(rfc3339(at), "2026-11-21T02:00:00.000000001Z");
        assert_eq!(wall_clock(at), "2026-11-21 02:00:00 UTC");
        assert_eq!(local(at, "+05:30").as_deref(), Some("2026-11-21 07:30:00+05:30"));
        assert_eq!(local(at, "-03:00").as_deref(), Some("2026-11-20 23:00:00-03:00"));
        for text in ["", "05:30", "+5", "+99:00", "+a:b", "-2147483647:00"] {
            assert_eq!(local(at, text), None, "{text}");
        }
        assert_eq!(rfc3339(Realtime::from_ns(0)), "1970-01-01T00:00:00.000000000Z");
    }
}
