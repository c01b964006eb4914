//! A unit that resumes a plan after a reboot, until the plan has ended.

use super::QualifyArgs;
use crate::failure::{Failure, say};
use plan::{Left, Plan, left_of};
use session::detach::{Detached, UNIT_ENDING, UNIT_FOLDER, Unit, unit_name};
use session::roster::StartKind;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use store::RunFile;

/// Maximum number of reboots after which a plan is resumed.
const MOST: u32 = 1_000;

/// Unit that continues a run after a reboot.
pub(crate) struct Lasting {
    service: String,
}

/// Remaining work of a run that is started again.
pub(super) enum Again {
    /// All of it: nothing has been measured yet.
    Whole,
    /// The remaining steps, into this file.
    Rest(Box<Left>, PathBuf),
    /// Nothing remains.
    Nothing,
}

impl Lasting {
    /// The unit of the run with this name.
    pub(crate) fn of(run: &str) -> Self {
        Self {
            service: format!("{}{UNIT_ENDING}", unit_name(run)),
        }
    }

    fn file(&self) -> PathBuf {
        Path::new(UNIT_FOLDER).join(&self.service)
    }

    fn wanted(&self) -> PathBuf {
        Path::new(UNIT_FOLDER)
            .join("multi-user.target.wants")
            .join(&self.service)
    }

    /// Writes the unit, enables it, and starts it; returns when it measures.
    pub(super) fn install(&self, unit: &Unit) -> Result<(), Failure> {
        let path = self.file();
        let refused = |error: std::io::Error| {
            let more = match error.kind() {
                ErrorKind::AlreadyExists => ": it belongs to an earlier run; `triptime stop` with its name removes it",
                _ => "",
            };
            Failure::CouldNotMeasure(format!("{}: {error}{more}", path.display()))
        };
        let mut file = fs::File::create_new(&path).map_err(refused)?;
        let written = file.write_all(unit.text().as_bytes()).map_err(refused);
        let begun = written.and_then(|()| {
            systemctl(&["daemon-reload"])?;
            systemctl(&["enable", "--quiet", &self.service])?;
            systemctl(&["start", &self.service])
        });
        begun.inspect_err(|_| self.remove())
    }

    /// Removes the unit, so that it does not start at the next boot.
    pub(crate) fn remove(&self) {
        for path in [self.wanted(), self.file()] {
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != ErrorKind::NotFound
            {
                say(&format_args!(
                    "{}: {error}: remove it, or the run starts again at the next boot",
                    path.display()
                ));
            }
        }
        // Without a reload the unit stays known until the next one, but it is no longer enabled, which is enough.
        let _ = systemctl(&["daemon-reload"]);
    }

    /// True if the unit file exists.
    pub(crate) fn is_there(&self) -> bool {
        self.file().exists()
    }
}

/// Removes the unit at the end of a run, unless the machine is going down and the plan is not done.
pub(super) fn at_the_end(detached: Option<&Detached>) {
    let lasting = detached.filter(|detached| detached.way == StartKind::LastingUnit);
    if let Some(detached) = lasting
        && !is_going_down()
    {
        Lasting::of(&detached.name).remove();
    }
}

/// Remaining work when the unit starts: the first time, and after a reboot.
pub(super) fn again(args: &QualifyArgs, plan: &Plan) -> Result<Again, Failure> {
    let is_lasting = args
        .detached
        .as_ref()
        .is_some_and(|detached| detached.way == StartKind::LastingUnit);
    let Some(out) = args.run.out.as_ref().filter(|_| is_lasting) else {
        return Ok(Again::Whole);
    };
    let before: Vec<PathBuf> = (1..MOST)
        .map(|number| numbered(out, number))
        .take_while(|path| path.exists())
        .collect();
    if before.is_empty() {
        return Ok(Again::Whole);
    }
    let runs = before
        .iter()
        .map(|path| RunFile::open(path))
        .collect::<Result<Vec<_>, _>>()?;
    let next = numbered(out, u32::try_from(before.len()).unwrap_or(MOST) + 1);
    Ok(match left_of(plan, &runs)? {
        Some(left) => Again::Rest(Box::new(left), next),
        None => Again::Nothing,
    })
}

/// Names of the parts: `week.triptime`, `week.2.triptime`, …
fn numbered(out: &Path, number: u32) -> PathBuf {
    match number {
        1 => out.to_owned(),
        number => out.with_extension(format!("{number}.triptime")),
    }
}

/// True if the machine is shutting down or rebooting (systemctl(1), `is-system-running`).
fn is_going_down() -> bool {
    let said = Command::new("systemctl").arg("is-system-running").output();
    said.is_ok_and(|said| said.stdout.starts_with(b"stopping"))
}

fn systemctl(words: &[&str]) -> Result<(), Failure> {
    let failed = |why: String| Failure::CouldNotMeasure(format!("systemctl {}: {why}", words.join(" ")));
    let output = Command::new("systemctl")
        .args(words)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use std::path::Path;

    #[test]
    fn each_boot_has_a_file_of_its_own() {
        let out = Path::new("/var/lib/week.triptime");
        assert_eq!(numbered(out, 1), out);
        assert_eq!(numbered(out, 3), Path::new("/var/lib/week.3.triptime"));
    }
}
