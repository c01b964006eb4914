//! Chooses the judged CPUs and the CPUs of everything else, from facts only.

use super::file::Plan;
use super::value::{Cpus, PlanError};
use host::{CpuFacts, Host};
use model::Fact;
use model::fact::JUDGED_CPUS;
use units::CpuList;

/// Inventory group with the CPUs of each role and the reasons. The report reads it.
pub const GROUP: &str = "CPUs of this run";

/// CPUs named on the command line, which override those of the plan.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// CPUs to judge.
    pub measured: Option<CpuList>,
    /// CPUs for loads, recorder and test set.
    pub housekeeping: Option<CpuList>,
}

/// The CPUs of a run, and why these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    /// The device under test: judged.
    pub measured: CpuList,
    /// Loads, recorder, test set.
    pub housekeeping: CpuList,
    /// Reason for the judged CPUs.
    pub why_measured: String,
    /// Reason for the other CPUs.
    pub why_housekeeping: String,
    /// Additional facts: CPUs left alone, roles that share a CPU.
    pub notes: Vec<String>,
    /// CPUs of the recorder: ordinary CPUs that are not judged, or the housekeeping ones.
    pub recorder: CpuList,
    /// The machine that has the device under test and names the judged CPUs itself, if it is not this one.
    pub elsewhere: Option<String>,
}

/// Facts of this machine's CPUs. The kernel reports the CPUs that its cpuset permits.
///
/// # Errors
/// The CPUs online cannot be read.
pub fn live_facts() -> Result<CpuFacts, host::HostError> {
    let mut facts = Host::live().cpu_facts()?;
    let allowed = sys::thread::cpuset_cpus();
    if !allowed.is_empty() {
        facts.cpuset = Some(allowed);
    }
    Ok(facts)
}

impl Plan {
    /// Chooses the CPUs of each role on a machine with these CPUs. By default, the CPUs that are isolated from the kernel's work and have no owner
    /// are judged, and loads stay off them.
    ///
    /// # Errors
    /// A named CPU is not online, or not in this process's cpuset.
    pub fn roles(&self, facts: &CpuFacts, named: &Named) -> Result<Roles, PlanError> {
        let chooser = Chooser {
            plan: &self.name,
            facts,
        };
        let judged = match (&named.measured, &self.cpus.measured) {
            (Some(list), _) => Some((list, "--cpus")),
            (None, Cpus::List(list)) => Some((list, "the plan")),
            _ => None,
        };
        let avoid = judged.map_or_else(CpuList::default, |(list, _)| list.clone());
        let (housekeeping, why_housekeeping) = match (&named.housekeeping, &self.cpus.housekeeping) {
            (Some(list), _) => (
                chooser.checked(list, "--housekeeping")?,
                "named by --housekeeping".to_owned(),
            ),
            (None, Cpus::List(list)) => (
                chooser.checked(list, "[cpus] housekeeping")?,
                "named by the plan".to_owned(),
            ),
            (None, Cpus::First) => chooser.first(&avoid),
            (None, word) => {
                let cpus = chooser.word(word, &CpuList::default(), None, &avoid)?;
                (cpus, "as the plan says".to_owned())
            }
        };
        let (measured, why_measured) = match (judged, &self.cpus.measured) {
            (Some((list, by)), _) => (chooser.checked(list, by)?, format!("named by {by}")),
            (None, Cpus::Rest) => chooser.rest(&housekeeping),
            (None, Cpus::All) => (chooser.all(), "every CPU, as the plan says".to_owned()),
            (None, _) => chooser.first(&CpuList::default()),
        };
        let mut roles = Roles {
            notes: chooser.notes(&measured, &housekeeping),
            recorder: chooser.beside(&measured, &housekeeping),
            measured,
            housekeeping,
            why_measured,
            why_housekeeping,
            elsewhere: None,
        };
        let loads_elsewhere = self.loads_elsewhere(facts, &roles)?;
        roles.notes.extend(loads_elsewhere);
        Ok(roles)
    }

