//! `qualify --detach`: starts the run as a separate process, and returns when it measures.

use super::QualifyArgs;
use super::lasting::Lasting;
use crate::failure::{Failure, say};
use crate::run_file::{claim, make_way};
use crate::verdict::write;
use plan::Plan;
use session::detach::{Detached, Unit, has_systemd, log_of, unit_name};
use session::room::{Disk, RoomNeed};
use session::roster::{Entry, FOLDER, Found, Phase, Roster, StartKind};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Interval of the checks whether the run measures.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum wait for that: building the test bed of a large plan takes a minute.
const READY_WITHIN: Duration = Duration::from_secs(600);

/// Number of log lines that are shown if the run did not start measuring.
const LAST_LINES: usize = 20;

/// Options that concern this process alone.
const OWN: [&str; 2] = ["--detach", "--restart-after-reboot"];

/// The process to start.
struct Start {
    detached: Detached,
    file: PathBuf,
    log: PathBuf,
    program: PathBuf,
    words: Vec<OsString>,
}

/// Starts the run; returns the exit status.
pub(super) fn start(args: &QualifyArgs, plan: &Plan, need: Option<&RoomNeed>) -> Result<u8, Failure> {
    let way = way(args.restart_after_reboot)?;
    let roster = Roster::own().ok_or_else(no_folder)?;
    let file = file(args, plan)?;
    let started = start_at(args, plan, need, (way, &roster, file.clone()));
    if started.is_err() && args.run.out.is_none() {
        claim::give_back(&file);
    }
    started
}

fn start_at(
    args: &QualifyArgs,
    plan: &Plan,
    need: Option<&RoomNeed>,
    (way, roster, file): (StartKind, &Roster, PathBuf),
) -> Result<u8, Failure> {
    if let Some(need) = need.filter(|_| !args.run.force) {
        Disk::of(&file).refuse(need).map_err(Failure::CouldNotMeasure)?;
    }
    let mut entry = Entry::new("qualify", &file.to_string_lossy(), sys::clock::realtime().as_ns());
    entry.plan = Some(plan.name.clone());
    entry.way = way;
    entry.doing = "being started".to_owned();
    let place = roster.enter(&plan.name, entry);
    let place = place.map_err(|error| Failure::CouldNotMeasure(format!("--detach: {error}")))?;
    let detached = Detached {
        way,
        name: place.entry.name.clone(),
    };
    let begun = Start::new(args, detached, file).and_then(|start| start.run(roster, plan));
    match begun {
        Ok(begun) => Ok(begun),
        Err(failure) => {
            // The end that the process itself recorded stays.
            if roster
                .find(&place.entry.name)
                .is_some_and(|found| found.entry.end.is_none())
            {
                place.remove();
            }
            Err(failure)
        }
    }
}

/// Starts a unit if root has systemd; a user's unit would end with the user's login. Otherwise starts a session.
fn way(lasts: bool) -> Result<StartKind, Failure> {
    let is_root = rustix::process::geteuid().is_root();
    match (lasts, is_root && has_systemd()) {
        (false, true) => Ok(StartKind::Unit),
        (false, false) => Ok(StartKind::Session),
        (true, true) => Ok(StartKind::LastingUnit),
        (true, false) if !is_root => Err(Failure::CouldNotMeasure(
            "--restart-after-reboot: only root can enable a unit: start it as root".into(),
        )),
        (true, false) => Err(Failure::CouldNotMeasure(
            "--restart-after-reboot: systemd does not run on this machine (no /run/systemd/system), so nothing would start the rest of \
             the plan: leave the option out, or have your own service manager start `triptime qualify` again"
                .into(),
        )),
    }
}

fn no_folder() -> Failure {
    Failure::CouldNotMeasure(format!(
        "--detach: cannot register the run: XDG_RUNTIME_DIR is not set. Log in again, or set {FOLDER}"
    ))
}

