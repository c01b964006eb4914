//! The ledger: counts and extremes of every month and series in a line of text, kept longer than the run files.

use model::{Counter, Counters, Window};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// First line of the file.
const HEADER: &str = "# month\trun\tstate\tseries\tmin_ns\tmax_ns\tcounters";

/// Counts and extremes of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Counts.
    pub counters: Counters,
    /// Smallest sample.
    pub min_ns: Option<i64>,
    /// Largest sample.
    pub max_ns: Option<i64>,
}

impl Totals {
    /// Adds a window that was written.
    pub(crate) fn add(&mut self, window: &Window) {
        self.counters.add(&window.counters);
        self.min_ns = self.min_ns.into_iter().chain(window.min_ns).min();
        self.max_ns = self.max_ns.max(window.max_ns);
    }
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// The month, such as `2026-11`.
    pub month: String,
    /// Name of the run file.
    pub run: String,
    /// `complete` or `interrupted`.
    pub state: String,
    /// The series, or `watched/RELAY`, whose counter `watched_ns` is the time for which a relay was watched.
    pub series: String,
    /// Its counts.
    pub totals: Totals,
}

/// The ledger.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// The ledger of a folder.
    pub fn of(folder: &Path) -> Self {
        Self {
            path: folder.join("months.tsv"),
        }
    }

    /// Adds lines; they are on the disk when this returns.
    ///
    /// # Errors
    /// The disk refuses them; then none is there.
    pub fn add(&self, lines: &[LedgerLine]) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let length = file.metadata()?.len();
        let mut text = String::new();
        if length == 0 {
            text.push_str(HEADER);
            text.push('\n');
        }
        lines.iter().for_each(|line| text.push_str(&written(line)));
        let outcome = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if outcome.is_err() {
            let _ = file.set_len(length);
        }
        outcome
    }

    /// All lines. Those that cannot be read are left out: a kill may have torn the last one.
    ///
    /// # Errors
    /// The file is there, and cannot be read.
    pub fn read(&self) -> io::Result<Vec<LedgerLine>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().filter_map(read).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Ends a line that a kill tore, so that the next one is whole.
    pub(crate) fn mend(&self) -> io::Result<()> {
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let whole = text.iter().rposition(|octet| *octet == b'\n').map_or(0, |at| at + 1);
        match whole == text.len() {
            true => Ok(()),
            false => File::options().write(true).open(&self.path)?.set_len(whole as u64),
        }
    }
}

fn written(line: &LedgerLine) -> String {
    let ns = |ns: Option<i64>| ns.map_or_else(|| "-".to_owned(), |ns| ns.to_string());
    let counters: Vec<String> = Counter::ALL
        .into_iter()
        .filter(|counter| line.totals.counters.get(*counter) > 0)
        .map(|counter| format!("{}={}", counter.name(), line.totals.counters.get(counter)))
        .collect();
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        line.month,
        line.run,
        line.state,
        line.series,
        ns(line.totals.min_ns),
        ns(line.totals.max_ns),
        counters.join(" ")
    )
}

fn read(text: &str) -> Option<LedgerLine> {
    let mut parts = text.split('\t');
    let mut next = || parts.next();
    let (month, run, state, series) = (next()?, next()?, next()?, next()?);
    let ns = |text: &str| match text {
        "-" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let (min_ns, max_ns) = (ns(next()?)?, ns(next()?)?);
    let mut counters = Counters::default();
    for pair in next()?.split_whitespace() {
        let (name, value) = pair.split_once('=')?;
        let counter = Counter::ALL.into_iter().find(|counter| counter.name() == name)?;
        *counters.get_mut(counter) = value.parse().ok()?;
    }
    Some(LedgerLine {
        month: month.to_owned(),
        run: run.to_owned(),
        state: state.to_owned(),
        series: series.to_owned(),
        totals: Totals {
            counters,
            min_ns,
            max_ns,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Ledger, LedgerLine, Totals};
    use model::Counters;
    use std::io::Write;

    #[test]
    fn lines_are_read_as_written_and_a_torn_one_is_mended() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::of(folder.path());
        assert_eq!(ledger.read().expect("none"), Vec::new());
        let line = LedgerLine {
            month: "2026-11".into(),
            run: "sentinel-2026-11.triptime".into(),
            state: "complete".into(),
            series: "trip/main".into(),
            totals: Totals {
                counters: Counters {
                    expected: 7,
                    received: 6,
                    lost: 1,
                    ..Counters::default()
                },
                min_ns: Some(-3),
                max_ns: Some(25_000_000),
            },
        };
        ledger.add(&[line.clone(), line.clone()]).expect("added");
        let mut torn = std::fs::OpenOptions::new()
            .append(true)
            .open(folder.path().join("months.tsv"))
            .expect("the file");
        torn.write_all(b"2026-12\tsent").expect("torn");
        ledger.mend().expect("mended");
        ledger.add(std::slice::from_ref(&line)).expect("added");
        assert_eq!(ledger.read().expect("lines"), vec![line.clone(), line.clone(), line]);
    }
}