    /// Loads with CPUs of their own in the plan, in words.
    fn loads_elsewhere(&self, facts: &CpuFacts, roles: &Roles) -> Result<Vec<String>, PlanError> {
        let mut words = Vec::new();
        let of_steps = self.steps.iter().flat_map(|step| &step.common.loads);
        for load in self.loads.iter().chain(of_steps) {
            let Some(word) = &load.cpus else { continue };
            if self.seat_of_load(load)?.is_none() {
                words.push(word);
            }
        }
        let mut notes = Vec::new();
        for word in words.into_iter().chain(self.names_management_cpus()) {
            let cpus = self.resolve(word, facts, roles)?;
            let has = |others: &CpuList| cpus.iter().any(|cpu| others.contains(cpu));
            let and = match (has(&roles.measured), has(&facts.siblings(&roles.measured))) {
                (true, _) => ", judged ones among them",
                (false, true) => ", on one core with a judged one",
                (false, false) => "",
            };
            notes.push(format!("cpu {cpus}: carries a load of its own{and}, as the plan says"));
        }
        Ok(notes)
    }

    /// The CPUs that a word of a step or a load selects in a run with these roles.
    ///
    /// # Errors
    /// A named CPU is not online, or not in this process's cpuset.
    pub fn resolve(&self, cpus: &Cpus, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let chooser = Chooser {
            plan: &self.name,
            facts,
        };
        let rest = (self.cpus.measured != Cpus::All).then_some(&roles.measured);
        chooser.word(cpus, &roles.housekeeping, rest, &roles.measured)
    }
}

impl Roles {
    /// The first lines of a run: the CPUs of each role, with the reasons.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            match self.elsewhere {
                None => format!("judged: cpu {}", self.judged()),
                Some(_) => format!("judged: {}", self.judged()),
            },
            format!(
                "loads, recorder, test set: cpu {} ({})",
                self.housekeeping, self.why_housekeeping
            ),
        ];
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// CPUs of the host for this many virtual ones: the judged ones, if there are enough. Otherwise the guest's housekeeping CPU runs on one that is
    /// not judged here, the others on the judged ones. `None` if there are too few.
    pub fn host_cpus(&self, wanted: usize) -> Option<CpuList> {
        let judged = self.measured.clone();
        let with_one_more = self.recorder.iter().take(1).chain(judged.iter()).collect();
        let enough = [judged, with_one_more].into_iter().find(|cpus| cpus.len() >= wanted);
        enough.map(|cpus| cpus.iter().take(wanted).collect())
    }

    fn judged(&self) -> String {
        match &self.elsewhere {
            Some(machine) => format!("CPUs that triptime far names on {machine}"),
            None => format!("{} ({})", self.measured, self.why_measured),
        }
    }

    /// The same as facts for the run file.
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact {
            group: GROUP.into(),
            name: name.into(),
            value: Ok(value),
            source: "plan, command line, /sys/devices/system/cpu, /proc/*/task, cpuset".into(),
        };
        let mut facts = vec![
            fact(JUDGED_CPUS.name, self.judged()),
            fact(
                "loads, recorder, test set",
                format!("{} ({})", self.housekeeping, self.why_housekeeping),
            ),
        ];
        let notes = self.notes.iter().enumerate();
        facts.extend(notes.map(|(at, note)| fact(&format!("note {}", at + 1), note.clone())));
        facts
    }
}

/// Chooses CPUs from the facts for a plan of this name.
struct Chooser<'a> {
    plan: &'a str,
    facts: &'a CpuFacts,
}

