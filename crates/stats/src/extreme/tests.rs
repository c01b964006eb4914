use super::*;
use crate::random::Random;

#[test]
fn speed() {
    let g = Gev { location: 20_000.0, scale: 3_000.0, shape: 0.1 };
    let mut random = Random::new(1);
    for n in [50, 200, 2000, 30000] {
        let x: Vec<f64> = (0..n).map(|_| g.draw(&mut random)).collect();
        let t = std::time::Instant::now();
        let r = return_level_of_maxima(&x, n as f64 * 5.0, 0.95);
        eprintln!("{n} {:?} {:?} true {}", t.elapsed(), r, g.return_level(n as f64 * 5.0));
    }
}
#[test]
fn coverage() {
    let mut random = Random::new(2);
    for n in [50, 100, 400] { for shape in [-0.4, -0.2, 0.0, 0.2, 0.4] {
        let g = Gev { location: 20_000.0, scale: 3_000.0, shape };
        for m in [1.0, 10.0] {
            let ahead = n as f64 * m;
            let truth = g.return_level(ahead);
            let (mut below, mut above, mut refused, mut bad, reps) = (0, 0, 0, 0, 200);
            let mut bias=0.0;
            for _ in 0..reps {
                let x: Vec<f64> = (0..n).map(|_| g.draw(&mut random)).collect();
                match return_level_of_maxima(&x, ahead, 0.95) {
                    Ok(r) => { if r.high_ns < truth { below += 1; } if r.low_ns > truth { above += 1; } bias += r.level_ns/truth-1.0; }
                    Err(Refusal::BadFit{..}) => bad += 1,
                    Err(_) => refused += 1,
                }
            }
            let ok = (reps - refused - bad) as f64;
            eprintln!("n {n} shape {shape} x{m}: too low {:.3} too high {:.3} badfit {:.3} refused {:.3} bias {:.3}", below as f64 / ok, above as f64 / ok, bad as f64 / reps as f64, refused as f64 / reps as f64, bias/ok);
        }
    } }
}
