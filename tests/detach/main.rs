//! Detached runs: started, shown, stopped, killed, stuck, and ended before their disk is full.

mod stuck;
mod systemd;
mod told;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::{binary, json, stderr};

/// Two steps; they need no interface, bed or real-time policy.
pub(crate) const PLAN: &str = r#"
name = "two steps"
what = "Wake-ups twice, for tests"
limits = "substation"
window = "200ms"

[cpus]
housekeeping = "first"
measured = "first"

[[step]]
probe = "wakeup"
duration = "3s"
interval = "5ms"
policy = "other"

[[step]]
probe = "wakeup"
label = "again"
duration = "90s"
interval = "5ms"
policy = "other"
"#;

/// A folder with a plan, and one in which its runs are registered.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        std::fs::write(desk.path("plan.toml"), PLAN).expect("writable");
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn told(&self) -> PathBuf {
        self.path("told")
    }

    pub(crate) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path());
        command.env("TRIPTIME_RUNTIME_DIR", self.told()).stdin(Stdio::null());
        command
    }

    pub(crate) fn triptime(&self, arguments: &[&str]) -> Output {
        self.command(&binary(), arguments).output().expect("it runs")
    }

    pub(crate) fn detach(&self, out: &str) -> Output {
        self.triptime(&["qualify", "plan.toml", "--detach", "--no-flight-recorder", "--out", out])
    }

    pub(crate) fn status(&self) -> Value {
        let output = self.triptime(&["status", "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        json(&output)
    }

    /// The entry of this run in the document.
    pub(crate) fn run(&self, name: &str) -> Value {
        let document = self.status();
        let runs = document["runs"].as_array().expect("runs");
        let found = runs.iter().find(|run| run["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {document}")).clone()
    }

    /// The run, when a condition is true.
    pub(crate) fn until(&self, name: &str, so: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let run = self.run(name);
            if so(&run) {
                return run;
            }
            assert!(Instant::now() < until, "{run}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Desk {
    /// Ends the processes that a failed test left behind.
    fn drop(&mut self) {
        for file in std::fs::read_dir(self.told()).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            let entry: Value = serde_json::from_str(&text).unwrap_or_default();
            let is_ours = entry["file"]
                .as_str()
                .is_some_and(|out| Path::new(out).starts_with(self.folder.path()));
            if let Some(pid) = pid(&entry["process"]).filter(|pid| is_ours && is_triptime(*pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

pub(crate) fn pid(process: &Value) -> Option<Pid> {
    Pid::from_raw(i32::try_from(process["pid"].as_i64()?).ok()?)
}

pub(crate) fn is_triptime(pid: Pid) -> bool {
    let program = std::fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero()));
    program.is_ok_and(|program| Some(program) == std::fs::canonicalize(binary()).ok())
}
