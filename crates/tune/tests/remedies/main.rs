//! Every remedy of every recorded machine, applied to a copy of it: the finding that required it is gone, no new one appears, and no rule
//! passes because it sees less.

mod effective;
mod guests;
mod modules;
mod readers;
#[path = "../../../audit/tests/recorded/mod.rs"]
mod recorded;
#[expect(dead_code, reason = "the texts of findings are compared elsewhere")]
#[path = "../../../audit/tests/told/mod.rs"]
mod told;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use audit::Audit;
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;
use recorded::{copy, machines};
use tempfile::TempDir;
use tune::{self, Journal, Operation, Target, TuneStep, TunedMachine};

/// Other rules that a remedy also satisfies: the remedy, the rule, and the reason.
const ALSO_RIGHT: [(&str, &str, &str); 7] = [
    (
        "irq-nic-affinity",
        "nic-channels",
        "each queue's interrupt has its CPU then",
    ),
    (
        "irq-nic-affinity",
        "nic-flow-steering",
        "each queue's interrupt has its CPU then",
    ),
    ("nic-channels", "nic-flow-steering", "all frames come to one queue then"),
    (
        "irq-default-affinity",
        "nic-channels",
        "each queue's interrupt is on a housekeeping CPU then",
    ),
    (
        "irq-default-affinity",
        "nic-flow-steering",
        "each queue's interrupt is on a housekeeping CPU then",
    ),
    (
        "cpu-isolated",
        "background-jobs-contained",
        "no job is put on an isolated CPU, whichever jobs there are",
    ),
    (
        "irq-default-affinity",
        "irq-affinity-durable",
        "the default is what the interrupts have then",
    ),
];

/// A copy of a recorded machine that may be changed.
struct Twin {
    folder: TempDir,
    parameters: Parameters,
}

/// Outcomes by rule and part.
type Outcomes = BTreeMap<(String, String), Outcome>;

impl Twin {
    fn of(machine: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(machine, folder.path());
        Self {
            parameters: told::parameters(folder.path()),
            folder,
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn host(&self) -> Host {
        Host::at(&self.root()).expect("a tree")
    }

    fn audit(&self) -> Audit {
        audit::audit(&self.host(), &self.parameters, &[])
    }

    fn outcomes(&self) -> Outcomes {
        let parts = self.audit().findings.into_iter().flat_map(|finding| {
            let id = finding.rule.id.clone();
            let parts = finding.parts.into_iter();
            parts.map(move |part| ((id.clone(), part.part), part.outcome))
        });
        parts.collect()
    }

    /// Does the kernel's part of an operation. Returns false if a copy of a machine cannot: threads and drivers are not in a tree.
    fn perform(&self, step: &TuneStep) -> bool {
        let (files, others): (Vec<Operation>, Vec<Operation>) = step
            .operations
            .iter()
            .cloned()
            .partition(|one| matches!(one.target, Target::File(_) | Target::Folder(_)));
        let mut journal = Journal::open(&self.folder.path().join("journal")).expect("a journal");
        let choices: Vec<(PathBuf, String)> = files.iter().filter_map(|one| self.choice(one)).collect();
        let applied =
            tune::apply(&TunedMachine::at(&self.root()), &mut journal, &step.check, &files).expect("a journal");
        for (place, shown) in choices {
            fs::write(place, shown).expect("a file");
        }
        // The kernel creates the files of a group; a tree lacks them.
        applied.iter().all(is_done) && others.iter().all(|one| self.other(one))
    }

    /// New content of a kernel file that shows all words, with the chosen one in brackets.
    fn choice(&self, operation: &Operation) -> Option<(PathBuf, String)> {
        let Target::File(path) = &operation.target else {
            return None;
        };
        let place = self.root().join(path.trim_start_matches('/'));
        let text = fs::read_to_string(&place).ok().filter(|text| text.contains('['))?;
        let words = text.split_whitespace().map(|word| word.trim_matches(['[', ']']));
        let shown: Vec<String> = words
            .map(|word| match word == operation.value {
                true => format!("[{word}]"),
                false => word.to_owned(),
            })
            .collect();
        Some((place, shown.join(" ") + "\n"))
    }

    fn other(&self, operation: &Operation) -> bool {
        let Target::Swap(area) = &operation.target else {
            return false;
        };
        let place = self.root().join("proc/swaps");
        let text = fs::read_to_string(&place).expect("swaps");
        let kept = text.lines().filter(|line| !line.starts_with(area.as_str()));
        let kept: String = kept.map(|line| format!("{line}\n")).collect();
        fs::write(place, kept).expect("swaps");
        true
    }
}

fn is_done(one: &tune::Applied) -> bool {
    matches!(one.outcome, tune::Outcome::Done | tune::Outcome::Unchanged)
}

fn is_open(outcome: Option<&Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Fail | Outcome::Warn))
}

/// True if a rule passes now and did not before. A part that is gone and was unknown is no evidence.
fn is_relieved(was: &Outcome, is: Option<&Outcome>) -> bool {
    match was {
        Outcome::Fail | Outcome::Warn => matches!(is, None | Some(Outcome::Pass | Outcome::NotApplicable)),
        Outcome::Unknown => matches!(is, Some(Outcome::Pass | Outcome::NotApplicable)),
        _ => false,
    }
}

/// Rank of an outcome, the worst highest.
fn rank(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Fail => 2,
        Outcome::Warn => 1,
        _ => 0,
    }
}

