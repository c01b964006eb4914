use super::{Steadiness, check};
use crate::random::Random;

fn ar1(random: &mut Random, n: usize, rho: f64) -> Vec<f64> {
    let mut x = random.normal();
    (0..n)
        .map(|_| {
            x = rho * x + (1.0 - rho * rho).sqrt() * random.normal();
            x
        })
        .collect()
}

#[test]
fn sim() {
    let mut random = Random::new(1);
    for n in [20, 50, 100, 300, 1000] {
        for rho in [0.0, 0.3, 0.6, 0.9] {
            let reps = 300;
            let (mut t, mut s, mut v) = (0, 0, 0);
            for _ in 0..reps {
                let r = check(&ar1(&mut random, n, rho));
                if r.trend.p < 0.05 {
                    t += 1;
                }
                if r.shift.p < 0.05 {
                    s += 1;
                }
                if r.verdict != Steadiness::Steady {
                    v += 1;
                }
            }
            eprintln!(
                "n {n} rho {rho}: trend@5% {:.3} shift@5% {:.3} unsteady {:.3}",
                t as f64 / reps as f64,
                s as f64 / reps as f64,
                v as f64 / reps as f64
            );
        }
    }
}
