//! CPUs of this machine kept apart from everything else for the length of a measurement, by CPU sets of control groups.
//!
//! The threads of the top group that may run everywhere are moved into a group with the other CPUs. This process is in the top group
//! meanwhile, and uses all CPUs. Each change is in a journal first. The next process that starts takes back what a killed one left.

mod version1;
mod version2;

use host::{Host, ThreadStat};
use model::Fact;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use tune::{Applied, Journal, JournalError, Operation, Outcome, Target, TunedMachine, apply, undo};
use units::CpuList;
use version1::Version1;
use version2::Version2;

/// The group with the other CPUs.
const OTHERS: &str = "triptime-others";

/// Journal of the changes. It is of this boot only.
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
    sets: Box<dyn Sets>,
    journal: Journal,
    /// The file by which this process gets back to its group.
    home: Option<PathBuf>,
    cpus: CpuList,
    moved: usize,
    /// Groups that keep their CPUs, and why.
    spared: BTreeSet<String>,
    /// Threads that stayed, by name.
    stayed: BTreeSet<String>,
}

/// How one version of control groups has CPU sets.
trait Sets: Debug {
    /// The top group.
    fn root(&self) -> &Path;

    /// The file of a group with its members.
    fn members(&self) -> &'static str;

    /// Effect on load balancing, in words.
    fn balancing(&self) -> &'static str;

    /// True if this machine has them by this version.
    fn is_here(&self) -> bool;

    /// Checks that this process can keep others off CPUs by them.
    ///
    /// # Errors
    /// Why not, in words.
    fn possible(&self) -> Result<(), String>;

    /// Has this process in the top group; the file by which it gets back to where it was.
    ///
    /// # Errors
    /// It cannot get there.
    fn enter(&self) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    /// Operations that keep everything off `cpus` that is no member of the top group, and make the group of the `others`.
    ///
    /// # Errors
    /// The file that cannot be read.
    fn change(&self, cpus: &CpuList, others: &CpuList) -> Result<Change, String>;
}

/// Change of the groups.
#[derive(Debug, Default)]
struct Change {
    operations: Vec<Operation>,
    /// Groups that keep their CPUs, and why.
    spared: BTreeSet<String>,
}

fn all_versions() -> [Box<dyn Sets>; 2] {
    [Box::new(Version1), Box::new(Version2::default())]
}

/// The version that has CPU sets here.
fn found() -> Result<Box<dyn Sets>, String> {
    let here = all_versions().into_iter().find(|sets| sets.is_here());
    let sets = here.ok_or("control groups have no CPU sets here (cpuset): boot with isolcpus=")?;
    sets.possible()?;
    match rustix::process::geteuid().is_root() {
        true => Ok(sets),
        false => Err("only root can move other processes: start it as root".to_owned()),
    }
}

/// Checks that there can be one here.
///
/// # Errors
/// Why not, in words.
pub fn possible() -> Result<(), String> {
    found().map(|_| ())
}

/// Takes back what a process left that was killed. One that is in use stays.
///
/// # Errors
/// The changes that could not be taken back.
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
        let sets = found()?;
        clean_up()?;
        let others = Host::live()
            .online_cpus()
            .map_err(|error| error.to_string())?
            .without(cpus);
        if others.is_empty() {
            return Err(format!("cpu {cpus} is all there is: nothing else could run"));
        }
        let journal = Journal::open(Path::new(JOURNAL)).map_err(|error| error.to_string())?;
        let home = sets.enter()?;
        // Dropped when something is refused: then it is taken back.
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
            // Its owner has said where it runs: it is not to lose that.
            match is_free(&allowed).then(|| fs::write(&into, member.to_string())) {
                Some(Ok(())) => moved += 1,
                _ => self.stayed.extend(name(member)),
            }
        }
        moved
    }

    /// Facts about the CPUs that were kept apart, and about the threads that stayed.
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
        // An error is ignored: a change that cannot be taken back stays in the journal, for the next process.
        let _ = taken_back(&mut self.journal);
        if let Some(home) = &self.home {
            // An error: the group has gone meanwhile, and this process with it goes on in the top one.
            let _ = fs::write(home, std::process::id().to_string());
        }
    }
}

fn held(applied: &Applied) -> Result<(), String> {
    match &applied.outcome {
        // A value that somebody else has set since is theirs.
        Outcome::Done | Outcome::Unchanged | Outcome::Foreign(_) => Ok(()),
        Outcome::RolledBack(why) | Outcome::Refused(why) | Outcome::Stuck(why) => {
            Err(format!("{}: {why}", applied.target))
        }
    }
}

/// Threads back into the top group, then the changes of the journal. Below the group of the others may be one that somebody has made
/// meanwhile, such as a container's: then it stays, with all CPUs, in the journal for whoever starts next.
fn taken_back(journal: &mut Journal) -> Result<(), String> {
    for sets in all_versions() {
        empty(sets.as_ref());
    }
    let undone = undo(&TunedMachine::live(), journal).map_err(|error| error.to_string())?;
    let restricts = |applied: &&Applied| !matches!(applied.target, Target::Folder(_));
    undone.iter().filter(restricts).try_for_each(held)
}

/// Has the members of the group of the others in the top one again.
fn empty(sets: &dyn Sets) {
    let (root, members) = (sets.root(), sets.members());
    remove_empty_below(&root.join(OTHERS));
    for _ in 0..TIMES {
        let left = numbers(&root.join(OTHERS).join(members));
        if left.is_empty() {
            return;
        }
        for member in left {
            // ESRCH: it has ended.
            let _ = fs::write(root.join(members), member.to_string());
        }
    }
}

/// Removes the groups in this one that nobody is in: a container runtime that was moved there makes its own, and leaves them.
fn remove_empty_below(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    for below in entries.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        remove_empty_below(&below);
        // EBUSY: somebody is in it. It goes with what is in it.
        let _ = fs::remove_dir(&below);
    }
}

/// The numbers in such a file; none where it is not there.
fn numbers(path: &Path) -> Vec<u32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Where a thread may run; `None`: it has ended.
fn allowed(thread: u32) -> Option<CpuList> {
    sys::thread::affinity_of(thread).ok()
}

/// True if a thread that may run there may run everywhere.
fn is_free(allowed: &CpuList) -> bool {
    sys::thread::online_cpus().without(allowed).is_empty()
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
