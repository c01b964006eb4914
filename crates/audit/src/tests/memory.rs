use super::tree::{HOST, outcome_of, outcome_with};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

const DOMAIN: (&str, &str) = (
    "etc/libvirt/qemu/relay.xml",
    "<domain><name>relay</name><vcpu>2</vcpu><memory unit='GiB'>4</memory><memoryBacking><hugepages/></memoryBacking></domain>",
);
const GIANT: &str = "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";
const fn free(pages: &'static str) -> (&'static str, &'static str) {
    ("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", pages)
}
const BOOTED: (&str, &str) = ("proc/cmdline", "hugepagesz=1G hugepages=4\n");

#[test]
fn huge_pages_suffice_for_the_domains() {
    let id = "hugepages-reserved";
    assert_eq!(outcome_of(&HOST, &[(GIANT, "0\n"), free("0\n")], id), NotApplicable);
    assert_eq!(
        outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "4\n"), free("4\n")], id),
        Pass
    );
    assert_eq!(
        outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "3\n"), free("3\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&HOST, &[DOMAIN, (GIANT, "4\n"), free("4\n")], id),
        Warn,
        "reserved late"
    );
    let small = ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "2048\n");
    let small_free = ("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "2048\n");
    assert_eq!(
        outcome_of(
            &HOST,
            &[DOMAIN, BOOTED, (GIANT, "0\n"), free("0\n"), small, small_free],
            id
        ),
        Warn
    );
    assert_eq!(outcome_of(&HOST, &[DOMAIN, BOOTED], id), Unknown);
    let taken = [DOMAIN, BOOTED, (GIANT, "4\n"), free("0\n")];
    assert_eq!(outcome_of(&HOST, &taken, id), Fail, "somebody else has them");
    assert_eq!(
        outcome_of(&HOST, &[DOMAIN, BOOTED, (GIANT, "4\n")], id),
        Unknown,
        "how many are free"
    );
    let running = ("run/libvirt/qemu/relay.xml", DOMAIN.1);
    assert_eq!(
        outcome_of(&HOST, &[&taken[..], &[running]].concat(), id),
        Pass,
        "it has them"
    );
    let named = Parameters {
        domains: vec!["relay".to_owned(), "other".to_owned()],
        ..Parameters::default()
    };
    assert_eq!(
        outcome_with(&HOST, &[DOMAIN, BOOTED, (GIANT, "4\n"), free("4\n")], &named, id),
        Unknown
    );
    let other = (
        "etc/libvirt/qemu/other.xml",
        "<domain><name>other</name><vcpu>1</vcpu><memory>1048576</memory></domain>",
    );
    assert_eq!(
        outcome_with(&HOST, &[DOMAIN, other, BOOTED, (GIANT, "4\n"), free("4\n")], &named, id),
        Fail
    );
}

/// A domain of `virsh create` is in the folder of running ones only, and its pages are not free any more.
#[test]
fn huge_pages_of_a_domain_that_only_runs_are_counted() {
    let id = "hugepages-reserved";
    let running = (
        "run/libvirt/qemu/other.xml",
        "<domstatus state='running' pid='77'><vcpus/><domain><name>other</name><vcpu>2</vcpu><memory unit='GiB'>4</memory><memoryBacking><hugepages/></memoryBacking></domain></domstatus>",
    );
    let with = |pages, left| outcome_of(&HOST, &[DOMAIN, running, BOOTED, (GIANT, pages), free(left)], id);
    assert_eq!(with("8\n", "4\n"), Pass);
    assert_eq!(with("7\n", "4\n"), Fail);
    assert_eq!(
        outcome_of(&HOST, &[running, BOOTED, (GIANT, "4\n"), free("0\n")], id),
        Pass,
        "it has its pages"
    );
}

/// A domain that is bound to a node, next to another domain, on a machine whose pages are on the other node.
#[test]
fn huge_pages_are_on_the_node_that_a_domain_is_bound_to() {
    let id = "hugepages-reserved";
    let bound = "<domain><name>relay</name><vcpu>2</vcpu><memory unit='GiB'>4</memory><memoryBacking><hugepages/></memoryBacking><numatune><memory mode='strict' nodeset='1'/></numatune></domain>";
    let other = bound.replace("relay", "other").replace("nodeset='1'", "nodeset='0'");
    let with = |nodes: [&str; 2], asked: &[&str]| {
        let names = ["sys/devices/system/node/node0", "sys/devices/system/node/node1"];
        let paths = names
            .map(|node| ["nr", "free"].map(|kind| format!("{node}/hugepages/hugepages-1048576kB/{kind}_hugepages")));
        let mut files = vec![
            ("etc/libvirt/qemu/relay.xml", bound),
            BOOTED,
            (GIANT, "8\n"),
            free("8\n"),
        ];
        files.push(("etc/libvirt/qemu/other.xml", other.as_str()));
        for (paths, pages) in paths.iter().zip(nodes) {
            files.extend(paths.iter().map(|path| (path.as_str(), pages)));
        }
        let asked = Parameters {
            domains: asked.iter().map(|name| (*name).to_owned()).collect(),
            ..Parameters::default()
        };
        outcome_with(&HOST, &files, &asked, id)
    };
    assert_eq!(with(["4\n", "4\n"], &["relay"]), Pass);
    assert_eq!(with(["8\n", "0\n"], &["relay"]), Fail);
    assert_eq!(with(["3\n", "5\n"], &["relay"]), Fail, "the other domain counts, too");
    assert_eq!(with(["3\n", "5\n"], &[]), Fail);
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
