use super::{Budget, Line, Measurement, State};
use crate::limits::Profile;
use crate::verdict::{Judgement, Verdict};
use model::{RunView, SeriesView, setting};
use testing::synthetic::{run, series};

fn judged(run: &RunView) -> (Budget, Judgement) {
    let profile = Profile::find("substation").expect("embedded");
    let judgement = Judgement::of(run, &[profile]);
    (Budget::of(run, &judgement), judgement)
}

fn budget(series: Vec<SeriesView>) -> Budget {
    judged(&run(series)).0
}

fn merged(series: Vec<SeriesView>) -> Budget {
    let mut run = run(series);
    run.info.command = "merge".to_owned();
    judged(&run).0
}

/// A hop of a thousand frames.
fn hop(name: &str, max_ns: i64) -> SeriesView {
    series(name, 1_000, max_ns, 10)
}

/// A hop that should have been traced but was not.
fn untraced(name: &str) -> SeriesView {
    let mut empty = series(name, 0, 1, 10);
    empty.spec.settings = vec![(setting::NOT_MEASURED.to_owned(), "no BTF".to_owned())];
    empty
}

fn line<'a>(budget: &'a Budget, title: &str) -> &'a Line {
    budget.lines.iter().find(|line| line.title == title).expect(title)
}

fn measured<'a>(budget: &'a Budget, title: &str) -> &'a Measurement {
    match &line(budget, title).state {
        State::Measured(measured) => measured,
        other => panic!("{title}: {other:?}"),
    }
}

#[test]
fn what_was_not_measured_is_not_zero() {
    let budget = budget(vec![series("wakeup/cpu1", 1000, 34_000, 10)]);
    assert_eq!(budget.lines.len(), 7);
    let not_measured = budget
        .lines
        .iter()
        .filter(|line| line.state == State::NotMeasured)
        .count();
    assert_eq!((not_measured, budget.covered, budget.sum_ns), (6, 1, Some(34_000)));
    assert_eq!(budget.sum_label(), "sum of the measured lines' maxima (1 of 7 lines)");
    assert!(budget.beside.is_empty());
}

#[test]
fn nothing_measured_has_no_sum() {
    assert_eq!(budget(vec![series("wakeup/cpu1", 0, 34_000, 10)]).sum_ns, None);
}

#[test]
fn a_line_shows_the_worst_of_its_series_and_their_verdict() {
    let budget = budget(vec![
        series("wakeup/cpu1", 20_000, 34_000, 10),
        series("wakeup/cpu2", 20_000, 134_000, 10),
        series("wakeup/cpu3", 0, 1, 10),
    ]);
    let wakeup = line(&budget, "Wake-up");
    assert_eq!(
        (wakeup.verdict, wakeup.allowed_ns),
        (Some(Verdict::Fail), Some(120_000))
    );
    let measured = measured(&budget, "Wake-up");
    assert_eq!((measured.max_ns, measured.worst.as_str()), (134_000, "wakeup/cpu2"));
    assert_eq!((measured.series, measured.samples), (2, 40_000));
    assert_eq!(measured.note, "1 of 3 series without samples");
    assert!(measured.p999_ns.is_some_and(|p999| p999 < 134_000));
}

#[test]
fn the_tasks_of_a_relay_in_several_threads_are_passed_one_after_the_other() {
    let budget = budget(vec![
        series("task/F1/receive", 20_000, 30_000, 10),
        series("task/F1/functions", 20_000, 100_000, 10),
        series("task/F1/output", 200, 40_000, 10),
        series("task/F2", 20_000, 160_000, 10),
    ]);
    let measured = measured(&budget, "Task");
    assert_eq!(
        (measured.max_ns, measured.worst.as_str()),
        (170_000, "task/F1/functions")
    );
    assert_eq!(
        (measured.p999_ns, measured.note.as_str()),
        (None, "the tasks of F1 in a row")
    );
}

#[test]
fn a_quantile_that_one_series_cannot_give_is_not_shown() {
    let budget = budget(vec![
        series("wakeup/cpu1", 20_000, 34_000, 10),
        series("wakeup/cpu2", 100, 30_000, 10),
    ]);
    assert_eq!(measured(&budget, "Wake-up").p999_ns, None);
}

