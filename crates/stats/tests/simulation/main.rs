//! Checks every statement that the tool makes in words against simulated truth.
//!
//! `SIMULATE=runs cargo test -p triptime-stats --test simulation` simulates so many runs of each law, and writes the table into
//! `docs/statistics.md`; without it, a few of each are simulated, and the test fails only on results that chance cannot explain.

mod laws;
mod statements;

use laws::Law;
use statements::{
    Tally, bound_holds, differs, few_windows_differ, level_holds, not_steady, quantile_holds, rare_differs, rate_holds,
    samples_differ,
};
use stats::exceedance;
use stats::random::Random;
use std::fmt::Write;
use std::path::Path;

/// Simulated runs of each row, unless another number is requested.
const RUNS: u32 = 20;

/// The promise of a row of the table.
#[derive(Debug, Clone, Copy)]
enum Promise {
    /// Counted in at most this share of all runs.
    AtMost(f64),
    /// Counted in at least this share of the runs with a statement.
    AtLeast(f64),
    /// No promise: how often a true difference is found, or a case that the text excludes.
    Nothing,
}

struct Row {
    statement: &'static str,
    law: String,
    tally: Tally,
    promise: Promise,
}

impl Row {
    /// True if the promise is broken by more than chance: the exact bound of the share is on its wrong side.
    fn is_broken(&self) -> bool {
        let (runs, said, counted) = (
            u64::from(self.tally.runs),
            u64::from(self.tally.said),
            u64::from(self.tally.counted),
        );
        match self.promise {
            Promise::AtMost(share) => exceedance::interval(counted, runs, 0.998).0 > share,
            Promise::AtLeast(share) => said > 0 && exceedance::interval(counted, said, 0.998).1 < share,
            Promise::Nothing => false,
        }
    }

    fn text(&self) -> String {
        let Tally { runs, said, counted } = self.tally;
        let percent = |part: u32, of: u32| match of {
            0 => "–".to_owned(),
            of => format!("{:.1} %", 100.0 * f64::from(part) / f64::from(of)),
        };
        let (promised, found) = match self.promise {
            Promise::AtMost(share) => (format!("at most {:.0} %", share * 100.0), percent(counted, runs)),
            Promise::AtLeast(share) => (format!("at least {:.0} %", share * 100.0), percent(counted, said)),
            Promise::Nothing => ("–".to_owned(), percent(counted, runs)),
        };
        let statement = self.statement;
        let law = &self.law;
        format!(
            "| {statement} | {law} | {promised} | {found} | {} |",
            percent(said, runs)
        )
    }
}

fn rows(runs: u32) -> Vec<Row> {
    let mut random = Random::new(0x7369_6d75);
    let mut rows = Vec::new();
    let mut row = |statement, law: String, tally, promise| {
        rows.push(Row {
            statement,
            law,
            tally,
            promise,
        });
    };
    let all = [
        Law::Independent,
        Law::Alike(0.5),
        Law::Alike(0.8),
        Law::Alike(0.95),
        Law::SlowUnderNoise(0.8),
        Law::SlowUnderNoise(0.95),
        Law::Bursts,
        Law::Drift(3.0),
        Law::Walk,
        Law::Wave,
        Law::Mixed,
        Law::Heavy,
    ];
    for law in all {
        for windows in [50, 100, 300] {
            let name = format!("{}, {windows} windows", law.name());
            let tally = differs(law, windows, 1.0, runs, &mut random);
            row(
                "equal runs: some figure differs",
                name.clone(),
                tally,
                Promise::AtMost(0.05),
            );
            let tally = rare_differs(law, windows, 1.0, runs, &mut random);
            row(
                "equal runs: maximum or rate differs",
                name,
                tally,
                Promise::AtMost(0.05),
            );
        }
    }
    for law in [
        Law::Independent,
        Law::Alike(0.5),
        Law::Alike(0.8),
        Law::Mixed,
        Law::Heavy,
    ] {
        for windows in [60, 300] {
            let name = format!("{}, {windows} windows", law.name());
            let tally = differs(law, windows, 1.2, runs, &mut random);
            row(
                "20 % higher: some figure differs",
                name.clone(),
                tally,
                Promise::Nothing,
            );
            let tally = rare_differs(law, windows, 1.2, runs, &mut random);
            row("20 % higher: maximum or rate differs", name, tally, Promise::Nothing);
        }
    }
    steadiness(runs, &mut random, &mut row);
    levels(runs, &mut random, &mut row);
    bounds(runs, &mut random, &mut row);
    short_runs(runs, &mut random, &mut row);
    rows
}

