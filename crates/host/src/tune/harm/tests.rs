use std::fs;

use super::harms;
use crate::Host;
use crate::audit::Audit;
use crate::audit::parameters::Parameters;
use crate::tune::{emit, plan, refusals};

const CLOCK: &str = "sys/devices/system/clocksource/clocksource0";

/// Two cores with two threads each, (0,2) and (1,3), of which these CPUs are judged.
fn audited(cpus: &str, files: &[(&str, &str)], look: impl Fn(&Host, &Parameters, &Audit)) {
    let root = tempfile::tempdir().expect("a directory");
    let mut all: Vec<(String, String)> = vec![
        ("sys/devices/system/cpu/online".into(), "0-3\n".into()),
        ("sys/devices/system/cpu/possible".into(), "0-3\n".into()),
        ("sys/devices/system/cpu/smt/active".into(), "1\n".into()),
        ("sys/devices/system/cpu/smt/control".into(), "on\n".into()),
    ];
    for cpu in 0..4 {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        all.push((path, format!("{},{}\n", cpu % 2, cpu % 2 + 2)));
    }
    all.extend(
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned())),
    );
    for (path, text) in &all {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let host = Host::at(root.path()).expect("a tree");
    let parameters = Parameters {
        rt_cpus: Some(cpus.parse().expect("CPUs")),
        ..Parameters::default()
    };
    let audit = host.audit(&parameters, &[]);
    look(&host, &parameters, &audit);
}

/// Why the remedy of this check is refused, which must be so for every way to it.
fn harm(check: &str, cpus: &str, files: &[(&str, &str)]) -> Option<String> {
    let only = [check.to_owned()];
    let found = std::cell::RefCell::new(None);
    audited(cpus, files, |host, parameters, audit| {
        let own = harms(audit, &only).into_iter().next().map(|(_, why)| why);
        let plan = plan(host, audit, &only);
        assert_eq!(plan.steps.len(), 1, "{check} is open");
        let refused = refusals(host, audit, parameters, &plan);
        let says = |why: &String| refused.iter().any(|refusal| refusal.why == *why);
        assert_eq!(own.as_ref().is_some_and(says), own.is_some(), "{refused:?}");
        for kind in ["kernel-args", "tuned", "ansible"] {
            let text = emit(audit, &only, kind).unwrap_or_default();
            let has = ["nosmt", "tsc=reliable", "smt/control", "current_clocksource"];
            let is_set = has.iter().any(|word| text.contains(word));
            assert_eq!(is_set, own.is_none(), "{kind}: {text}");
        }
        *found.borrow_mut() = own;
    });
    found.into_inner()
}

#[test]
fn judged_cpus_are_not_switched_off() {
    let check = "smt-siblings";
    assert_eq!(harm(check, "0-1", &[]), None);
    let why = harm(check, "2-3", &[]).expect("second threads");
    assert!(why.contains("switch CPU 2-3 off"), "{why}");
    let why = harm(check, "1-2", &[]).expect("one second thread");
    assert!(why.contains("switch CPU 2 off"), "{why}");
}

#[test]
fn a_counter_that_the_kernel_threw_out_is_not_trusted() {
    let check = "clocksource-tsc";
    let current = format!("{CLOCK}/current_clocksource");
    let offer = format!("{CLOCK}/available_clocksource");
    let on_offer = [(current.as_str(), "hpet\n"), (offer.as_str(), "tsc hpet acpi_pm\n")];
    assert_eq!(harm(check, "0-1", &on_offer), None);
    let thrown_out = [(current.as_str(), "hpet\n"), (offer.as_str(), "hpet acpi_pm\n")];
    let why = harm(check, "0-1", &thrown_out).expect("not on offer");
    assert!(why.contains("does not offer"), "{why}");
    let marked = ".answers/kernel-log";
    let log = "whole\n1 tsc: Marking TSC unstable due to clocksource watchdog\n";
    let why = harm(check, "0-1", &[on_offer[0], on_offer[1], (marked, log)]).expect("marked");
    assert!(why.contains("unstable"), "{why}");
}