#[test]
fn an_arrival_spans_three_lines_and_no_stretch_is_added_twice() {
    let budget = budget(vec![
        series("publish/lateness", 1000, 10_000, 10),
        series("arrival/MU01", 1000, 100_000, 10),
        series("delivery/MU01", 1000, 20_000, 10),
        series("age/MU01", 1000, 120_000, 10),
        series("rtt/reflect", 1000, 90_000, 10),
        series("trip/F1", 1000, 2_000_000, 10),
    ]);
    assert_eq!(line(&budget, "Network").state, State::Within("Publish to host edge"));
    assert!(matches!(line(&budget, "Publish").state, State::Measured(_)));
    assert_eq!(budget.sum_ns, Some(120_000));
    assert_eq!(budget.added, ["Publish to host edge", "Guest delivery"]);
    assert_eq!(budget.covered, 5, "publish, network, host transit, delivery, trip");
    let beside: Vec<&str> = budget.beside.iter().map(|line| line.title).collect();
    assert_eq!(beside, ["Round trip", "Age"]);
}

#[test]
fn the_test_sets_own_lateness_is_none_of_the_hosts() {
    let publish = || series("publish/lateness", 1000, 6_350_000, 10);
    let delivery = || series("delivery/MU01", 1000, 20_000, 10);
    let traced = budget(vec![
        publish(),
        series("arrival/MU01", 1000, 6_400_000, 10),
        hop("hop/nic-to-edge/MU01", 30_000),
        delivery(),
    ]);
    assert_eq!(traced.added, ["Host transit", "Guest delivery"]);
    assert_eq!(traced.sum_ns, Some(50_000));
    assert!(
        traced
            .own
            .as_ref()
            .is_some_and(|own| own.contains("6.35 ms, is not the host's")),
        "{:?}",
        traced.own
    );
    let alone = budget(vec![publish(), delivery()]);
    assert_eq!(
        (alone.added.as_slice(), alone.sum_ns),
        (&["Guest delivery"][..], Some(20_000))
    );
    let spanned = budget(vec![publish(), series("arrival/MU01", 1000, 6_400_000, 10)]);
    assert_eq!(spanned.added, ["Publish to host edge"]);
    assert!(
        spanned
            .own
            .as_ref()
            .is_some_and(|own| own.contains("only tracing shows")),
        "{:?}",
        spanned.own
    );
    assert_eq!(budget(vec![delivery()]).own, None);
}

#[test]
fn delivery_is_by_the_hops_where_no_application_gave_account() {
    let worst = |of: Vec<SeriesView>| match &line(&budget(of), "Guest delivery").state {
        State::Measured(measured) => Some(measured.worst.clone()),
        _ => None,
    };
    let container = || {
        vec![
            hop("hop/nic-to-edge/MU01", 30_000),
            hop("hop/edge-to-app/MU01", 20_000),
            hop("hop/nic-to-app/MU01", 50_000),
        ]
    };
    assert_eq!(worst(container()).as_deref(), Some("hop/edge-to-app/MU01"));
    let guest = vec![hop("hop/nic-to-app/MU01", 50_000)];
    assert_eq!(worst(guest).as_deref(), Some("hop/nic-to-app/MU01"));
    let machine = vec![hop("hop/nic-to-tap/MU01", 9_000), hop("hop/nic-to-app/MU01", 50_000)];
    assert_eq!(
        worst(machine),
        None,
        "from the host's NIC on it is more than the guest's"
    );
    let both = [container(), vec![hop("delivery/subscribe", 25_000)]].concat();
    assert_eq!(worst(both).as_deref(), Some("delivery/subscribe"));
}

#[test]
fn hops_that_were_to_be_traced_and_were_not_leave_their_line_undecided() {
    let (budget, judgement) = judged(&run(vec![
        untraced("hop/nic-to-edge/MU01"),
        series("arrival/MU01", 1_000, 50_000, 10),
    ]));
    let transit = line(&budget, "Host transit");
    assert_eq!(transit.state, State::Within("Publish to host edge"));
    assert_eq!(transit.verdict, Some(Verdict::Inconclusive));
    let check = judgement.checks.iter().find(|check| check.limit.id == "transit.max");
    assert_eq!(
        check.map(|check| check.why.as_str()),
        Some("nothing was measured: no BTF")
    );
}

#[test]
fn lost_samples_are_noted() {
    let mut lossy = series("delivery/MU01", 1000, 20_000, 10);
    lossy.counters.lost = 3;
    let budget = budget(vec![lossy]);
    assert_eq!(measured(&budget, "Guest delivery").note, "3 samples lost");
}

