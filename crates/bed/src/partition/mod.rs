//! Reserves CPUs of this machine during a measurement, by CPU sets of control groups.
//!
//! Threads of the top group without affinity are moved into a group with the other CPUs. This process is in the top group in the meantime, and uses
//! all CPUs. Each change is first written to a journal, so that the next process can undo the changes of a killed one.

mod version1;
mod version2;

use host::{Host, ThreadStat};
use model::Fact;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use tune::{Applied, Journal, JournalError, Operation, Outcome, Target, TunedMachine, apply, undo};
use units::{CpuList, Refusal, refusal};
use version1::Version1;
use version2::Version2;

/// The group with the other CPUs.
const OTHERS: &str = "triptime-others";

/// Journal of the changes. It is valid for this boot only.
const JOURNAL: &str = "/run/triptime-partition.journal";

/// Number of passes to move the threads of a group, because they may start new ones during a pass.
const TIMES: usize = 20;

/// Largest number of names in a message.
const MOST_NAMED: usize = 8;

/// Inventory group of a partition's facts.
const GROUP: &str = "partition of control groups";

/// Reserved CPUs. Dropping it undoes all changes.
#[derive(Debug)]
pub struct Partition {
    sets: Box<dyn Sets>,
    journal: Journal,
    /// The file that moves this process back to its group.
    home: Option<PathBuf>,
    cpus: CpuList,
    moved: usize,
    /// Groups that keep their CPUs, with the reason.
    spared: BTreeSet<String>,
    /// Names of threads that could not be moved.
    stayed: BTreeSet<String>,
}

/// CPU sets in one version of control groups.
trait Sets: Debug {
    /// The top group.
    fn root(&self) -> &Path;

    /// Name of a group's file that lists its members.
    fn members(&self) -> &'static str;

    /// Effect on load balancing, in words.
    fn balancing(&self) -> &'static str;

    /// True if this machine uses this version for CPU sets.
    fn is_here(&self) -> bool;

    /// Checks that this process can reserve CPUs with them.
    ///
    /// # Errors
    /// The reason why not.
    fn possible(&self) -> Result<(), Refusal>;

    /// Moves this process to the top group; returns the file that moves it back.
    ///
    /// # Errors
    /// The move is not possible.
    fn enter(&self) -> Result<Option<PathBuf>, Refusal> {
        Ok(None)
    }

    /// Operations that keep all processes outside the top group off `cpus`, and make the group of the `others`.
    ///
    /// # Errors
    /// A file that cannot be read.
    fn change(&self, cpus: &CpuList, others: &CpuList) -> Result<Change, Refusal>;
}

/// Change of the groups.
#[derive(Debug, Default)]
struct Change {
    operations: Vec<Operation>,
    /// Groups that keep their CPUs, with the reason.
    spared: BTreeSet<String>,
}

fn all_versions() -> [Box<dyn Sets>; 2] {
    [Box::new(Version1), Box::new(Version2::default())]
}

/// The version that has CPU sets on this machine.
fn found() -> Result<Box<dyn Sets>, Refusal> {
    let here = all_versions().into_iter().find(|sets| sets.is_here());
    let sets = here.ok_or("control groups have no CPU sets here (cpuset): boot with isolcpus=")?;
    sets.possible()?;
    match rustix::process::geteuid().is_root() {
        true => Ok(sets),
        false => Err("only root can move other processes: start it as root".into()),
    }
}

/// Checks that a partition is possible on this machine.
///
/// # Errors
/// The reason why not.
pub fn possible() -> Result<(), Refusal> {
    found().map(|_| ())
}

/// Undoes the changes of a killed process. A partition in use stays.
///
/// # Errors
/// Changes that could not be undone.
pub fn clean_up() -> Result<(), Refusal> {
    if !Path::new(JOURNAL).exists() {
        return Ok(());
    }
    match Journal::open(Path::new(JOURNAL)) {
        Ok(mut journal) => taken_back(&mut journal),
        Err(JournalError::Busy { .. }) => Ok(()),
        Err(error) => Err(Refusal::new(error)),
    }
}

