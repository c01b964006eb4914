//! Actions of a plan, for a terminal.

use super::{HEADS, TITLE, command, lines, meaning, shown};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section, wrapped};

/// Columns of the explanation under the table.
const WIDTH: usize = 96;

/// Most executions on the terminal.
const MOST: usize = 24;

/// A line for each execution and kind of series; empty without actions.
pub(super) fn actions(report: &Report, paint: &Paint) -> String {
    let run = &report.run;
    if run.actions.is_empty() {
        return String::new();
    }
    let (rows, left_out) = shown(super::cost::rows(run), MOST);
    let mut table = TextTable::new(&[(HEADS[0], Align::Left)]);
    for (at, head) in HEADS.iter().enumerate().skip(1) {
        let align = if [3, 5].contains(&at) {
            Align::Left
        } else {
            Align::Right
        };
        table.columns(&[(head, align)]);
    }
    for row in &rows {
        lines(row).into_iter().for_each(|line| table.row(line.to_vec()));
        table.note(&command(row));
    }
    let more = if left_out == 0 {
        String::new()
    } else {
        format!(" {left_out} more executions: in --json.")
    };
    let meaning = wrapped(&format!("{}{more}", meaning(run, &rows)), WIDTH).join("\n  ");
    format!("{}  {meaning}\n", section(paint, TITLE, &table))
}

#[cfg(test)]
mod tests {
    use super::MOST;
    use crate::Report;
    use crate::subjects::actions::cost::tests::{action, measured};
    use model::{Action, ActionEnd};

    fn text(actions: Vec<Action>) -> String {
        Report::new(measured(actions), Vec::new()).text(false, None)
    }

    #[test]
    fn a_row_has_its_cost_its_command_and_its_last_line() {
        let text = text(vec![action("start a guest", 30, 45)]);
        let part = text.split("Actions and their cost\n").nth(1).expect("a part");
        let line = part
            .lines()
            .find(|line| line.contains("start a guest 1"))
            .expect("a row");
        let cells: Vec<&str> = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect();
        let row = [
            "start a guest 1",
            "30.0 s",
            "15.0 s",
            "exit status 0",
            "–",
            "wakeup",
            "20.0 µs",
            "300 µs",
            "20.0 µs",
        ];
        assert_eq!(cells, row, "{text}");
        assert!(part.contains("virsh start relay-02: Domain relay-02 started"), "{part}");
        assert!(!part.contains('≤'), "{part}");
    }

    #[test]
    fn one_that_did_not_run_stands_as_that() {
        let mut none = action("a", 30, 40);
        (none.began_ns, none.ended_ns, none.end) = (None, None, ActionEnd::Skipped);
        none.said = "the step ended before".to_owned();
        let text = text(vec![none]);
        assert!(
            text.contains("not run") && text.contains("the step ended before"),
            "{text}"
        );
        assert!(!self::text(Vec::new()).contains("Actions and"));
    }

    #[test]
    fn of_many_executions_the_failed_ones_are_always_shown() {
        let mut all: Vec<Action> = (0..50).map(|at| action(&format!("a{at}-"), at, at)).collect();
        all[49].end = ActionEnd::Exited(3);
        let text = text(all);
        assert!(text.contains("a49- 1") && text.contains("exit status 3"), "{text}");
        assert_eq!(text.matches("exit status 0").count(), MOST - 1);
        assert!(text.contains("26 more executions"), "{text}");
    }
}
