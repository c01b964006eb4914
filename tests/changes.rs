//! Changes of this machine during a run: each planted one is told with its value before and after.

use model::{Change, Subject};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::RunFile;
use support::{end, root_or_skip, run, start, stderr, until_measuring};
use testing::Running;

/// The CPU that is judged.
fn judged() -> u32 {
    sys::thread::allowed_cpus().iter().last().expect("a CPU")
}

/// A file of the kernel that gets its value back.
struct Restored {
    path: PathBuf,
    was: String,
}

impl Restored {
    /// Remembers the value; `None` if the file cannot be read or written here.
    fn of(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        let was = fs::read_to_string(&path).ok()?.trim().to_owned();
        fs::write(&path, &was).ok()?;
        Some(Self { path, was })
    }

    fn set(&self, value: &str) {
        fs::write(&self.path, value).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        let _ = fs::write(&self.path, &self.was);
    }
}

/// A measurement under which changes are planted.
struct Measurement {
    child: Option<Running>,
    file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Measurement {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("x.triptime");
        let mut child = start(&[
            "wakeup",
            "--cpus",
            &judged().to_string(),
            "--duration",
            "10m",
            "--no-flight-recorder",
            "--window",
            "200ms",
            "--out",
            file.to_str().expect("UTF-8"),
        ]);
        until_measuring(&mut child, "wakeup");
        let measurement = Self {
            child: Some(child),
            file,
            _folder: folder,
        };
        // The first look is the state before.
        measurement.until("the first look", |run| {
            run.watches().is_ok_and(|watches| !watches.is_empty())
        });
        measurement
    }

    /// Waits until the run file, while it is written, fulfils a condition.
    fn until(&self, what: &str, is: impl Fn(&RunFile) -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if RunFile::open(&self.file).is_ok_and(|run| is(&run)) {
                return;
            }
            assert!(Instant::now() < until, "{what}: {:?}", self.changes());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn changes(&self) -> Vec<Change> {
        let run = RunFile::open(&self.file).expect("a run file");
        run.changes().expect("changes")
    }

    /// Waits until a change that fits is told, and returns it.
    fn told(&self, subject: Subject, name: &str, is: impl Fn(&Change) -> bool) -> Change {
        let fits = |change: &Change| change.subject == subject && change.name.contains(name) && is(change);
        self.until(&format!("{} {name}", subject.word()), |run| {
            run.changes().is_ok_and(|changes| changes.iter().any(&fits))
        });
        self.changes().into_iter().find(fits).expect("it was there")
    }

    /// Ends the run; returns its document.
    fn end(&mut self) -> Value {
        let output = end(self.child.take().expect("it runs"), &["wakeup"]);
        let said = run(&["report", self.file.to_str().expect("UTF-8"), "--json"]);
        serde_json::from_slice(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)))
    }
}

/// An interrupt with a handler that may be moved here, and its list of CPUs.
fn interrupt() -> Option<(String, Restored)> {
    let folders = fs::read_dir("/proc/irq").ok()?.flatten();
    let mut found = folders.filter_map(|folder| {
        let number = folder.file_name().into_string().ok()?;
        let actions = fs::read_to_string(format!("/sys/kernel/irq/{number}/actions")).ok()?;
        let effective = fs::read_to_string(folder.path().join("effective_affinity_list")).ok()?;
        let is_served = !actions.trim().is_empty() && !effective.trim().is_empty();
        let affinity = is_served.then(|| Restored::of(folder.path().join("smp_affinity_list")))??;
        Some((number, affinity))
    });
    found.next()
}

/// A control group with CPUs of its own.
struct CpuGroup {
    folder: PathBuf,
}

impl CpuGroup {
    /// Makes one in the hierarchy that has CPU sets; `None` where none can be made.
    fn make(name: &str) -> Option<Self> {
        for (top, mems) in [("/sys/fs/cgroup/cpuset", "cpuset.mems"), ("/sys/fs/cgroup", "")] {
            let folder = Path::new(top).join(name);
            if !Path::new(top).join("cgroup.procs").exists() || fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self { folder };
            if !mems.is_empty() {
                let _ = fs::write(group.folder.join(mems), "0");
            }
            if group.set("0").is_ok() {
                return Some(group);
            }
        }
        None
    }

    fn set(&self, cpus: &str) -> std::io::Result<()> {
        fs::write(self.folder.join("cpuset.cpus"), cpus)
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

#[test]
fn a_moved_interrupt_a_cpu_set_and_a_kernel_setting_are_told_with_before_and_after() {
    let test = "a_moved_interrupt_a_cpu_set_and_a_kernel_setting_are_told_with_before_and_after";
    if !root_or_skip(test) {
        return;
    }
    let Some((number, affinity)) = interrupt() else {
        return testing::skip(test, "no interrupt can be moved here");
    };
    let Some(setting) = Restored::of("/proc/sys/kernel/timer_migration") else {
        return testing::skip(test, "kernel.timer_migration cannot be changed here");
    };
    let name = format!("triptime-test-set-{}", std::process::id());
    let Some(group) = CpuGroup::make(&name) else {
        return testing::skip(test, "no control group with CPUs can be made here");
    };
    let mut measurement = Measurement::start();
    let cpu = judged();

    affinity.set(&cpu.to_string());
    let moved = measurement.told(Subject::Interrupt, &format!("{number} ("), |_| true);
    assert_eq!(moved.after.as_deref(), Some(format!("CPU {cpu}").as_str()), "{moved:?}");
    assert!(moved.before.is_some() && moved.before != moved.after, "{moved:?}");
    assert!(moved.cpus.as_ref().is_some_and(|cpus| cpus.contains(cpu)), "{moved:?}");
    assert!(moved.since_ns < moved.at_ns, "{moved:?}");

    group.set(&format!("0-{cpu}")).expect("its CPUs");
    let set = measurement.told(Subject::Cpuset, &name, |_| true);
    assert_eq!(
        (set.before.as_deref(), set.after),
        (Some("0"), Some(format!("0-{cpu}"))),
        "the CPUs of the group"
    );

    let other = if setting.was == "0" { "1" } else { "0" };
    setting.set(other);
    let changed = measurement.told(Subject::Sysctl, "kernel.timer_migration", |_| true);
    assert_eq!(changed.before.as_deref(), Some(setting.was.as_str()));
    assert_eq!(changed.after.as_deref(), Some(other));
    // A shell of nobody else did it, and nothing that was seen explains it.
    assert_eq!(changed.who, None);

    let document = measurement.end();
    let changes = &document["changes"];
    assert_eq!(changes["watched"], true);
    let list = changes["list"].as_array().expect("changes");
    let told = |subject: &str| list.iter().any(|change| change["subject"] == subject);
    for subject in ["interrupt", "cpuset", "sysctl"] {
        assert!(told(subject), "{subject}: {list:?}");
    }
    let watch = &changes["watches"][0];
    assert!(
        watch["looks"].as_u64() > Some(2) && watch["longest_gap_s"].as_f64() > Some(0.5),
        "{watch}"
    );
    let file = measurement.file.to_str().expect("UTF-8").to_owned();
    let full = String::from_utf8(run(&["report", "--full", &file]).stdout).expect("UTF-8");
    assert!(
        full.contains("Changes of the machine") && full.contains("sysctl kernel.timer_migration"),
        "{full}"
    );
    let page = measurement.file.with_extension("html");
    run(&["report", &file, "--html", page.to_str().expect("UTF-8")]);
    let page = fs::read_to_string(&page).expect("a page");
    assert!(page.contains("<section id=\"changes\">") && page.contains("kernel.timer_migration"));
}
