//! A virtual relay in the form that ABB and the University of Torino use: the longest task of each window, and the age
//! of the samples it processes, at the socket, at the application and at the task.

use super::columns::Columns;
use super::{Run, Table, us};
use crate::insight::with_largest;
use crate::spans;
use crate::text::count;
use model::kind::Kind;
use model::{Counter, RunView, SeriesView, kind, setting, task};
use units::format_ns;

/// The figures of a relay, in order.
const FIGURES: [&str; 9] = [
    "Streams",
    "CPU",
    "Task: least - median - largest of the windows",
    "Overruns + missed",
    "Due to socket",
    "Socket to application",
    "Due to application",
    "Due to task",
    "Trips",
];

/// The figures of each relay.
pub(super) fn table(runs: &[Run]) -> Table {
    let mut columns = Columns::of(runs);
    let span_ns = spans::longest_ns(runs.iter().flat_map(working));
    for run in runs {
        for task in working(run) {
            let relay = task::of_label(task.spec.label()).0;
            for (figure, value) in FIGURES.iter().zip(figures(&run.view, task, span_ns)) {
                columns.put(run, &[relay, figure], value);
            }
        }
    }
    let note = format!(
        "Times in µs; latencies max (mean) over all samples of all streams. The application has a frame when the relay's receiving thread \
         reads it; of a relay in one thread the task does, and there is no age before it. Windows: {} in every column; \"other windows\" \
         make up none of these. Trips: those that came, of shots, and the longest in ms.",
        format_ns(span_ns as f64)
    );
    let columns = columns.with_environments::<2>(runs);
    columns.table("Virtual relays", ["Relay", "Figure"], vec![note])
}

/// The tasks of a run that execute the protection functions.
fn working(run: &Run) -> impl Iterator<Item = &SeriesView> {
    let tasks = run.view.series.iter().filter(|series| series.is(&kind::TASK));
    tasks.filter(|task| task::runs_functions(task.spec.label()))
}

/// Number of streams whose samples the task used; without such series, nobody counted them.
fn streams(used: &[&SeriesView]) -> String {
    match used.len() as u64 {
        0 => "–".to_owned(),
        streams => count(streams),
    }
}

/// All tasks of a relay.
fn tasks<'a>(run: &'a RunView, relay: &str) -> Vec<&'a SeriesView> {
    let tasks = run.series.iter().filter(|series| series.is(&kind::TASK));
    tasks
        .filter(|task| task::of_label(task.spec.label()).0 == relay)
        .collect()
}

/// Overruns and skipped cycles of all tasks of a relay.
fn failures(tasks: &[&SeriesView]) -> String {
    // An imported log may count neither: that is no zero.
    let sum = |counter: Counter, of: fn(&SeriesView) -> u64| match tasks.iter().all(|task| task.lists(counter)) {
        true => count(tasks.iter().map(|task| of(task)).sum()),
        false => "–".to_owned(),
    };
    let late = sum(Counter::Late, |task| task.counters.late);
    let missed = sum(Counter::Missed, |task| task.counters.missed);
    format!("{late} + {missed}")
}

fn figures(run: &RunView, task: &SeriesView, span_ns: u64) -> [String; 9] {
    let name = task::of_label(task.spec.label()).0;
    let tasks = tasks(run, name);
    let of = |wanted: &'static Kind| of_relay(run, wanted, name);
    let used = of(&kind::USE);
    let delivered = run
        .series
        .iter()
        .filter(|series| series.is(&kind::DELIVERY) && series.spec.label() == name);
    [
        streams(&used),
        cpus(&tasks),
        maxima(task, span_ns),
        failures(&tasks),
        latency(&of(&kind::ARRIVAL)),
        latency(&delivered.collect::<Vec<_>>()),
        latency(&of(&kind::AGE)),
        latency(&used),
        trips(&of(&kind::TRIP)),
    ]
}

