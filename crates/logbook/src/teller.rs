//! The ways in which an alarm is told: a line, a program.

use sentinel::{Alarm, AlarmKind};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Alarms that wait for the program that is told.
const WAITING: usize = 64;

/// The frames of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture<'a> {
    /// On the disk, in this file; so many of those that were wanted had left the ring before.
    Written {
        /// The file.
        path: &'a Path,
        /// Frames that were gone.
        missing: u64,
        /// Time at its begin of which frames were gone, in ns.
        short_ns: u64,
    },
    /// Not on the disk, for this reason.
    NotKept(&'a str),
}

/// An alarm as it is told.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The alarm.
    pub alarm: &'a Alarm,
    /// Name of the sentinel.
    pub name: &'a str,
    /// When it happened, in ns since 1970 UTC.
    pub wall_ns: i64,
    /// Its frames.
    pub capture: Capture<'a>,
}

impl Told<'_> {
    /// The alarm in a line.
    pub fn line(&self) -> String {
        let Alarm {
            number,
            kind,
            subject,
            text,
            suppressed,
            ..
        } = self.alarm;
        let before = match suppressed {
            0 => String::new(),
            n => format!("; {n} like it before were counted only"),
        };
        let frames = match self.capture {
            Capture::Written {
                path,
                missing,
                short_ns,
            } => frames_in(path, missing, short_ns),
            Capture::NotKept(why) => format!("frames not kept: {why}"),
        };
        let name = self.name;
        let line = format!(
            "triptime sentinel {name}: alarm {number}: {}: {subject}: {text}{before}; {frames}",
            kind.word()
        );
        // Names of datasets come from the network.
        units::foreign::message(&line).to_string()
    }
}

fn frames_in(path: &Path, missing: u64, short_ns: u64) -> String {
    let mut text = format!("frames in {}", path.display());
    if missing > 0 {
        let _ = write!(text, ", without {missing} that the ring had no room for");
    }
    if short_ns > 0 {
        let short = units::Ns(short_ns);
        let _ = write!(text, ", without the first {short}, which had left the ring");
    }
    text
}

/// Someone who is told.
pub trait Tell: Send {
    /// Tells an alarm.
    fn tell(&mut self, told: &Told<'_>);

    /// Goes on with what is under way. Returns a problem to write down, if there is one.
    fn go_on(&mut self, _now_ns: i64) -> Option<String> {
        None
    }

    /// Passes on what still waits: the watch ends.
    fn end(&mut self) {}
}

/// Lines for the journal, with the priorities of sd-daemon(3).
pub struct Journal<W> {
    output: W,
    has_priorities: bool,
}

impl<W: Write + Send> Journal<W> {
    /// Writes to `output`; with priorities if the journal reads it.
    pub fn new(output: W, has_priorities: bool) -> Self {
        Self { output, has_priorities }
    }
}

impl<W: Write + Send> Tell for Journal<W> {
    fn tell(&mut self, told: &Told<'_>) {
        let priority = match told.alarm.kind {
            AlarmKind::Missing | AlarmKind::False | AlarmKind::Late => "<2>",
            AlarmKind::Silent | AlarmKind::Lost | AlarmKind::Unknown | AlarmKind::Own => "<3>",
            AlarmKind::Changed => "<4>",
        };
        let priority = if self.has_priorities { priority } else { "" };
        // Nobody is there to be told that nobody can be told.
        let _ = writeln!(self.output, "{priority}{}", told.line());
    }
}

/// A program that is started for each alarm, one after the other.
#[derive(Debug)]
pub struct Hook {
    command: Vec<String>,
    within_ns: u64,
    waiting: VecDeque<Vec<(&'static str, String)>>,
    running: Option<(Child, i64)>,
    untold: u64,
    /// The last one failed, and that was told: an alarm about it starts the program again.
    is_failing: bool,
    /// Alarms were not passed, and that was told: the others are told when none waits any more.
    is_flooded: bool,
    now_ns: i64,
}

impl Hook {
    /// Starts this program with these arguments; it is killed if it takes longer than `within_ns`. No shell is used.
    pub fn new(command: Vec<String>, within_ns: u64) -> Self {
        Self {
            command,
            within_ns,
            waiting: VecDeque::new(),
            running: None,
            untold: 0,
            is_failing: false,
            is_flooded: false,
            now_ns: 0,
        }
    }

