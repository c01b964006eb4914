//! Changes of this machine during a run: each planted one is told with its value before and after.

mod console;
mod tuned;
mod twenty;

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
    /// Wake-ups on the judged CPU.
    fn start() -> Self {
        let cpu = judged().to_string();
        let (folder, file) = Self::place();
        let child = start(&with_file(&["wakeup", "--cpus", &cpu, "--no-flight-recorder"], &file));
        Self::measuring(child, "wakeup", folder, file)
    }

    /// Another command in this network namespace.
    fn in_namespace(namespace: &sys::netns::NetNs, thread: &str, arguments: &[&str]) -> Self {
        let (folder, file) = Self::place();
        let child = namespace.run(|| start(&with_file(arguments, &file))).expect("entered");
        Self::measuring(child, thread, folder, file)
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("x.triptime");
        (folder, file)
    }

    fn measuring(mut child: Running, thread: &str, folder: tempfile::TempDir, file: PathBuf) -> Self {
        until_measuring(&mut child, thread);
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

/// The command with options that every measurement here has.
fn with_file<'a>(arguments: &[&'a str], file: &'a Path) -> Vec<&'a str> {
    let file = file.to_str().expect("UTF-8");
    [arguments, &["--duration", "10m", "--window", "200ms", "--out", file]].concat()
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
    /// Its file about a partition, with the values without and with one.
    partition: (&'static str, [&'static str; 2]),
}

