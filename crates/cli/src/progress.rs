//! Progress on standard error: one line, drawn over and over, only on a terminal.

use lab::session::Session;
use std::io::{IsTerminal, Write};
use std::time::Instant;

/// Columns used when the terminal does not say how wide it is.
const COLUMNS: usize = 100;

/// The progress line.
pub(crate) struct Progress {
    on: bool,
    drawn: bool,
    started: Instant,
}

impl Progress {
    /// Progress, unless it is to be quiet or nobody is looking.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            on: !quiet && std::io::stderr().is_terminal(),
            drawn: false,
            started: Instant::now(),
        }
    }

    /// Draws the line.
    pub(crate) fn show(&mut self, session: &Session, doing: &str) {
        if !self.on {
            return;
        }
        let mut line = format!("{:>5.1} s  {doing}", self.started.elapsed().as_secs_f64());
        for series in session.recorder.live().iter().rev().take(3) {
            let max = series
                .max_ns
                .map_or_else(|| "-".to_owned(), |ns| units::format_ns(ns as f64));
            line.push_str(&format!("  {} {} max {max}", series.name, series.counters.received));
        }
        let line: String = line.chars().take(COLUMNS).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        self.drawn = true;
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
