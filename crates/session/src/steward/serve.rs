//! The process of the steward.

use super::due::{DueUndo, Written};
use super::{Ending, Order};
use crate::roster::Roster;
use bed::program::{Outlives, carry_out};
use model::ActionPart;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Messages that the process waits for.
enum Heard {
    Order(Order),
    /// A command has ended; true if it never began.
    Ended(u64, bool),
    /// The run is over, or killed.
    Over,
}

/// Serves a run until its process ends or closes `orders`: then commands that still run are ended, and everything is undone, the last first.
/// A sentence about each of these goes to `say`.
pub fn serve(orders: impl BufRead + Send + 'static, answers: impl Write + Send + 'static, say: &mut dyn FnMut(String)) {
    let (heard, inbox) = channel();
    let to = heard.clone();
    std::thread::spawn(move || hear(orders, &to));
    let to = heard.clone();
    std::thread::spawn(move || await_end_of_parent(&to));
    let folder = Roster::own().map(|roster| roster.folder().to_owned());
    Work::new(folder, heard, answers).run(&inbox, say);
}

/// Passes orders on until there are no more.
fn hear(orders: impl BufRead, to: &Sender<Heard>) {
    for line in orders.lines().map_while(Result::ok) {
        if let Ok(order) = serde_json::from_str(&line) {
            let _ = to.send(Heard::Order(order));
        }
    }
    let _ = to.send(Heard::Over);
}

