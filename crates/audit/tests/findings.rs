//! Findings of the rules on every recorded machine in `tests/hosts`, and on the same machines with broken files.

mod captures;
mod recorded;
mod told;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;
use recorded::{copy, machines};
use told::{findings, parameters};

/// Rules that rightly pass without a file, or with an empty one: suffix of its path, kinds of damage, and the reason.
const FINE_WITHOUT: [(&str, &str, &[&str], &str); 4] = [
    (
        "irqbalance-harmless",
        "comm",
        &["missing", "empty"],
        "a capture keeps the folder of a process that ended while it was made; and a process may give itself an empty name",
    ),
    ("ts-step-policy", "comm", &["missing", "empty"], "as before"),
    (
        "virt-extensions",
        "comm",
        &["missing", "garbage"],
        "as before, and names may have any octets",
    ),
    (
        "process-bus-without-ipv6",
        "net/if_inet6",
        &["empty"],
        "a machine without IPv6 addresses has an empty list",
    ),
];

/// Maximum CPU time of an audit, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(10);

#[test]
fn every_machine_gives_its_findings() {
    let mut wrong = Vec::new();
    for machine in machines() {
        let file = machine.join("findings.txt");
        let (expected, found) = (fs::read_to_string(&file).unwrap_or_default(), findings(&machine));
        let [expected, found] = [&expected, &found].map(|text| text.lines().collect::<Vec<_>>());
        let gone = expected.iter().filter(|line| !found.contains(line));
        wrong.extend(gone.map(|line| format!("{}: gone: {line}", file.display())));
        let new = found.iter().filter(|line| !expected.contains(line));
        wrong.extend(new.map(|line| format!("{}: new: {line}", file.display())));
    }
    assert!(wrong.is_empty(), "{}\nsee tests/hosts/README.md", wrong.join("\n"));
}

/// Rules for the changes that a person who tunes a host makes by hand. Renewed findings must still contain them.
#[test]
fn nothing_is_missed_on_an_untuned_host() {
    const CHANGED: [&str; 22] = [
        "cpu-energy-hints",
        "cpu-isolated",
        "cpufreq-constant",
        "cstate-exit-latency",
        "irq-default-affinity",
        "irq-nic-affinity",
        "irqbalance-harmless",
        "kernel-preempt-rt",
        "lockup-watchdogs",
        "mm-background-work",
        "nic-channels",
        "nic-coalesce",
        "nic-eee-off",
        "nic-flow-steering",
        "nic-pause-off",
        "rcu-nocbs",
        "skew-tick",
        "swap-safe",
        "tasks-off-rt-cpus",
        "timer-migration",
        "vmstat-interval",
        "workqueue-cpumask",
    ];
    let outcome = |name: &str, id: &str| {
        let machine = machines().into_iter().find(|path| path.ends_with(name)).expect(name);
        let text = fs::read_to_string(machine.join("findings.txt")).expect("findings");
        let line = text.lines().find_map(|line| line.strip_prefix(id)?.strip_prefix(' '));
        let line = line.unwrap_or_else(|| panic!("{name}: no {id}"));
        line.split(' ').next().unwrap_or_default().to_owned()
    };
    for id in CHANGED {
        assert_eq!(outcome("debian-untuned", id), "fail", "{id}");
        let tuned = outcome("seapath-tuned", id);
        assert!(
            tuned == "pass" || tuned == "not-applicable",
            "{id} on the tuned host: {tuned}"
        );
    }
}

/// Files and links below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Folders below a folder.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(folders(&path));
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Two files of each sort: files whose paths differ only in numbers are of one sort. Metadata of the tree are not files of the machine.
fn unlike(mut all: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let own = |path: &Path| path.ends_with(".unreadable") || path.ends_with(".keep");
    all.retain(|path| {
        let sort = path.display().to_string().replace(|c: char| c.is_ascii_digit(), "#");
        let count = seen.entry(sort.replace("##", "#")).or_default();
        *count += 1;
        *count <= 2 && !own(path)
    });
    all
}

/// CPU time of this thread: other tests that run at the same time do not affect it.
fn on_cpu() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    let ns = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(ns.expect("nanoseconds"))
}

/// Outcome of each rule, by part. A part that no longer exists is left out.
fn outcomes(root: &Path, parameters: &Parameters) -> BTreeMap<(String, String), Outcome> {
    let began = on_cpu();
    let audit = audit::audit(&Host::at(root).expect("a tree"), parameters, &[]);
    let took = on_cpu() - began;
    assert!(took < LONGEST, "{took:?}");
    let parts = audit.findings.into_iter().flat_map(|finding| {
        let id = finding.rule.id.clone();
        finding
            .parts
            .into_iter()
            .map(move |part| ((id.clone(), part.part), part.outcome))
    });
    parts.collect()
}