/// Absolute path of the run file, or of the folder of a matrix. An existing file is refused before anything is started.
fn file(args: &QualifyArgs, plan: &Plan) -> Result<PathBuf, Failure> {
    let is_folder = plan.matrix.is_some();
    let file = match (&args.run.out, is_folder) {
        (Some(out), _) => out.clone(),
        (None, true) => claim::folder("matrix")?,
        (None, false) => claim::file_with_log("qualify")?,
    };
    let file = std::path::absolute(&file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    // A matrix continues in its folder.
    if args.run.force && !is_folder {
        make_way(&file)?;
    }
    if file.exists() && !is_folder {
        return Err(store::StoreError::Exists { path: file }.into());
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?;
    Ok(file)
}

impl Start {
    fn new(args: &QualifyArgs, detached: Detached, file: PathBuf) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::CouldNotMeasure(format!("--detach: cannot find this program: {error}")))?;
        let given = std::env::args_os().skip(1);
        let mut words: Vec<OsString> = given.filter(|word| !OWN.iter().any(|own| word == own)).collect();
        if args.run.out.is_none() {
            words.extend(["--out".into(), file.clone().into_os_string()]);
        }
        words.extend(["--detached".into(), detached.to_string().into()]);
        Ok(Self {
            log: log_of(&file),
            detached,
            file,
            program,
            words,
        })
    }

    fn run(self, roster: &Roster, plan: &Plan) -> Result<u8, Failure> {
        match self.detached.way {
            StartKind::Unit => self.told(Command::new("systemd-run").args(self.unit(plan)?.transient()))?,
            StartKind::LastingUnit => Lasting::of(&self.detached.name).install(&self.unit(plan)?)?,
            StartKind::Session | StartKind::Foreground => {
                if let Some(status) = self.in_a_session(roster)? {
                    return Ok(status);
                }
            }
        }
        self.say(roster)?;
        Ok(0)
    }

    /// Starts the run in a session of its own and waits until it measures; returns its exit status if it ended before.
    fn in_a_session(&self, roster: &Roster) -> Result<Option<u8>, Failure> {
        let cannot = |error| Failure::CouldNotMeasure(format!("{}: {error}", self.log.display()));
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .map_err(cannot)?;
        let again = log.try_clone().map_err(cannot)?;
        let started = Command::new(&self.program)
            .args(&self.words)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(again)
            .spawn();
        let mut child =
            started.map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", self.program.display())))?;
        let begin = Instant::now();
        while begin.elapsed() < READY_WITHIN {
            if let Some(status) = ended(&mut child) {
                return self.ended_already(roster, status);
            }
            if self
                .found(roster, child.id())
                .is_some_and(|found| found.entry.phase != Phase::Starting)
            {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
        say(&format_args!(
            "the run is still preparing after {} s",
            READY_WITHIN.as_secs()
        ));
        Ok(None)
    }

    /// Entry of the run, once the new process has taken it over.
    fn found(&self, roster: &Roster, pid: u32) -> Option<Found> {
        let found = roster.find(&self.detached.name);
        found.filter(|found| found.entry.process.pid == pid)
    }

    /// Result of a run that ended during the wait, or that did not start measuring.
    fn ended_already(&self, roster: &Roster, status: u8) -> Result<Option<u8>, Failure> {
        self.show_log();
        let found = roster.find(&self.detached.name);
        if found.is_some_and(|found| found.entry.end.is_some()) {
            return Ok(Some(status));
        }
        let why = format!("the run ended before it measured, with status {status}; its messages are above");
        Err(match status {
            crate::failure::USAGE => Failure::Usage(why),
            _ => Failure::CouldNotMeasure(why),
        })
    }

    fn show_log(&self) {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
            say(&format_args!("log: {line}"));
        }
    }

    fn unit(&self, plan: &Plan) -> Result<Unit, Failure> {
        let folder = std::env::current_dir()
            .map_err(|error| Failure::CouldNotMeasure(format!("--detach: no working directory: {error}")))?;
        let words = std::iter::once(self.program.as_os_str()).chain(self.words.iter().map(OsString::as_os_str));
        let command = words
            .map(|word| word.to_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>();
        let command = command.ok_or_else(|| Failure::Usage("--detach: an argument is not UTF-8".into()))?;
        let kept = ["PATH", FOLDER];
        let kept = kept
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        Ok(Unit {
            name: unit_name(&self.detached.name),
            description: format!("triptime qualify {}", plan.name),
            command,
            folder,
            log: self.log.clone(),
            environment: kept.collect(),
        })
    }

    /// Runs a program that returns when the run measures.
    fn told(&self, command: &mut Command) -> Result<(), Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.stdin(Stdio::null()).output().map_err(|error| {
            Failure::CouldNotMeasure(format!(
                "--detach: {program}: {error}; it belongs to systemd, which runs on this machine"
            ))
        })?;
        if output.status.success() {
            return Ok(());
        }
        self.show_log();
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::CouldNotMeasure(format!(
            "--detach: {program} refused: {}",
            said.trim()
        )))
    }

    fn say(&self, roster: &Roster) -> Result<(), Failure> {
        let name = &self.detached.name;
        let found = roster.find(name);
        let pid = found.map_or_else(String::new, |found| format!(", process {}", found.entry.process.pid));
        let how = match self.detached.way {
            StartKind::Unit => format!("as the unit {}", unit_name(name)),
            StartKind::LastingUnit => format!("as the unit {}, which continues after a reboot", unit_name(name)),
            StartKind::Session | StartKind::Foreground => "in a session of its own".to_owned(),
        };
        write(&format!(
            "{name}: measuring, {how}{pid}\nfile   {}\nlog    {}\nlook   triptime status {name}\nstop   triptime stop {name}\n",
            self.file.display(),
            self.log.display()
        ))
    }
}

/// Exit status of a child that has ended; for a killed one, the status that a shell would give.
fn ended(child: &mut Child) -> Option<u8> {
    use std::os::unix::process::ExitStatusExt;
    let status = child.try_wait().ok()??;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Some(
        code.and_then(|code| u8::try_from(code).ok())
            .unwrap_or(crate::failure::COULD_NOT_MEASURE),
    )
}