/// Rules that pass after `remedy` without a reason of their own.
fn blinded(remedy: &[&str], before: &Outcomes, after: &Outcomes) -> Vec<String> {
    let is_meant = |id: &str| {
        let mut known = ALSO_RIGHT.iter();
        remedy.contains(&id) || known.any(|(other, rule, _)| *rule == id && remedy.contains(other))
    };
    let others = before.iter().filter(|((id, _), _)| !is_meant(id));
    let now = others.map(|(place, was)| (place, was, after.get(place)));
    now.filter(|(_, was, is)| is_relieved(was, *is))
        .map(|((id, part), was, is)| format!("{remedy:?}: {id} {part} was {was:?} and is {is:?}"))
        .collect()
}

/// Findings that became worse.
fn worse(before: &Outcomes, after: &Outcomes) -> Vec<String> {
    let known = after
        .iter()
        .filter_map(|(place, is)| Some((place, before.get(place)?, is)));
    let worse = known.filter(|(_, was, is)| rank(is) > rank(was));
    worse
        .map(|((id, part), was, is)| format!("{id} {part} was {was:?} and is {is:?}"))
        .collect()
}

/// Applies the remedies one after the other, on one copy of each machine.
#[test]
fn what_is_changed_on_the_running_machine_mends_its_own_finding_and_blinds_no_rule() {
    let (mut wrong, mut mended) = (Vec::new(), 0);
    for machine in machines() {
        let twin = Twin::of(&machine);
        let name = machine.file_name().expect("a name").display().to_string();
        let audit = twin.audit();
        let first = twin.outcomes();
        let mut before = first.clone();
        for step in tune::plan(&twin.host(), &audit, &[]).steps {
            // An earlier remedy may have made the same change.
            let plan = tune::plan(&twin.host(), &twin.audit(), std::slice::from_ref(&step.check));
            let Some(step) = plan.steps.first().filter(|step| !step.operations.is_empty()) else {
                continue;
            };
            let is_whole = twin.perform(step);
            let after = twin.outcomes();
            let found = blinded(&[&step.check], &before, &after);
            wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
            let open = after
                .iter()
                .filter(|((id, _), is)| *id == step.check && is_open(Some(is)));
            for ((_, part), is) in open.filter(|_| is_whole && step.unclear.is_none()) {
                let done: Vec<String> = step.operations.iter().map(ToString::to_string).collect();
                wrong.push(format!("{name}: {} {part} is still {is:?} after {done:?}", step.check));
            }
            mended += usize::from(is_whole);
            before = after;
        }
        let worse = worse(&first, &before);
        wrong.extend(worse.into_iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(mended > 15, "{mended}");
}

/// Rules that judge threads, which a tree does not restart: the rule, and the program that restarts them properly.
const OF_THREADS: [(&str, &str); 2] = [
    ("rcu-nocbs", "the kernel starts a thread for the callbacks of each CPU"),
    ("tasks-off-rt-cpus", "every service starts on these CPUs"),
];

fn emitted(audit: &Audit, only: &[String], kind: &str) -> String {
    tune::emit(audit, only, kind).unwrap_or_default()
}

/// Settings in a text, without comments.
fn has_settings(text: &str) -> bool {
    text.lines()
        .any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The closed loop: a machine after a change, its files, the next boot, the audit again. Returns the number of findings that are gone.
fn closed(kinds: &[&str], change: fn(&mut Twin)) -> usize {
    let (mut wrong, mut mended) = (Vec::new(), 0);
    for machine in machines() {
        let mut twin = Twin::of(&machine);
        change(&mut twin);
        let name = machine.file_name().expect("a name").display().to_string();
        let (audit, before) = (twin.audit(), twin.outcomes());
        let claimed: Vec<&str> = audit
            .findings
            .iter()
            .map(|finding| finding.rule.id.as_str())
            .filter(|id| {
                kinds
                    .iter()
                    .any(|kind| has_settings(&emitted(&audit, &[(*id).to_owned()], kind)))
            })
            .collect();
        let files: Vec<(&str, String)> = kinds.iter().map(|kind| (*kind, emitted(&audit, &[], kind))).collect();
        twin.boot(&files);
        let after = twin.outcomes();
        wrong.extend(worse(&before, &after).into_iter().map(|what| format!("{name}: {what}")));
        wrong.extend(
            blinded(&claimed, &before, &after)
                .into_iter()
                .map(|what| format!("{name}: {what}")),
        );
        let is_shown = |id: &str| claimed.contains(&id) && !OF_THREADS.iter().any(|(rule, _)| *rule == id);
        for ((id, part), is) in after.iter().filter(|((id, _), _)| is_shown(id)) {
            match is_open(Some(is)) {
                true => wrong.push(format!("{name}: {id} {part} is still {is:?}")),
                false => mended += 1,
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    mended
}

/// Files of systemd, and of programs that it starts.
#[test]
fn what_is_emitted_for_the_next_boot_mends_its_findings_and_brings_none() {
    let mended = closed(&["kernel-args", "sysctl", "systemd", "ansible"], |_| {});
    assert!(mended > 20, "{mended}");
}

#[test]
fn a_profile_of_tuned_mends_its_findings_and_brings_none() {
    let mended = closed(&["tuned"], |_| {});
    assert!(mended > 20, "{mended}");
}

#[test]
fn rules_of_udev_mend_their_findings_and_bring_none() {
    let mended = closed(&["udev"], |_| {});
    assert!(mended > 5, "{mended}");
}

/// No recorded machine has guests that need it, so each gets some.
#[test]
fn options_of_modules_mend_their_findings_and_bring_none() {
    let mended = closed(&["modprobe"], guests::bring);
    assert!(mended > 20, "{mended}");
}
