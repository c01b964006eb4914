//! Rights of a client connected to a far end: the device's end of a step, on the far end's own interface, and nothing else.

use super::{LIMITS, TASK, Task, WORDS, contained};
use place::Files;
use place::container::RuntimeName;
use place::far::Admission;
use place::guest::GuestSpec;
use session::NO_RECORDER;
use std::path::{Component, Path};
use toml::Value;

/// Prefix before the number of a relay's file.
const RELAY: &str = "relay";

/// The device's end of steps on one interface: all that a far end does for another machine.
#[derive(Debug)]
pub struct DeviceSteps {
    /// The interface.
    pub interface: String,
    /// The place that the end is in on this machine; `None`: this machine itself.
    pub within: Option<Within>,
}

/// A place of an end on the machine of a far end, which decides on it alone.
#[derive(Debug)]
pub enum Within {
    /// A container of this runtime.
    Container(RuntimeName),
    /// A guest, booted for each step.
    Guest(Box<GuestSpec>),
}

impl Admission for DeviceSteps {
    fn admit(&self, words: &[String], files: Files) -> Result<(String, Files), String> {
        let what = check(words, &files, &self.interface)?;
        let files = match &self.within {
            Some(within) => contained(files, within)?,
            None => files,
        };
        Ok((what, files))
    }
}

/// Checks that these words and files are the device's end of a step on this interface. Returns the step in words.
///
/// # Errors
/// The reason of a refusal.
fn check(words: &[String], files: &[(String, String)], interface: &str) -> Result<String, String> {
    check_words(words)?;
    files.iter().try_for_each(|(name, text)| check_file(name, text))?;
    let task = files.iter().find(|(name, _)| name == TASK);
    let (_, text) = task.ok_or_else(|| format!("refused: no file {TASK}"))?;
    let task = Task::parse(text).map_err(|error| format!("{TASK}: {error}"))?;
    if task.stands_on() != interface {
        let other = task.stands_on();
        return Err(format!("refused: the interface is {interface}, not {other}"));
    }
    if task.is_contained() {
        return Err(
            "refused: only this end decides whether it is in a container or a guest (triptime far --container, --guest)"
                .to_owned(),
        );
    }
    match task.has_loads() {
        true => Err("refused: no loads are run for another machine".to_owned()),
        false => Ok(task.describe()),
    }
}

/// Accepts only words in the order in which `qualify` writes them.
fn check_words(words: &[String]) -> Result<(), String> {
    let refused = || Err(format!("refused: triptime {}", words.join(" ")));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(["--window", window, "--file-budget", budget, rest @ ..]) = words.strip_prefix(&WORDS) else {
        return refused();
    };
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_window = is_number(window) && units::parse_ns(window).is_ok();
    let is_budget = is_number(budget) && units::parse_bytes(budget).is_ok();
    match rest.strip_prefix(&[NO_RECORDER]).unwrap_or(rest) {
        [] | ["--limits", LIMITS] if is_window && is_budget => Ok(()),
        _ => refused(),
    }
}

fn check_file(name: &str, text: &str) -> Result<(), String> {
    let number = name.strip_prefix(RELAY).and_then(|rest| rest.strip_suffix(".toml"));
    let is_relay = number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
    if !is_relay && ![TASK, LIMITS].contains(&name) {
        return Err(format!("refused: unexpected file {name:?}"));
    }
    let value: toml::Table = toml::from_str(text).map_err(|error| format!("{name}: {error}"))?;
    stays_inside(name, &Value::Table(value))
}

/// Checks that no text in it is a path that leads out of its folder.
fn stays_inside(name: &str, value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            match Path::new(text).components().all(inside) {
                true => Ok(()),
                false => Err(format!("refused: {name} names a file of this machine: {text:?}")),
            }
        }
        Value::Array(all) => all.iter().try_for_each(|value| stays_inside(name, value)),
        Value::Table(all) => all.values().try_for_each(|value| stays_inside(name, value)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{RuntimeName, Within, check, contained};
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert, proptest};

    const TASK: &str = r#"
