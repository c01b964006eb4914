use std::fs;

use super::harms;
use crate::{emit, plan, refusals};
use audit::Audit;
use audit::parameters::Parameters;
use host::Host;

/// Place of a domain's definition, if there is one.
const DOMAIN: &str = "etc/libvirt/qemu/relay.xml";

const CLOCK: &str = "sys/devices/system/clocksource/clocksource0";

/// Two cores with two threads each, (0,2) and (1,3); these CPUs are judged.
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
        match text.strip_prefix("->") {
            Some(target) => std::os::unix::fs::symlink(target, place).expect("a link"),
            None => fs::write(place, text).expect("a file"),
        }
    }
    let host = Host::at(root.path()).expect("a tree");
    let parameters = Parameters {
        rt_cpus: Some(cpus.parse().expect("CPUs")),
        domains: vec![root.path().join(DOMAIN).display().to_string()]
            .into_iter()
            .filter(|path| fs::exists(path).is_ok_and(|is_there| is_there))
            .collect(),
        ..Parameters::default()
    };
    let audit = audit::audit(&host, &parameters, &[]);
    look(&host, &parameters, &audit);
}

/// Reason why the remedy of this check is refused; it must be the same for every way to apply the remedy.
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
            let has = [
                "nosmt",
                "tsc=reliable",
                "smt/control",
                "current_clocksource",
                "blacklist",
            ];
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

/// A bare machine with these consoles; the processor's graphics drive its screen.
fn with_screen(consoles: Option<&'static str>) -> Vec<(&'static str, &'static str)> {
    let screen = [
        ("proc/cpuinfo", "processor : 0\nflags : fpu tsc\n"),
        ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
        ("sys/class/net/lo/ifindex", "1\n"),
        ("sys/bus/pci/drivers/i915/x", "\n"),
        (
            "sys/class/drm/card0/device/driver",
            "->../../../../bus/pci/drivers/i915",
        ),
        ("sys/class/drm/card0/device/power/runtime_status", "active\n"),
        ("sys/class/drm/card0-DP-1/status", "connected\n"),
    ];
    let consoles = consoles.map(|text| ("proc/consoles", text));
    screen.into_iter().chain(consoles).collect()
}

#[test]
fn the_only_console_is_not_taken_away() {
    let check = "igpu-idle";
    let why = |consoles| harm(check, "0-1", &with_screen(consoles));
    let screen = "tty0                 -WU (EC p  )    4:7\n";
    let both = "tty0                 -WU (EC p  )    4:7\nttyS0                -W- (E  p a)    4:64\n";
    assert_eq!(why(Some(both)), None);
    let alone = why(Some(screen)).expect("the screen alone");
    assert!(
        alone.contains("i915") && alone.contains("no other console is on (tty0)"),
        "{alone}"
    );
    let unknown = why(None).expect("nobody knows");
    assert!(unknown.contains("not known"), "{unknown}");
}

/// A domain that gets the card of eno1, and a default route through this interface.
fn with_card(route: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("proc/cpuinfo", "processor : 0\nflags : fpu tsc\n"),
        ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
        ("proc/net/route", route),
        ("sys/class/net/br0/lower_eno1/ifindex", "2\n"),
        (
            "sys/class/net/eno1",
            "->../../devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eno1",
        ),
        (
            "sys/devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eno1/ifindex",
            "2\n",
        ),
        ("sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n"),
        ("sys/bus/pci/devices/0000:03:00.0/device", "0x1533\n"),
        ("sys/bus/pci/devices/0000:03:00.0/driver", "->../../drivers/igb"),
        ("sys/bus/pci/drivers/igb/x", "\n"),
        (
            DOMAIN,
            "<domain type='kvm'><name>relay</name><devices><hostdev mode='subsystem' type='pci' managed='no'><source>\
             <address domain='0x0000' bus='0x03' slot='0x00' function='0x0'/></source></hostdev></devices></domain>\n",
        ),
    ]
}

#[test]
fn the_card_of_the_connection_is_not_given_to_a_guest() {
    let only = ["vfio-bound".to_owned()];
    let of = |interface: &'static str| {
        let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n";
        let route = format!("{head}{interface}\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\n");
        let found = std::cell::RefCell::new((None, String::new()));
        audited("0-1", &with_card(route.leak()), |host, parameters, audit| {
            let why = harms(audit, &only).into_iter().next().map(|(_, why)| why);
            let refused = refusals(host, audit, parameters, &plan(host, audit, &only));
            assert_eq!(refused.len(), usize::from(why.is_some()), "{refused:?}");
            *found.borrow_mut() = (why, emit(audit, &only, "modprobe").unwrap_or_default());
        });
        found.into_inner()
    };
    let (why, text) = of("eth9");
    assert!(why.is_none() && text.contains("ids=8086:1533"), "{why:?}: {text}");
    for interface in ["eno1", "br0"] {
        let (why, text) = of(interface);
        let why = why.expect("the card of the connection");
        assert!(why.contains("0000:03:00.0 (eno1)") && text.is_empty(), "{why}: {text}");
    }
}

/// Four cards: with the default route, with only an address, without an address, and one about which nothing is known.
#[test]
fn an_interface_through_which_somebody_may_be_connected_is_named_as_a_risk() {
    let untuned = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/debian-untuned/root");
    let told = Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        nics: vec!["eno1".to_owned()],
        ..Default::default()
    };
    let host = Host::at(&untuned).expect("a recorded tree");
    let mut audit = audit::audit(&host, &told, &[]);
    let only = ["nic-ring-size".to_owned()];
    let said = |audit: &Audit| {
        let risk = plan(&host, audit, &only).steps.remove(0).risk;
        let file = emit(audit, &only, "systemd").expect("a file");
        let here = risk
            .split_once("; ")
            .map(|(_, here)| here.to_owned())
            .unwrap_or_default();
        assert!(
            file.contains(&format!("# risk: {here}\n")) || here.is_empty(),
            "{here}: {file}"
        );
        here
    };
    assert!(said(&audit).contains("carries the connection"), "{}", said(&audit));
    audit.facts.set("connection.nics", Vec::<String>::new());
    let mut with = |v4: Option<u32>| {
        for nic in audit.facts.parts_mut(audit::facts::Class::Nic) {
            nic.set("nic.ipv6-addresses", 0_u32);
            match v4 {
                Some(count) => nic.set("nic.ipv4-addresses", count),
                None => nic.set("nic.ipv4-addresses", Err::<u32, _>(audit::value::Unknown::unclear("x"))),
            }
        }
        said(&audit)
    };
    assert!(with(Some(1)).contains("has an address of its own"));
    assert!(with(None).contains("is not known"));
    assert_eq!(with(Some(0)), "");
}
