//! Progress on standard error while a run measures: on a terminal a table of the series, else a line at each step and at intervals.

mod lines;
mod names;
mod table;

use crate::terminal;
use run::{Live, Thresholds};
use session::Session;
use session::runner::{Position, ShowProgress};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use table::LiveTable;
use units::{foreign, format_ns};

/// Columns to use if the terminal does not report its width.
const COLUMNS: usize = 100;

/// Interval between two drawings: nobody can read faster changes, and drawing costs time on a CPU next to the measured ones.
const EVERY: Duration = Duration::from_millis(400);

/// Progress display of a running measurement.
pub(crate) struct Progress {
    view: View,
    started: Option<Instant>,
    drawn: Option<Instant>,
    limits: Thresholds,
}

enum View {
    /// Prints nothing.
    Off,
    /// Prints a line at each step and at intervals, for output that is not a terminal.
    Lines(lines::Said),
    /// Redraws one line: this terminal cannot place a table.
    Line,
    /// A table below the cursor.
    Table(LiveTable),
}

impl Progress {
    /// Progress of a run whose largest samples are compared with these limits; prints nothing if `quiet`.
    pub(crate) fn new(quiet: bool, limits: Thresholds) -> Self {
        let view = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => View::Off,
            (false, true) => View::Table(LiveTable::default()),
            (false, false) => View::Lines(lines::Said::default()),
        };
        Self {
            view,
            started: None,
            drawn: None,
            limits,
        }
    }
}

impl ShowProgress for Progress {
    fn show(&mut self, session: &Session, doing: &str, position: Option<Position>) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        let head = head(
            self.started.get_or_insert_with(Instant::now).elapsed(),
            &foreign::shown(doing),
            position,
        );
        match &mut self.view {
            View::Off => return,
            View::Lines(said) => {
                let step = position.map(|position| position.step);
                if said.is_due(step, Instant::now()) {
                    let _ = writeln!(std::io::stderr(), "triptime: {head}{}", worst(&session.recorder.live()));
                }
            }
            View::Line => line(&head, session),
            View::Table(table) => {
                if table.draw(&head, &session.recorder.live(), &self.limits).is_err() {
                    table.clear();
                    self.view = View::Line;
                }
            }
        }
        self.drawn = Some(Instant::now());
    }

    fn clear(&mut self) {
        match &mut self.view {
            View::Table(table) => table.clear(),
            View::Line if self.drawn.is_some() => {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
            View::Line | View::Lines(_) | View::Off => {}
        }
        self.drawn = None;
    }
}

/// Such as `12.0 s  step 2 of 5, 43.0 s left: noise`.
fn head(since: Duration, doing: &str, position: Option<Position>) -> String {
    let since = since.as_secs_f64();
    match position {
        None => format!("{since:.1} s  {doing}"),
        Some(position) => {
            let left = format_ns(position.left_ns() as f64);
            format!(
                "{since:.1} s  step {} of {}, {left} left: {doing}",
                position.step, position.of
            )
        }
    }
}

/// The largest sample of all so far.
fn worst(series: &[Live]) -> String {
    let largest = series.iter().filter_map(|series| Some((series.max_ns?, series)));
    let largest = largest.max_by_key(|(max_ns, _)| *max_ns);
    largest.map_or_else(String::new, |(max_ns, series)| {
        format!(
            "; largest so far: {} {}",
            foreign::shown(&series.name),
            format_ns(max_ns as f64)
        )
    })
}

/// Redraws one line. A line that reaches the last column would wrap, and its first part would stay.
fn line(head: &str, session: &Session) {
    let mut line = head.to_owned();
    for series in session.recorder.live().iter().rev().take(3) {
        let max = series.max_ns.map_or_else(|| "-".to_owned(), |ns| format_ns(ns as f64));
        let name = foreign::shown(&series.name);
        line.push_str(&format!("  {name} {} max {max}", series.counters.received));
    }
    let line: String = line.chars().take(terminal::columns_of_stderr(COLUMNS) - 1).collect();
    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
}

#[cfg(test)]
mod tests {
    use super::{Duration, head};
    use session::runner::Position;
    use std::time::Instant;

    #[test]
    fn the_head_says_the_step_and_what_is_left_of_the_plan() {
        let position = Position {
            step: 2,
            of: 5,
            left_ns: 43_000_000_000,
            since: Instant::now(),
        };
        let text = head(Duration::from_secs(15), "noise", Some(position));
        assert!(text.starts_with("15.0 s  step 2 of 5, 43.0 s left: noise"), "{text}");
        assert_eq!(head(Duration::from_secs(15), "measuring", None), "15.0 s  measuring");
    }
}
