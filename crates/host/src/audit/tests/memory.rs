use super::tree::{HOST, outcome_of, outcome_with};
use crate::audit::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::audit::parameters::Parameters;

const DOMAIN: (&str, &str) = (
    "etc/libvirt/qemu/relay.xml",
    "<domain><memory unit='GiB'>4</memory><memoryBacking><hugepages/></memoryBacking></domain>",
);
const GIANT: &str = "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";
const BOOTED: (&str, &str) = ("proc/cmdline", "hugepagesz=1G hugepages=4\n");

#[test]
fn huge_pages_suffice_for_the_domains() {
    let id = "hugepages-reserved";
    assert_eq!(outcome_of(&HOST, &[(GIANT, "0\n")], id), NotApplicable);
    assert_eq!(outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "4\n")], id), Pass);
    assert_eq!(outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "3\n")], id), Fail);
    assert_eq!(outcome_of(&HOST, &[DOMAIN, (GIANT, "4\n")], id), Warn, "reserved late");
    let small = ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "2048\n");
    assert_eq!(outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "0\n"), small], id), Warn);
    assert_eq!(outcome_of(&HOST, &[DOMAIN, BOOTED], id), Unknown);
    let named = Parameters {
        domains: vec!["relay".to_owned(), "other".to_owned()],
        ..Parameters::default()
    };
    assert_eq!(
        outcome_with(&HOST, &[DOMAIN, BOOTED, (GIANT, "4\n")], &named, id),
        Unknown
    );
    let other = (
        "etc/libvirt/qemu/other.xml",
        "<domain><memory>1048576</memory></domain>",
    );
    assert_eq!(
        outcome_with(&HOST, &[DOMAIN, other, BOOTED, (GIANT, "4\n")], &named, id),
        Fail
    );
}

#[test]
fn swap_stays_away_from_real_time_memory() {
    let id = "swap-safe";
    const HEAD: &str = "Filename\tType\tSize\tUsed\tPriority\n";
    let zeros = "0 ".repeat(29);
    let stat = format!("9 (relay) S 0 0 0 0 0 0 {zeros}1 50 1 0 0\n");
    let swap = (
        "proc/swaps",
        "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 8 0 -2\n",
    );
    let of = |status: &str, swappiness: &str| {
        let files = [
            swap,
            ("proc/9/stat", stat.as_str()),
            ("proc/9/status", status),
            ("proc/sys/vm/swappiness", swappiness),
        ];
        outcome_of(&HOST, &files, id)
    };
    assert_eq!(outcome_of(&HOST, &[("proc/swaps", HEAD)], id), Pass);
    assert_eq!(outcome_of(&HOST, &[("proc/swaps", "?\n")], id), Unknown);
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
    assert_eq!(outcome_of(&HOST, &[swap, ("proc/sys/vm/swappiness", "60\n")], id), Fail);
    assert_eq!(
        outcome_of(&HOST, &[swap, ("proc/sys/vm/swappiness", "10\n")], id),
        Unknown
    );
    assert_eq!(of("VmLck:\t100 kB\nVmSwap:\t0 kB\n", "10\n"), Pass);
    assert_eq!(of("VmLck:\t0 kB\nVmSwap:\t0 kB\n", "10\n"), Fail);
    assert_eq!(of("VmLck:\t100 kB\nVmSwap:\t8 kB\n", "10\n"), Fail);
}

#[test]
fn modules_have_one_size() {
    let id = "dimm-balance";
    let (first, second) = (
        "sys/devices/system/edac/mc/mc0/dimm0/size",
        "sys/devices/system/edac/mc/mc0/dimm1/size",
    );
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
    assert_eq!(outcome_of(&HOST, &[(first, "8192\n"), (second, "8192\n")], id), Pass);
    assert_eq!(
        outcome_of(&HOST, &[(first, "8192\n"), (second, "0\n")], id),
        Pass,
        "an empty slot"
    );
    assert_eq!(outcome_of(&HOST, &[(first, "8192\n"), (second, "16384\n")], id), Fail);
}
