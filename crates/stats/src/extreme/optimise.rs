//! Finds the smallest value of a function of a few parameters.

/// Maximum number of calls of the function before the search gives up; a fit of three parameters takes about 150 calls.
const MOST_CALLS: usize = 2_000;

/// Maximum number of steps of [`refine`]; about six are usual.
const MOST_STEPS: usize = 30;

/// A corner of the simplex: a point and the function there.
type Corner<const N: usize> = ([f64; N], f64);

/// The point where `function` is smallest, by the simplex of Nelder and Mead (The Computer Journal 7, 1965), from `start` with a
/// first step of `step` in each parameter. The function returns infinity where it is not defined; it is finite at `start`. The
/// search ends when its corners agree to `tolerance`, and then starts once more around its result, since a simplex can collapse too
/// early.
pub(super) fn minimise<const N: usize>(
    function: impl Fn(&[f64; N]) -> f64,
    start: [f64; N],
    step: f64,
    tolerance: f64,
) -> [f64; N] {
    let found = descend(&function, start, step, tolerance);
    descend(&function, found, step / 4.0, tolerance)
}

fn descend<const N: usize>(
    function: &impl Fn(&[f64; N]) -> f64,
    start: [f64; N],
    step: f64,
    tolerance: f64,
) -> [f64; N] {
    let at = |point: [f64; N]| (point, function(&point));
    let mut corners: Vec<Corner<N>> = vec![at(start)];
    for axis in 0..N {
        let mut point = start;
        point[axis] += step;
        corners.push(at(point));
    }
    for _ in 0..MOST_CALLS {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        if corners[N].1 - corners[0].1 <= tolerance && extent(&corners) <= tolerance.sqrt() {
            break;
        }
        let centre = centre(&corners[..N]);
        let along = |factor: f64| at(mix(&centre, &corners[N].0, factor));
        let reflected = along(-1.0);
        let better = if reflected.1 < corners[0].1 {
            let expanded = along(-2.0);
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < corners[N - 1].1 {
            Some(reflected)
        } else {
            let factor = if reflected.1 < corners[N].1 { -0.5 } else { 0.5 };
            let contracted = along(factor);
            (contracted.1 < corners[N].1.min(reflected.1)).then_some(contracted)
        };
        match better {
            Some(corner) => corners[N] = corner,
            None => shrink(&mut corners, function),
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners[0].0
}

/// Largest distance of a corner from the best one, along any axis.
fn extent<const N: usize>(corners: &[Corner<N>]) -> f64 {
    let best = corners[0].0;
    corners
        .iter()
        .flat_map(|(point, _)| point.iter().zip(&best).map(|(a, b)| (a - b).abs()))
        .fold(0.0, f64::max)
}

fn centre<const N: usize>(corners: &[Corner<N>]) -> [f64; N] {
    std::array::from_fn(|axis| corners.iter().map(|(point, _)| point[axis]).sum::<f64>() / corners.len() as f64)
}

/// `a + factor * (b - a)`.
fn mix<const N: usize>(a: &[f64; N], b: &[f64; N], factor: f64) -> [f64; N] {
    std::array::from_fn(|axis| a[axis] + factor * (b[axis] - a[axis]))
}

fn shrink<const N: usize>(corners: &mut [Corner<N>], function: &impl Fn(&[f64; N]) -> f64) {
    let best = corners[0].0;
    for corner in &mut corners[1..] {
        let point = mix(&best, &corner.0, 0.5);
        *corner = (point, function(&point));
    }
}

/// The point near `start` where a function is smallest, and the function there: quasi-Newton steps, halved until the function
/// falls, from the inverse of its second derivatives (Broyden, Fletcher, Goldfarb and Shanno, 1970). `function` returns its value
/// and gradient. The search ends when another step would gain less than `tolerance`. `None` if it does not converge.
pub(super) fn refine<const N: usize>(
    function: impl Fn(&[f64; N]) -> (f64, [f64; N]),
    start: [f64; N],
    inverse: &[[f64; N]; N],
    tolerance: f64,
) -> Option<([f64; N], f64)> {
    let mut inverse = *inverse;
    let mut point = start;
    let (mut value, mut gradient) = function(&point);
    for _ in 0..MOST_STEPS {
        let step = times(&inverse, &gradient);
        let gain = dot(&step, &gradient);
        if !gain.is_finite() || gain < 0.0 {
            return None;
        }
        if gain < tolerance {
            return Some((point, value));
        }
        let (next, next_value, next_gradient) = lower(&function, &point, value, &step)?;
        let moved = difference(&next, &point);
        let turned = difference(&next_gradient, &gradient);
        update(&mut inverse, &moved, &turned);
        (point, value, gradient) = (next, next_value, next_gradient);
    }
    None
}

/// Moves against `step`, or half of it, or a quarter…, until the function is lower.
fn lower<const N: usize>(
    function: &impl Fn(&[f64; N]) -> (f64, [f64; N]),
    from: &[f64; N],
    value: f64,
    step: &[f64; N],
) -> Option<([f64; N], f64, [f64; N])> {
    (0..10).find_map(|halvings| {
        let next = std::array::from_fn(|axis| from[axis] - step[axis] / f64::from(1 << halvings));
        let (next_value, gradient) = function(&next);
        (next_value < value).then_some((next, next_value, gradient))
    })
}

/// Updates the inverse of the second derivatives with the information from the last step.
fn update<const N: usize>(inverse: &mut [[f64; N]; N], moved: &[f64; N], turned: &[f64; N]) {
    let curvature = dot(moved, turned);
    if curvature <= 0.0 {
        return;
    }
    let along = times(inverse, turned);
    let scale = (1.0 + dot(turned, &along) / curvature) / curvature;
    for row in 0..N {
        for column in 0..N {
            let mixed = moved[row] * along[column] + along[row] * moved[column];
            inverse[row][column] += scale * moved[row] * moved[column] - mixed / curvature;
        }
    }
}

/// Inverse of the second derivatives of a function with this gradient, at `point`, by central differences; `None` if they are not
/// positive definite, that is, if `point` is not a minimum.
pub(super) fn inverse_of_second_derivatives<const N: usize>(
    gradient: impl Fn(&[f64; N]) -> [f64; N],
    point: &[f64; N],
    step: f64,
) -> Option<[[f64; N]; N]> {
    let columns: [[f64; N]; N] = std::array::from_fn(|axis| {
        let (mut above, mut below) = (*point, *point);
        above[axis] += step;
        below[axis] -= step;
        let (up, down) = (gradient(&above), gradient(&below));
        std::array::from_fn(|row| (up[row] - down[row]) / (2.0 * step))
    });
    let symmetric = std::array::from_fn(|i| std::array::from_fn(|j| (columns[i][j] + columns[j][i]) / 2.0));
    inverse(symmetric)
}

/// Inverse of a positive definite matrix, by Gauss and Jordan without exchange of rows; `None` if the matrix is not positive
/// definite.
fn inverse<const N: usize>(mut matrix: [[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let mut result: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for column in 0..N {
        let pivot = matrix[column][column];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        matrix[column] = matrix[column].map(|value| value / pivot);
        result[column] = result[column].map(|value| value / pivot);
        for row in (0..N).filter(|row| *row != column) {
            let factor = matrix[row][column];
            matrix[row] = std::array::from_fn(|j| matrix[row][j] - factor * matrix[column][j]);
            result[row] = std::array::from_fn(|j| result[row][j] - factor * result[column][j]);
        }
    }
    Some(result)
}

fn times<const N: usize>(matrix: &[[f64; N]; N], vector: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|row| dot(&matrix[row], vector))
}

fn difference<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::{inverse, inverse_of_second_derivatives, minimise, refine};

    /// The valley of Rosenbrock, which is curved and flat.
    fn valley(p: &[f64; 2]) -> f64 {
        100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2)
    }

    #[test]
    fn the_simplex_follows_a_curved_valley() {
        let found = minimise(valley, [-1.2, 1.0], 0.5, 1e-14);
        assert!(
            (found[0] - 1.0).abs() < 1e-5 && (found[1] - 1.0).abs() < 1e-5,
            "{found:?}"
        );
    }

    #[test]
    fn the_simplex_stays_where_the_function_is_defined() {
        let walled = |p: &[f64; 1]| if p[0] < 2.0 { f64::INFINITY } else { p[0] };
        let found = minimise(walled, [5.0], 1.0, 1e-12);
        assert!((found[0] - 2.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let inverted = inverse([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]).expect("positive definite");
        let product: f64 = 4.0 * inverted[0][1] + 1.0 * inverted[1][1] + 0.5 * inverted[2][1];
        let diagonal: f64 = 1.0 * inverted[0][1] + 3.0 * inverted[1][1] + 0.2 * inverted[2][1];
        assert!(product.abs() < 1e-12 && (diagonal - 1.0).abs() < 1e-12);
        assert_eq!(inverse([[1.0, 2.0], [2.0, 1.0]]), None);
    }

    #[test]
    fn quasi_newton_arrives_or_says_that_it_did_not() {
        let bowl = |p: &[f64; 2]| {
            let value = p[0].powi(2) + 3.0 * p[1].powi(2) + p[0].powi(4);
            (value, [2.0 * p[0] + 4.0 * p[0].powi(3), 6.0 * p[1]])
        };
        let inverse = inverse_of_second_derivatives(|p| bowl(p).1, &[0.0, 0.0], 1e-4).expect("a minimum");
        let (found, value) = refine(bowl, [0.3, -0.2], &inverse, 1e-16).expect("near");
        assert!(value < 1e-12, "{value}");
        assert!(found[0].abs() < 1e-6 && found[1].abs() < 1e-6, "{found:?}");
        let slope = |p: &[f64; 1]| (p[0], [1.0]);
        assert_eq!(refine(slope, [0.0], &[[1.0]], 1e-9), None);
    }
}
