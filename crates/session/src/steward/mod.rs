//! The steward of a run: a process beside the measuring one that runs the actions of a plan, and undoes them even if the run is killed.
//!
//! ```text
//! [ qualify PLAN ] -- order: run, undo, cut --> [ triptime lab hold --actions ] --> [ the site's command ]
//!                  <-- answer: when, status ---
//! ```
//!
//! The measuring process starts no program while it measures: a fork would share its locked pages, and each first write afterwards is a page fault.
//! The steward sees the end of that process at once, in whatever way it ends. Then it ends commands that still run, and undoes what is not undone.
//! An undo is written to a file among the entries of the runs before its action begins. If the steward is killed too, the next `qualify` finds it.

mod due;
mod serve;

pub use due::left_over;
pub use serve::serve;

use bed::program::{Carried, ProgramEnd};
use model::{ActionEnd, ActionPart};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use units::Monotonic;

/// Name of the program on the command line of the process.
const PROGRAM: &str = "triptime";

/// Arguments of the process.
const ARGUMENTS: [&str; 3] = ["lab", "hold", "--actions"];

/// An order to the steward, one line of JSON each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Runs a command.
    Run {
        /// Number of the execution in the run: none is used twice.
        id: u64,
        /// Name of the action.
        name: String,
        /// Program and arguments.
        words: Vec<String>,
        /// The command that undoes it, to be run once at the latest when the run is over.
        undo: Option<Vec<String>>,
        /// Time that each of the two may take.
        limit_ns: u64,
    },
    /// Undoes an execution.
    Undo {
        /// Its number.
        id: u64,
    },
    /// Ends the command of an execution.
    Cut {
        /// Its number.
        id: u64,
    },
}

/// The end of a command as the steward tells it, once the command has ended or could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Number of the execution.
    pub id: u64,
    part: String,
    /// Begin on CLOCK_MONOTONIC; `None` if it did not begin.
    began_ns: Option<i64>,
    ended_ns: Option<i64>,
    end: String,
    status: Option<i32>,
    /// The last line of its output, or why it did not begin.
    pub said: String,
}

impl Ending {
    fn of(id: u64, part: ActionPart, carried: Result<Carried, String>) -> Self {
        let (span, end, said) = match carried {
            Ok(carried) => (Some((carried.began, carried.ended)), end_of(carried.end), carried.said),
            Err(why) => (None, ActionEnd::NotStarted, why),
        };
        Self {
            id,
            part: part.word().to_owned(),
            began_ns: span.map(|(began, _)| began.as_ns()),
            ended_ns: span.map(|(_, ended)| ended.as_ns()),
            end: end.word().to_owned(),
            status: end.status(),
            said,
        }
    }

    /// The command itself, or its undo.
    pub fn part(&self) -> ActionPart {
        ActionPart::from_word(&self.part).unwrap_or(ActionPart::Run)
    }

    /// How it ended.
    pub fn end(&self) -> ActionEnd {
        ActionEnd::from_word(&self.end, self.status).unwrap_or(ActionEnd::Unknown)
    }

    /// The end of the undo of an action, in words.
    fn of_undo(&self, action: &str) -> String {
        let end = self.end();
        let verb = if end.is_good() { "undone" } else { "COULD NOT undo" };
        let said = match self.said.as_str() {
            "" => String::new(),
            said => format!(": {said}"),
        };
        format!("{verb} {action}: {}{said}", end.words())
    }

    /// When it began and ended; `None` if it did not begin.
    pub fn span(&self) -> Option<(Monotonic, Monotonic)> {
        let [began, ended] = [self.began_ns?, self.ended_ns?].map(Monotonic::from_ns);
        Some((began, ended))
    }
}

fn end_of(end: ProgramEnd) -> ActionEnd {
    match end {
        ProgramEnd::Exited(status) => ActionEnd::Exited(status),
        ProgramEnd::Signalled(signal) => ActionEnd::Signalled(signal),
        ProgramEnd::Limit => ActionEnd::Limit,
        ProgramEnd::Cut => ActionEnd::Cut,
    }
}

/// The steward's process. Dropping it waits until everything is undone.
#[derive(Debug)]
pub struct Steward {
    process: Child,
    /// `None` once its end was requested.
    orders: Option<ChildStdin>,
}

impl Steward {
    /// Starts the process on the CPUs of the calling thread, before anything is measured. `hear` receives every answer, and `None` at the end of the
    /// process.
    ///
    /// # Errors
    /// The process or the thread that listens to it cannot be started.
    pub fn start(hear: impl Fn(Option<Ending>) + Send + 'static) -> io::Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.arg0(PROGRAM).args(ARGUMENTS);
        // Signals of the terminal reach the run alone, which decides about its end.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let answers = process.stdout.take().map(BufReader::new);
        let orders = process.stdin.take();
        let listen = move || {
            for line in answers.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
                if let Ok(answer) = serde_json::from_str(&line) {
                    hear(Some(answer));
                }
            }
            hear(None);
        };
        std::thread::Builder::new()
            .name("actions-hear".to_owned())
            .spawn(listen)?;
        Ok(Self { process, orders })
    }

    /// Gives an order. Its failure shows as the end of the process.
    pub fn order(&mut self, order: &Order) {
        if let (Some(orders), Ok(text)) = (&mut self.orders, serde_json::to_string(order)) {
            let _ = writeln!(orders, "{text}").and_then(|()| orders.flush());
        }
    }

    /// The process.
    pub fn process(&self) -> Pid {
        Pid::from_child(&self.process)
    }
}

impl Drop for Steward {
    fn drop(&mut self) {
        self.orders = None;
        // An error means that it was already reaped.
        let _ = self.process.wait();
    }
}
