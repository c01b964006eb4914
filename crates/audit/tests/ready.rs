//! Machines on which the audit finds nothing to change: one for each profile, and one of each architecture and maker.
//!
//! Each file of `tests/ready` derives a machine from another or a recorded one, and lists the rules that warn, with reasons.

#[expect(dead_code, reason = "the recorded machines are named one by one")]
mod recorded;
#[expect(dead_code, reason = "findings as text are compared elsewhere")]
mod told;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use audit::finding::Outcome;
use audit::rule::profiles;
use host::Host;
use recorded::copy;
use serde::Deserialize;
use tempfile::TempDir;
use told::{Told, parameters};
use units::CpuList;

/// Rules by id, each with the reason.
type Reasons = BTreeMap<String, String>;

/// Recipe of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    /// Recorded machine to change.
    machine: Option<String>,
    /// Other file of this folder whose machine is changed.
    like: Option<String>,
    /// Values for `{cpu}` in paths and texts.
    cpus: String,
    /// CPUs of added processes.
    housekeeping: Option<String>,
    #[serde(default)]
    gone: Vec<String>,
    told: Option<toml::Table>,
    /// Changes to every file of the machine.
    #[serde(default)]
    replace: BTreeMap<String, String>,
    /// Files in addition to the machine's, from those of the rules' own tests.
    #[serde(default)]
    definitions: BTreeMap<String, String>,
    /// Command lines by process number: `fifo:20 ptp4l -f x.conf`; a name in brackets belongs to a kernel thread.
    #[serde(default)]
    processes: BTreeMap<String, String>,
    /// Texts by path; a text that begins with `->` is a link.
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    warned: Reasons,
    #[serde(default)]
    unknown: Reasons,
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn recipe(name: &str) -> Recipe {
    let text = fs::read_to_string(folder("tests/ready").join(format!("{name}.toml"))).expect("a file");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(folder("tests/ready")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.path().file_stem().expect("a name").display().to_string());
    names.collect()
}

/// Makes the machine in `at`: `root`, `told.toml` and the files next to them.
fn make(recipe: &Recipe, at: &Path) {
    match (&recipe.machine, &recipe.like) {
        (Some(machine), None) => copy(&folder("../../tests/hosts").join(machine), at),
        (None, Some(other)) => make(&self::recipe(other), at),
        _ => panic!("machine, or like"),
    }
    let root = at.join("root");
    for path in recipe.gone.iter().flat_map(|path| each(recipe, path)) {
        let path = root.join(path);
        let gone = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        gone.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    replace(&root, &recipe.replace);
    for (number, line) in &recipe.processes {
        let cpus = recipe.housekeeping.as_deref().unwrap_or("0-3");
        start(&root, number, line, cpus);
    }
    for (path, text) in &recipe.files {
        for (path, text) in each(recipe, path).iter().zip(each(recipe, text).iter().cycle()) {
            write(&root.join(path), text);
        }
    }
    for (name, from) in &recipe.definitions {
        fs::copy(folder("src/tests/definitions").join(from), at.join(name)).expect("a definition");
    }
    tell(&at.join("told.toml"), recipe.told.as_ref());
}

fn cpus(list: &str) -> CpuList {
    list.parse().expect("a list of CPUs")
}

/// The text for each CPU if it contains `{cpu}`, else once.
fn each(recipe: &Recipe, text: &str) -> Vec<String> {
    match text.contains("{cpu}") {
        true => cpus(&recipe.cpus)
            .iter()
            .map(|cpu| text.replace("{cpu}", &cpu.to_string()))
            .collect(),
        false => vec![text.to_owned()],
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    if path.is_symlink() {
        fs::remove_file(path).expect("a link");
    }
    match text.strip_prefix("->") {
        Some(target) => symlink(target, path).expect("a link"),
        None => fs::write(path, text).expect("a file"),
    }
}

fn replace(at: &Path, changes: &BTreeMap<String, String>) {
    for path in fs::read_dir(at).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            replace(&path, changes);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let changed = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
            fs::write(&path, changed).expect("a file");
        }
    }
}

