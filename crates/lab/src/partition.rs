//! CPUs of this machine kept apart from everything else for the length of a measurement: a partition of control groups of version 1.
//!
//! The threads of the top group that may run everywhere are moved into a group with the other CPUs; balancing is left to that group.
//! This process stays in the top group, and uses all CPUs. What is changed is in a journal first. Whoever starts next takes back what a
//! killed process left.

use host::tune::{Applied, Journal, JournalError, Machine, Operation, Outcome, apply, undo};
use host::{Host, ThreadStat};
use model::Fact;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use units::CpuList;

/// Where control groups with CPU sets are mounted.
const ROOT: &str = "/sys/fs/cgroup/cpuset";

/// The group with the other CPUs.
const OTHERS: &str = "triptime-others";

/// What has been changed. It is of this boot only.
const JOURNAL: &str = "/run/triptime-partition.journal";

/// How often the threads of a group are moved: meanwhile they start others.
const TIMES: usize = 20;

/// The most names that are told.
const MOST_NAMED: usize = 8;

/// Where the facts of a partition are.
const GROUP: &str = "partition of control groups";

/// CPUs that are kept apart. Everything is as it was when this is dropped.
#[derive(Debug)]
pub struct Partition {
    journal: Journal,
    cpus: CpuList,
    moved: usize,
    /// Threads that stayed, by name.
    stayed: BTreeSet<String>,
}

/// Whether there can be one here.
///
/// # Errors
/// Why not, in words.
pub fn possible() -> Result<(), String> {
    let root = Path::new(ROOT);
    if !root.join("cpuset.sched_load_balance").exists() {
        return Err(format!(
            "{ROOT} has no control groups of version 1, and with version 2 the measuring threads would have to be a group of their own, \
             which this version does not make: boot with isolcpus="
        ));
    }
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own
        .lines()
        .find_map(|line| line.split_once(":cpuset:").map(|(_, path)| path));
    if own != Some("/") {
        return Err(format!(
            "this process is in the control group {}, and only the top one of CPU sets can be parted: start it there",
            own.unwrap_or("of no CPU set")
        ));
    }
    match rustix::process::geteuid().is_root() {
        true => Ok(()),
        false => Err("only root can move other processes: start it as root".to_owned()),
    }
}

/// Takes back what a process left that was killed. One that is in use stays.
///
/// # Errors
/// What could not be taken back.
pub fn clean_up() -> Result<(), String> {
    if !Path::new(JOURNAL).exists() {
        return Ok(());
    }
    match Journal::open(Path::new(JOURNAL)) {
        Ok(mut journal) => taken_back(&mut journal),
        Err(JournalError::Busy { .. }) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

impl Partition {
    /// Keeps everything that can be moved off these CPUs.
    ///
    /// # Errors
    /// Why it cannot be; then nothing is changed.
    pub fn make(cpus: &CpuList) -> Result<Self, String> {
        possible()?;
        clean_up()?;
        let others = Host::live()
            .online_cpus()
            .map_err(|error| error.to_string())?
            .without(cpus);
        if others.is_empty() {
            return Err(format!("cpu {cpus} is all there is: nothing else could run"));
        }
        let journal = Journal::open(Path::new(JOURNAL)).map_err(|error| error.to_string())?;
        // Dropped when something is refused: then it is taken back.
        let mut this = Self {
            journal,
            cpus: cpus.clone(),
            moved: 0,
            stayed: BTreeSet::new(),
        };
        let memory = fs::read_to_string(format!("{ROOT}/cpuset.mems")).map_err(|error| format!("{ROOT}: {error}"))?;
        let group = format!("{ROOT}/{OTHERS}");
        let operations = [
            Operation::folder(&group),
            Operation::write(format!("{group}/cpuset.mems"), memory.trim()),
            Operation::write(format!("{group}/cpuset.cpus"), others.to_string()),
            Operation::write(format!("{ROOT}/cpuset.sched_load_balance"), "0"),
        ];
        let applied = apply(&Machine::live(), &mut this.journal, GROUP, &operations);
        let applied = applied.map_err(|error| error.to_string())?;
        applied.iter().try_for_each(held)?;
        for _ in 0..TIMES {
            this.stayed.clear();
            match this.move_others() {
                0 => break,
                moved => this.moved += moved,
            }
        }
        Ok(this)
    }

    /// Moves what may run everywhere; how many were moved.
    fn move_others(&mut self) -> usize {
        let own = std::process::id();
        let all: CpuList = sys::thread::online_cpus();
        let into = format!("{ROOT}/{OTHERS}/tasks");
        let mut moved = 0;
        for thread in threads(ROOT).into_iter().filter(|thread| !is_of(*thread, own)) {
            let Ok(allowed) = sys::thread::affinity_of(thread) else {
                continue;
            };
            if allowed.iter().all(|cpu| !self.cpus.contains(cpu)) {
                continue;
            }
            // Its owner has said where it runs: it is not to lose that.
            let is_free = all.without(&allowed).is_empty();
            match is_free.then(|| fs::write(&into, thread.to_string())) {
                Some(Ok(())) => moved += 1,
                _ => self.stayed.extend(name(thread)),
            }
        }
        moved
    }

    /// What was kept apart, and what stayed.
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact {
            group: GROUP.to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: ROOT.to_owned(),
        };
        vec![
            fact("kept apart", format!("cpu {}", self.cpus)),
            fact("threads moved", self.moved.to_string()),
            fact("threads that may run there and stayed", in_short(&self.stayed)),
        ]
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // What cannot be taken back stays in the journal, for whoever starts next.
        let _ = taken_back(&mut self.journal);
    }
}

fn held(applied: &Applied) -> Result<(), String> {
    match &applied.outcome {
        Outcome::Done | Outcome::Unchanged => Ok(()),
        Outcome::RolledBack(why) | Outcome::Refused(why) | Outcome::Stuck(why) => {
            Err(format!("{}: {why}", applied.target))
        }
    }
}

/// Threads back into the top group, then the changes of the journal.
fn taken_back(journal: &mut Journal) -> Result<(), String> {
    let group = format!("{ROOT}/{OTHERS}");
    for _ in 0..TIMES {
        let threads = threads(&group);
        if threads.is_empty() {
            break;
        }
        for thread in threads {
            // ESRCH: it has ended.
            let _ = fs::write(format!("{ROOT}/tasks"), thread.to_string());
        }
    }
    let undone = undo(&Machine::live(), journal).map_err(|error| error.to_string())?;
    undone.iter().try_for_each(held)
}

fn threads(group: &str) -> Vec<u32> {
    let text = fs::read_to_string(format!("{group}/tasks")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn is_of(thread: u32, process: u32) -> bool {
    PathBuf::from(format!("/proc/{process}/task/{thread}")).exists()
}

/// Without what tells kernel workers of one kind apart.
fn name(thread: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{thread}/stat")).ok()?;
    ThreadStat::parse(&stat).map(|stat| stat.name)
}

/// `3: a, b, c`
pub(crate) fn in_short(names: &BTreeSet<String>) -> String {
    let some: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
    match names.len() {
        0 => "none".to_owned(),
        many if many > MOST_NAMED => format!("{many}: {} and {} more", some.join(", "), many - MOST_NAMED),
        few => format!("{few}: {}", some.join(", ")),
    }
}
