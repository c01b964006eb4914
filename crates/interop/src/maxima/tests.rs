use super::{MaximaError, MaximaLog, is_log};
use model::{EventKind, setting};

const HEAD: &str = "time,task/F1 count,task/F1 max_us,use/MU01 count,use/MU01 max_us\n";

fn log(lines: &str) -> Result<MaximaLog, MaximaError> {
    MaximaLog::of("vpc.csv", &format!("# ours\n{HEAD}{lines}"), None)
}

fn why(lines: &str) -> String {
    log(lines).expect_err("refused").to_string()
}

#[test]
fn each_report_is_a_window_whose_quantiles_are_unknown() {
    let log =
        log("2026-11-29T10:00:20Z,20000,431,96000,692.4\n2026-11-29T10:00:40Z,20000,436,96000,315.0\n").expect("a log");
    assert_eq!((log.window_ns, log.duration_ns), (20_000_000_000, 40_000_000_000));
    assert_eq!(log.started.as_ns() % 1_000_000_000, 0);
    assert_eq!(log.batch.windows.len(), 4);
    let first = &log.batch.windows[0];
    assert_eq!((first.start_ns, first.end_ns), (0, 20_000_000_000));
    assert_eq!(
        (first.counters.received, first.max_ns, first.min_ns),
        (20_000, Some(431_999), None)
    );
    assert!(first.histogram.is_empty());
    assert_eq!(
        log.batch.windows[1].max_ns,
        Some(692_499),
        "the last digit may have been cut off"
    );
    assert_eq!(log.series[0].name, "task/F1");
    let uncounted = log.series[0].setting(setting::NOT_COUNTED).expect("named");
    assert!(
        uncounted.contains("missed") && uncounted.contains("late"),
        "{uncounted}"
    );
    assert_eq!(log.batch.events.len(), 1, "a note about the file");
}

#[test]
fn a_missing_report_or_value_is_an_event_and_no_zero() {
    let log = log("100,20000,1,96000,1\n120,20000,1,,\n180,20000,1,96000,1\n").expect("a log");
    let incomplete: Vec<_> = log
        .batch
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Incomplete)
        .collect();
    let [value, report] = &incomplete[..] else {
        panic!("{incomplete:?}")
    };
    assert!(value.text.contains("no sample of use/MU01") && value.series.is_some());
    assert!(report.text.starts_with("no report covers 40.0 s"), "{}", report.text);
    assert!(report.series.is_none(), "it concerns every quantity");
    let of_mu01 = log.batch.windows.iter().filter(|window| window.series.0 == 1);
    assert_eq!(of_mu01.count(), 2);
    assert!(
        log.batch
            .windows
            .iter()
            .all(|window| window.end_ns - window.start_ns == 20_000_000_000)
    );
}

#[test]
fn what_is_not_as_described_is_refused_with_its_line() {
    assert!(why("10,1,2,3\n").contains("line 3: 4 fields, and 5 names"));
    assert!(why("10,1,2,3,4\n10,1,2,3,4\n").contains("line 4: not later"));
    assert!(why("10,1,,3,4\n").contains("task/F1: 1 samples, and no largest one"));
    assert!(why("10,0,2,3,4\n").contains("and none counted"));
    assert!(why("10,1,-2,3,4\n").contains("write a decimal number"));
    assert!(why("10,1,1e3,3,4\n").contains("write a decimal number"));
    assert!(why("soon,1,2,3,4\n").contains("time \"soon\""));
    assert!(why("10,1,2,3,4\n").contains("--interval 20s"));
    assert!(why("").contains("no report"));
    let head = |head: &str| MaximaLog::of("x", head, None).expect_err("refused").to_string();
    assert!(head("time,task/F1 max_us\n").contains("a maximum of how many?"));
    assert!(head("time,work count,work max_us\n").contains("KIND/NAME"));
    assert!(head("time,task/F1 count,task/F1 longest\n").contains("max_us"));
}

#[test]
fn such_a_log_is_known_by_its_first_line() {
    assert!(is_log(format!("\n# x\n{HEAD}").as_bytes()));
    assert!(!is_log(b"0:MU01:1:1795226400000000\n") && !is_log(b"12\n13\n") && !is_log(b"{\"file_version\": 1}"));
}
