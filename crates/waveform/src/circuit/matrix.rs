//! Square matrices of admittances, and their inverses.

use num_complex::Complex64 as Complex;

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    size: usize,
    values: Vec<Complex>,
}

impl Matrix {
    /// Zeros.
    pub(super) fn zeros(size: usize) -> Self {
        Self {
            size,
            values: vec![Complex::default(); size * size],
        }
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: Complex) {
        self.values[row * self.size + column] += value;
    }

    /// The inverse, by Gauss and Jordan with pivots. Each node of a circuit has a way to earth, so there is one.
    pub(super) fn inverse(mut self) -> Self {
        let size = self.size;
        let mut inverse = Self::zeros(size);
        for place in 0..size {
            inverse.add(place, place, Complex::new(1.0, 0.0));
        }
        for column in 0..size {
            let norm = |row: &usize| self.values[row * size + column].norm();
            let pivot = (column..size)
                .max_by(|one, other| norm(one).total_cmp(&norm(other)))
                .unwrap_or(column);
            self.swap(column, pivot);
            inverse.swap(column, pivot);
            let scale = 1.0 / self.values[column * size + column];
            self.scale(column, scale);
            inverse.scale(column, scale);
            for row in (0..size).filter(|row| *row != column) {
                let share = self.values[row * size + column];
                if share != Complex::default() {
                    self.subtract(row, column, share);
                    inverse.subtract(row, column, share);
                }
            }
        }
        inverse
    }

    pub(super) fn times(&self, vector: &[Complex]) -> Vec<Complex> {
        let rows = self.values.chunks_exact(self.size.max(1));
        rows.map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
            .collect()
    }

    /// The real parts.
    pub(super) fn real(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.re).collect()
    }

    fn swap(&mut self, one: usize, other: usize) {
        for column in 0..self.size {
            self.values.swap(one * self.size + column, other * self.size + column);
        }
    }

    fn scale(&mut self, row: usize, factor: Complex) {
        let size = self.size;
        self.values[row * size..(row + 1) * size]
            .iter_mut()
            .for_each(|value| *value *= factor);
    }

    fn subtract(&mut self, row: usize, of: usize, share: Complex) {
        for column in 0..self.size {
            let value = self.values[of * self.size + column] * share;
            self.values[row * self.size + column] -= value;
        }
    }
}
