//! Checks the statements of CONTRIBUTING.md about the crates: their table, the pure ones, and the direction of dependencies.
//!
//! `RENEW=1 cargo test -p triptime-tests --test crates` writes the table.

mod words;

use serde_json::Value;
use std::fs::{read_dir, read_to_string, write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates through which others reach the kernel or a file.
const KERNEL: [&str; 8] = [
    "sys",
    "libc",
    "rustix",
    "netlink-sys",
    "aya",
    "rusqlite",
    "signal-hook",
    "tempfile",
];

/// Paths of the standard library that a pure crate may not name.
const EDGE: [&str; 7] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "Instant::now",
    "SystemTime",
];

/// Crates that read a machine without changing it. Only `tune` changes one.
const READERS: [&str; 2] = ["host", "audit"];

/// Names in code that writes to a file, changes an interface or a thread, or starts a program that might.
const WRITING: [&str; 21] = [
    "fs::write",
    "fs::copy",
    "fs::rename",
    "fs::create_dir",
    "fs::remove",
    "fs::set_permissions",
    "File::create",
    "OpenOptions",
    "Command::",
    "unix::fs::symlink",
    "hard_link(",
    "rustix::mount",
    "ethtool::change",
    "hwtstamp",
    "link::add_",
    "link::set_",
    "link::delete",
    "link::open_",
    "set_policy_of",
    "set_affinity_of",
    "Tap::",
];

/// Exceptions: the audit's end of the socket on which ptp4l answers needs a name.
const OWN_SOCKET: &str = "audit/src/gather/time/port.rs";

/// Crates that are not pure, from the top down: none depends on a crate of a higher row. Pure crates belong to the last row.
const ROWS: [&[&str]; 9] = [
    &["cli", "testing"],
    &["campaign", "matrix", "site"],
    &["plan", "report", "interop", "merge", "columnar", "serve"],
    &["session", "lab", "logbook"],
    &["bed", "place"],
    &["probes", "run"],
    &["trace", "tune"],
    &["audit", "host"],
    &["store", "sys", "capture", "waveform"],
];

struct Crate {
    name: String,
    folder: PathBuf,
    what: String,
    uses: Vec<String>,
    /// True if it may be published.
    is_published: bool,
    /// Our crates that only its tests use, and that are not in its package.
    helpers: Vec<String>,
}

impl Crate {
    fn is_pure(&self) -> bool {
        self.what.ends_with("(pure)")
    }
}

fn short(package: &Value) -> String {
    let name = package["name"].as_str().expect("a name");
    name.strip_prefix("triptime-").unwrap_or(name).to_owned()
}

/// The crates of `crates/`, those that use others after them.
fn crates() -> Vec<Crate> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
            "--manifest-path",
        ])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let mut crates: Vec<Crate> = packages.filter_map(read).collect();
    assert!(crates.len() > 15, "all crates of the workspace");
    crates.sort_by_key(|each| each.name.clone());
    let height: Vec<usize> = crates.iter().map(|each| height(&crates, &each.name)).collect();
    let mut sorted: Vec<(usize, Crate)> = height.into_iter().zip(crates).collect();
    sorted.sort_by_key(|(height, _)| *height);
    sorted.into_iter().map(|(_, each)| each).collect()
}

/// A package, if it is one of `crates/`. Dependencies of its tests do not count.
fn read(package: &Value) -> Option<Crate> {
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
    let dependencies = package["dependencies"].as_array()?.iter();
    let is_helper = |each: &&Value| each["kind"] == "dev" && each["req"] == "*" && each["path"].is_string();
    folder.parent()?.ends_with("crates").then(|| Crate {
        name: short(package),
        what: package["description"].as_str().unwrap_or_default().to_owned(),
        is_published: package["publish"].is_null(),
        helpers: dependencies.clone().filter(is_helper).map(short).collect(),
        uses: dependencies.filter(|each| each["kind"] != "dev").map(short).collect(),
        folder,
    })
}

