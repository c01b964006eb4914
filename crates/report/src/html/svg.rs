//! Axes and paths of SVG charts.

use std::fmt::Write;

/// Maps a range of values to a range of the drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A logarithmic scale that covers all of `values` above zero, extended to round numbers.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values.into_iter().filter(|value| *value > 0.0) {
            low = low.min(value);
            high = high.max(value);
        }
        if high == 0.0 {
            (low, high) = (1.0, 10.0);
        }
        let (low, high) = (round_down(low / 1.05), round_up(high * 1.05));
        Self {
            log: true,
            low,
            high,
            from,
            to,
        }
    }

    /// A logarithmic scale between these values.
    pub(crate) fn log_between(low: f64, high: f64, from: f64, to: f64) -> Self {
        Self {
            log: true,
            low,
            high,
            from,
            to,
        }
    }

    /// A linear scale between these values.
    pub(crate) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            log: false,
            low,
            high,
            from,
            to,
        }
    }

    /// Position of a value; values beyond the ends are drawn at the ends.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values along the scale. On a logarithmic scale: powers of ten, and 2 and 5 between them if there is room.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let step = round_up((self.high - self.low) / 5.0);
            let first = (self.low / step).ceil();
            return (0..=10)
                .map(|n| (first + f64::from(n)) * step)
                .filter(|at| *at <= self.high)
                .collect();
        }
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = match decades {
            d if d <= 1.7 => &[1.0, 2.0, 5.0],
            d if d <= 3.2 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|value| *value >= self.low * 0.999 && *value <= self.high * 1.001)
            .collect()
    }

    /// The ends.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = if value >= 5.0 * power {
        5.0
    } else if value >= 2.0 * power {
        2.0
    } else {
        1.0
    };
    digit * power
}

fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|digit| value <= digit * power * 1.000_001)
        .unwrap_or(10.0);
    digit * power
}

/// At most about eight round instants between two instants, in seconds.
pub(crate) fn time_ticks((from_s, to_s): (f64, f64)) -> Vec<f64> {
    const STEPS: [f64; 21] = [
        0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0,
        21600.0, 43200.0, 86400.0,
    ];
    let length_s = to_s - from_s;
    let step = STEPS
        .into_iter()
        .find(|step| length_s / step <= 8.0)
        .unwrap_or(86400.0 * (length_s / 691_200.0).ceil());
    let first = (from_s / step - 1e-6).ceil().max(0.0);
    (0..)
        .map(|n| (first + f64::from(n)) * step)
        .take_while(|at| *at <= to_s + step * 1e-6)
        .collect()
}

/// A duration on an axis: `20 µs`, `1 ms`, without unnecessary digits.
pub(crate) fn axis_ns(ns: f64) -> String {
    let (value, unit) = match ns {
        a if a < 999.5 => (ns, "ns"),
        a if a < 999_500.0 => (ns / 1e3, "µs"),
        a if a < 999_500_000.0 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", (value * 1000.0).round() / 1000.0)
}

/// An instant of the run on an axis: `30 s`, `2 min`, `1.5 h`.
pub(crate) fn axis_time(seconds: f64, length_s: f64) -> String {
    let (divisor, unit) = match length_s {
        l if l <= 180.0 => (1.0, "s"),
        l if l <= 10_800.0 => (60.0, "min"),
        l if l <= 259_200.0 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    format!("{} {unit}", (seconds / divisor * 1000.0).round() / 1000.0)
}

/// A count on an axis: `1`, `1k`, `1M`.
pub(crate) fn axis_count(count: f64) -> String {
    match count {
        c if c >= 1e9 => format!("{}G", c / 1e9),
        c if c >= 1e6 => format!("{}M", c / 1e6),
        c if c >= 1e3 => format!("{}k", c / 1e3),
        c => format!("{c}"),
    }
}

/// Escapes text for an attribute or an element.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Path data through points; `None` interrupts the line.
pub(crate) fn polyline(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut pen_down = false;
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(path, "{}{x:.1} {y:.1}", if pen_down { "L" } else { "M" });
        }
        pen_down = point.is_some();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::{Scale, axis_count, axis_ns, axis_time, escape, polyline, time_ticks};

    #[test]
    fn logarithmic_scales_hold_their_values_and_end_round() {
        let scale = Scale::log([3_300.0, 84_000.0, 120_000.0], 0.0, 100.0);
        assert_eq!(scale.ends(), (2_000.0, 200_000.0));
        assert_eq!((scale.at(2_000.0), scale.at(200_000.0)), (0.0, 100.0));
        assert!((scale.at(20_000.0) - 50.0).abs() < 1e-9);
        assert_eq!(scale.at(1.0), 0.0);
        assert_eq!(scale.ticks().len(), 4);
        let empty = Scale::log([], 0.0, 100.0);
        assert!(empty.at(5.0).is_finite());
        let one = Scale::log([7.0], 0.0, 1.0);
        assert!(one.ends().0 < one.ends().1);
    }

    #[test]
    fn a_linear_scale_without_length_still_draws() {
        assert!(Scale::linear(0.0, 0.0, 0.0, 100.0).at(0.0).is_finite());
    }

    #[test]
    fn axes_are_labelled_in_short() {
        assert_eq!(axis_ns(20_000.0), "20 µs");
        assert_eq!(axis_ns(3_000_000.0), "3 ms");
        assert_eq!(axis_time(90.0, 3600.0), "1.5 min");
        assert_eq!(axis_count(10_000.0), "10k");
        assert_eq!(time_ticks((0.0, 60.0)), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(time_ticks((31.2, 48.0)), [35.0, 40.0, 45.0]);
        assert!(time_ticks((0.0, 30.0 * 86_400.0)).len() <= 9);
        assert_eq!(time_ticks((0.0, 0.0)), [0.0]);
    }

    #[test]
    fn gaps_break_a_line() {
        assert_eq!(
            polyline([Some((0.0, 1.0)), Some((1.0, 1.0)), None, Some((2.0, 3.0))]),
            "M0.0 1.0L1.0 1.0M2.0 3.0"
        );
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }
}
