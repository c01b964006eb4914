//! Facts of damaged machines: every fact is a value or a reason, and nothing panics.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use host::Host;
use model::Fact;

/// Checks the rules for every fact, on any machine. Returns the number of facts with a value.
fn check(facts: &[Fact], what: &str) -> usize {
    assert!(facts.len() > 60, "{what}: only {} facts", facts.len());
    let mut names = BTreeSet::new();
    for fact in facts {
        assert!(
            !fact.group.is_empty() && !fact.name.is_empty() && !fact.source.is_empty(),
            "{what}: {fact:?}"
        );
        assert!(names.insert((&fact.group, &fact.name)), "{what}: twice: {fact:?}");
        let (Ok(text) | Err(text)) = &fact.value;
        assert!(!text.trim().is_empty(), "{what}: {fact:?}");
        assert!(!text.chars().any(char::is_control), "{what}: {fact:?}");
    }
    facts.iter().filter(|fact| fact.value.is_ok()).count()
}

/// Calls every typed reader with bad input. Returns the number of values.
fn ask_all(host: &Host) -> usize {
    [
        host.online_cpus().is_ok(),
        host.isolated_cpus().is_ok(),
        host.rt_runtime().is_ok(),
        host.steal_ticks().is_ok(),
        host.hypervisor().is_ok(),
        host.container().is_ok(),
        host.interfaces().is_ok(),
        host.last_level_cache_bytes().is_ok(),
    ]
    .into_iter()
    .filter(|&ok| ok)
    .count()
}

/// A copy of a recorded machine in which every file contains `bytes`; the files are hard links to one.
fn spoiled(bytes: &[u8]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("directory");
    let content = copy.path().join("content");
    fs::write(&content, bytes).expect("content");
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/preempt-rt-bare-metal/root");
    let count = copy_tree(&tree, &copy.path().join("root"), &content);
    assert!(count > 100, "only {count} files");
    copy
}

fn copy_tree(from: &Path, to: &Path, content: &Path) -> usize {
    fs::create_dir_all(to).expect("directory");
    let mut count = 0;
    for entry in fs::read_dir(from).expect("tree") {
        let path: PathBuf = entry.expect("entry").path();
        let target = to.join(path.file_name().expect("name"));
        if path.is_symlink() {
            symlink(fs::read_link(&path).expect("link"), &target).expect("link");
        } else if path.is_dir() {
            count += copy_tree(&path, &target, content);
        } else if path.file_name().is_some_and(|name| name != ".unreadable") {
            fs::hard_link(content, &target).expect("file");
            count += 1;
        }
    }
    count
}

#[test]
fn this_machine_gives_values() {
    let host = Host::live();
    let known = check(&host.facts(), "live");
    assert!(known > 40, "only {known} values");
    assert!(!host.online_cpus().expect("online CPUs").is_empty());
    assert!(
        host.interfaces()
            .expect("interfaces")
            .iter()
            .any(|interface| interface.name == "lo")
    );
    let steals = host.steal_ticks().expect("stolen time");
    assert_eq!(steals.len(), host.online_cpus().expect("online CPUs").len());
}

#[test]
fn an_empty_root_gives_only_reasons() {
    let root = tempfile::tempdir().expect("directory");
    let host = Host::at(root.path()).expect("root");
    let facts = host.facts();
    let known: Vec<_> = facts.iter().filter(|fact| fact.value.is_ok()).collect();
    assert!(known.is_empty(), "from nothing: {known:?}");
    assert_eq!(ask_all(&host), 0);
    let missing = facts.iter().find(|fact| fact.name == "release").expect("release");
    assert_eq!(missing.value, Err("ENOENT: no such file".to_owned()));
}

#[test]
fn a_root_that_does_not_exist_is_an_error() {
    let error = Host::at(Path::new("/nowhere/at all")).expect_err("no such root");
    assert_eq!(error.to_string(), "/nowhere/at all: ENOENT: no such file");
}

#[test]
fn empty_files_are_reasons_except_where_empty_means_none() {
    let tree = spoiled(b"");
    let host = Host::at(&tree.path().join("root")).expect("tree");
    check(&host.facts(), "empty files");
    assert!(host.isolated_cpus().expect("isolated").is_empty());
    assert!(host.online_cpus().is_err(), "no machine has no CPU");
    assert!(host.rt_runtime().is_err());
}

