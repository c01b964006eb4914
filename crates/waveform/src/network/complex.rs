//! Complex numbers, as far as a network needs them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// By its parts: resistance and reactance of an impedance.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// By magnitude and angle in degrees.
    pub fn polar(magnitude: f64, deg: f64) -> Self {
        let (sin, cos) = deg.to_radians().sin_cos();
        Self::new(magnitude * cos, magnitude * sin)
    }

    /// Its magnitude.
    pub fn magnitude(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Its angle in degrees, above -180 up to 180.
    pub fn angle_deg(self) -> f64 {
        self.im.atan2(self.re).to_degrees()
    }

    /// It, so many times.
    pub fn times(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
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

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Div for Complex {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let square = other.re * other.re + other.im * other.im;
        (self * Self::new(other.re, -other.im)).times(1.0 / square)
    }
}

impl Neg for Complex {
    type Output = Self;

    fn neg(self) -> Self {
        self.times(-1.0)
    }
}
