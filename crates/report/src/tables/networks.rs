//! The round trip over several networks, each compared with the first, in the way ABB compared bridge, macvlan and
//! SR-IOV.

use super::columns::Columns;
use super::{Run, Table};
use crate::Report;
use crate::section::Section;
use crate::text::{count, ns_or_dash};
use askama::Template;
use model::{RunView, SeriesView, kind};

/// Group of the inventory that lists the measured networks, and the reasons why others were not measured.
const GROUP: &str = "networks compared";

/// Setting of a series that names its network.
const SETTING: &str = "network";

/// Headings of the columns.
pub(crate) const HEADS: [&str; 9] = [
    "network",
    "min",
    "p50",
    "p99",
    "p99.9",
    "max",
    "mean",
    "lost",
    "p50 to the first",
];

/// The section of the page. On a terminal and in the document it is one of the published tables.
pub(crate) struct NetworksSection;

impl Section for NetworksSection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        let heads = HEADS;
        let networks = Networks::of(&report.run);
        networks.map_or_else(|| Ok(String::new()), |networks| Html { networks, heads }.render())
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="networks">
  <h2>Round trip by network</h2>
  <p class="what">The same round trip over each network, in turn; p50 to the first: its median divided by that of the first row.</p>
  <table class="figures">
    <thead><tr>{% for head in heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in networks.rows %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
  <dl class="settings wide">{% for way in networks.ways %}<dt>{{ way.0 }}</dt><dd>{{ way.1 }}</dd>{% endfor %}</dl>
</section>"##
)]
struct Html {
    networks: Networks,
    heads: [&'static str; 9],
}

/// The comparison of one run.
pub(crate) struct Networks {
    /// One row for each measured network, under [`HEADS`].
    pub(crate) rows: Vec<[String; 9]>,
    /// Each network of the plan with its description, or the reason why it is not in the table.
    pub(crate) ways: Vec<(String, String)>,
}

impl Networks {
    /// The comparison for a run that measured the round trip over named networks; otherwise `None`.
    pub(crate) fn of(run: &RunView) -> Option<Self> {
        let compared: Vec<(&str, &SeriesView)> = run.series.iter().filter_map(named).collect();
        let first = compared.first().and_then(|(_, series)| series.figures().p50);
        let rows = compared.iter().map(|(name, series)| row(name, series, first)).collect();
        let of_group = run.facts.iter().filter(|fact| fact.group == GROUP);
        let ways: Vec<(String, String)> = of_group
            .map(|fact| {
                let what = fact.value.as_ref().unwrap_or_else(|reason| reason);
                (fact.name.clone(), what.clone())
            })
            .collect();
        (!compared.is_empty()).then_some(Self { rows, ways })
    }
}

fn named(series: &SeriesView) -> Option<(&str, &SeriesView)> {
    let setting = series.spec.settings.iter().find(|(name, _)| name == SETTING);
    setting
        .filter(|_| series.is(&kind::RTT))
        .map(|(_, network)| (network.as_str(), series))
}

fn row(name: &str, series: &SeriesView, first: Option<u64>) -> [String; 9] {
    let figures = series.figures();
    let counters = &series.counters;
    // In a period that the sender skipped, no frame was sent.
    let sent = counters.expected.saturating_sub(counters.missed);
    let whole = |ns: Option<i64>| ns_or_dash(ns.map(|ns| ns as f64));
    let quantile = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
    let ratio = match (figures.p50, first) {
        (Some(own), Some(first)) if first > 0 => format!("{:.2}", own as f64 / first as f64),
        _ => "–".to_owned(),
    };
    [
        name.to_owned(),
        whole(figures.min),
        quantile(figures.p50),
        quantile(figures.p99),
        quantile(figures.p999),
        whole(figures.max),
        ns_or_dash(figures.mean),
        format!("{} of {}", count(counters.lost), count(sent)),
        ratio,
    ]
}

/// Each figure over each network.
pub(super) fn table(runs: &[Run]) -> Table {
    let mut columns = Columns::of(runs);
    let mut notes: Vec<String> = Vec::new();
    for run in runs {
        let Some(networks) = Networks::of(&run.view) else {
            notes.push(of_system(
                runs,
                run,
                "no round trip over a named network: measure with `triptime qualify networks`",
            ));
            continue;
        };
        let figures = HEADS.iter().enumerate().skip(1);
        for ((at, figure), row) in figures.flat_map(|figure| networks.rows.iter().map(move |row| (figure, row))) {
            columns.put(run, &[figure, &row[0]], row[at].clone());
        }
        let ways = networks.ways.iter();
        let said = ways.map(|(name, what)| of_system(runs, run, &format!("{name}: {what}")));
        notes.extend(said);
    }
    let columns = columns.with_environments::<2>(runs);
    columns.table("Layer-2 round trip by network", ["Figure", "Network"], notes)
}

/// A note, with the name of its system if there are several.
fn of_system(runs: &[Run], run: &Run, note: &str) -> String {
    match runs.len() {
        1 => note.to_owned(),
        _ => format!("{}, {note}", run.system.name),
    }
}

#[cfg(test)]
mod tests {
    use super::Networks;
    use crate::tables::{Layout, Tables};
    use model::Fact;
    use model::RunView;
    use model::fact::LABEL;
    use testing::synthetic;

