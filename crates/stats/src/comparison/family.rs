//! Correction for multiple comparisons: the confidence of each figure for which all statements together have the stated confidence.

/// The confidence that each of several statements needs so that, with the probability `confidence`, none of them reports a
/// difference that does not exist: the step-down procedure of Holm (Scandinavian Journal of Statistics 6, 1979), which is valid
/// whatever the dependence between the figures. `ps` holds the p-value of each, `None` for a figure that is not tested. A statement
/// whose p-value is at most `1 - ` its confidence is a difference.
pub fn confidences(ps: &[Option<f64>], confidence: f64) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = ps.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let risk = 1.0 - confidence;
    let mut result = vec![confidence; ps.len()];
    let mut left = order.len();
    let mut goes_on = true;
    for (at, p) in order {
        result[at] = 1.0 - risk / left as f64;
        goes_on &= p <= risk / left as f64;
        // From the first statement that is no difference, all others need the same confidence.
        left -= usize::from(goes_on);
    }
    result
}

/// The smallest risk at which `differs` is true. It takes a risk, and is true for every larger risk too. The result is at least a
/// thousand-millionth.
pub(super) fn p_value(differs: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-9f64, 1.0f64);
    if differs(low) {
        return low;
    }
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if differs(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::{confidences, p_value};

    #[test]
    fn each_step_asks_for_less_until_one_is_no_difference() {
        let of = |ps: &[Option<f64>]| {
            let risks = confidences(ps, 0.95).into_iter().map(|sure| (1.0 - sure) * 1e4);
            risks.map(|risk| risk.round() / 1e4).collect::<Vec<_>>()
        };
        assert_eq!(
            of(&[Some(0.02), Some(0.001), None, Some(0.04)]),
            [0.025, 0.0167, 0.05, 0.05]
        );
        assert_eq!(of(&[Some(0.03), Some(0.2), Some(0.9)]), [0.0167, 0.0167, 0.0167]);
        assert!(confidences(&[], 0.95).is_empty());
    }

    #[test]
    fn the_smallest_risk_is_found() {
        assert!((p_value(|risk| risk > 0.013) - 0.013).abs() < 1e-6);
        assert_eq!(p_value(|_| true), 1e-9);
        assert_eq!(p_value(|risk| risk > 1.0), 1.0);
    }
}
