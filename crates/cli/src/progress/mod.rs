//! Progress on standard error while a run measures: a table of the series, only on a terminal.

mod table;

use lab::runner::Show;
use lab::session::Session;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use table::LiveTable;
use units::foreign;

/// Columns used when the terminal does not say how wide it is.
const COLUMNS: usize = 100;

/// How often the table is drawn: more often nobody can read it, and drawing costs the CPU beside the measured ones.
const EVERY: Duration = Duration::from_millis(400);

/// What is shown while a run measures.
pub(crate) struct Progress {
    view: View,
    started: Instant,
    drawn: Option<Instant>,
}

enum View {
    /// Nobody looks, or it is to be quiet.
    Off,
    /// One line, drawn over and over: the terminal cannot place a table.
    Line,
    /// A table below the cursor.
    Table(LiveTable),
}

impl Progress {
    /// Progress, unless it is to be quiet or nobody is looking.
    pub(crate) fn new(quiet: bool) -> Self {
        let on = !quiet && std::io::stderr().is_terminal();
        let view = match on {
            true => View::Table(LiveTable::default()),
            false => View::Off,
        };
        Self {
            view,
            started: Instant::now(),
            drawn: None,
        }
    }

    /// Takes it away.
    pub(crate) fn clear(&mut self) {
        match &mut self.view {
            View::Table(table) => table.clear(),
            View::Line if self.drawn.is_some() => {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
            View::Line | View::Off => {}
        }
        self.drawn = None;
    }
}

impl Show for Progress {
    fn show(&mut self, session: &Session, doing: &str) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        let doing = foreign::shown(doing);
        let head = format!("{:>7.1} s  {doing}", self.started.elapsed().as_secs_f64());
        match &mut self.view {
            View::Off => return,
            View::Line => line(&head, session),
            View::Table(table) => {
                if table.draw(&head, &session.recorder.live()).is_err() {
                    table.clear();
                    self.view = View::Line;
                }
            }
        }
        self.drawn = Some(Instant::now());
    }
}

fn line(head: &str, session: &Session) {
    let mut line = head.to_owned();
    for series in session.recorder.live().iter().rev().take(3) {
        let max = series
            .max_ns
            .map_or_else(|| "-".to_owned(), |ns| units::format_ns(ns as f64));
        let name = foreign::shown(&series.name);
        line.push_str(&format!("  {name} {} max {max}", series.counters.received));
    }
    let line: String = line.chars().take(COLUMNS).collect();
    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
}
