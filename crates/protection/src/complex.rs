//! Complex numbers, as far as phasors need them.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A complex number. As a phasor: RMS with cosine reference, in the unit of the samples it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// Zero.
    pub const ZERO: Self = Self::new(0.0, 0.0);
    /// One, at angle 0.
    pub const ONE: Self = Self::new(1.0, 0.0);
    /// The operator of three-phase systems: one, at 120 degrees.
    pub const A: Self = Self::new(-0.5, 0.866_025_403_784_438_6);
    /// Its square: one, at -120 degrees.
    pub const A2: Self = Self::new(-0.5, -0.866_025_403_784_438_6);

    /// From its parts.
    #[must_use]
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// From magnitude and angle in radians.
    #[must_use]
    pub fn polar(magnitude: f64, radians: f64) -> Self {
        let (sin, cos) = radians.sin_cos();
        Self::new(magnitude * cos, magnitude * sin)
    }

    /// From magnitude and angle in degrees.
    #[must_use]
    pub fn degrees(magnitude: f64, degrees: f64) -> Self {
        Self::polar(magnitude, degrees.to_radians())
    }

    /// Magnitude.
    #[must_use]
    pub fn norm(self) -> f64 {
        self.norm_sqr().sqrt()
    }

    /// Square of the magnitude.
    #[must_use]
    pub fn norm_sqr(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// True if the magnitude is `floor` or more; `floor` is not negative. False for a value that is not a number.
    #[must_use]
    pub fn is_at_least(self, floor: f64) -> bool {
        self.norm_sqr() >= floor * floor
    }

    /// Angle in radians, in (-pi, pi].
    #[must_use]
    pub fn arg(self) -> f64 {
        self.im.atan2(self.re)
    }

    /// Angle in degrees, in (-180, 180].
    #[must_use]
    pub fn arg_degrees(self) -> f64 {
        self.arg().to_degrees()
    }

    /// Complex conjugate.
    #[must_use]
    pub const fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// Real part of `self * conj(other)`: positive if the two are less than 90 degrees apart.
    #[must_use]
    pub fn dot(self, other: Self) -> f64 {
        self.re * other.re + self.im * other.im
    }

    /// True if both parts are numbers.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// `self / other`, unless `other` is smaller than `floor` or either is not a number.
    #[must_use]
    pub fn ratio(self, other: Self, floor: f64) -> Option<Self> {
        (other.norm_sqr() > floor * floor)
            .then(|| self / other)
            .filter(|ratio| ratio.is_finite())
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self * other.conj() * (1.0 / other.norm_sqr())
    }
}

impl Div<f64> for Complex {
    type Output = Self;
    fn div(self, divisor: f64) -> Self {
        self * (1.0 / divisor)
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Complex {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::Complex;

    #[test]
    fn the_operator_turns_by_a_third() {
        let turned = Complex::A * Complex::A;
        assert!((turned - Complex::A2).norm() < 1e-15);
        assert!((Complex::A.arg_degrees() - 120.0).abs() < 1e-12);
        assert!(((Complex::degrees(3.0, 40.0) / Complex::degrees(2.0, 70.0)).arg_degrees() + 30.0).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_to_nothing_is_none() {
        assert_eq!(Complex::ONE.ratio(Complex::ZERO, 0.0), None);
        assert_eq!(Complex::ONE.ratio(Complex::new(f64::NAN, 0.0), 0.0), None);
        assert_eq!(Complex::new(f64::INFINITY, 0.0).ratio(Complex::ONE, 0.0), None);
        assert_eq!(Complex::ONE.ratio(Complex::degrees(0.5, 0.0), 0.6), None);
    }
}