/// Length of the longest chain of our crates below a crate.
fn height(crates: &[Crate], name: &str) -> usize {
    let found = crates.iter().find(|each| each.name == name);
    found.map_or(0, |each| {
        1 + each.uses.iter().map(|used| height(crates, used)).max().unwrap_or(0)
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table(crates: &[Crate]) -> String {
    let rows: String = crates
        .iter()
        .map(|each| format!("| `{}` | {} |\n", each.name, each.what))
        .collect();
    format!("| crate | what |\n| --- | --- |\n{rows}")
}

#[test]
fn contributing_lists_every_crate_in_its_own_words() {
    let (begin, end) = ("<!-- crates: begin -->\n", "<!-- crates: end -->");
    let path = root().join("CONTRIBUTING.md");
    let page = read_to_string(&path).expect("CONTRIBUTING.md");
    let (before, rest) = page.split_once(begin).expect("the table's begin");
    let (found, after) = rest.split_once(end).expect("the table's end");
    let wanted = table(&crates());
    if std::env::var_os("RENEW").is_some() {
        write(&path, format!("{before}{begin}{wanted}{end}{after}")).expect("CONTRIBUTING.md can be written");
        return;
    }
    assert!(
        found == wanted,
        "the table of crates in CONTRIBUTING.md should be (RENEW=1 writes it):\n{wanted}"
    );
}

#[test]
fn every_crate_says_what_it_is_in_one_sentence() {
    for Crate { name, what, .. } in crates() {
        assert!((20..=120).contains(&what.len()), "{name}: \"{what}\"");
        assert!(!what.contains(". ") && !what.ends_with('.'), "{name}: \"{what}\"");
    }
}

#[test]
fn pure_crates_reach_no_kernel() {
    let crates = crates();
    for each in crates.iter().filter(|each| each.is_pure()) {
        let reached = reached(&crates, &each.name);
        let kernel: Vec<&String> = reached.iter().filter(|used| KERNEL.contains(&used.as_str())).collect();
        assert!(kernel.is_empty(), "{} is pure, and uses {kernel:?}", each.name);
        let edge = edges(&each.folder.join("src"));
        assert!(edge.is_empty(), "{} is pure, and names {edge:?}", each.name);
    }
}

/// Everything that a crate uses, also through our other crates.
fn reached(crates: &[Crate], name: &str) -> Vec<String> {
    let uses = crates.iter().find(|each| each.name == name).map(|each| &each.uses);
    uses.into_iter()
        .flatten()
        .flat_map(|used| [vec![used.clone()], reached(crates, used)].concat())
        .collect()
}

/// Places at which the code below a folder, except its tests, names something of [`EDGE`].
fn edges(folder: &Path) -> Vec<String> {
    named(folder, &EDGE)
}

/// Places at which the code below a folder, except its tests, has one of these names.
fn named(folder: &Path, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if stem.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            found.extend(named(&path, names));
        } else {
            let text = read_to_string(&path).expect("source code");
            let code = text.split("mod tests {").next().unwrap_or_default();
            let here = names.iter().filter(|name| code.contains(**name));
            found.extend(here.map(|name| format!("{name} in {}", path.display())));
        }
    }
    found
}

#[test]
fn reading_a_machine_does_not_write() {
    for each in crates().iter().filter(|each| READERS.contains(&each.name.as_str())) {
        let mut found = named(&each.folder.join("src"), &WRITING);
        found.retain(|place| !place.ends_with(OWN_SOCKET));
        assert!(found.is_empty(), "{} only reads, and has {found:?}", each.name);
        let above = ["tune", "lab", "probes"];
        assert!(!each.uses.iter().any(|used| above.contains(&used.as_str())));
    }
    let tune = crates().into_iter().find(|each| each.name == "tune").expect("tune");
    assert!(
        named(&tune.folder.join("src"), &WRITING).len() > 2,
        "the names find writing"
    );
}

#[test]
fn what_reaches_the_kernel_is_found() {
    let crates = crates();
    assert!(reached(&crates, "cli").contains(&"rusqlite".to_owned()));
    let sys = crates.iter().find(|each| each.name == "sys").expect("sys");
    assert!(!edges(&sys.folder.join("src")).is_empty());
}

#[test]
fn dependencies_point_one_way() {
    let crates = crates();
    let row = |name: &str| ROWS.iter().position(|row| row.contains(&name));
    for each in &crates {
        let own = match row(&each.name) {
            _ if each.is_pure() => ROWS.len() - 1,
            Some(own) => own,
            None => panic!("{}: neither pure nor in a row of ROWS", each.name),
        };
        for used in &each.uses {
            let below = row(used).is_none_or(|row| row >= own);
            assert!(below, "{} is below {used}, and uses it", each.name);
        }
        let sql = each.uses.iter().any(|used| used == "rusqlite");
        assert_eq!(sql, each.name == "store", "{}: SQL is the store's alone", each.name);
    }
}

/// Crates that are needed by those that can be used alone.
const BENEATH: [&str; 3] = ["units", "model", "streamset"];

/// Crates that can be used alone: each has a page and an example.
const ALONE: [&str; 7] = ["stats", "wire", "scl", "capture", "protection", "waveform", "relay"];

/// Each package contains every file that its code names. `.ci/scheduled packages` builds and tests the packages, which takes minutes.
#[test]
fn crates_that_stand_alone_are_packaged() {
    let crates = crates();
    let published: Vec<&Crate> = crates.iter().filter(|each| each.is_published).collect();
    let is_known = |each: &&Crate| [&BENEATH[..], &ALONE].concat().contains(&each.name.as_str());
    assert_eq!(published.iter().filter(|each| is_known(each)).count(), published.len());
    assert_eq!(published.len(), BENEATH.len() + ALONE.len());
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--offline", "--no-verify", "--allow-dirty", "--quiet"]);
    command.arg("--target-dir").arg(folder.path()).current_dir(root());
    command.args(published.iter().map(|each| format!("-ptriptime-{}", each.name)));
    let output = command.output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for each in published {
        let package = unpacked(&folder.path().join("package"), &each.name);
        let missing = missing(&package, &package, &each.helpers);
        assert!(missing.is_empty(), "{}: its package has no {missing:?}", each.name);
        if ALONE.contains(&each.name.as_str()) {
            assert!(has_page_and_example(&package), "{}", each.name);
        }
    }
}

/// The folder of a crate's package.
fn unpacked(packages: &Path, name: &str) -> PathBuf {
    let of_name = format!("triptime-{name}-");
    let mut files = read_dir(packages)
        .expect("packages")
        .flatten()
        .map(|entry| entry.path());
    let file = files.find(|path| {
        path.file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&of_name))
    });
    let file = file.expect("its package");
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&file).arg("-C").arg(packages);
    assert!(tar.status().expect("tar").success(), "{}", file.display());
    file.with_extension("")
}

