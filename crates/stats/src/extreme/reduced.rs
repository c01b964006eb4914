//! The scale on which all extreme-value distributions have the same form: logarithms if the shape is zero, else powers, with a
//! smooth transition between the two.

/// Below this, `shape * t` loses digits in the plain formulas.
const SMALL: f64 = 1e-3;

/// `ln(1 + shape t) / shape`, or `t` for a shape of zero. Infinite beyond the end of the support, with the sign of that end.
pub(super) fn reduced(t: f64, shape: f64) -> f64 {
    let u = shape * t;
    if u <= -1.0 {
        -f64::INFINITY.copysign(shape)
    } else if shape == 0.0 {
        t
    } else if u.abs() < SMALL {
        u.ln_1p() / shape
    } else {
        (1.0 + u).ln() / shape
    }
}

/// Derivative by the shape of `y`, which is [`reduced`] of `t`, within the support.
pub(super) fn slope_of_reduced(t: f64, y: f64, shape: f64) -> f64 {
    let u = shape * t;
    if u.abs() < SMALL {
        t * t * (-0.5 + u * (2.0 / 3.0 - u * (0.75 - u * 0.8)))
    } else {
        (t / (1.0 + u) - y) / shape
    }
}

/// The inverse of [`reduced`]: `(exp(shape y) - 1) / shape`, or `y` for a shape of zero.
pub(super) fn expanded(y: f64, shape: f64) -> f64 {
    if shape == 0.0 { y } else { (shape * y).exp_m1() / shape }
}

/// Derivative of [`expanded`] by the shape.
pub(super) fn slope_of_expanded(y: f64, shape: f64) -> f64 {
    let u = shape * y;
    if u.abs() < SMALL {
        y * y * (0.5 + u * (1.0 / 3.0 + u * (0.125 + u / 30.0)))
    } else {
        (y * u.exp() - expanded(y, shape)) / shape
    }
}

#[cfg(test)]
mod tests {
    use super::{expanded, reduced, slope_of_expanded, slope_of_reduced};

    #[test]
    fn one_undoes_the_other_and_slopes_are_slopes() {
        for shape in [-0.4, -1e-3, -1e-7, 0.0, 1e-9, 1e-4, 2e-3, 0.3] {
            for y in [-1.0, -1e-3, 0.0, 1e-4, 0.5, 2.0] {
                let t = expanded(y, shape);
                assert!((reduced(t, shape) - y).abs() < 1e-12, "{shape} {y}");
                let h = 1e-5;
                let numeric = (expanded(y, shape + h) - expanded(y, shape - h)) / (2.0 * h);
                assert!((slope_of_expanded(y, shape) - numeric).abs() < 1e-8, "{shape} {y}");
                let numeric = (reduced(t, shape + h) - reduced(t, shape - h)) / (2.0 * h);
                assert!((slope_of_reduced(t, y, shape) - numeric).abs() < 1e-8, "{shape} {y}");
            }
        }
    }

    #[test]
    fn beyond_the_support_it_is_infinite() {
        assert_eq!(reduced(2.5, -0.4), f64::INFINITY);
        assert_eq!(reduced(-10.0, 0.1), f64::NEG_INFINITY);
    }
}
