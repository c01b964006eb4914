//! Poisson bounds were computed with SciPy 1.17.1: `chi2.ppf(0.95, 2 * (k + 1)) / 2` from above, `chi2.ppf(0.05, 2 * k) / 2`
//! from below.

use super::{Claim, Standing, YEAR_NS, claim};
use proptest::prelude::{prop_assert, proptest};

const DAY_NS: u64 = 86_400_000_000_000;

fn of(events: u64, days: u64) -> Claim {
    claim((events, events), days * DAY_NS, 120_000, 0.95, YEAR_NS)
}

#[test]
fn the_clean_week_of_the_guide() {
    let week = of(0, 7);
    assert_eq!(
        week.text(),
        "0 over 120 µs in 7.00 d: at most one per 2.33 d at 95 %, if they come independently; to claim one per year, test 3 machine-years"
    );
    assert!((week.at_most_one_per_ns / (DAY_NS as f64) - 7.0 / 2.9957322735539895).abs() < 1e-9);
    assert!((week.exposure_needed_ns / YEAR_NS as f64 - 2.9957322735539895).abs() < 1e-12);
    assert_eq!(
        (week.standing, week.at_least_one_per_ns),
        (Standing::Open, f64::INFINITY)
    );
}

#[test]
fn one_event_takes_a_longer_test() {
    let one = of(1, 60);
    assert_eq!(
        one.text(),
        "1 over 120 µs in 60.0 d: at most one per 12.6 d at 95 %, if they come independently; to claim one per year, test 4.8 machine-years with no \
         further event"
    );
    assert!((one.exposure_needed_ns / YEAR_NS as f64 - 4.743864518390577).abs() < 1e-12);
    assert!((one.at_least_one_per_ns / DAY_NS as f64 - 60.0 / 0.05129329438755053).abs() < 1e-9);
    assert_eq!(
        one.standing,
        Standing::Open,
        "one in two weeks does not contradict one per year: {one:?}"
    );
}

#[test]
fn many_events_contradict_the_claim() {
    let many = of(50, 7);
    assert_eq!(many.standing, Standing::Contradicted);
    assert_eq!(
        many.text(),
        "50 over 120 µs in 7.00 d: at most one per 2.65 h at 95 %, if they come independently; at least one per 4.32 h, so a claim of one per year does \
         not hold"
    );
}

#[test]
fn a_long_test_supports_the_claim() {
    assert_eq!(of(0, 1_094).standing, Standing::Open);
    let long = of(0, 1_095);
    assert_eq!(
        long.text(),
        "0 over 120 µs in 1095 d: at most one per 365 d at 95 %, if they come independently; this supports a claim of one per year"
    );
    let hour = claim((0, 0), DAY_NS, 50_000, 0.99, 3_600_000_000_000);
    assert_eq!(
        hour.text(),
        "0 over 50.0 µs in 1.00 d: at most one per 5.21 h at 99 %, if they come independently; this supports a claim of one per hour"
    );
}

#[test]
fn without_exposure_nothing_is_claimed() {
    for claim in [of(0, 0), of(3, 0), claim((0, 0), DAY_NS, 120_000, 1.0, YEAR_NS)] {
        assert_eq!((claim.at_most_one_per_ns, claim.standing), (0.0, Standing::Open));
        assert!(claim.text().ends_with("so no rate is claimed"), "{}", claim.text());
    }
}

#[test]
fn periods_below_a_second_are_rounded_to_the_careful_side_too() {
    use super::period::{down, up};
    assert_eq!(
        (down(999_960.0), up(999_040.0)),
        ("999 µs".to_owned(), "1.00 ms".to_owned())
    );
    assert_eq!(
        (down(1_239_999.0), up(1_230_001.0)),
        ("1.23 ms".to_owned(), "1.24 ms".to_owned())
    );
}

#[test]
fn events_that_are_only_bounded_contradict_by_their_least_number() {
    let unsure = claim((0, 50), 7 * DAY_NS, 120_000, 0.95, YEAR_NS);
    assert_eq!((unsure.standing, unsure.events), (Standing::Open, 50));
}

proptest! {
    /// The text never promises a longer period than the bound, nor asks for a shorter test.
    #[test]
    fn words_promise_no_more_than_figures(events in 0u64..40, days in 1u64..5_000) {
        let claim = of(events, days);
        let text = claim.text();
        let after = |mark: &str| -> Option<f64> {
            let (number, rest) = text.split_once(mark)?.1.split_once(' ')?;
            let unit = match rest.split([' ', ';', ',']).next()? {
                "years" | "machine-years" => YEAR_NS as f64,
                "d" | "machine-days" => DAY_NS as f64,
                "h" => 3_600e9,
                "min" => 60e9,
                _ => return None,
            };
            Some(number.parse::<f64>().ok()? * unit)
        };
        let promised = after("at most one per ").expect("a period");
        prop_assert!(promised <= claim.at_most_one_per_ns * (1.0 + 1e-9), "{text}");
        prop_assert!(promised > claim.at_most_one_per_ns * 0.9, "{text}");
        if claim.standing == Standing::Open {
            let asked = after("year, test ").expect("a time to test");
            prop_assert!(asked >= claim.exposure_needed_ns * (1.0 - 1e-9) && asked < claim.exposure_needed_ns * 1.1, "{text}");
        }
    }
}
