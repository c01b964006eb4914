//! The columns of a day of a series: counts, extremes and the worst sample's time of all its windows.

use crate::counted::Counted;
use crate::fleet::Day;
use crate::origin::{self, OfRun, Origin};
use crate::table::{Column, Value};
use model::{Counter, Counters, WindowRow};

/// A day of a series of a run.
pub(crate) struct Row<'a> {
    origin: &'a Origin,
    counted: &'a Counted<'a>,
    day: &'a str,
    windows: u64,
    counters: Counters,
    min_ns: Option<i64>,
    max_ns: Option<i64>,
    /// Start of the window with the largest sample.
    max_at_ns: Option<u64>,
}

impl<'a> Row<'a> {
    /// Sums the windows of a series that begin on this day; `None` if none does.
    pub(crate) fn of(
        origin: &'a Origin,
        counted: &'a Counted<'a>,
        day: &'a Day,
        windows: &[WindowRow],
    ) -> Option<Self> {
        let windows = || windows.iter().filter(|window| day.has(window.start_ns));
        let worst = windows().max_by_key(|window| window.max_ns)?;
        let mut counters = Counters::default();
        for window in windows() {
            counters = counters.checked_add(&window.counters)?;
        }
        Some(Self {
            origin,
            counted,
            day: &day.name,
            windows: windows().count() as u64,
            counters,
            min_ns: windows().filter_map(|window| window.min_ns).min(),
            max_ns: worst.max_ns,
            max_at_ns: worst.max_ns.map(|_| worst.start_ns),
        })
    }
}

impl OfRun for Row<'_> {
    fn origin(&self) -> &Origin {
        self.origin
    }
}

pub(crate) fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let mut columns: Vec<Column<Row<'a>>> = vec![
        Column::new("series", Value::Text(|row| row.counted.series.into())),
        Column::new("day", Value::Text(|row| row.day.into())),
        Column::new("windows", Value::Count(|row| row.windows)),
    ];
    columns.extend(Counter::ALL.map(|counter| {
        Column::new(
            counter.name(),
            Value::Counter(
                |row: &Row<'a>, counter| row.counted.value(&row.counters, counter),
                counter,
            ),
        )
    }));
    columns.push(Column::new("min_ns", Value::MaybeWhole(|row| row.min_ns)));
    columns.push(Column::new("max_ns", Value::MaybeWhole(|row| row.max_ns)));
    columns.push(Column::new("max_at_ns", Value::MaybeCount(|row| row.max_at_ns)));
    origin::columns(columns)
}