impl CpuGroup {
    /// Makes one in the hierarchy that has CPU sets; `None` where none can be made.
    fn make(name: &str) -> Option<Self> {
        let versions = [
            (
                "/sys/fs/cgroup/cpuset",
                "cpuset.mems",
                ("cpuset.sched_load_balance", ["1", "0"]),
            ),
            ("/sys/fs/cgroup", "", ("cpuset.cpus.partition", ["member", "root"])),
        ];
        for (top, mems, partition) in versions {
            let folder = Path::new(top).join(name);
            if !Path::new(top).join("cgroup.procs").exists() || fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self { folder, partition };
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

    /// Makes it a partition of its own, or none; returns the name of the file that was written.
    fn set_partition(&self, is_own: bool) -> &'static str {
        let (file, values) = self.partition;
        fs::write(self.folder.join(file), values[usize::from(is_own)]).expect("a partition");
        file
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
    // A shell of nobody else did it, and nothing that was seen explains it, unless a guest of another test started in the same second.
    let of_others = |who: &String| who.starts_with("guest triptime");
    assert!(changed.who.as_ref().is_none_or(of_others), "{changed:?}");

    let document = measurement.end();
    let changes = &document["changes"];
    assert_eq!(changes["watched"], true);
    let list = changes["list"].as_array().expect("changes");
    let told = |subject: &str| list.iter().any(|change| change["subject"] == subject);
    for subject in ["interrupt", "cpuset", "sysctl"] {
        assert!(told(subject), "{subject}: {list:?}");
    }
    // The kernel setting still has its other value at the end, so the last audit finds it too.
    let drift = changes["drift"].as_array().expect("a last audit");
    let differs = |name: &str| drift.iter().any(|fact| fact["name"] == name);
    assert!(differs("timer migration"), "{drift:?}");
    assert!(!differs("uptime") && !differs("CPUs this process may use"), "{drift:?}");
    let watch = &changes["watches"][0];
    assert!(watch["audited_s"].as_f64() >= watch["to_s"].as_f64(), "{watch}");
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

/// Ends a process that a test started, by its number.
struct Started(std::process::Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(program: &str, arguments: &[&str]) -> Option<Started> {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(std::process::Stdio::null());
    let child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    child.ok().map(Started)
}

#[test]
fn a_guest_a_unit_a_container_and_a_real_time_thread_are_told_when_they_come_and_when_they_go() {
    let test = "a_guest_a_unit_a_container_and_a_real_time_thread_are_told_when_they_come_and_when_they_go";
    if !root_or_skip(test) {
        return;
    }
    let Some(groups) = GroupFolder::top() else {
        return testing::skip(test, "no hierarchy of control groups with units can be written here");
    };
    let mut measurement = Measurement::start();
    let cpu = judged().to_string();

    let arguments = [
        "-name",
        "guest=relay-02",
        "-machine",
        "none",
        "-S",
        "-display",
        "none",
        "-nodefaults",
    ];
    let Some(guest) = started("qemu-system-x86_64", &arguments) else {
        return testing::skip(test, "needs qemu-system-x86_64");
    };
    let came = measurement.told(Subject::Guest, "relay-02", |change| change.before.is_none());
    let pid = format!("(pid {})", guest.0.id());
    assert!(
        came.after.as_ref().is_some_and(|after| after.contains(&pid)),
        "{came:?}"
    );
    assert!(
        came.who.as_ref().is_some_and(|who| who.starts_with("started by ")),
        "{came:?}"
    );
    drop(guest);
    let went = measurement.told(Subject::Guest, "relay-02", |change| change.after.is_none());
    assert!(
        went.before.as_ref().is_some_and(|before| before.contains(&pid)),
        "{went:?}"
    );

    let unit = groups.make("apt-daily-of-a-test.service");
    measurement.told(Subject::Unit, "apt-daily-of-a-test.service", |change| {
        change.before.is_none()
    });
    drop(unit);
    measurement.told(Subject::Unit, "apt-daily-of-a-test.service", |change| {
        change.after.is_none()
    });

    let number = format!("{:x}", std::process::id());
    let number = number.clone() + &"0".repeat(64 - number.len());
    let container = groups.make(&format!("docker-{number}.scope"));
    let inside = started("sleep", &["600"]).expect("sleep");
    fs::write(container.0.join("cgroup.procs"), inside.0.id().to_string()).expect("moved");
    measurement.told(Subject::Container, &format!("docker {}", &number[..12]), |change| {
        change.before.is_none()
    });
    drop(inside);
    drop(container);
    measurement.told(Subject::Container, &format!("docker {}", &number[..12]), |change| {
        change.after.is_none()
    });

    let busy = started("taskset", &["-c", &cpu, "chrt", "-f", "3", "sleep", "600"]).expect("taskset");
    let came = measurement.told(Subject::RealTimeThread, &format!("(pid {})", busy.0.id()), |change| {
        change.before.is_none()
    });
    assert_eq!(came.after, Some(format!("fifo:3 on CPU {cpu}")));
    assert_eq!(came.cpus.map(|cpus| cpus.to_string()), Some(cpu));
    drop(busy);

    let document = measurement.end();
    let list = document["changes"]["list"].as_array().expect("changes");
    // Threads, loads and helpers of the run itself are no changes of the machine. Another run's guest is one.
    let foreign = |change: &&Value| {
        change["subject"] != "guest" && change["name"].as_str().is_some_and(|name| name.contains("triptime"))
    };
    assert_eq!(list.iter().find(foreign), None);
}

/// The top folder of the hierarchy in which systemd has its units.
struct GroupFolder(PathBuf);

impl GroupFolder {
    fn top() -> Option<Self> {
        let tops = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup"].map(PathBuf::from);
        let is_one = |top: &PathBuf| {
            let probe = top.join(format!("triptime-test-{}", std::process::id()));
            let is_group = top.join("cgroup.procs").exists() && fs::create_dir(&probe).is_ok();
            is_group && fs::remove_dir(&probe).is_ok()
        };
        tops.into_iter().find(is_one).map(Self)
    }

    fn make(&self, name: &str) -> Removed {
        let folder = self.0.join(name);
        fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        Removed(folder)
    }
}

/// A control group without processes, removed when dropped.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn changed_queues_and_offloads_of_a_measured_interface_are_told() {
    let test = "changed_queues_and_offloads_of_a_measured_interface_are_told";
    if !root_or_skip(test) {
        return;
    }
    let namespace = sys::netns::NetNs::create().expect("a namespace");
    let add = |arguments: &[&str]| {
        let all = [&["add"], arguments].concat();
        let mut command = std::process::Command::new("ip");
        command.args(["link"]).args(all);
        namespace.run(|| command.output().expect("ip")).expect("entered")
    };
    let made = add(&[
        "v0",
        "numrxqueues",
        "4",
        "numtxqueues",
        "4",
        "type",
        "veth",
        "peer",
        "name",
        "v1",
    ]);
    assert!(made.status.success(), "{}", stderr(&made));
    for name in ["v0", "v1"] {
        namespace.run(|| sys::link::set_up(name)).expect("entered").expect("up");
    }
    let measurement = Measurement::in_namespace(&namespace, "listen", &["listen", "v0"]);
    let ethtool = |arguments: &[&str]| {
        let mut command = std::process::Command::new("ethtool");
        let output = namespace
            .run(|| command.args(arguments).output().expect("ethtool"))
            .expect("entered");
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    };
    ethtool(&["-L", "v0", "rx", "2", "tx", "2"]);
    let queues = measurement.told(Subject::Nic, "v0: channels", |_| true);
    assert!(queues.before.is_some() && queues.before != queues.after, "{queues:?}");
    ethtool(&["-K", "v0", "tso", "off"]);
    let feature = measurement.told(Subject::Nic, "v0: feature tx-tcp-segmentation", |_| true);
    assert_eq!(
        (feature.before.as_deref(), feature.after.as_deref()),
        (Some("on"), Some("off"))
    );
    namespace
        .run(|| sys::link::set_mtu("v0", 1400))
        .expect("entered")
        .expect("set");
    let mtu = measurement.told(Subject::Nic, "v0: MTU", |_| true);
    assert_eq!(
        (mtu.before.as_deref(), mtu.after.as_deref()),
        (Some("1500"), Some("1400"))
    );
}
