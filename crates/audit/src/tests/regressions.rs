use super::tree::{HOST, changed, finding, outcome_of};
use crate::finding::Outcome::{Fail, Pass, Unknown, Warn};
use crate::parameters::{Parameters, Workload};
use crate::regressions::{Release, between, known};

const ID: &str = "known-regression";
const RELEASE: &str = "proc/sys/kernel/osrelease";
const SEEN: (&str, &str) = ("proc/2/comm", "kthreadd\n");

#[test]
fn rows_say_what_they_must() {
    for row in known() {
        let texts = [&row.configuration, &row.symptom, &row.affects, &row.fix, &row.source];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", row.id);
        assert!(
            row.from.is_some() || row.when.is_some(),
            "{} concerns everything",
            row.id
        );
        let facts = row.when.iter().flat_map(|when| when.facts());
        for name in facts {
            assert!(
                !name.starts_with('/'),
                "{}: {name} is not gathered before the rows are asked",
                row.id
            );
        }
    }
}

#[test]
fn releases_are_ordered_by_their_numbers() {
    let release = |text| Release::parse(text).expect(text);
    assert!(release("6.18.44-fc-v669") < release("6.18.45"));
    assert!(release("5.15") < release("5.15.1") && release("6.9.12") < release("6.12"));
    for text in ["", "linux", "6", "6.x", "99999999999.1"] {
        assert!(Release::parse(text).is_none(), "{text}");
    }
}

#[test]
fn the_row_that_fits_is_named() {
    let found = finding(
        &changed(&HOST, &[(RELEASE, "6.18.44-fc\n"), SEEN]),
        &Parameters::default(),
        ID,
    );
    assert_eq!(found.outcome, Fail);
    let shown = format!("{:?}", found.parts[0].live);
    assert!(shown.contains("starved-outside-nested-group"), "{shown}");
    assert_eq!(outcome_of(&HOST, &[(RELEASE, "6.18.45-fc\n"), SEEN], ID), Pass);
}

#[test]
fn rows_ask_for_the_machine_too() {
    let guest = ("proc/cpuinfo", "flags : tsc hypervisor\n");
    assert_eq!(outcome_of(&HOST, &[(RELEASE, "5.15.100\n"), SEEN], ID), Pass);
    assert_eq!(outcome_of(&HOST, &[(RELEASE, "5.15.100\n"), SEEN, guest], ID), Fail);
    let ptp4l = |words, file| {
        let running = [
            ("proc/9/comm", "ptp4l\n"),
            ("proc/9/cmdline", words),
            ("etc/ptp4l.conf", file),
        ];
        outcome_of(&HOST, &[&[(RELEASE, "6.12.30\n"), SEEN], &running[..]].concat(), ID)
    };
    assert_eq!(ptp4l("ptp4l\0-E\0", "\n"), Fail);
    assert_eq!(ptp4l("ptp4l\0-i\0eth0\0", "\n"), Fail, "end to end is what it does");
    assert_eq!(ptp4l("ptp4l\0-P\0", "\n"), Pass);
    assert_eq!(
        ptp4l("ptp4l\0-f\0/etc/ptp4l.conf\0", "[global]\ndelay_mechanism P2P\n"),
        Pass
    );
    assert_eq!(ptp4l("ptp4l\0-f\0/gone.conf\0", "\n"), Unknown);
    // Without processes, it is unknown if ptp4l runs.
    assert_eq!(outcome_of(&HOST, &[(RELEASE, "6.12.30\n")], ID), Unknown);
}

#[test]
fn numbers_of_distributions_are_looked_through() {
    let of = |release, version| {
        outcome_of(
            &HOST,
            &[(RELEASE, release), ("proc/sys/kernel/version", version), SEEN],
            ID,
        )
    };
    assert_eq!(of("6.18.0-1-amd64\n", "#1 SMP Debian 6.18.44-1 (2026-01-01)\n"), Fail);
    assert_eq!(of("6.18.0-1-amd64\n", "#1 SMP Debian 6.18.45-1 (2026-01-01)\n"), Pass);
    assert_eq!(of("5.14.0-503.el9.x86_64\n", "#1 SMP\n"), Pass, "nothing brings one on");
    assert_eq!(
        of("6.18.44-1.el11.x86_64\n", "#1 SMP\n"),
        Warn,
        "its own release has one"
    );
    assert_eq!(of("rubbish\n", "#1 SMP\n"), Unknown);
}

