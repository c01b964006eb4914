//! The table of the series, drawn in place below the cursor.

use super::names::fitted;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Constraint;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Cell, Row};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use run::{Live, Thresholds};
use std::io::{Result, Stderr};
use units::foreign;

/// Maximum number of series shown: those with the largest samples.
const MOST_ROWS: usize = 16;

/// Lines in addition to the series: the current step, and the column heads.
const HEAD_ROWS: u16 = 2;

/// A column: its name, its width, and its text for a series.
type Column = (&'static str, u16, fn(&Live, Option<u64>) -> Cell<'static>);

/// The name of a series, the first column.
const NAME: (&str, u16) = ("series", 26);

/// Columns that every terminal has room for.
const NARROW: [Column; 6] = [
    ("samples", 9, |series, _| {
        Cell::from(series.counters.received.to_string())
    }),
    ("missed", 7, |series, _| bad(series.counters.missed)),
    ("lost", 6, |series, _| {
        bad(series.counters.lost + series.counters.overrun)
    }),
    ("last", 8, |series, _| ns(series.last_ns.map(|ns| ns as f64))),
    ("max", 8, max),
    ("limit", 8, |_, limit| ns(limit.map(|ns| ns as f64))),
];

/// Further columns that wide terminals have room for.
const WIDE: [Column; 3] = [
    ("over limit", 11, |series, _| bad(series.counters.overflow)),
    ("min", 9, |series, _| ns(series.min_ns.map(|ns| ns as f64))),
    ("mean", 9, |series, _| ns(series.mean_ns)),
];

/// Columns for a terminal of this width.
fn columns(width: u16) -> Vec<Column> {
    let needs = |columns: &[Column]| columns.iter().map(|(_, width, _)| width + 1).sum::<u16>();
    let wide = NAME.1 + needs(&NARROW) + needs(&WIDE);
    let more: &[Column] = if width >= wide { &WIDE } else { &[] };
    NARROW.iter().chain(more).copied().collect()
}

/// The table, after the first drawing.
#[derive(Default)]
pub(super) struct LiveTable {
    terminal: Option<(u16, Terminal<CrosstermBackend<Stderr>>)>,
}

impl LiveTable {
    /// Draws the current state of the series.
    ///
    /// # Errors
    /// The terminal does not report its cursor position, or is closed.
    pub(super) fn draw(&mut self, head: &str, series: &[Live], limits: &Thresholds) -> Result<()> {
        let series = worst(series);
        let height = HEAD_ROWS + u16::try_from(series.len()).unwrap_or(0);
        let terminal = self.terminal(height)?;
        terminal.draw(|frame| render(frame, head, &series, limits))?;
        Ok(())
    }

    /// Removes the table and leaves the cursor in its place.
    pub(super) fn clear(&mut self) {
        if let Some((_, mut terminal)) = self.terminal.take() {
            // A closed terminal needs no cleaning.
            let _ = terminal.clear();
            let _ = terminal.show_cursor();
        }
    }

    /// The terminal with room for `height` lines.
    fn terminal(&mut self, height: u16) -> Result<&mut Terminal<CrosstermBackend<Stderr>>> {
        if self.terminal.as_ref().is_some_and(|(had, _)| *had < height) {
            self.clear();
        }
        let (_, terminal) = match self.terminal.take() {
            Some(there) => self.terminal.insert(there),
            None => {
                let options = TerminalOptions {
                    viewport: Viewport::Inline(height),
                };
                let made = Terminal::with_options(CrosstermBackend::new(std::io::stderr()), options)?;
                self.terminal.insert((height, made))
            }
        };
        Ok(terminal)
    }
}

/// The series to show, in the order they were measured.
fn worst(series: &[Live]) -> Vec<Live> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(series[*index].max_ns));
    order.truncate(MOST_ROWS);
    order.sort_unstable();
    order.into_iter().map(|index| series[index].clone()).collect()
}

fn render(frame: &mut Frame<'_>, head: &str, series: &[Live], limits: &Thresholds) {
    let area = frame.area();
    let columns = columns(area.width);
    let heads = columns.iter().map(|(name, ..)| Cell::from(*name));
    let heads = std::iter::once(Cell::from(NAME.0)).chain(heads);
    let rows = series.iter().map(|series| {
        let limit = limits.of(&series.name);
        let name = fitted(&foreign::shown(&series.name), usize::from(NAME.1));
        let cells = columns.iter().map(|(_, _, cell)| cell(series, limit));
        Row::new(std::iter::once(Cell::from(name)).chain(cells))
    });
    let widths = std::iter::once(NAME.1).chain(columns.iter().map(|(_, width, _)| *width));
    let table = ratatui::widgets::Table::new(rows, widths.map(Constraint::Length))
        .header(Row::new(heads).style(Style::new().add_modifier(Modifier::DIM)))
        .column_spacing(1);
    let [first, rest] = ratatui::layout::Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(head, first);
    frame.render_widget(table, rest);
}

fn ns(ns: Option<f64>) -> Cell<'static> {
    Cell::from(ns.map_or_else(|| "-".to_owned(), units::format_ns))
}

/// The largest sample; red if it exceeds the limit, which is in the next column.
fn max(series: &Live, limit: Option<u64>) -> Cell<'static> {
    let cell = ns(series.max_ns.map(|ns| ns as f64));
    let is_over = series
        .max_ns
        .zip(limit)
        .is_some_and(|(max, limit)| u64::try_from(max).is_ok_and(|max| max > limit));
    if is_over {
        cell.style(Style::new().fg(Color::Red))
    } else {
        cell
    }
}

fn bad(count: u64) -> Cell<'static> {
    match count {
        0 => Cell::from("0"),
        count => Cell::from(count.to_string()).style(Style::new().fg(Color::Red)),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_ROWS, render, worst};
    use model::Counters;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use run::{Live, Thresholds};

    fn live(name: &str, max_ns: i64) -> Live {
        Live {
            name: name.into(),
            counters: Counters {
                received: 12_345,
                missed: 7,
                ..Counters::default()
            },
            min_ns: Some(900),
            last_ns: Some(2_500),
            mean_ns: Some(3_000.5),
            max_ns: Some(max_ns),
        }
    }

    fn drawn(width: u16) -> String {
        let limits = Thresholds::new(|name| (name == "wakeup/cpu1").then_some(120_000));
        let mut terminal = Terminal::new(TestBackend::new(width, 3)).expect("a terminal");
        let series = [live("wakeup/cpu1", 184_000)];
        terminal
            .draw(|frame| render(frame, "   12.0 s  measuring", &series, &limits))
            .expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn every_figure_of_a_series_is_in_its_line() {
        let text = drawn(120);
        for part in [
            "measuring",
            "samples",
            "wakeup/cpu1",
            "12345",
            "7",
            "900 ns",
            "2.50 µs",
            "184 µs",
            "120 µs",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn eighty_columns_have_room_for_the_largest_sample_and_its_limit() {
        let text = drawn(80);
        for part in ["wakeup/cpu1", "12345", "184 µs", "120 µs", "limit"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn with_many_series_the_worst_are_shown_in_their_order() {
        let all: Vec<Live> = (0..100).map(|n| live(&format!("age/MU{n:02}"), n)).collect();
        let shown = worst(&all);
        assert_eq!(shown.len(), MOST_ROWS);
        assert_eq!(shown[0].name, "age/MU84");
        assert_eq!(shown[MOST_ROWS - 1].name, "age/MU99");
    }
}