/// The series of a kind that belong to this relay: in a plan step, their names begin with the relay's name. In a run of
/// one relay, all belong to it.
fn of_relay<'a>(run: &'a RunView, wanted: &'static Kind, relay: &str) -> Vec<&'a SeriesView> {
    let relays: Vec<&str> = run
        .series
        .iter()
        .filter(|series| series.is(&kind::TASK) && task::runs_functions(series.spec.label()))
        .map(|series| task::of_label(series.spec.label()).0)
        .collect();
    let of_kind = || run.series.iter().filter(|series| series.is(wanted));
    let own: Vec<&SeriesView> = of_kind()
        .filter(|series| owner(series.spec.label(), &relays) == Some(relay))
        .collect();
    match own.is_empty() && relays.len() == 1 {
        true => of_kind().collect(),
        false => own,
    }
}

/// The relay whose name is the beginning of a label; the longest such name, because one name may be the beginning of
/// another.
fn owner<'a>(label: &str, relays: &[&'a str]) -> Option<&'a str> {
    let begins = |relay: &&&str| label.strip_prefix(**relay).is_some_and(|rest| rest.starts_with('-'));
    relays.iter().filter(begins).max_by_key(|relay| relay.len()).copied()
}

/// The CPUs of a relay's tasks, each once, and a note if another relay of the same step uses one of them.
fn cpus(tasks: &[&SeriesView]) -> String {
    let mut cpus = Vec::new();
    for cpu in tasks.iter().filter_map(|task| task.setting(setting::CPU)) {
        if !cpus.contains(&cpu) {
            cpus.push(cpu);
        }
    }
    let cpus = if cpus.is_empty() {
        "–".to_owned()
    } else {
        cpus.join(" ")
    };
    match tasks.iter().any(|task| task.setting(setting::SHARES_CPU).is_some()) {
        true => format!("{cpus}, shared"),
        false => cpus,
    }
}

/// Smallest, median and largest of the longest tasks in spans of this length, for a box plot.
fn maxima(task: &SeriesView, span_ns: u64) -> String {
    let Some(mut maxima) = spans::maxima(task, span_ns) else {
        return "other windows".to_owned();
    };
    maxima = with_largest(maxima, task);
    maxima.sort_by(f64::total_cmp);
    let at = |place: usize| us(maxima.get(place).map(|ns| *ns as i64));
    match maxima.len() {
        0 => "–".to_owned(),
        windows => format!("{} - {} - {}", at(0), at(windows / 2), at(windows - 1)),
    }
}

/// Largest and mean over all samples.
fn latency(series: &[&SeriesView]) -> String {
    let max = series.iter().filter_map(|one| one.max_ns).max();
    let samples: u64 = series.iter().map(|one| one.histogram.count()).sum();
    let sum: i128 = series.iter().map(|one| one.sum_ns).sum();
    let mean = (samples > 0).then(|| (sum / i128::from(samples)) as i64);
    match max {
        None => "–".to_owned(),
        Some(_) => format!("{} ({})", us(max), us(mean)),
    }
}