/// Waits for the end of the parent. Another process may have inherited the pipe of the orders, which then stays open.
fn await_end_of_parent(to: &Sender<Heard>) {
    let Some(Ok(parent)) = getppid().map(|parent| pidfd_open(parent, PidfdFlags::empty())) else {
        // The parent is gone, or the kernel is older than 5.3: the end of the orders remains.
        return;
    };
    loop {
        match poll(&mut [PollFd::new(&parent, PollFlags::IN)], None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
    let _ = to.send(Heard::Over);
}

/// The commands under way.
struct Work<W> {
    folder: Option<PathBuf>,
    heard: Sender<Heard>,
    answers: Arc<Mutex<W>>,
    /// Undos that are due, by the number of their execution.
    due: BTreeMap<u64, Written>,
    /// Ends the command of an execution.
    cuts: BTreeMap<u64, Arc<AtomicBool>>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Write + Send + 'static> Work<W> {
    fn new(folder: Option<PathBuf>, heard: Sender<Heard>, answers: W) -> Self {
        Self {
            folder,
            heard,
            answers: Arc::new(Mutex::new(answers)),
            due: BTreeMap::new(),
            cuts: BTreeMap::new(),
            threads: Vec::new(),
        }
    }

    fn run(mut self, inbox: &Receiver<Heard>, say: &mut dyn FnMut(String)) {
        while let Ok(heard) = inbox.recv() {
            match heard {
                Heard::Order(order) => self.take(order),
                Heard::Ended(id, never_began) => {
                    self.cuts.remove(&id);
                    if let Some(written) = self.due.remove(&id) {
                        self.keep_or_forget(id, written, never_began);
                    }
                }
                Heard::Over => break,
            }
        }
        self.cuts.values().for_each(|cut| cut.store(true, Ordering::Relaxed));
        self.threads.drain(..).for_each(|thread| {
            // A panic was reported by its thread.
            let _ = thread.join();
        });
        for heard in inbox.try_iter() {
            if let Heard::Ended(id, true) = heard
                && let Some(written) = self.due.remove(&id)
            {
                written.forget();
            }
        }
        for (_, written) in std::mem::take(&mut self.due).into_iter().rev() {
            let name = written.undo.name.clone();
            if let Some(answer) = written.carry_out() {
                say(format!(
                    "the run is over: {}",
                    answer.of_undo(&format!("action {name}"))
                ));
            }
        }
    }

    fn keep_or_forget(&mut self, id: u64, written: Written, never_began: bool) {
        match never_began {
            true => written.forget(),
            false => {
                self.due.insert(id, written);
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Run {
                id,
                name,
                words,
                undo,
                limit_ns,
            } => {
                if let Some(undo) = undo {
                    let undo = DueUndo::new(id, name, undo, limit_ns);
                    match undo.write(self.folder.as_deref()) {
                        Ok(written) => self.due.insert(id, written),
                        Err(error) => {
                            let why = format!("its undo cannot be written down, so it must not run: {error}");
                            return answer(&self.answers, &Ending::of(id, ActionPart::Run, Err(why)));
                        }
                    };
                }
                self.start(id, words, limit_ns);
            }
            Order::Undo { id } => match self.due.remove(&id) {
                Some(written) => {
                    let answers = Arc::clone(&self.answers);
                    self.threads.push(std::thread::spawn(move || {
                        if let Some(done) = written.carry_out() {
                            answer(&answers, &done);
                        }
                    }));
                }
                None => {
                    let why = "there is nothing to undo".to_owned();
                    answer(&self.answers, &Ending::of(id, ActionPart::Undo, Err(why)));
                }
            },
            Order::Cut { id } => {
                if let Some(cut) = self.cuts.get(&id) {
                    cut.store(true, Ordering::Relaxed);
                }
            }
        }
        self.threads.retain(|thread| !thread.is_finished());
    }

    fn start(&mut self, id: u64, words: Vec<String>, limit_ns: u64) {
        let cut = Arc::new(AtomicBool::new(false));
        self.cuts.insert(id, Arc::clone(&cut));
        let (answers, heard) = (Arc::clone(&self.answers), self.heard.clone());
        self.threads.push(std::thread::spawn(move || {
            let carried = carry_out(&words, Outlives::No, Duration::from_nanos(limit_ns), &cut);
            let _ = heard.send(Heard::Ended(id, carried.is_err()));
            answer(&answers, &Ending::of(id, ActionPart::Run, carried));
        }));
    }
}

/// Writes an answer; nobody reads it if the run is gone.
fn answer(answers: &Mutex<impl Write>, answer: &Ending) {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(text) = serde_json::to_string(answer) {
        let _ = writeln!(answers, "{text}").and_then(|()| answers.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::{Heard, Order, Work};
    use crate::steward::Ending;
    use model::{ActionEnd, ActionPart};
    use std::io::{BufRead, BufReader, PipeReader};
    use std::path::Path;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::JoinHandle;

    const LIMIT_NS: u64 = 60_000_000_000;

    /// A steward in a thread, with its orders and its answers.
    struct Served {
        orders: Sender<Heard>,
        answers: std::io::Lines<BufReader<PipeReader>>,
        thread: JoinHandle<Vec<String>>,
    }

    impl Served {
        fn new(folder: &Path) -> Self {
            let (read, write) = std::io::pipe().expect("a pipe");
            let (orders, inbox) = channel();
            let work = Work::new(Some(folder.to_owned()), orders.clone(), write);
            let thread = std::thread::spawn(move || {
                let mut said = Vec::new();
                work.run(&inbox, &mut |text| said.push(text));
                said
            });
            Self {
                orders,
                answers: BufReader::new(read).lines(),
                thread,
            }
        }

        fn order(&self, order: Order) {
            self.orders.send(Heard::Order(order)).expect("it serves");
        }

        fn run(&self, id: u64, folder: &Path, line: &str) {
            let shell = |line: &str| ["/bin/sh", "-c", line].map(str::to_owned).to_vec();
            self.order(Order::Run {
                id,
                name: format!("a{id}"),
                words: shell(line),
                undo: Some(shell(&format!("echo {id} >> {}/undone", folder.display()))),
                limit_ns: LIMIT_NS,
            });
        }

        fn answer(&mut self) -> Ending {
            let line = self.answers.next().expect("an answer").expect("a line");
            serde_json::from_str(&line).expect("an answer")
        }

        fn over(self) -> Vec<String> {
            self.orders.send(Heard::Over).expect("it serves");
            self.thread.join().expect("no panic")
        }
    }

    fn undone(folder: &Path) -> String {
        std::fs::read_to_string(folder.join("undone")).unwrap_or_default()
    }

    fn left(folder: &Path) -> usize {
        let names = std::fs::read_dir(folder).expect("a folder").flatten();
        names.filter(|entry| entry.file_name() != "undone").count()
    }

    #[test]
    fn what_was_undone_on_request_is_not_undone_again_at_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let mut served = Served::new(folder);
        for id in [1, 2, 3] {
            served.run(id, folder, "echo ran; exit 4");
            let answer = served.answer();
            assert_eq!(
                (answer.id, answer.part(), answer.end()),
                (id, ActionPart::Run, ActionEnd::Exited(4))
            );
            assert_eq!(answer.said, "ran");
        }
        served.order(Order::Undo { id: 2 });
        let answer = served.answer();
        assert_eq!(
            (answer.id, answer.part(), answer.end()),
            (2, ActionPart::Undo, ActionEnd::Exited(0))
        );
        served.order(Order::Undo { id: 2 });
        assert_eq!(served.answer().end(), ActionEnd::NotStarted, "once");
        assert_eq!(undone(folder), "2\n");
        assert_eq!(left(folder), 2, "two are written down");
        let said = served.over();
        assert_eq!(undone(folder), "2\n3\n1\n", "the last first");
        assert_eq!((said.len(), left(folder)), (2, 0), "{said:?}");
    }

    #[test]
    fn a_command_under_way_is_ended_before_its_undo_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let served = Served::new(folder);
        let line = format!(
            "trap 'echo ended >> {0}/undone; exit' TERM; echo > {0}/began; sleep 60 & wait",
            folder.display()
        );
        served.run(1, folder, &line);
        let begin = std::time::Instant::now();
        while !folder.join("began").exists() {
            assert!(begin.elapsed().as_secs() < 20, "it does not begin");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        served.over();
        assert_eq!(undone(folder), "ended\n1\n");
    }

    #[test]
    fn a_command_that_never_began_is_not_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let mut served = Served::new(folder);
        served.order(Order::Run {
            id: 1,
            name: "none".to_owned(),
            words: vec!["/no/such/program".to_owned()],
            undo: Some(vec![
                "/bin/sh".to_owned(),
                "-c".to_owned(),
                format!("echo 1 >> {}/undone", folder.display()),
            ]),
            limit_ns: LIMIT_NS,
        });
        let answer = served.answer();
        assert_eq!((answer.end(), answer.span()), (ActionEnd::NotStarted, None));
        assert!(served.over().is_empty());
        assert_eq!((undone(folder), left(folder)), (String::new(), 0));
    }

    #[test]
    fn a_command_is_ended_on_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut served = Served::new(folder.path());
        served.run(7, folder.path(), "sleep 60");
        served.order(Order::Cut { id: 7 });
        assert_eq!(served.answer().end(), ActionEnd::Cut);
        served.over();
        assert_eq!(undone(folder.path()), "7\n");
    }
}