#[test]
fn the_host_s_transit_is_the_hop_from_the_nic_to_the_furthest_edge() {
    let budget = budget(vec![
        hop("hop/nic-to-port/MU01", 20_000),
        hop("hop/port-to-edge/MU01", 25_000),
        hop("hop/nic-to-edge/MU01", 30_000),
        hop("hop/nic-to-edge/MU02", 130_000),
        hop("hop/nic-to-app/MU01", 60_000),
    ]);
    let (transit, measured) = (line(&budget, "Host transit"), measured(&budget, "Host transit"));
    assert_eq!((measured.worst.as_str(), measured.series), ("hop/nic-to-edge/MU02", 2));
    assert_eq!(
        (transit.allowed_ns, transit.verdict),
        (Some(100_000), Some(Verdict::Fail))
    );
    assert_eq!(budget.sum_ns, Some(130_000));
}

#[test]
fn a_merged_run_has_the_hosts_transit_and_the_guests_delivery() {
    let budget = merged(vec![
        hop("hop/host.nic-to-host.tap/MU01", 11_000),
        hop("hop/host.nic-to-host.vhost/MU01", 34_000),
        hop("hop/host.vhost-to-guest.nic/MU01", 500_000),
        hop("hop/guest.nic-to-guest.app-eth1.100/MU.edge", 56_000),
        hop("hop/host.nic-to-guest.app/MU01", 590_000),
    ]);
    let max = |title: &str| measured(&budget, title).max_ns;
    assert_eq!((max("Host transit"), max("Guest delivery")), (34_000, 56_000));
    assert_eq!(line(&budget, "Host transit").allowed_ns, Some(100_000));
    assert_eq!(line(&budget, "Guest delivery").allowed_ns, None);
}

#[test]
fn of_guests_and_containers_the_worst_transit_is_shown_and_all_are_judged() {
    let of = |container_ns| {
        let budget = budget(vec![
            hop("hop/nic-to-tap-vnet0/MU01", 9_000),
            hop("hop/nic-to-vhost-vnet0/MU01", 40_000),
            hop("hop/nic-to-port-veth1/MU01", 12_000),
            hop("hop/nic-to-edge-veth1/MU01", container_ns),
        ]);
        let transit = line(&budget, "Host transit");
        (measured(&budget, "Host transit").worst.clone(), transit.verdict)
    };
    assert_eq!(
        of(130_000),
        ("hop/nic-to-edge-veth1/MU01".to_owned(), Some(Verdict::Fail))
    );
    assert_eq!(
        of(30_000),
        ("hop/nic-to-vhost-vnet0/MU01".to_owned(), Some(Verdict::Pass))
    );
}

#[test]
fn an_edge_that_was_not_traced_hides_no_measured_one_and_keeps_its_verdict() {
    let budget = budget(vec![
        hop("hop/nic-to-tap/MU01", 9_000),
        untraced("hop/nic-to-vhost/MU01"),
    ]);
    let (transit, measured) = (line(&budget, "Host transit"), measured(&budget, "Host transit"));
    assert_eq!(measured.worst, "hop/nic-to-tap/MU01");
    assert_eq!(measured.note, "1 of 2 series without samples");
    assert_eq!(transit.verdict, Some(Verdict::Inconclusive));
}

#[test]
fn a_dot_in_an_interface_is_no_run() {
    let budget = budget(vec![
        hop("hop/nic-to-port-eth1.100/MU01", 12_000),
        hop("hop/nic-to-edge-eth1.100/MU01", 30_000),
    ]);
    let transit = measured(&budget, "Host transit");
    assert_eq!(transit.worst, "hop/nic-to-edge-eth1.100/MU01");
}

#[test]
fn the_answer_counts_shots_trips_and_false_trips() {
    let mut trips = series("trip/overcurrent", 10, 9_000_000, 10);
    trips.counters.expected = 12;
    trips.counters.received = 11;
    trips.counters.unwanted = 1;
    let mut load = series("security/load", 10, 300_000_000, 10);
    load.counters.unwanted = 2;
    let answer = budget(vec![trips, load, series("wakeup/cpu1", 10, 9, 9)]).answer;
    let answer = answer.expect("trips");
    let text = "the trip came in 11 of 12 shots that count, after 9.00 ms at most; 3 false trips";
    assert_eq!((answer.text.as_str(), answer.verdict), (text, None), "no limit");
    assert_eq!(budget(vec![series("security/load", 10, 9, 9)]).answer, None);
}

#[test]
fn a_relay_that_never_trips_is_answered_for() {
    let mut trips = series("trip/overcurrent", 0, 0, 0);
    (trips.counters.expected, trips.counters.lost, trips.max_ns) = (12, 12, None);
    let answer = budget(vec![trips.clone()]).answer.expect("shots that count");
    assert_eq!(answer.text, "the trip came in 0 of 12 shots that count; 0 false trips");
    trips.counters = Default::default();
    let answer = budget(vec![trips]).answer.expect("a trip was asked for");
    assert_eq!(answer.text, "no shot counts; 0 false trips");
}