/// Things that the code below a folder of a package names but the package lacks: files by a path that leads upwards, from the code or from the
/// package, and our crates that no package may need.
fn missing(package: &Path, folder: &Path, helpers: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for path in read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(missing(package, &path, helpers));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read_to_string(&path).expect("source code");
            let named = text.split('"').filter(|text| text.starts_with("../"));
            let is_there = |name: &&str| {
                [folder, package]
                    .iter()
                    .any(|from| is_within(package, &from.join(name)))
            };
            found.extend(named.filter(|name| !is_there(name)).map(str::to_owned));
            let code = text.split(|c: char| c.is_whitespace() || "({&<".contains(c));
            let uses = |helper: &&String| code.clone().any(|word| word.starts_with(&format!("{helper}::")));
            found.extend(helpers.iter().filter(uses).cloned());
        }
    }
    found
}

/// True if a path is inside the package.
fn is_within(package: &Path, path: &Path) -> bool {
    path.canonicalize()
        .is_ok_and(|path| path.starts_with(package.canonicalize().expect("a folder")))
}

/// True if the page of a package names an example of it.
fn has_page_and_example(package: &Path) -> bool {
    let page = read_to_string(package.join("README.md")).expect("a page");
    let example = page
        .split("--example ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    example.is_some_and(|name| package.join(format!("examples/{name}.rs")).exists())
}
