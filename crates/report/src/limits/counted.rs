//! The quantities that each kind of series has. A counter that is never incremented is always 0, so a limit on it could
//! not fail.

use super::{Pattern, Quantity};
use model::kind::{self, Kind, Samples};

impl Quantity {
    /// True if series of this kind have the quantity.
    pub fn is_of(self, of: &Kind) -> bool {
        match self.counter() {
            Some(counter) => of.counts(counter),
            None if self == Self::Excess => of.samples == Samples::Spacing,
            None if self == Self::Overruns => *of == kind::TRIP || *of == kind::SECURITY,
            // How long a relay was observed depends on its scenario.
            None => *of != kind::SECURITY,
        }
    }
}

/// The quantities of a kind, by name: `received, lost, late, max, …`.
pub(crate) fn quantities(of: &Kind) -> String {
    let all = Quantity::ALL.into_iter().filter(|quantity| quantity.is_of(of));
    all.map(Quantity::word).collect::<Vec<_>>().join(", ")
}

/// The reason why a limit on this quantity cannot judge any series that the pattern may match, and a suggestion; `None`
/// if it can.
pub(super) fn refusal(series: &Pattern, quantity: Quantity) -> Option<String> {
    let kinds: Vec<&Kind> = series.alternatives().flat_map(kinds).collect();
    let first = kinds.first()?;
    if kinds.iter().any(|kind| quantity.is_of(kind)) {
        return None;
    }
    let others = kind::ALL.into_iter().filter(|kind| quantity.is_of(kind));
    let others: Vec<String> = others.map(|kind| format!("{}/*", kind.name)).collect();
    Some(format!(
        "{} has no \"{word}\": nothing counts it there, so the limit could not fail; {name}/* has {}; \"{word}\" belongs to {}",
        series.as_str(),
        quantities(first),
        others.join(", "),
        word = quantity.word(),
        name = first.name,
    ))
}

/// The kinds of series that a pattern without alternatives may match.
fn kinds(pattern: &str) -> impl Iterator<Item = &'static Kind> {
    let (begin, is_open) = match pattern.find(['*', '/']) {
        Some(at) => (&pattern[..at], pattern[at..].starts_with('*')),
        None => (pattern, false),
    };
    let begin = begin.to_owned();
    let all = kind::ALL.into_iter();
    all.filter(move |kind| kind.name == begin || is_open && kind.name.starts_with(&begin))
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Quantity, kinds, refusal};
    use crate::limits::Profile;

    #[test]
    fn a_limit_is_refused_where_no_kind_that_it_may_match_counts_it() {
        let refused = |series: &str, quantity| refusal(&Pattern::new(series), quantity);
        for (series, quantity) in [
            ("spacing/*", Quantity::Late),
            ("age/MU01|arrival/*", Quantity::Missed),
            ("noise/*", Quantity::Lost),
            ("wakeup/cpu1", Quantity::Unwanted),
            ("wakeup/*", Quantity::Excess),
            ("spac*", Quantity::Wrong),
            ("security/*", Quantity::Max),
        ] {
            let text = refused(series, quantity).unwrap_or_else(|| panic!("{series} {quantity:?}"));
            assert!(text.starts_with(&format!("{series} has no")), "{text}");
        }
        for (series, quantity) in [
            ("rtt/*|spacing/*", Quantity::Late),
            ("*", Quantity::Wrong),
            ("*/cpu1", Quantity::Missed),
            ("p*", Quantity::Unwanted),
            ("of-no-kind/*", Quantity::Lost),
            ("spacing/*", Quantity::Overflow),
            ("spacing/*", Quantity::Excess),
        ] {
            assert_eq!(refused(series, quantity), None, "{series} {quantity:?}");
        }
    }

    #[test]
    fn what_is_given_is_refused_and_what_a_run_keeps_is_read() {
        let text = "name = \"site\"\nwhat = \"test\"\n[[limit]]\nid = \"late\"\nseries = \"spacing/*\"\nquantity = \"late\"\n\
                    allowed = 0\nsource = \"site\"\n";
        assert!(Profile::parse(text, "limits kept in the run").is_ok());
        let error = Profile::parse_given(text, "site.toml")
            .expect_err("refused")
            .to_string();
        assert!(
            error.starts_with("limit profile site.toml, line 6: key \"quantity\": spacing/* has no \"late\""),
            "{error}"
        );
        assert!(
            error.contains("has max, mean") && error.contains("conflicting"),
            "{error}"
        );
        assert!(error.contains("belongs to rtt/*, publish/*"), "{error}");
    }

    #[test]
    fn a_pattern_names_kinds() {
        let names = |pattern: &str| kinds(pattern).map(|kind| kind.name).collect::<Vec<_>>();
        assert_eq!(names("wakeup/*"), ["wakeup"]);
        assert_eq!(names("task*"), ["task", "task-stage"]);
        assert_eq!(names("task/*"), ["task"]);
        assert_eq!(names("*").len(), model::kind::ALL.len());
        assert!(names("wake").is_empty());
    }
}
