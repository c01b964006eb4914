//! Cache and memory bandwidth during the run, for a terminal.

use super::{HEADS, rows};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};

/// One line for each reading.
pub(super) fn readings(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[(HEADS[0], Align::Left)]);
    for head in &HEADS[1..] {
        table.columns(&[(head, Align::Right)]);
    }
    for row in rows(&report.run.readings) {
        table.row(row.cells().to_vec());
        table.note(row.why());
    }
    section(paint, "Cache and memory bandwidth", &table)
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use model::{Reading, ReadingUnit, Readings};
    use testing::synthetic::run;

    #[test]
    fn readings_have_their_units_and_what_is_not_known_is_no_zero() {
        let mut run = run(Vec::new());
        let mut none = Readings::default();
        none.unknown("the kernel says \"Unavailable\"".to_owned());
        let mut some = Readings::default();
        some.value(3.0 * 1024.0 * 1024.0);
        for (name, unit, values) in [
            ("cache/rt/L3:0/occupancy", ReadingUnit::Octets, some.clone()),
            ("memory/rt/L3:0/total", ReadingUnit::OctetsPerSecond, some),
            ("memory/L3:0/total", ReadingUnit::OctetsPerSecond, none),
        ] {
            run.readings.push(Reading {
                name: name.to_owned(),
                unit,
                start_ns: 0,
                end_ns: 1,
                values,
            });
        }
        let text = Report::new(run, Vec::new()).text(false, None);
        let part = text.split("Cache and memory bandwidth\n").nth(1).expect("a part");
        let line = |name: &str| {
            let line = part.lines().find(|line| line.trim_start().starts_with(name));
            let cells = line.expect("a line").split("  ").map(str::trim);
            cells
                .filter(|cell| !cell.is_empty())
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            line("cache/rt/L3:0/occupancy")[..3],
            ["3.00 MiB", "3.00 MiB", "3.00 MiB"]
        );
        assert_eq!(line("memory/rt/L3:0/total")[2], "3.00 MiB/s");
        assert_eq!(line("memory/L3:0/total"), ["–", "–", "–", "0", "1"]);
        assert!(part.contains("Unavailable"));
    }
}