[there]
plan = "quick"
interface = "eth1"
device = 0
clock = "same-host"
asks = "nothing"

[step]
probe = "wakeup"
duration = "1s"
cpus = "1"
interval = "1/s"
policy = "fifo:80"
"#;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn said(line: &str, files: &[(&str, &str)]) -> Result<String, String> {
        let files: Vec<(String, String)> = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        check(&words(line), &files, "eth1")
    }

    const LINE: &str = "device device.toml --quiet --window 1000000ns --file-budget 33554432B";

    #[test]
    fn a_devices_end_is_done() {
        let what = "wake-up of the plan quick, for 1.00 s";
        assert_eq!(said(LINE, &[("device.toml", TASK)]).as_deref(), Ok(what));
        let without_causes = format!("{LINE} --no-flight-recorder");
        assert_eq!(said(&without_causes, &[("device.toml", TASK)]).as_deref(), Ok(what));
        let line = format!("{without_causes} --limits limits.toml");
        let files = [
            ("device.toml", TASK),
            ("limits.toml", "what = \"https://a.b/c ... d\""),
            ("relay0.toml", ""),
        ];
        assert_eq!(said(&line, &files).as_deref(), Ok(what));
    }

    #[test]
    fn whether_the_device_is_in_a_container_is_not_for_the_other_end_to_say() {
        let files = [("device.toml".to_owned(), TASK.to_owned())];
        let inside = contained(files.to_vec(), &Within::Container(RuntimeName::Runc)).expect("a task");
        let refused = check(&words(LINE), &inside, "eth1").expect_err("of the other end");
        assert!(refused.contains("triptime far --container"), "{refused}");
    }

    #[test]
    fn nothing_else_is_done() {
        for line in [
            "",
            "wakeup",
            "device",
            "device device.toml",
            "device device.toml --quiet --window --html",
            "device device.toml --quiet --window 1s",
            "device device.toml --quiet --window 1s --file-budget --html",
            "device other.toml --quiet --window 1s --file-budget 1MiB",
            "device device.toml --quiet --window 1s --file-budget 1MiB --limits /etc/limits.toml",
            "device device.toml --quiet --window 1s --file-budget 1MiB --html /etc/passwd",
            "device device.toml --quiet --window 1s --file-budget 1MiB --force",
            "tune --apply",
        ] {
            assert!(
                said(line, &[("device.toml", TASK)]).is_err_and(|why| why.contains("refused")),
                "{line}"
            );
        }
        for name in [
            "../device.toml",
            "/etc/cron.d/x",
            "relay.toml",
            "relayx.toml",
            "run.triptime",
            "",
        ] {
            assert!(said(LINE, &[("device.toml", TASK), (name, "")]).is_err(), "{name}");
        }
        for (from, to, why) in [
            ("eth1", "eth0", "the interface is eth1"),
            ("\"1s\"", "\"/etc/shadow\"", "names a file"),
            ("\"quick\"", "[\"../x\"]", "names a file"),
            (
                "policy",
                "load = [{ kind = \"command\", line = \"id\" }]\npolicy",
                "loads",
            ),
            ("[there]", "[there", "device.toml"),
        ] {
            let error = said(LINE, &[("device.toml", &TASK.replace(from, to))]).expect_err(to);
            assert!(error.contains(why), "{error}");
        }
        assert!(said(LINE, &[]).is_err());
    }

    proptest! {
        #[test]
        fn any_words_and_texts_are_done_or_refused(line in any::<String>(), text in any::<String>(), more in prop::collection::vec(any::<String>(), 0..3)) {
            let files = [("device.toml".to_owned(), text)];
            prop_assert!(check(&words(&line), &files, "eth1").is_err());
            prop_assert!(check(&[words(LINE), more].concat(), &files, "eth1").is_err());
        }
    }
}