impl Chooser<'_> {
    /// Usable CPUs that are neither isolated nor owned.
    fn ordinary(&self) -> CpuList {
        self.unowned().without(&self.facts.kept_free())
    }

    fn unowned(&self) -> CpuList {
        self.facts.usable().without(&self.facts.owned())
    }

    /// The lowest CPU for loads, outside `avoid` if possible.
    fn first(&self, avoid: &CpuList) -> (CpuList, String) {
        let usable = self.facts.usable();
        let kept_free = self.facts.kept_free();
        let choices = [
            (
                self.ordinary(),
                "the lowest that is neither isolated nor owned by another process",
            ),
            (
                usable.without(&kept_free),
                "the lowest that is not isolated; another process owns it",
            ),
            (self.unowned(), "every other CPU is isolated too: the lowest of them"),
            (
                usable,
                "every CPU is isolated and owned by another process: the lowest of them",
            ),
        ];
        let of_those_left = choices.iter().map(|(cpus, why)| (cpus.without(avoid), *why));
        let of_all = choices.iter().map(|(cpus, why)| (cpus.clone(), *why));
        let chosen = of_those_left.chain(of_all).find(|(cpus, _)| !cpus.is_empty());
        let (cpus, why) = chosen.unwrap_or_default();
        let judged = if avoid.is_empty() { &kept_free } else { avoid };
        let apart = self.off_the_cores_of(&self.ordinary(), judged);
        if let Some(lowest) = apart.first().filter(|lowest| cpus.first() != Some(*lowest)) {
            let why = "the lowest that shares no core with a judged one";
            return (CpuList::from_iter([lowest]), why.to_owned());
        }
        let why = match kept_free.is_empty() && self.facts.owners.is_empty() {
            true if avoid.is_empty() => "the lowest",
            true => "the lowest that is not judged",
            false => why,
        };
        (cpus.first().into_iter().collect(), why.to_owned())
    }

    /// CPUs of `cpus` that are not in `others`, and share no core with one of these.
    fn off_the_cores_of(&self, cpus: &CpuList, others: &CpuList) -> CpuList {
        cpus.without(others).without(&self.facts.siblings(others))
    }

    /// CPUs to judge if the plan names none, with the reason.
    fn rest(&self, housekeeping: &CpuList) -> (CpuList, String) {
        let usable = self.facts.usable();
        let kept_free = self.facts.kept_free();
        let isolated = self
            .unowned()
            .without(&usable.without(&kept_free))
            .without(housekeeping);
        if !isolated.is_empty() {
            let why = format!(
                "isolated by {}, and no other process has them",
                self.facts.means(&isolated)
            );
            return (isolated, why);
        }
        let ordinary = if kept_free.is_empty() {
            "every CPU but the housekeeping ones; none is isolated"
        } else {
            "not isolated: the isolated ones are taken"
        };
        let left = self.ordinary().without(housekeeping);
        let apart = self.off_the_cores_of(&left, housekeeping);
        let choices = [
            match apart == left {
                true => (left.clone(), ordinary),
                false => (apart, "every CPU that shares no core with the housekeeping ones"),
            },
            (left, ordinary),
            (
                usable.without(&kept_free).without(housekeeping),
                "every CPU but the housekeeping ones; another process owns some",
            ),
            (self.unowned(), "there is no other CPU"),
            (usable.without(housekeeping), "other processes own every CPU"),
            (usable.clone(), "there is no other CPU"),
        ];
        let chosen = choices.into_iter().find(|(cpus, _)| !cpus.is_empty());
        let (cpus, why) = chosen.unwrap_or_default();
        (cpus, why.to_owned())
    }

    /// Every usable CPU without an owner that is not judged; the lowest one if all are judged.
    fn others(&self, judged: &CpuList) -> CpuList {
        let others = self.unowned().without(judged);
        if others.is_empty() {
            self.first(judged).0
        } else {
            others
        }
    }

    /// Every usable CPU without an owner; every usable one if all are owned.
    fn all(&self) -> CpuList {
        let unowned = self.unowned();
        if unowned.is_empty() {
            self.facts.usable()
        } else {
            unowned
        }
    }

    fn word(
        &self,
        cpus: &Cpus,
        housekeeping: &CpuList,
        rest: Option<&CpuList>,
        judged: &CpuList,
    ) -> Result<CpuList, PlanError> {
        match cpus {
            Cpus::First => Ok(self.first(&CpuList::default()).0),
            Cpus::Rest => Ok(rest.cloned().unwrap_or_else(|| self.rest(housekeeping).0)),
            Cpus::All => Ok(self.all()),
            Cpus::Others => Ok(self.others(judged)),
            Cpus::List(list) => self.checked(list, "cpus"),
        }
    }

    /// The named CPUs, if they can be used.
    fn checked(&self, list: &CpuList, by: &str) -> Result<CpuList, PlanError> {
        let refused = |problem: String| PlanError::Cpu {
            plan: self.plan.to_owned(),
            problem: format!("{by}: {problem}"),
        };
        if list.is_empty() {
            return Err(refused("no CPU is named: write them as 1 or 1-3,5".into()));
        }
        if let Some(cpu) = list.without(&self.facts.online).first() {
            return Err(refused(format!("cpu{cpu}: not online (online: {})", self.facts.online)));
        }
        match list.without(&self.facts.usable()).first() {
            None => Ok(list.clone()),
            Some(cpu) => Err(refused(format!(
                "cpu{cpu}: not in this process's cpuset (it allows {}): choose one of these, or widen the cpuset",
                self.facts.usable()
            ))),
        }
    }

    /// CPUs on which the recorder disturbs least.
    fn beside(&self, measured: &CpuList, housekeeping: &CpuList) -> CpuList {
        let ordinary = self.ordinary();
        let choices = [
            self.off_the_cores_of(&ordinary, measured),
            ordinary.without(measured),
            housekeeping.without(measured),
        ];
        let free = choices.into_iter().find(|cpus| !cpus.is_empty());
        free.unwrap_or_else(|| self.all())
    }

    fn notes(&self, measured: &CpuList, housekeeping: &CpuList) -> Vec<String> {
        let mut notes = Vec::new();
        let shared: CpuList = measured.iter().filter(|cpu| housekeeping.contains(*cpu)).collect();
        if !shared.is_empty() {
            notes.push(format!("cpu {shared}: judged, and carries loads too"));
        }
        notes.extend(self.cores_shared(measured, housekeeping));
        let forbidden = self.facts.forbidden();
        if !forbidden.is_empty() {
            notes.push(format!("cpu {forbidden}: not in this process's cpuset"));
        }
        for cpu in self.facts.usable().iter() {
            if let Some(owner) = self.facts.owner_of(cpu) {
                let what = match (measured.contains(cpu), housekeeping.contains(cpu)) {
                    (true, _) => "judged although it has an owner",
                    (false, true) => "used although it has an owner",
                    (false, false) => "left alone",
                };
                notes.push(format!("cpu {cpu}: {what}: {owner}"));
            }
        }
        if let Some(why) = &self.facts.owners_unknown {
            notes.push(format!("it is not known whether another process owns a CPU: {why}"));
        }
        notes
    }

    /// Judged CPUs that share a core with each other, or with a CPU that carries loads.
    fn cores_shared(&self, measured: &CpuList, housekeeping: &CpuList) -> Vec<String> {
        let together = self.facts.threads_of_one_core(measured).into_iter();
        let mut notes: Vec<String> = together
            .map(|cpus| format!("CPUs {cpus}: judged, but threads of one core, so each slows the other"))
            .collect();
        for cpu in housekeeping.without(measured).iter() {
            let beside = self.facts.siblings(&CpuList::from_iter([cpu]));
            let judged: CpuList = beside.iter().filter(|cpu| measured.contains(*cpu)).collect();
            if !judged.is_empty() {
                notes.push(format!(
                    "cpu {judged}: judged, on one core with cpu {cpu}, which carries loads"
                ));
            }
        }
        if let Some(why) = &self.facts.cores_unknown {
            notes.push(format!("it is not known which CPUs are threads of one core: {why}"));
        }
        notes
    }
}

#[cfg(test)]
mod tests;
