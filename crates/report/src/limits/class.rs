//! Classes of a figure: names that the source of a limit gives to hosts by that figure.

use units::Ns;

/// A range of figures, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Upper end of the range; the range before it in the list ends where this one begins.
    pub until: Until,
    /// The name of a host with such a figure.
    pub is: String,
}

/// Upper end of a class, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Figures below this value.
    Under(u64),
    /// Figures up to and including this value.
    AtMost(u64),
    /// No end: the last class.
    Open,
}

impl Until {
    /// True if a figure is not beyond this end.
    fn holds(self, ns: f64) -> bool {
        match self {
            Self::Under(end) => ns < end as f64,
            Self::AtMost(end) => ns <= end as f64,
            Self::Open => true,
        }
    }

    /// A number for comparing ends: an open end has the highest.
    pub(super) fn rank(self) -> (u64, bool) {
        match self {
            Self::Under(end) => (end, false),
            Self::AtMost(end) => (end, true),
            Self::Open => (u64::MAX, true),
        }
    }
}

impl Class {
    /// Text such as `a good candidate (under 10.0 µs)`; for the last class, the range begins at the end of `before`.
    fn text(&self, before: Option<&Self>) -> String {
        let ns = |end: u64| Ns(end).to_string();
        let range = match (before.map(|class| class.until), self.until) {
            (None, Until::Under(end)) => format!("under {}", ns(end)),
            (None, Until::AtMost(end)) => format!("up to {}", ns(end)),
            (Some(Until::Under(from)), Until::Open) => format!("from {}", ns(from)),
            (Some(Until::AtMost(from)), Until::Open) => format!("over {}", ns(from)),
            (Some(Until::Under(from) | Until::AtMost(from)), Until::Under(end) | Until::AtMost(end)) => {
                format!("{} to {}", ns(from), ns(end))
            }
            (None | Some(Until::Open), _) => return self.is.clone(),
        };
        format!("{} ({range})", self.is)
    }
}

/// The class of a figure with an uncertainty of `uncertain_ns`, as text; both classes if two are possible. `None`
/// without classes.
pub(super) fn of(classes: &[Class], ns: f64, uncertain_ns: f64) -> Option<String> {
    let at = |ns: f64| classes.iter().position(|class| class.until.holds(ns));
    let (low, high) = (at(ns - uncertain_ns)?, at(ns + uncertain_ns)?);
    let text = |at: usize| classes[at].text(at.checked_sub(1).map(|before| &classes[before]));
    Some(match low == high {
        true => text(low),
        false => format!("{} or {}", text(low), text(high)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Class, Until, of};

    fn siendas() -> Vec<Class> {
        let class = |until, is: &str| Class { until, is: is.into() };
        vec![
            class(Until::Under(10_000), "a good candidate"),
            class(Until::AtMost(50_000), "between"),
            class(Until::Open, "likely not suitable"),
        ]
    }

    #[test]
    fn each_figure_has_its_class_and_the_ends_are_where_the_source_has_them() {
        let class = |ns: f64| of(&siendas(), ns, 0.0).unwrap();
        assert_eq!(class(9_999.0), "a good candidate (under 10.0 µs)");
        assert_eq!(class(10_000.0), "between (10.0 µs to 50.0 µs)");
        assert_eq!(class(50_000.0), "between (10.0 µs to 50.0 µs)");
        assert_eq!(class(50_001.0), "likely not suitable (over 50.0 µs)");
        assert_eq!(of(&[], 5.0, 0.0), None);
    }

    #[test]
    fn a_figure_that_may_be_of_either_class_says_so() {
        assert_eq!(
            of(&siendas(), 9_500.0, 1_998.0).unwrap(),
            "a good candidate (under 10.0 µs) or between (10.0 µs to 50.0 µs)"
        );
    }
}
