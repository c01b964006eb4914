//! Units of systemd: transient ones, which end with the run, and lasting ones, which start it again after a reboot.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Folder of the units of this machine.
pub const FOLDER: &str = "/etc/systemd/system";

/// Ending of the names of units.
pub const ENDING: &str = ".service";

/// Time in s without a watchdog message after which the service manager ends a run. A run sends none while no window closes.
const WATCHDOG_S: u64 = 60;

/// A run as a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name, without `.service`.
    pub name: String,
    /// Description in a line.
    pub description: String,
    /// The command: program and arguments.
    pub command: Vec<String>,
    /// Working directory.
    pub folder: PathBuf,
    /// File for its output.
    pub log: PathBuf,
    /// Environment variables of the command.
    pub environment: Vec<(String, String)>,
}

/// The text of a unit file with these keys of `[Service]`, which starts a command at each boot. `made_by` is a remark for a person.
pub fn service_text(made_by: &str, description: &str, keys: &[(&str, &str)], command: &[String]) -> String {
    let mut text = format!(
        "# {made_by}\n[Unit]\nDescription={}\nAfter=network.target\n\n[Service]\n",
        escaped(description)
    );
    for (key, value) in keys {
        let _ = writeln!(text, "{key}={value}");
    }
    let _ = write!(
        text,
        "ExecStart={}\n\n[Install]\nWantedBy=multi-user.target\n",
        command_line(command)
    );
    text
}

/// The name of the unit for a run.
pub fn unit_name(run: &str) -> String {
    format!("triptime-{run}")
}

impl Unit {
    /// The keys of `[Service]` that both kinds of unit have.
    ///
    /// The watchdog ends a stuck run as an interrupt does, so that its file is closed and contains the reason. A failed limit is a
    /// result, not a failure of the unit. No CPU mask and no quota: the run chooses its CPUs itself.
    fn service(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Type", "notify".to_owned()),
            ("NotifyAccess", "main".to_owned()),
            ("WatchdogSec", WATCHDOG_S.to_string()),
            ("WatchdogSignal", "SIGTERM".to_owned()),
            ("KillSignal", "SIGTERM".to_owned()),
            ("KillMode", "mixed".to_owned()),
            ("TimeoutStartSec", "10min".to_owned()),
            ("TimeoutStopSec", "2min".to_owned()),
            ("Restart", "no".to_owned()),
            ("SuccessExitStatus", "1 3".to_owned()),
            ("LimitMEMLOCK", "infinity".to_owned()),
            ("OOMScoreAdjust", "-900".to_owned()),
            ("StandardInput", "null".to_owned()),
        ]
    }

    fn paths(&self) -> [(&'static str, &Path); 3] {
        [
            ("WorkingDirectory", &self.folder),
            ("StandardOutput", &self.log),
            ("StandardError", &self.log),
        ]
    }

    /// The arguments of `systemd-run` that start it now and return once it measures.
    pub fn transient(&self) -> Vec<String> {
        let mut words = vec![
            format!("--unit={}", self.name),
            format!("--description={}", self.description),
            "--collect".to_owned(),
            "--quiet".to_owned(),
            "--service-type=notify".to_owned(),
        ];
        words.extend(
            self.environment
                .iter()
                .map(|(name, value)| format!("--setenv={name}={value}")),
        );
        let keys = self.service().into_iter().filter(|(key, _)| *key != "Type");
        words.extend(keys.map(|(key, value)| format!("--property={key}={value}")));
        words.extend(
            self.paths()
                .map(|(key, path)| format!("--property={key}={}", place(key, path))),
        );
        words.push("--".to_owned());
        words.extend(self.command.iter().cloned());
        words
    }

    /// The text of a unit file that starts it at each boot until the file is removed.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# Made by triptime qualify --detach --restart-after-reboot; removed by it at the end of the plan.\n[Unit]\nDescription={}\n\
             After=multi-user.target\n\n[Service]\n",
            escaped(&self.description)
        );
        for (key, value) in self.service() {
            let _ = writeln!(text, "{key}={value}");
        }
        for (key, path) in self.paths() {
            let _ = writeln!(text, "{key}={}", escaped(&place(key, path)));
        }
        for (name, value) in &self.environment {
            let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
        }
        let _ = write!(
            text,
            "ExecStart={}\n\n[Install]\nWantedBy=multi-user.target\n",
            command_line(&self.command)
        );
        text
    }

    /// The path of that unit file.
    pub fn file(&self) -> PathBuf {
        Path::new(FOLDER).join(format!("{}{ENDING}", self.name))
    }
}

fn place(key: &str, path: &Path) -> String {
    let path = path.display();
    match key {
        "WorkingDirectory" => path.to_string(),
        _ => format!("append:{path}"),
    }
}

/// A command as systemd.service(5) reads it.
fn command_line(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(&word.replace('$', "$$"))).collect();
    words.join(" ")
}

/// Escapes `%`, which begins a specifier in a unit file (systemd.unit(5)).
fn escaped(text: &str) -> String {
    text.replace('%', "%%").replace('\n', " ")
}

/// Quotes a word of a command line as systemd.syntax(7) requires.
fn quoted(word: &str) -> String {
    let word = escaped(word).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{word}\"")
}

#[cfg(test)]
mod tests {
    use super::Unit;
    use std::process::Command;

    fn unit() -> Unit {
        Unit {
            name: "triptime-substation".into(),
            description: "triptime: 100 % of a week".into(),
            command: ["/bin/true", "qualify", "my \"own\" $plan.toml", "--label", "50 %"]
                .map(String::from)
                .to_vec(),
            folder: "/var/lib".into(),
            log: "/var/lib/week 1.log".into(),
            environment: vec![("PATH".into(), "/bin:/usr/bin".into())],
        }
    }

    #[test]
    fn a_transient_unit_and_a_lasting_one_have_the_same_keys() {
        let (words, text) = (unit().transient(), unit().text());
        let keys = words.iter().filter_map(|word| word.strip_prefix("--property="));
        let mut seen = 0;
        for key in keys {
            let key = key.replace('%', "%%");
            assert!(text.lines().any(|line| line == key), "{key} is not in {text}");
            seen += 1;
        }
        assert_eq!(seen, 15);
        let command = words.iter().position(|word| word == "--").expect("an end of options");
        assert_eq!(words[command + 1..], unit().command[..]);
        assert!(
            text.contains(r#"ExecStart="/bin/true" "qualify" "my \"own\" $$plan.toml" "--label" "50 %%""#),
            "{text}"
        );
    }

    #[test]
    fn systemd_finds_nothing_wrong_with_the_unit() {
        if Command::new("systemd-analyze").arg("--version").output().is_err() {
            testing::skip(
                "systemd_finds_nothing_wrong_with_the_unit",
                "there is no systemd-analyze",
            );
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("triptime-substation.service");
        let verify = |text: &str| {
            std::fs::write(&path, text).expect("writable");
            let said = Command::new("systemd-analyze")
                .arg("verify")
                .arg(&path)
                .output()
                .expect("it runs");
            String::from_utf8_lossy(&said.stderr).into_owned()
        };
        let about_it = |said: &str| said.lines().filter(|line| line.contains("substation")).count();
        let text = unit().text();
        let said = verify(&text);
        assert_eq!(about_it(&said), 0, "{said}");
        let broken = verify(&text.replace("WatchdogSec=60", "WatchdogSec=often"));
        assert!(about_it(&broken) > 0, "it looks: {broken}");
    }
}