/// Rules that pass now but failed, warned or were unknown before; and, if a file is missing, those that failed before and are not
/// applicable now.
fn turned(
    before: &BTreeMap<(String, String), Outcome>,
    now: &BTreeMap<(String, String), Outcome>,
    missing: bool,
) -> Vec<(String, String)> {
    let open = |outcome: &Outcome| matches!(outcome, Outcome::Fail | Outcome::Warn | Outcome::Unknown);
    let passes = now.iter().filter(|(_, outcome)| **outcome == Outcome::Pass);
    let new = passes.filter(|(which, _)| before.get(*which).is_some_and(open));
    let gone = now.iter().filter(|(_, outcome)| **outcome == Outcome::NotApplicable);
    let gone = gone.filter(|(which, _)| before.get(*which) == Some(&Outcome::Fail));
    new.chain(gone.filter(|_| missing))
        .map(|(which, _)| which.clone())
        .collect()
}

type Break = (&'static str, fn(&Path));

/// Kinds of damage to a file, after the file was removed.
const BREAKS: [Break; 6] = [
    ("missing", |_| {}),
    ("empty", |path| fs::write(path, "").expect("a file")),
    ("garbage", |path| {
        fs::write(path, b"\xff\x00\x01=:[{ \x80").expect("a file");
    }),
    ("an overflow", |path| {
        fs::write(path, "99999999999999999999999999\n").expect("a file");
    }),
    ("a folder", |path| fs::create_dir(path).expect("a folder")),
    ("a link to itself", |path| {
        symlink(path.file_name().expect("a name"), path).expect("a link");
    }),
];

/// Damages each sort of file of a machine in turn: no rule may begin to pass because of it.
fn no_file_of(name: &str) {
    let machines = machines();
    let machine = machines.iter().find(|path| path.ends_with(name)).expect(name);
    let parameters = parameters(machine);
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().join("root");
    copy(&machine.join("root"), &root);
    let before = outcomes(&root, &parameters);
    let kept = folder.path().join("kept");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (at, path) in unlike(files(&root)).into_iter().enumerate() {
        fs::rename(&path, &kept).expect("a file");
        for (what, make) in [BREAKS[0], BREAKS[1 + at % (BREAKS.len() - 1)]] {
            make(&path);
            count += 1;
            for (id, part) in turned(&before, &outcomes(&root, &parameters), what == "missing") {
                let place = path.strip_prefix(&root).expect("below it").display().to_string();
                let is_fine = FINE_WITHOUT
                    .iter()
                    .any(|(rule, end, how, _)| *rule == id && path.ends_with(end) && how.contains(&what));
                if !is_fine {
                    wrong.push(format!("{id} {part} is content when /{place} is {what}"));
                }
            }
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir(&path).expect("a folder");
            } else if path.symlink_metadata().is_ok() {
                fs::remove_file(&path).expect("a file");
            }
        }
        fs::rename(&kept, &path).expect("a file");
    }
    wrong.sort();
    assert!(count > 100, "{name}: only {count} breaks");
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

/// A process that does not run has no folder, and no other file names it.
fn is_process(place: &str) -> bool {
    let number = place.strip_prefix("proc/");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Removes each sort of folder of a machine as a whole.
fn no_folder_of(name: &str) {
    let machines = machines();
    let machine = machines.iter().find(|path| path.ends_with(name)).expect(name);
    let parameters = parameters(machine);
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().join("root");
    copy(&machine.join("root"), &root);
    let before = outcomes(&root, &parameters);
    let kept = folder.path().join("kept");
    let mut wrong = Vec::new();
    for path in unlike(folders(&root)) {
        fs::rename(&path, &kept).expect("a folder");
        for (id, part) in turned(&before, &outcomes(&root, &parameters), true) {
            let place = path.strip_prefix(&root).expect("below it").display().to_string();
            if !is_process(&place) {
                wrong.push(format!("{id} {part} is content without /{place}"));
            }
        }
        fs::rename(&kept, &path).expect("a folder");
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
fn no_missing_folder_makes_a_rule_content() {
    for machine in machines() {
        let name = machine.file_name().expect("a name").display().to_string();
        no_folder_of(&name);
    }
}

#[test]
fn no_broken_file_of_a_container_makes_a_rule_content() {
    no_file_of("container-without-privileges");
    no_file_of("docker-abb");
}

#[test]
fn no_broken_file_of_a_virtual_machine_makes_a_rule_content() {
    no_file_of("kvm-guest");
    no_file_of("vmware-guest");
}

#[test]
fn no_broken_file_of_a_firecracker_guest_makes_a_rule_content() {
    no_file_of("firecracker-vm");
}

#[test]
fn no_broken_file_of_a_tuned_host_makes_a_rule_content() {
    no_file_of("preempt-rt-bare-metal");
}

#[test]
fn no_broken_file_of_an_untuned_host_makes_a_rule_content() {
    no_file_of("debian-untuned");
}

#[test]
fn no_broken_file_of_a_hypervisor_makes_a_rule_content() {
    no_file_of("seapath-tuned");
}

/// Whole trees in which every file has the same invalid content: nothing panics, and no rule passes.
#[test]
fn trees_of_rubbish_pass_nothing() {
    let huge: Vec<u8> = b"0-8191,".iter().copied().cycle().take(5 << 20).collect();
    let texts: [&[u8]; 3] = [b"\xff\x00\x01=:[{ \x80", b"", &huge];
    for bytes in texts {
        let folder = tempfile::tempdir().expect("a directory");
        let content = folder.path().join("content");
        fs::write(&content, bytes).expect("a file");
        let root = folder.path().join("root");
        let machine = machines().into_iter().find(|path| path.ends_with("debian-untuned"));
        let machine = machine.expect("the untuned host");
        copy(&machine.join("root"), &root);
        for path in files(&root).iter().filter(|path| !path.is_symlink()) {
            fs::remove_file(path).expect("a file");
            if !path.ends_with(".unreadable") {
                fs::hard_link(&content, path).expect("a link");
            }
        }
        let before = outcomes(&machine.join("root"), &parameters(&machine));
        let new = turned(&before, &outcomes(&root, &parameters(&machine)), false);
        assert!(new.is_empty(), "{:?}…: {new:?}", &bytes[..bytes.len().min(12)]);
    }
}

/// A tree of 128 CPUs, 4000 threads and 2000 interrupts: the limit is a second of CPU time in a build with optimisation.
#[test]
fn a_large_machine_is_audited_in_time() {
    let tree = tempfile::tempdir().expect("a directory");
    large(tree.path());
    let host = Host::at(tree.path()).expect("a tree");
    let (began, before) = (Instant::now(), on_cpu());
    let audit = audit::audit(
        &host,
        &Parameters {
            rt_cpus: Some("8-127".parse().expect("a CPU list")),
            nics: vec!["eth0".to_owned()],
            ..Parameters::default()
        },
        &[],
    );
    let took = on_cpu() - before;
    let _ = writeln!(
        std::io::stdout(),
        "128 CPUs, 4000 threads, 2000 interrupts: {took:?} of a CPU in {:?}",
        began.elapsed()
    );
    assert_eq!(audit.cpus.len(), 128);
    let limit = if cfg!(debug_assertions) {
        LONGEST
    } else {
        Duration::from_secs(1)
    };
    assert!(took < limit, "{took:?}");
}

fn put(root: &Path, path: &str, text: &str) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
    fs::write(place, text).expect("a file");
}

fn large(root: &Path) {
    let put = |path: &str, text: &str| put(root, path, text);
    put("proc/sys/kernel/osrelease", "6.12.0-rt\n");
    put("proc/cmdline", "isolcpus=managed_irq,domain,8-127\n");
    put("sys/devices/system/cpu/online", "0-127\n");
    put("sys/devices/system/cpu/isolated", "8-127\n");
    let cpu = |number: u32| format!("processor : {number}\nvendor_id : GenuineIntel\nflags : tsc vmx\n\n");
    put("proc/cpuinfo", &(0..128).map(cpu).collect::<String>());
    for number in 0..128 {
        let folder = format!("sys/devices/system/cpu/cpu{number}");
        for state in 0..6 {
            put(&format!("{folder}/cpuidle/state{state}/latency"), "10\n");
            put(&format!("{folder}/cpuidle/state{state}/disable"), "0\n");
        }
        put(
            &format!("{folder}/topology/thread_siblings_list"),
            &format!("{number}\n"),
        );
        put(&format!("{folder}/cpufreq/scaling_governor"), "performance\n");
    }
    let heads: String = (0..128).map(|number| format!(" CPU{number}")).collect();
    let zeros = " 0".repeat(128);
    let line = |number: u32| format!("{number}:{zeros} PCI-MSI {number}-edge eth0-TxRx-{number}\n");
    put(
        "proc/interrupts",
        &format!("{heads}\n{}", (1..=2000).map(line).collect::<String>()),
    );
    for number in 1..=2000 {
        put(&format!("proc/irq/{number}/smp_affinity_list"), "0-7\n");
        put(&format!("proc/irq/{number}/effective_affinity_list"), "0\n");
    }
    put("sys/class/net/eth0/ifindex", "2\n");
    put("sys/class/net/eth0/device/vendor", "0x8086\n");
    for number in 1..=4000 {
        let (zeros, more) = ("0 ".repeat(5), "0 ".repeat(29));
        let stat = format!("{number} (worker) S {zeros}0 {more}{} 0 0 0 0\n", number % 128);
        for folder in [format!("proc/{number}"), format!("proc/{number}/task/{number}")] {
            put(&format!("{folder}/stat"), &stat);
            put(&format!("{folder}/comm"), "worker\n");
            put(&format!("{folder}/status"), "Name:\tworker\nCpus_allowed_list:\t0-7\n");
        }
    }
}
