//! The decision rule of a profile: how a figure near its limit is decided.

use super::LimitsError;
use super::file::LimitsText;
use serde::Deserialize;
use toml::Spanned;
use units::Ns;

/// How a profile decides about figures near their limits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// The rule.
    pub rule: Rule,
    /// Largest time between the wire and a stamp of the NIC in ns, as the profile states it; `None` if it does not.
    pub stamp_to_wire_ns: Option<u64>,
}

/// A decision rule (JCGM 106:2012, 8).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rule {
    /// A figure passes up to its limit.
    #[default]
    Simple,
    /// A figure passes if it keeps a distance from its limit: the guard band.
    Guarded(Guard),
}

/// Width of a guard band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guard {
    /// A multiple of the expanded uncertainty (k = 2) of each figure.
    Times(f64),
    /// A fixed width, in ns.
    Fixed(u64),
}

impl Guard {
    /// Width in ns for a figure with this expanded uncertainty.
    pub fn width_ns(self, expanded_ns: f64) -> f64 {
        match self {
            Self::Times(factor) => factor * expanded_ns,
            Self::Fixed(ns) => ns as f64,
        }
    }

    /// Text such as `w = U` or `w = 5.00 µs`.
    pub fn text(self) -> String {
        match self {
            Self::Times(1.0) => "w = U".to_owned(),
            Self::Times(factor) => format!("w = {factor} U"),
            Self::Fixed(ns) => format!("w = {}", Ns(ns)),
        }
    }
}

impl Rule {
    /// The word of the rule in a profile and in the result document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Simple => SIMPLE,
            Self::Guarded(_) => GUARDED,
        }
    }

    /// The rule in a sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Simple => "Simple acceptance: a figure passes up to its limit. If it is exactly at the limit and its error can have \
                             either sign alike, the risk of false acceptance is 50 %."
                .to_owned(),
            Self::Guarded(guard) => {
                let most = match guard {
                    Guard::Times(1.0) => ", with a normal error at most 2.3 %",
                    _ => "",
                };
                format!(
                    "Guarded acceptance with {} (U: expanded uncertainty, k = 2): a duration passes if it does not exceed its limit with w \
                     added, is undecided in the guard band below the limit, and fails above the limit. The risk of false acceptance stands \
                     with each limit{most}.",
                    guard.text()
                )
            }
        }
    }
}

const SIMPLE: &str = "simple";
const GUARDED: &str = "guarded";

/// The table `[decision]` of a profile.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionFile {
    rule: Option<Spanned<String>>,
    guard: Option<Spanned<Width>>,
    stamp_to_wire: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a duration in quotes (\"5us\") or a multiple of the expanded uncertainty (1.5)"
)]
enum Width {
    Times(f64),
    Fixed(String),
}

/// The rule of a profile; without the table, simple acceptance.
pub(super) fn of(file: Option<&DecisionFile>, place: &LimitsText<'_>) -> Result<Decision, LimitsError> {
    let Some(file) = file else {
        return Ok(Decision::default());
    };
    let word = file.rule.as_ref().map_or(SIMPLE, |rule| rule.get_ref().as_str());
    let rule = match (word, &file.rule, &file.guard) {
        (SIMPLE, _, None) => Rule::Simple,
        (SIMPLE, _, Some(guard)) => {
            let problem = "simple acceptance has no guard band: write rule = \"guarded\", or leave the guard out";
            return Err(place.error(guard, "guard", problem.to_owned()));
        }
        (GUARDED, _, guard) => Rule::Guarded(width(guard.as_ref(), place)?),
        (other, Some(rule), _) => {
            let problem = format!("\"{other}\" is not known; write {SIMPLE} or {GUARDED}");
            return Err(place.error(rule, "rule", problem));
        }
        (_, None, _) => Rule::Simple,
    };
    let ns = |text: &Spanned<String>| {
        units::parse_ns(text.get_ref()).map_err(|error| place.error(text, "stamp_to_wire", error.to_string()))
    };
    Ok(Decision {
        rule,
        stamp_to_wire_ns: file.stamp_to_wire.as_ref().map(ns).transpose()?,
    })
}

/// The width of the guard band: U if nothing is said. A width of nothing, or below, would be no guard band.
fn width(guard: Option<&Spanned<Width>>, place: &LimitsText<'_>) -> Result<Guard, LimitsError> {
    let Some(guard) = guard else {
        return Ok(Guard::Times(1.0));
    };
    let width = match guard.get_ref() {
        Width::Times(factor) => Guard::Times(*factor),
        Width::Fixed(text) => {
            Guard::Fixed(units::parse_ns(text).map_err(|error| place.error(guard, "guard", error.to_string()))?)
        }
    };
    match width {
        Guard::Times(factor) if !(factor > 0.0 && factor.is_finite()) => {}
        Guard::Fixed(0) => {}
        width => return Ok(width),
    }
    let problem = "must be more than 0; for no guard band write rule = \"simple\"";
    Err(place.error(guard, "guard", problem.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Decision, Guard, Rule};
    use crate::limits::Profile;

    fn decision(table: &str) -> Result<Decision, String> {
        let text = format!(
            "name = \"site\"\nwhat = \"test\"\n{table}\n[[limit]]\nid = \"wakeup.max\"\nseries = \"wakeup/*\"\nquantity = \"max\"\n\
             allowed = \"80us\"\nsource = \"site\"\n"
        );
        let profile = Profile::parse_given(&text, "site.toml");
        profile
            .map(|profile| profile.decision)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_has_its_guard_band() {
        let guarded = |guard| Decision {
            rule: Rule::Guarded(guard),
            stamp_to_wire_ns: None,
        };
        assert_eq!(decision(""), Ok(Decision::default()));
        assert_eq!(decision("[decision]\nrule = \"simple\""), Ok(Decision::default()));
        assert_eq!(
            decision("[decision]\nrule = \"guarded\""),
            Ok(guarded(Guard::Times(1.0)))
        );
        assert_eq!(
            decision("[decision]\nrule = \"guarded\"\nguard = 2"),
            Ok(guarded(Guard::Times(2.0)))
        );
        assert_eq!(
            decision("[decision]\nrule = \"guarded\"\nguard = \"5us\""),
            Ok(guarded(Guard::Fixed(5_000)))
        );
        let stated = decision("[decision]\nstamp_to_wire = \"300ns\"").expect("a component");
        assert_eq!((stated.rule, stated.stamp_to_wire_ns), (Rule::Simple, Some(300)));
    }

    #[test]
    fn a_rule_that_would_accept_more_is_refused_with_line_and_key() {
        for (table, key) in [
            ("rule = \"lenient\"", "rule"),
            ("guard = \"5us\"", "guard"),
            ("rule = \"guarded\"\nguard = 0", "guard"),
            ("rule = \"guarded\"\nguard = -1.0", "guard"),
            ("rule = \"guarded\"\nguard = \"0us\"", "guard"),
            ("rule = \"guarded\"\nguard = \"five\"", "guard"),
            ("stamp_to_wire = \"far\"", "stamp_to_wire"),
        ] {
            let error = decision(&format!("[decision]\n{table}")).expect_err(table);
            assert!(
                error.contains(&format!("key \"{key}\"")) && error.contains("line "),
                "{error}"
            );
        }
        assert!(decision("[decision]\nwidth = 1").is_err());
    }

    #[test]
    fn shipped_profiles_accept_simply() {
        for name in Profile::embedded_names() {
            assert_eq!(Profile::find(name).expect(name).decision, Decision::default(), "{name}");
        }
    }
}
