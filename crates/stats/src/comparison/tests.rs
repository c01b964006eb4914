use super::{Figure, Outcome, WindowFigures, compare};
use crate::random::Random;

fn series(random: &mut Random, n: usize, rho: f64) -> Vec<WindowFigures> {
    let mut x = random.normal();
    (0..n)
        .map(|_| {
            x = rho * x + (1.0 - rho * rho).sqrt() * random.normal();
            let m = 20_000.0 * (0.3 * x).exp();
            WindowFigures {
                count: 1000,
                mean: m,
                p50: m,
                p99: m,
                p999: None,
                max: m,
            }
        })
        .collect()
}

#[test]
fn sim() {
    let mut random = Random::new(1);
    for n in [10, 20, 50, 100, 300, 1000] {
        for rho in [0.0, 0.3, 0.6, 0.9] {
            let reps = 300;
            let mut wrong = 0;
            for _ in 0..reps {
                let a = Figure::WindowMax.values(&series(&mut random, n, rho));
                let b = Figure::WindowMax.values(&series(&mut random, n, rho));
                let d = super::difference(Figure::WindowMax, &a, &b, 0.95);
                if d.low > 0.0 || d.high < 0.0 {
                    wrong += 1;
                }
            }
            eprintln!("n {n} rho {rho}: error {:.3}", wrong as f64 / reps as f64);
        }
    }
    let a = series(&mut random, 30000, 0.5);
    let b = series(&mut random, 30000, 0.5);
    let t = std::time::Instant::now();
    let d = compare(&a, &b, 0.95);
    eprintln!("{:?} {}", t.elapsed(), d[4].text("a", "b"));
    let a = series(&mut random, 600000, 0.5);
    let b = series(&mut random, 600000, 0.5);
    let t = std::time::Instant::now();
    let d = compare(&a, &b, 0.95);
    eprintln!("{:?} {:?}", t.elapsed(), d[4]);
}