/// Adds a process of one thread.
fn start(root: &Path, number: &str, line: &str, cpus: &str) {
    let (priority, line) = match line.strip_prefix("fifo:").and_then(|rest| rest.split_once(' ')) {
        Some((priority, line)) => (priority, line),
        None => ("0", line),
    };
    let of_kernel = line.starts_with('[');
    let program = line.split(' ').next().unwrap_or_default().trim_matches(['[', ']']);
    let name: String = program.chars().take(15).collect();
    let flags = if of_kernel { 0x0420_8040 } else { 0 };
    let policy = u8::from(priority != "0");
    let zeros = " 0".repeat(29);
    let stat = format!("{number} ({name}) S 0 0 0 0 0 {flags}{zeros} 0 {priority} {policy} 0 0\n");
    let status = format!("Name:\t{name}\nCpus_allowed_list:\t{cpus}\n");
    let process = root.join(format!("proc/{number}"));
    for folder in [process.clone(), process.join(format!("task/{number}"))] {
        write(&folder.join("comm"), &format!("{name}\n"));
        write(&folder.join("stat"), &stat);
        write(&folder.join("status"), &status);
    }
    if !of_kernel {
        write(&process.join("cmdline"), &format!("{}\0", line.replace(' ', "\0")));
    }
}

/// Adds to the user's parameters for the machine.
fn tell(path: &Path, more: Option<&toml::Table>) {
    let text = fs::read_to_string(path).expect("told.toml");
    let mut told: toml::Table = text.parse().expect("a table");
    told.extend(more.cloned().unwrap_or_default());
    fs::write(path, told.to_string()).expect("a file");
}

/// Rates of a capture in which no counter grows.
fn keep_quiet(at: &Path) {
    let told = Told::read(at);
    let machine = [
        "memory-errors.per-s",
        "observed.softnet-dropped",
        "observed.softnet-squeezed",
        "smi.per-s",
        "tasks.page-faults",
        "throttling.per-s",
    ];
    let cpus = cpus(&told.cpus.expect("CPUs"));
    let of_cpu = [
        "guest.steal-ticks-per-s",
        "interrupts.device-per-s",
        "interrupts.ipi-per-s",
        "interrupts.local-timer-per-s",
        "interrupts.other-per-s",
    ];
    let of_nic = ["observed.link-changes", "observed.nic-lost"];
    let parts = |facts: &[&str], part: &str| {
        facts
            .iter()
            .map(|fact| format!("{fact} {part} 0\n"))
            .collect::<String>()
    };
    let of_machine = machine.iter().map(|fact| format!("{fact} 0\n"));
    let of_cpus = cpus.iter().map(|cpu| parts(&of_cpu, &cpu.to_string()));
    let of_nics = told.nics.iter().map(|nic| parts(&of_nic, nic));
    let text: String = of_machine.chain(of_cpus).chain(of_nics).collect();
    write(&at.join("root/.answers/observed"), &text);
}

fn made(name: &str) -> (Recipe, TempDir) {
    let (recipe, at) = (recipe(name), tempfile::tempdir().expect("a folder"));
    make(&recipe, at.path());
    keep_quiet(at.path());
    (recipe, at)
}

/// Findings with this outcome, by rule id.
fn came_out(at: &Path, outcome: Outcome) -> BTreeMap<String, String> {
    let host = Host::at(&at.join("root")).expect("a tree");
    let found = audit::audit(&host, &parameters(at), &[]).findings.into_iter();
    let of = found.filter(|finding| finding.outcome == outcome);
    of.map(|finding| {
        let why = finding.worst_parts().next().map(|part| part.reason.clone());
        (
            finding.rule.id.clone(),
            format!("{} {}", finding.live_text(), why.unwrap_or_default()),
        )
    })
    .collect()
}

#[test]
fn nothing_is_to_do_on_a_machine_that_is_ready() {
    let mut wrong = Vec::new();
    for name in names() {
        let (recipe, at) = made(&name);
        for (outcome, reasons) in [
            (Outcome::Fail, &Reasons::new()),
            (Outcome::Unknown, &recipe.unknown),
            (Outcome::Warn, &recipe.warned),
        ] {
            let found = came_out(at.path(), outcome);
            let strange = found.iter().filter(|(id, _)| !reasons.contains_key(*id));
            wrong.extend(strange.map(|(id, live)| format!("{name}: {id} {}: {live}", outcome.word())));
            let gone = reasons.keys().filter(|id| !found.contains_key(*id));
            wrong.extend(gone.map(|id| format!("{name}: {id} is not {}", outcome.word())));
        }
        let passed = came_out(at.path(), Outcome::Pass).len();
        assert!(passed >= 60, "{name}: {passed} rules pass: most were not asked");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every profile has its machine.
#[test]
fn every_profile_has_a_machine_that_is_ready() {
    let profile = |name: String| Told::read(made(&name).1.path()).profile;
    let mut found: Vec<String> = names()
        .into_iter()
        .filter_map(profile)
        .filter(|name| !name.is_empty())
        .collect();
    found.sort();
    found.dedup();
    assert_eq!(found, profiles());
}