#[test]
fn garbage_is_reasons() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let garbage: Vec<u8> = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    })
    .take(3000)
    .collect();
    let texts: [&[u8]; 6] = [
        &garbage,
        b"\0\0\0\0",
        b"=:=,-[](\n\n::\n",
        b"-1",
        b"18446744073709551616",
        "é\u{202e} [é] (é) - é\n".as_bytes(),
    ];
    for bytes in texts {
        let tree = spoiled(bytes);
        let host = Host::at(&tree.path().join("root")).expect("tree");
        check(&host.facts(), &String::from_utf8_lossy(bytes));
        assert!(host.online_cpus().is_err());
        ask_all(&host);
    }
}

#[test]
fn files_of_ten_megabytes_are_refused() {
    for line in ["1\n", "0-8191,", "cpu0 1 2 3 4 5 6 7 8 9\nmodel name : x\n\n", "a"] {
        let bytes: Vec<u8> = line.bytes().cycle().take(10 << 20).collect();
        let tree = spoiled(&bytes);
        let host = Host::at(&tree.path().join("root")).expect("tree");
        let facts = host.facts();
        check(&facts, line);
        let release = facts.iter().find(|fact| fact.name == "release").expect("release");
        assert_eq!(release.value, Err("the file is longer than any of its kind".to_owned()));
        ask_all(&host);
    }
}

#[test]
fn links_stay_inside_the_root() {
    let root = tempfile::tempdir().expect("directory");
    let cpu = root.path().join("sys/devices/system/cpu");
    fs::create_dir_all(&cpu).expect("directories");
    fs::create_dir_all(root.path().join("elsewhere")).expect("directory");
    fs::File::create(root.path().join("elsewhere/cpus"))
        .expect("file")
        .write_all(b"0-6\n")
        .expect("write");
    let online = cpu.join("online");
    for target in [
        "/elsewhere/cpus",
        "../../../../elsewhere/cpus",
        "../../../../../../../../../elsewhere/cpus",
    ] {
        symlink(target, &online).expect("link");
        let cpus = Host::at(root.path()).expect("root").online_cpus().expect(target);
        assert_eq!(cpus.len(), 7, "{target}");
        fs::remove_file(&online).expect("remove");
    }
    symlink("online", &online).expect("link");
    let error = Host::at(root.path()).expect("root").online_cpus().expect_err("a loop");
    assert_eq!(
        error.to_string(),
        "/sys/devices/system/cpu/online: ELOOP: too many links"
    );
}

#[test]
fn refusals_of_a_recorded_tree_are_refusals_again() {
    let root = tempfile::tempdir().expect("directory");
    fs::create_dir_all(root.path().join("proc/sys/kernel")).expect("directories");
    fs::write(root.path().join("proc/sys/kernel/osrelease"), "6.1\n").expect("write");
    fs::write(root.path().join(".unreadable"), "EACCES /proc/sys\n").expect("write");
    let facts = Host::at(root.path()).expect("root").facts();
    let release = facts.iter().find(|fact| fact.name == "release").expect("release");
    assert_eq!(release.value, Err("EACCES: permission denied".to_owned()));
    fs::write(root.path().join(".unreadable"), "EWHAT /proc/sys\n").expect("write");
    let error = Host::at(root.path()).expect_err("no such errno");
    assert!(error.to_string().contains("EWHAT"), "{error}");
}

#[test]
fn the_unlimited_budget_is_told_from_a_budget() {
    let root = tempfile::tempdir().expect("directory");
    let folder = root.path().join("proc/sys/kernel");
    fs::create_dir_all(&folder).expect("directories");
    fs::write(folder.join("sched_rt_period_us"), "1000000\n").expect("write");
    for (text, runtime_us, unlimited) in [
        ("-1\n", -1, true),
        ("950000\n", 950_000, false),
        ("1000000\n", 1_000_000, true),
    ] {
        fs::write(folder.join("sched_rt_runtime_us"), text).expect("write");
        let budget = Host::at(root.path()).expect("root").rt_runtime().expect("budget");
        assert_eq!((budget.runtime_us, budget.is_unlimited()), (runtime_us, unlimited));
    }
}
