//! The table of the series, drawn in place below the cursor.

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Constraint;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Cell, Row};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use run::Live;
use std::io::{Result, Stderr};
use units::foreign;

/// Most series that are shown: those whose largest samples are the largest.
const MOST_ROWS: usize = 16;

/// Lines beside the series: what is being done, and the heads of the columns.
const HEAD_ROWS: u16 = 2;

/// Names of the columns and their width.
const COLUMNS: [(&str, u16); 9] = [
    ("series", 26),
    ("samples", 12),
    ("missed", 8),
    ("lost", 8),
    ("over limit", 11),
    ("min", 10),
    ("last", 10),
    ("mean", 10),
    ("max", 10),
];

/// The table, once it was drawn.
#[derive(Default)]
pub(super) struct LiveTable {
    terminal: Option<(u16, Terminal<CrosstermBackend<Stderr>>)>,
}

impl LiveTable {
    /// Draws the series as they stand.
    ///
    /// # Errors
    /// The terminal does not tell where its cursor is, or is gone.
    pub(super) fn draw(&mut self, head: &str, series: &[Live]) -> Result<()> {
        let series = worst(series);
        let height = HEAD_ROWS + u16::try_from(series.len()).unwrap_or(0);
        let terminal = self.terminal(height)?;
        terminal.draw(|frame| render(frame, head, &series))?;
        Ok(())
    }

    /// Takes the table away and leaves the cursor where it was.
    pub(super) fn clear(&mut self) {
        if let Some((_, mut terminal)) = self.terminal.take() {
            // A terminal that is gone needs no tidying.
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

fn render(frame: &mut Frame<'_>, head: &str, series: &[Live]) {
    let area = frame.area();
    let heads = COLUMNS.map(|(name, _)| Cell::from(name));
    let rows = series.iter().map(row);
    let widths = COLUMNS.map(|(_, width)| Constraint::Length(width));
    let table = ratatui::widgets::Table::new(rows, widths)
        .header(Row::new(heads).style(Style::new().add_modifier(Modifier::DIM)))
        .column_spacing(1);
    let [first, rest] = ratatui::layout::Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(head, first);
    frame.render_widget(table, rest);
}

fn row(series: &Live) -> Row<'static> {
    let c = &series.counters;
    let ns = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), units::format_ns);
    let bad = |count: u64| match count {
        0 => Cell::from("0"),
        count => Cell::from(count.to_string()).style(Style::new().fg(Color::Red)),
    };
    Row::new([
        Cell::from(foreign::shown(&series.name).into_owned()),
        Cell::from(c.received.to_string()),
        bad(c.missed),
        bad(c.lost + c.overrun),
        bad(c.overflow),
        Cell::from(ns(series.min_ns.map(|ns| ns as f64))),
        Cell::from(ns(series.last_ns.map(|ns| ns as f64))),
        Cell::from(ns(series.mean_ns)),
        Cell::from(ns(series.max_ns.map(|ns| ns as f64))),
    ])
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, MOST_ROWS, render, worst};
    use model::Counters;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use run::Live;

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

    #[test]
    fn every_figure_of_a_series_is_in_its_line() {
        let width = COLUMNS.iter().map(|(_, width)| width + 1).sum();
        let mut terminal = Terminal::new(TestBackend::new(width, 3)).expect("a terminal");
        terminal
            .draw(|frame| render(frame, "   12.0 s  measuring", &[live("wakeup/cpu1", 84_000)]))
            .expect("drawn");
        let text = terminal.backend().to_string();
        for part in [
            "measuring",
            "samples",
            "wakeup/cpu1",
            "12345",
            "7",
            "900 ns",
            "2.50 µs",
            "84.0 µs",
        ] {
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