fn trips(series: &[&SeriesView]) -> String {
    let longest = series.iter().filter_map(|one| one.max_ns).max();
    let sum = |of: fn(&SeriesView) -> u64| series.iter().map(|one| of(one)).sum::<u64>();
    let (trips, shots) = (sum(|one| one.counters.received), sum(|one| one.counters.expected));
    match longest {
        None if shots == 0 => "–".to_owned(),
        None => format!("{trips} of {shots}"),
        Some(ns) => format!("{trips} of {shots}, {:.1}", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use crate::tables::{Layout, Tables};
    use model::fact::LABEL;
    use model::setting;
    use testing::synthetic;

    #[test]
    fn each_relay_has_its_own_rows() {
        let mut trips = synthetic::series("trip/20-streams-overcurrent", 10, 9_300_000, 10);
        (trips.counters.expected, trips.counters.received) = (11, 10);
        let mut task = synthetic::series("task/20-streams", 1_000, 700_000, 60);
        task.spec.settings = [(setting::CPU, "3"), (setting::SHARES_CPU, "20-streams-load")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        (task.counters.late, task.counters.missed) = (2, 3);
        let run = synthetic::run(vec![
            task,
            synthetic::series("use/20-streams-MU01", 1_000, 1_200_000, 60),
            synthetic::series("use/20-streams-MU02", 1_000, 1_900_000, 60),
            synthetic::series("arrival/20-streams-MU01", 1_000, 300_000, 60),
            synthetic::series("delivery/20-streams", 1_000, 650_000, 60),
            trips,
            synthetic::series("task/20-streams-load", 1_000, 900_000, 60),
            synthetic::series("use/20-streams-load-MU01", 1_000, 2_500_000, 60),
        ]);
        let text = Tables::of(Layout::Vpc, vec![(None, run)]).text();
        let twenty = rows(&text, "20-streams");
        for part in [
            "| Streams                                       | 2 ",
            "| 3, shared ",
            "| 2 + 3 ",
            "- 700 ",
            "300 (",
            "650 (",
            "1900 (",
            "10 of 11, 9.3",
        ] {
            assert!(twenty.contains(part), "{part} in {text}");
        }
        let loaded = rows(&text, "20-streams-load");
        assert!(loaded.contains("2500 (") && loaded.contains("| –"), "{text}");
    }

    /// The rows of a relay.
    fn rows(text: &str, relay: &str) -> String {
        let of_relay = |line: &&str| line.split('|').nth(1).is_some_and(|name| name.trim() == relay);
        text.lines().filter(of_relay).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn runs_stand_side_by_side() {
        let run = |relay: &str| {
            let task = synthetic::series(&format!("task/{relay}"), 1_000, 700_000, 60);
            let mut run = synthetic::run(vec![task]);
            run.facts = vec![LABEL.fact(Ok(format!("host of {relay}")), "--label")];
            (None, run)
        };
        let text = Tables::of(Layout::Vpc, vec![run("F1"), run("F2")]).text();
        assert!(
            text.contains("| Relay       | Figure                                        | host of F1 "),
            "{text}"
        );
        let overruns = |relay: &str| {
            let rows = rows(&text, relay);
            let row = rows.lines().find(|row| row.contains("Overruns"));
            let cells: Vec<String> = row
                .expect("a row")
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect();
            [cells[3].clone(), cells[4].clone()]
        };
        assert_eq!(
            (overruns("F1"), overruns("F2")),
            (["0 + 0", "–"].map(str::to_owned), ["–", "0 + 0"].map(str::to_owned))
        );
    }

    #[test]
    fn a_relay_in_several_threads_is_shown_once() {
        let mut tasks = ["receive", "functions", "output"]
            .map(|task| synthetic::series(&format!("task/F1/{task}"), 1_000, 700_000, 60));
        (tasks[0].counters.late, tasks[1].counters.missed) = (1, 4);
        for (task, cpu) in tasks.iter_mut().zip(["1", "2", "1"]) {
            task.spec.settings = vec![(setting::CPU.to_owned(), cpu.to_owned())];
        }
        let shares = (setting::SHARES_CPU.to_owned(), "F2".to_owned());
        tasks[2].spec.settings.push(shares);
        let mut series = tasks.to_vec();
        series.push(synthetic::series("age/MU01", 1_000, 400_000, 60));
        series.push(synthetic::series("use/MU01", 1_000, 1_200_000, 60));
        series.push(synthetic::series("delivery/F1", 1_000, 650_000, 60));
        let text = Tables::of(Layout::Vpc, vec![(None, synthetic::run(series))]).text();
        let rows = rows(&text, "F1");
        assert_eq!(rows.lines().count(), super::FIGURES.len(), "{text}");
        for part in ["| 1 2, shared ", "1 + 4", "400 (", "1200 (", "650 ("] {
            assert!(rows.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_relay_alone_has_all_streams_of_the_run() {
        let run = synthetic::run(vec![
            synthetic::series("task/F1", 1_000, 700_000, 60),
            synthetic::series("use/MU01", 1_000, 1_200_000, 60),
        ]);
        let text = Tables::of(Layout::Vpc, vec![(None, run)]).text();
        assert!(text.contains("| F1 ") && text.contains("1200 ("), "{text}");
    }
}