    /// Looks at the program that runs; the problem, if it failed or takes too long.
    fn ended(&mut self) -> Option<String> {
        let (child, since_ns) = self.running.as_mut()?;
        let passed = u64::try_from(self.now_ns - *since_ns).unwrap_or(0);
        let problem = match child.try_wait() {
            Ok(None) if passed <= self.within_ns => return None,
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                Some("it took too long, and was killed".to_owned())
            }
            Ok(Some(status)) if status.success() => {
                self.is_failing = false;
                None
            }
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        };
        self.running = None;
        problem
    }

    fn start(&mut self) -> Option<String> {
        let (program, arguments) = self.command.split_first()?;
        let environment = self.waiting.pop_front()?;
        let mut command = Command::new(program);
        command.args(arguments).envs(environment);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => {
                self.running = Some((child, self.now_ns));
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Hook {
    /// Says how many alarms were not passed: at the first one, and of the others when none waits.
    fn flooded(&mut self) -> Option<String> {
        let is_empty = self.waiting.is_empty();
        if self.untold == 0 || self.is_flooded && !is_empty {
            self.is_flooded &= !is_empty;
            return None;
        }
        self.is_flooded = !is_empty;
        let untold = std::mem::take(&mut self.untold);
        Some(format!("{untold} alarms were not passed to it: too many waited"))
    }
}

impl Tell for Hook {
    fn tell(&mut self, told: &Told<'_>) {
        if self.waiting.len() >= WAITING {
            self.untold += 1;
            return;
        }
        let (path, why) = match told.capture {
            Capture::Written { path, .. } => (path.display().to_string(), String::new()),
            Capture::NotKept(why) => (String::new(), why.to_owned()),
        };
        self.waiting.push_back(vec![
            ("TRIPTIME_SENTINEL", told.name.to_owned()),
            ("TRIPTIME_NUMBER", told.alarm.number.to_string()),
            ("TRIPTIME_KIND", told.alarm.kind.word().to_owned()),
            ("TRIPTIME_SUBJECT", told.alarm.subject.clone()),
            ("TRIPTIME_TEXT", units::foreign::message(&told.alarm.text).to_string()),
            ("TRIPTIME_TIME_NS", told.wall_ns.to_string()),
            ("TRIPTIME_SUPPRESSED", told.alarm.suppressed.to_string()),
            ("TRIPTIME_CAPTURE", path),
            ("TRIPTIME_NO_CAPTURE", why),
        ]);
    }

    fn go_on(&mut self, now_ns: i64) -> Option<String> {
        self.now_ns = now_ns;
        let mut problem = self.ended();
        if self.running.is_none() {
            problem = problem.or(self.start());
        }
        let problem = problem.filter(|_| !std::mem::replace(&mut self.is_failing, true));
        let problems: Vec<String> = problem.into_iter().chain(self.flooded()).collect();
        let name = self.command.first().cloned().unwrap_or_default();
        (!problems.is_empty()).then(|| format!("the alarm hook {name}: {}", problems.join("; ")))
    }

    /// Starts a program for each alarm that waits, and waits for none: it may be the one that ends the watch.
    fn end(&mut self) {
        while !self.waiting.is_empty() {
            let _ = self.start();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, Hook, Tell, Told};
    use sentinel::{Alarm, AlarmKind};
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    fn alarm(number: u64) -> Alarm {
        Alarm {
            number,
            kind: AlarmKind::Late,
            subject: "main".into(),
            text: "trip; $(touch /tmp/no)".into(),
            at_ns: 0,
            found_ns: 0,
            frames_until: 0,
            suppressed: 2,
        }
    }

    fn tell(hook: &mut Hook, number: u64, capture: Capture<'_>) {
        hook.tell(&Told {
            alarm: &alarm(number),
            name: "bay",
            wall_ns: 5,
            capture,
        });
    }

    /// Goes on until nothing runs or waits; what went wrong.
    fn settle(hook: &mut Hook, mut now_ns: i64) -> Vec<String> {
        let begun = Instant::now();
        let mut problems = Vec::new();
        while hook.running.is_some() || !hook.waiting.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            problems.extend(hook.go_on(now_ns));
            now_ns += 1_000_000;
            std::thread::sleep(Duration::from_millis(5));
        }
        problems
    }

    #[test]
    fn the_program_is_started_for_each_alarm_with_its_parts_in_the_environment() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("told");
        let script = format!(
            "echo \"$TRIPTIME_NUMBER $TRIPTIME_KIND $TRIPTIME_TEXT $TRIPTIME_CAPTURE$TRIPTIME_NO_CAPTURE $TRIPTIME_SUPPRESSED\" >> {}",
            out.display()
        );
        let mut hook = Hook::new(vec!["sh".into(), "-c".into(), script], 60_000_000_000);
        tell(
            &mut hook,
            1,
            Capture::Written {
                path: Path::new("/x"),
                missing: 0,
                short_ns: 0,
            },
        );
        tell(&mut hook, 2, Capture::NotKept("full"));
        assert_eq!(settle(&mut hook, 0), Vec::<String>::new());
        let told = fs::read_to_string(out).expect("told");
        assert_eq!(
            told,
            "1 late trip; $(touch /tmp/no) /x 2\n2 late trip; $(touch /tmp/no) full 2\n"
        );
    }

    #[test]
    fn a_program_that_fails_hangs_or_is_not_there_is_named() {
        let mut fails = Hook::new(vec!["false".into()], 60_000_000_000);
        tell(&mut fails, 1, Capture::NotKept("full"));
        assert!(settle(&mut fails, 0)[0].contains("hook false: exit status: 1"));
        let mut hangs = Hook::new(vec!["sleep".into(), "100".into()], 10_000_000);
        tell(&mut hangs, 1, Capture::NotKept("full"));
        assert!(settle(&mut hangs, 0)[0].contains("took too long"));
        let mut none = Hook::new(vec!["/no/such".into()], 1);
        tell(&mut none, 1, Capture::NotKept("full"));
        assert!(settle(&mut none, 0)[0].contains("No such file"));
    }

    #[test]
    fn a_program_that_always_fails_is_named_once_until_it_works_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let works = folder.path().join("works");
        let mut hook = Hook::new(
            vec!["test".into(), "-e".into(), works.display().to_string()],
            60_000_000_000,
        );
        let fails = |hook: &mut Hook| {
            tell(hook, 1, Capture::NotKept("full"));
            settle(hook, 0).len()
        };
        assert_eq!([fails(&mut hook), fails(&mut hook)], [1, 0]);
        fs::write(&works, "").expect("a file");
        assert_eq!(fails(&mut hook), 0);
        fs::remove_file(&works).expect("removed");
        assert_eq!([fails(&mut hook), fails(&mut hook)], [1, 0]);
    }

    #[test]
    fn a_flood_does_not_wait_in_memory() {
        let mut hook = Hook::new(vec!["true".into()], 60_000_000_000);
        (0..1_000).for_each(|number| tell(&mut hook, number, Capture::NotKept("full")));
        assert!(hook.go_on(0).expect("told").contains("936 alarms were not passed"));
        // An alarm about it is one of too many itself.
        (0..3).for_each(|number| tell(&mut hook, number, Capture::NotKept("full")));
        let told = settle(&mut hook, 0);
        assert!(
            told.len() == 1 && told[0].contains("2 alarms were not passed"),
            "{told:?}"
        );
    }
}
