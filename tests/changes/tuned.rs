//! TuneD itself, which applies a profile during a measurement, and applies it again.

use super::{Measurement, Restored, Started, started};
use model::Subject;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::root_or_skip;

/// TuneD's folder of profiles and its state.
const FOLDER: &str = "/etc/tuned";

/// A profile with one kernel setting, and the files of TuneD that get their contents back.
pub(super) struct Profile {
    name: String,
    folder: PathBuf,
    _state: Vec<Option<Restored>>,
}

impl Profile {
    /// Makes a profile with this kernel setting; `None` without TuneD.
    pub(super) fn make(setting: &str) -> Option<Self> {
        if !Path::new("/usr/sbin/tuned").exists() {
            return None;
        }
        let name = format!("triptime-test-{}", std::process::id());
        let folder = Path::new(FOLDER).join(&name);
        let state = ["active_profile", "profile_mode"].map(|file| Restored::of(Path::new(FOLDER).join(file)));
        fs::create_dir_all(&folder).expect("a folder");
        let text = format!("[main]\nsummary=test\n[sysctl]\n{setting}\n");
        fs::write(folder.join("tuned.conf"), text).expect("a profile");
        Some(Self {
            name,
            folder,
            _state: state.into(),
        })
    }

    /// Runs the daemon until it is dropped.
    fn applied(&self) -> Started {
        let file = |name: &str| self.folder.join(name).display().to_string();
        // The system's interpreter: the modules of the package are installed for it.
        let program = ["/usr/sbin/tuned", "--no-dbus", "-p", &self.name];
        let files = ["-P", &file("pid"), "-l", &file("log")];
        started("/usr/bin/python3", &[&program[..], &files].concat()).expect("it starts")
    }

    /// The same, once it has written down which profile is active.
    pub(super) fn applied_anew(&self) -> Started {
        let file = Path::new(FOLDER).join("active_profile");
        let written = || fs::metadata(&file).and_then(|file| file.modified()).ok();
        let before = written();
        let daemon = self.applied();
        let until = Instant::now() + Duration::from_secs(60);
        while written() == before {
            assert!(Instant::now() < until, "TuneD applied nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        daemon
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn tuned_applies_a_profile_twice_and_is_named_both_times() {
    let test = "tuned_applies_a_profile_twice_and_is_named_both_times";
    if !root_or_skip(test) {
        return;
    }
    let Some(setting) = Restored::of("/proc/sys/kernel/timer_migration") else {
        return testing::skip(test, "kernel.timer_migration cannot be changed here");
    };
    let other = if setting.was == "0" { "1" } else { "0" };
    let Some(profile) = Profile::make(&format!("kernel.timer_migration={other}")) else {
        return testing::skip(test, "TuneD is not installed");
    };
    let mut measurement = Measurement::start();

    let first = profile.applied();
    let applied = measurement.told(Subject::Tuned, "active profile", |_| true);
    assert_eq!(applied.after.as_deref(), Some(profile.name.as_str()), "{applied:?}");
    let set = measurement.told(Subject::Sysctl, "kernel.timer_migration", |_| true);
    assert_eq!(set.before.as_deref(), Some(setting.was.as_str()));
    assert_eq!(set.after.as_deref(), Some(other));
    drop(first);

    let _second = profile.applied();
    let again = format!("{}, applied again", profile.name);
    let told = measurement.told(Subject::Tuned, "active profile", |change| {
        change.after.as_deref() == Some(again.as_str())
    });
    assert_eq!(told.before.as_deref(), Some(profile.name.as_str()), "{told:?}");
    measurement.end();
}