/// Runs with fewer windows than strict statements need.
fn short_runs(runs: u32, random: &mut Random, row: &mut impl FnMut(&'static str, String, Tally, Promise)) {
    for windows in [6, 14, 30] {
        for law in [Law::Independent, Law::Mixed, Law::Heavy] {
            let tally = few_windows_differ(law, windows, 1.0, runs, random);
            let name = format!("{}, {windows} windows", law.name());
            row(
                "equal short runs: some figure differs",
                name,
                tally,
                Promise::AtMost(0.05),
            );
        }
        // The sentence states the assumption that windows are independent.
        for law in [
            Law::Alike(0.5),
            Law::Alike(0.8),
            Law::SlowUnderNoise(0.8),
            Law::Bursts,
            Law::Walk,
        ] {
            let tally = few_windows_differ(law, windows, 1.0, runs, random);
            let name = format!("{}, {windows} windows", law.name());
            row(
                "equal short runs whose windows depend: some figure differs",
                name,
                tally,
                Promise::Nothing,
            );
        }
        for times in [1.2, 2.0] {
            let tally = few_windows_differ(Law::Independent, windows, times, runs, random);
            let name = format!("independent, {windows} windows, {times} times as high");
            row("short runs: some figure differs", name, tally, Promise::Nothing);
        }
    }
    for samples in [12, 5_000] {
        let tally = samples_differ(samples, 1.0, runs, random);
        let name = format!("independent, {samples} samples");
        row(
            "equal runs by samples: a quantile differs",
            name,
            tally,
            Promise::AtMost(0.05),
        );
    }
}

fn steadiness(runs: u32, random: &mut Random, row: &mut impl FnMut(&'static str, String, Tally, Promise)) {
    let steady = [
        Law::Independent,
        Law::Alike(0.5),
        Law::Alike(0.8),
        Law::Alike(0.95),
        Law::SlowUnderNoise(0.8),
        Law::SlowUnderNoise(0.95),
        Law::Bursts,
        Law::Mixed,
        Law::Heavy,
    ];
    for windows in [50, 100, 300] {
        for law in steady {
            let name = format!("{}, {windows} windows", law.name());
            let tally = not_steady(law, windows, runs, random);
            // A change that lasts a tenth of the run or more looks like a trend, and the sentence says so.
            let is_slow = windows < 200 && matches!(law, Law::SlowUnderNoise(_) | Law::Bursts);
            match is_slow {
                true => row(
                    "\"not steady\" under slow load, which it names",
                    name,
                    tally,
                    Promise::Nothing,
                ),
                false => row("\"not steady\" of a steady run", name, tally, Promise::AtMost(0.02)),
            }
        }
        for law in [Law::Drift(2.0), Law::Drift(3.0), Law::Walk, Law::Wave] {
            let name = format!("{}, {windows} windows", law.name());
            let tally = not_steady(law, windows, runs, random);
            row("\"not steady\" of a run that changes", name, tally, Promise::Nothing);
        }
    }
}

fn levels(runs: u32, random: &mut Random, row: &mut impl FnMut(&'static str, String, Tally, Promise)) {
    let runs = runs.div_ceil(4);
    for windows in [100, 200] {
        for law in [Law::Independent, Law::Alike(0.5), Law::Alike(0.8), Law::Heavy] {
            let name = format!("{}, {windows} windows", law.name());
            let tally = level_holds(law, windows, runs, random);
            row("return level holds the true one", name, tally, Promise::AtLeast(0.95));
        }
        let name = format!("{}, {windows} windows", Law::Mixed.name());
        let tally = level_holds(Law::Mixed, windows, runs, random);
        row(
            "return level, where it says what it cannot know",
            name,
            tally,
            Promise::Nothing,
        );
    }
}

fn bounds(runs: u32, random: &mut Random, row: &mut impl FnMut(&'static str, String, Tally, Promise)) {
    for (share, samples) in [(0.001, 3_000), (0.01, 1_000), (0.2, 500)] {
        let tally = bound_holds(share, samples, 5 * runs, random);
        let name = format!("independent, {share} of {samples}");
        row("bound of a probability", name, tally, Promise::AtLeast(0.95));
    }
    for mean in [2.5, 10.0] {
        let tally = rate_holds(mean, 5 * runs, random);
        row(
            "bound of a rate",
            format!("Poisson, mean {mean}"),
            tally,
            Promise::AtLeast(0.95),
        );
    }
    for (q, samples) in [(0.5, 1_000), (0.99, 5_000), (0.999, 20_000)] {
        let tally = quantile_holds(q, samples, runs, random);
        row(
            "interval of a quantile",
            format!("independent, {q} of {samples}"),
            tally,
            Promise::AtLeast(0.95),
        );
    }
}

#[test]
fn statements_hold_what_they_promise() {
    let asked = std::env::var("SIMULATE").ok().and_then(|text| text.parse().ok());
    let rows = rows(asked.unwrap_or(RUNS));
    let mut table =
        String::from("| statement | runs | promised | found | something said |\n| --- | --- | --- | --- | --- |\n");
    for row in &rows {
        let _ = writeln!(table, "{}", row.text());
    }
    if let Some(runs) = asked {
        put_into_page(&table, runs);
    }
    let broken: Vec<String> = rows.iter().filter(|row| row.is_broken()).map(Row::text).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Replaces the text between the marks of the page.
fn put_into_page(table: &str, runs: u32) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (begin, end) = ("<!-- simulated: begin -->\n", "<!-- simulated: end -->");
    let (before, rest) = page.split_once(begin).expect("the begin of the table");
    let (_, after) = rest.split_once(end).expect("the end of the table");
    let what =
        format!("{runs} runs or pairs of each law; a quarter as many return levels, five times as many bounds.\n\n");
    std::fs::write(&path, format!("{before}{begin}{what}{table}{end}{after}")).expect("written");
}