impl Partition {
    /// Keeps everything that can be moved off these CPUs.
    ///
    /// # Errors
    /// The reason why this is not possible; then nothing is changed.
    pub fn make(cpus: &CpuList) -> Result<Self, Refusal> {
        let sets = found()?;
        clean_up()?;
        let others = Host::live().online_cpus().map_err(Refusal::new)?.without(cpus);
        if others.is_empty() {
            return Err(refusal!("cpu {cpus} would leave no CPU for anything else"));
        }
        let journal = Journal::open(Path::new(JOURNAL)).map_err(Refusal::new)?;
        let home = sets.enter()?;
        // Dropped after a refusal, which undoes the changes.
        let mut this = Self {
            sets,
            journal,
            home,
            cpus: cpus.clone(),
            moved: 0,
            spared: BTreeSet::new(),
            stayed: BTreeSet::new(),
        };
        let change = this.sets.change(cpus, &others)?;
        this.spared = change.spared;
        let applied = apply(&TunedMachine::live(), &mut this.journal, GROUP, &change.operations);
        let applied = applied.map_err(Refusal::new)?;
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

    /// Moves threads without affinity; returns their number.
    fn move_others(&mut self) -> usize {
        let own = std::process::id();
        let (root, members) = (self.sets.root(), self.sets.members());
        let into = root.join(OTHERS).join(members);
        let mut moved = 0;
        for member in numbers(&root.join(members))
            .into_iter()
            .filter(|member| !is_of(*member, own))
        {
            let Some(allowed) = allowed(member) else { continue };
            if allowed.iter().all(|cpu| !self.cpus.contains(cpu)) {
                continue;
            }
            // Threads with an affinity keep it.
            match is_free(&allowed).then(|| fs::write(&into, member.to_string())) {
                Some(Ok(())) => moved += 1,
                _ => self.stayed.extend(name(member)),
            }
        }
        moved
    }

    /// Facts about the reserved CPUs, and about the threads that stayed.
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact {
            group: GROUP.to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: self.sets.root().display().to_string(),
        };
        vec![
            fact("kept apart", format!("cpu {}", self.cpus)),
            fact("load balancing", self.sets.balancing().to_owned()),
            fact("threads moved", self.moved.to_string()),
            fact("threads that may run there and stayed", in_short(&self.stayed)),
            fact("groups that keep their CPUs", in_short(&self.spared)),
        ]
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // An error is ignored: a change that cannot be undone stays in the journal for the next process.
        let _ = taken_back(&mut self.journal);
        if let Some(home) = &self.home {
            // An error means that the group was removed in the meantime; this process then stays in the top group.
            let _ = fs::write(home, std::process::id().to_string());
        }
    }
}

fn held(applied: &Applied) -> Result<(), Refusal> {
    match &applied.outcome {
        // A value that another process has set since belongs to that process.
        Outcome::Done | Outcome::Unchanged | Outcome::Foreign(_) => Ok(()),
        Outcome::RolledBack(why) | Outcome::Refused(why) | Outcome::Stuck(why) => {
            Err(refusal!("{}: {why}", applied.target))
        }
    }
}

/// Moves threads back into the top group, then undoes the changes of the journal. If another process has made a group below the group of the others,
/// such as a container's, that group stays, with all CPUs, and stays in the journal for the next process.
fn taken_back(journal: &mut Journal) -> Result<(), Refusal> {
    for sets in all_versions() {
        empty(sets.as_ref());
    }
    let undone = undo(&TunedMachine::live(), journal).map_err(Refusal::new)?;
    let restricts = |applied: &&Applied| !matches!(applied.target, Target::Folder(_));
    undone.iter().filter(restricts).try_for_each(held)
}

/// Moves the members of the group of the others back to the top group.
fn empty(sets: &dyn Sets) {
    let (root, members) = (sets.root(), sets.members());
    remove_empty_below(&root.join(OTHERS));
    for _ in 0..TIMES {
        let left = numbers(&root.join(OTHERS).join(members));
        if left.is_empty() {
            return;
        }
        for member in left {
            // ESRCH: the thread has ended.
            let _ = fs::write(root.join(members), member.to_string());
        }
    }
}

/// Removes empty groups below this one: a moved container runtime makes groups and leaves them.
fn remove_empty_below(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    for below in entries.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        remove_empty_below(&below);
        // EBUSY: the group is in use, and is removed later together with its members.
        let _ = fs::remove_dir(&below);
    }
}

/// The numbers in such a file; empty if it does not exist.
fn numbers(path: &Path) -> Vec<u32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The affinity of a thread; `None` if it has ended.
fn allowed(thread: u32) -> Option<CpuList> {
    sys::thread::affinity_of(thread).ok()
}

/// True if a thread with this affinity may run on every CPU.
fn is_free(allowed: &CpuList) -> bool {
    sys::thread::online_cpus().without(allowed).is_empty()
}

fn is_of(thread: u32, process: u32) -> bool {
    PathBuf::from(format!("/proc/{process}/task/{thread}")).exists()
}

/// The name without the part that distinguishes kernel workers of one kind.
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