/// A distribution that backports changes may have this change. A profile whose own set-up causes the regression has published its figures
/// with the regression.
#[test]
fn a_regression_that_is_not_certain_or_that_a_source_lives_with_is_a_warning() {
    let of = |release, profile: Option<&str>, nohz_full| {
        let files = [
            (RELEASE, release),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n"),
            ("sys/devices/system/cpu/nohz_full", nohz_full),
            SEEN,
        ];
        let profile = profile.map(str::to_owned);
        let parameters = Parameters {
            profile,
            ..Parameters::default()
        };
        finding(&changed(&HOST, &files), &parameters, ID).outcome
    };
    let (upstream, el9) = ("6.12.8-rt\n", "5.14.0-503.el9.x86_64+rt\n");
    assert_eq!(of(upstream, None, "2-3\n"), Fail);
    assert_eq!(of(upstream, Some("vmware-guest"), "2-3\n"), Warn);
    assert_eq!(of(upstream, Some("seapath"), "2-3\n"), Fail);
    assert_eq!(of(el9, None, "2-3\n"), Warn);
    assert_eq!(of(el9, None, "\n"), Pass);
    assert_eq!(of(el9, None, "rubbish\n"), Unknown);
}

/// Each series of real-time kernels got the change in a different release.
#[test]
fn vhost_loses_signals_on_real_time_kernels_until_each_line_is_mended() {
    let of = |release: &str, version| {
        let guest = ("etc/libvirt/qemu/relay.xml", "<domain/>");
        let files = [(RELEASE, release), ("proc/sys/kernel/version", version), SEEN, guest];
        outcome_of(&HOST, &files, ID)
    };
    let rt = "#1 SMP PREEMPT_RT\n";
    for release in [
        "5.4.170-rt68\n",
        "5.4.182-rt70\n",
        "5.10.73-rt54\n",
        "5.10.90-rt60\n",
        "5.13.0-rt1\n",
    ] {
        assert_eq!(of(release, rt), Fail, "{release}");
        assert_eq!(of(release, "#1 SMP PREEMPT\n"), Pass, "{release}");
    }
    for release in [
        "5.4.182-rt71\n",
        "5.4.188-rt73\n",
        "5.10.90-rt61\n",
        "5.10.90-rt61-amd64\n",
        "5.10.104-rt63\n",
        "5.14.2-rt21\n",
        "5.14.0-503.el9.x86_64+rt\n",
    ] {
        assert_eq!(of(release, rt), Pass, "{release}");
    }
    assert_eq!(
        of("4.18.0-348.rt7.130.el8.x86_64\n", rt),
        Warn,
        "it may have the change that brought it"
    );
}

#[test]
fn rows_between_two_kernels_explain_a_change() {
    let ids = |before, after| -> Vec<String> { between(before, after).into_iter().map(|row| row.id).collect() };
    assert_eq!(ids("5.10.90-rt60", "5.10.90-rt61"), ["vhost-signals-lost-5.10"]);
    assert!(ids("5.10.90-rt61", "5.10.90-rt62").is_empty());
    assert_eq!(ids("6.18.43", "6.18.44"), ["starved-outside-nested-group"]);
    assert_eq!(ids("6.18.44-fc", "6.18.45"), ["starved-outside-nested-group"]);
    assert!(ids("6.18.44", "6.18.44").is_empty() && ids("?", "6.18.44").is_empty());
}

#[test]
fn what_is_asked_for_is_not_condemned() {
    let spinning = Parameters {
        workload: Workload::BusyPoll,
        ..Parameters::default()
    };
    let machine = changed(
        &HOST,
        &[
            (RELEASE, "6.12.50-rt\n"),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n"),
            ("sys/kernel/realtime", "1\n"),
            ("sys/devices/system/cpu/nohz_full", "2-3\n"),
            SEEN,
        ],
    );
    let periodic = finding(&machine, &Parameters::default(), ID);
    let shown = format!("{:?}", periodic.parts[0].live);
    assert_eq!(periodic.outcome, Fail);
    assert!(shown.contains("leave nohz_full out"), "{shown}");
    assert_eq!(finding(&machine, &spinning, ID).outcome, Pass);
    assert_eq!(finding(&machine, &spinning, "nohz-full-fits-workload").outcome, Pass);
}
