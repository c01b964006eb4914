//! Random numbers for simulation, the same in every run.
//!
//! A report must not change when it is made twice, so nothing here is seeded from a clock or the system. The generator is
//! xoshiro256++ (Blackman and Vigna, ACM TOMS 47, 2021), its state filled by SplitMix64 from one number, as its authors advise. It
//! is not suitable for secrets.

/// A generator of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Makes a generator with the seed `seed`. Equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed;
        Self {
            state: std::array::from_fn(|_| split_mix(&mut mixed)),
        }
    }

    /// The next number, from 0 to 2^64 - 1.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number strictly between 0 and 1: the middle of one of 2^53 equal steps.
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// An exponential variable of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// A normal variable of mean 0 and variance 1 (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Random, split_mix};

    /// First outputs of SplitMix64 seeded with 1234567, as its reference program in C prints them.
    #[test]
    fn split_mix_is_the_published_one() {
        let mut state = 1_234_567;
        let outputs: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    /// First outputs of xoshiro256++ from the state 1, 2, 3, 4, as its reference program in C prints them.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random { state: [1, 2, 3, 4] };
        let outputs: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(
            outputs,
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]
        );
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(7);
        let count = 200_000;
        let mut mean = |mut draw: Box<dyn FnMut(&mut Random) -> f64>| {
            (0..count).map(|_| draw(&mut random)).sum::<f64>() / f64::from(count)
        };
        // Five standard errors of each mean.
        for (figure, expected, error, what) in [
            (mean(Box::new(Random::unit)), 0.5, 0.0033, "unit"),
            (mean(Box::new(Random::exponential)), 1.0, 0.0112, "exponential"),
            (mean(Box::new(Random::normal)), 0.0, 0.0112, "normal"),
            (mean(Box::new(|r| r.normal().powi(2))), 1.0, 0.0159, "normal, squared"),
        ] {
            assert!(
                (figure - expected).abs() < error,
                "{what}: {figure}, expected {expected}"
            );
        }
    }
}