    fn run() -> RunView {
        let mut run = synthetic::run(vec![
            synthetic::series("rtt/veth", 10_000, 90_000, 5),
            synthetic::series("turnaround/veth", 10_000, 9_000, 5),
            synthetic::series("rtt/nic", 10_000, 180_000, 5),
        ]);
        let names = ["veth", "veth", "SR-IOV virtual function of eth0"];
        for (series, name) in run.series.iter_mut().zip(names) {
            series.spec.settings.push(("network".into(), name.into()));
        }
        run.series[2].counters.lost = 3;
        run.series[2].counters.missed = 100;
        let fact = |name: &str, value: Result<&str, &str>| Fact {
            group: super::GROUP.into(),
            name: name.into(),
            value: value.map(str::to_owned).map_err(str::to_owned),
            source: "rtnetlink(7)".into(),
        };
        run.facts = vec![
            fact("veth", Ok("a pair")),
            fact("openvswitch", Err("not available: ovs-vswitchd is not installed")),
        ];
        run
    }

    #[test]
    fn each_network_is_held_against_the_first() {
        let networks = Networks::of(&run()).expect("two networks");
        let column = |at: usize| networks.rows.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
        assert_eq!(column(0), ["veth", "SR-IOV virtual function of eth0"]);
        assert_eq!(column(5), ["90.0 µs", "180 µs"]);
        assert_eq!(column(7), ["0 of 10 000", "3 of 9 900"]);
        assert_eq!(column(8)[0], "1.00");
        let ratio: f64 = column(8)[1].parse().expect("a number");
        assert!((1.9..=2.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn what_was_not_available_is_said_under_the_table() {
        let text = Tables::of(Layout::Networks, vec![(None, run())]).text();
        assert!(
            text.ends_with("veth: a pair\nopenvswitch: not available: ovs-vswitchd is not installed\n"),
            "{text}"
        );
        assert!(text.contains("| SR-IOV virtual function of eth0 | "), "{text}");
    }

    #[test]
    fn each_run_has_a_column_and_figures_of_a_network_stand_together() {
        let labelled = |label: &str| {
            let mut run = run();
            run.facts.push(LABEL.fact(Ok(label.into()), "--label"));
            run
        };
        let mut other = labelled("rack 4");
        other.series.remove(0);
        other.series[1].spec.settings = vec![("network".into(), "bridge".into())];
        let tables = Tables::of(Layout::Networks, vec![(None, labelled("rack 3")), (None, other)]);
        let [table] = &tables.tables[..] else {
            panic!("one table: {tables:?}")
        };
        assert_eq!(table.heads, ["Figure", "Network", "rack 3", "rack 4"]);
        assert_eq!(table.rows[0][0], "Environment");
        let max: Vec<&Vec<String>> = table.rows.iter().filter(|row| row[0] == "max").collect();
        let cells: Vec<[&str; 3]> = max.iter().map(|row| [1, 2, 3].map(|at| row[at].as_str())).collect();
        assert_eq!(
            cells,
            [
                ["veth", "90.0 µs", "–"],
                ["SR-IOV virtual function of eth0", "180 µs", "–"],
                ["bridge", "–", "180 µs"]
            ]
        );
        let places: Vec<usize> = (0..table.rows.len()).filter(|at| table.rows[*at][0] == "max").collect();
        assert_eq!(places[2] - places[0], 2, "one below the other");
        assert!(
            table.notes.iter().any(|note| note == "rack 3, veth: a pair"),
            "{:?}",
            table.notes
        );
    }

    #[test]
    fn a_run_without_networks_says_how_to_get_some() {
        let other = synthetic::run(vec![synthetic::series("rtt/reflect", 10, 90_000, 1)]);
        assert!(Networks::of(&other).is_none());
        assert!(
            Tables::of(Layout::Networks, vec![(None, other)])
                .text()
                .contains("triptime qualify networks")
        );
    }
}
