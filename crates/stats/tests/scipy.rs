//! SciPy as the oracle: new random questions, answered by both.

use serde_json::{Value, json};
use stats::exceedance::{rate_upper_bound, upper_bound};
use stats::extreme::Gev;
use stats::random::Random;
use stats::stationarity::check;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// SciPy's answers to `questions`; `None` if the test is skipped.
fn ask(test: &str, questions: &[Value]) -> Option<Vec<Value>> {
    let python = testing::python(test)?;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("questions");
    let mut text = std::fs::File::create(&file).expect("a file");
    for question in questions {
        writeln!(text, "{question}").expect("written");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&file)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(answers.len(), questions.len());
    Some(answers)
}

/// New questions in each run; the seed is printed, so that a failure can be reproduced.
fn random(test: &str) -> Random {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = u64::from(now.subsec_nanos());
    let _ = writeln!(std::io::stderr(), "{test}: seed {seed}");
    Random::new(seed)
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(|number| number.as_f64().expect("a number"))
        .collect()
}

fn close(ours: f64, theirs: f64, tolerance: f64) -> bool {
    (ours - theirs).abs() <= tolerance * theirs.abs().max(1e-12)
}

/// A shape between -0.4 and 0.4, a location and a scale in ns.
fn parameters(random: &mut Random) -> (f64, f64, f64) {
    let shape = 0.8 * random.unit() - 0.4;
    (shape, 20_000.0 + 1e5 * random.unit(), 500.0 + 1e4 * random.unit())
}

#[test]
fn the_distribution_has_scipys_likelihood_and_levels() {
    let test = "the_distribution_has_scipys_likelihood_and_levels";
    const BLOCKS: [f64; 4] = [0.5, 1.5, 10.0, 1000.0];
    let mut random = random(test);
    let drawn: Vec<(Gev, [f64; 3])> = (0..40)
        .map(|_| {
            let (shape, location, scale) = parameters(&mut random);
            let around = [0.2, 1.0, 2.0].map(|steps| location + steps * scale);
            (Gev { location, scale, shape }, around)
        })
        .collect();
    let questions: Vec<Value> = drawn
        .iter()
        .map(|(gev, at)| {
            json!({"kind": "gev", "shape": gev.shape, "location": gev.location, "scale": gev.scale, "at": at, "blocks": BLOCKS})
        })
        .collect();
    let Some(answers) = ask(test, &questions) else { return };
    for ((gev, at), answer) in drawn.into_iter().zip(answers) {
        let (ours, theirs) = (gev.log_likelihood(&at), answer["log-likelihood"].as_f64());
        assert!(
            close(ours, theirs.expect("a number"), 1e-9),
            "{gev:?}: {ours} and {theirs:?}"
        );
        for (blocks, theirs) in BLOCKS.into_iter().zip(numbers(&answer["levels"])) {
            let ours = gev.return_level(blocks);
            assert!(
                close(ours, theirs, 1e-9),
                "{gev:?}, once in {blocks}: {ours} and {theirs}"
            );
        }
    }
}

#[test]
fn fits_are_at_least_as_likely_as_scipys() {
    let test = "fits_are_at_least_as_likely_as_scipys";
    let mut random = random(test);
    let mut questions = Vec::new();
    for _ in 0..12 {
        let (shape, location, scale) = parameters(&mut random);
        let gev = Gev { location, scale, shape };
        let mut maxima: Vec<f64> = (0..200).map(|_| gev.draw(&mut random)).collect();
        maxima.sort_by(f64::total_cmp);
        let fit = Gev::fit(&maxima);
        questions.push(
            json!({"kind": "gev-fit", "values": maxima, "shape": fit.shape, "location": fit.location,
                              "scale": fit.scale}),
        );
    }
    let Some(answers) = ask(test, &questions) else { return };
    for (question, answer) in questions.iter().zip(answers) {
        let (ours, best) = (answer["ours"].as_f64(), answer["best"].as_f64());
        let (Some(ours), Some(best)) = (ours, best) else {
            panic!("no likelihood: {answer}");
        };
        assert!(ours >= best - 1e-3, "{}: {ours} below {best}", question["kind"]);
    }
}

#[test]
fn bounds_and_slopes_are_scipys() {
    let test = "bounds_and_slopes_are_scipys";
    let mut random = random(test);
    let counts: Vec<(u64, u64)> = (0..20)
        .map(|_| {
            let n = 100 + random.next_u64() % 6_000_000_000;
            (random.next_u64() % 8, n)
        })
        .collect();
    let values: Vec<f64> = (0..300)
        .map(|at| 20_000.0 + 3.0 * f64::from(at) + 900.0 * random.normal())
        .collect();
    let mut questions: Vec<Value> = counts
        .iter()
        .map(|(over, n)| json!({"kind": "clopper-pearson", "over": over, "n": n, "confidence": 0.95}))
        .collect();
    questions.push(json!({"kind": "trend", "values": values}));
    let Some(answers) = ask(test, &questions) else { return };
    for ((over, n), answer) in counts.into_iter().zip(&answers) {
        let upper = answer["upper"].as_f64().expect("a number");
        assert!(close(upper_bound(over, n, 0.95), upper, 1e-7), "{over} of {n}");
        let rate = answer["rate"].as_f64().expect("a number");
        assert!(
            close(rate_upper_bound(over, 1_000_000_000, 0.95), rate, 1e-9),
            "{over} events"
        );
    }
    let slope = answers[answers.len() - 1]["slope"].as_f64().expect("a number");
    assert!(close(check(&values).trend.slope_per_window, slope, 1e-9), "{slope}");
}
