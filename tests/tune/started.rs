//! Emitted units, started by systemd itself. Its manager of a user mounts nothing and sets no limit of the machine, as that of the system does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::readers::{both, can_read};
use super::{host, said, text};
use support::run;

/// Control group of this test; it is removed when the processes in it have ended.
struct Group(PathBuf);

impl Group {
    /// A group below the own one, in the hierarchy of version 2.
    fn new() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/mounts").map_err(|error| error.to_string())?;
        let of_version_2 = |line: &str| {
            let mut words = line.split(' ').skip(1);
            let (place, form) = (words.next()?, words.next()?);
            (form == "cgroup2").then(|| place.to_owned())
        };
        let place = mounts.lines().find_map(of_version_2).ok_or("no cgroup2 is mounted")?;
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let own = own
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .ok_or("no own group")?;
        let path = Path::new(&place)
            .join(own)
            .join(format!("triptime-test-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(10);
        while !removed(&self.0) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Removes a group and all in it; false while a process is in one of them.
fn removed(group: &Path) -> bool {
    let inside = fs::read_dir(group).into_iter().flatten().flatten();
    let folders = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter(|folder| !removed(&folder.path())).count() == 0 && fs::remove_dir(group).is_ok()
}

/// The state of the machine that a manager of the system would change.
fn machine() -> (String, Vec<String>) {
    let highest = fs::read_to_string("/proc/sys/fs/file-max").expect("a limit");
    let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
    let groups = mounts.lines().filter(|line| line.contains("cgroup"));
    (highest, groups.map(str::to_owned).collect())
}

#[test]
fn the_unit_for_timers_raises_their_threads() {
    let test = "the_unit_for_timers_raises_their_threads";
    let programs = ["systemctl", "systemd-analyze", "pgrep", "xargs", "chrt", "mkfifo"];
    if !can_read(test, &programs) {
        return;
    }
    let group = match Group::new() {
        Ok(group) => group,
        Err(why) => return testing::skip(test, &why),
    };
    let own = tempfile::tempdir().expect("a directory");
    let units = own.path().join("etc/systemd/system");
    fs::create_dir_all(&units).expect("folders");
    let service = units.join("triptime-ktimers.service");
    let enable = emitted(&service);
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&service)
        .output();
    let output = output.expect("systemd-analyze starts");
    assert!(!both(&output).contains("triptime-ktimers"), "{}", both(&output));
    for target in ["basic", "shutdown", "multi-user"] {
        fs::write(units.join(format!("{target}.target")), "[Unit]\nDescription=a state\n").expect("a unit");
    }
    // The emitted command, for the tree instead of this machine.
    let enable = enable.replace("systemctl", &format!("systemctl --root={}", own.path().display()));
    let output = Command::new("sh").args(["-ec", &enable]).output().expect("sh starts");
    assert!(output.status.success(), "{}", both(&output));
    let before = machine();
    let script = own.path().join("started.sh");
    fs::write(&script, include_str!("started.sh")).expect("a script");
    let inside = "echo 0 >$2/cgroup.procs; exec timeout --signal=KILL 60 unshare --mount --cgroup --pid --fork --kill-child --mount-proc --net --ipc \
                  sh \"$0\" \"$1\" \"$2\"";
    let output = Command::new("sh")
        .args(["-ec", inside, text(&script), text(own.path()), text(&group.0)])
        .output()
        .expect("sh starts");
    let said = both(&output);
    assert!(output.status.success(), "{said}");
    for line in [
        "alone: success",
        "beside: success",
        "ktimers/3: pid",
        "policy: SCHED_FIFO",
        "priority: 2",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let other = said
        .lines()
        .find(|line| line.starts_with("myktimer: "))
        .expect("the other thread");
    assert!(other.contains("SCHED_OTHER"), "{said}");
    assert_eq!(machine(), before);
}

/// Writes the emitted unit to `path`, and returns the command that enables it.
fn emitted(path: &Path) -> String {
    let tree = host("seapath-tuned").join("root");
    let words = [
        "tune",
        "rcu-softirq-thread-priority",
        "--root",
        text(&tree),
        "--observe",
        "0s",
    ];
    let units = said(&run(&[&words[..], &["--cpus", "4-7", "--emit", "systemd"]].concat()));
    let (commands, unit) = units
        .split_once("# /etc/systemd/system/triptime-ktimers.service\n")
        .expect("the unit");
    fs::write(path, unit).expect("a unit");
    let command = commands.lines().find(|line| line.starts_with("systemctl enable "));
    command.expect("the command that enables it").to_owned()
}
