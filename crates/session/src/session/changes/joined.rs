//! The changes of one look: like ones as one, each with its probable cause.

use super::known::Difference;
use model::{Change, Subject};
use std::collections::BTreeMap;
use units::{CpuList, Monotonic};

/// Most items with the same change that are told one by one.
const MOST_ALIKE: usize = 3;

/// Most names in one change.
const MOST_NAMED: usize = 5;

/// Subjects that may be the cause of other changes of the same look, the most probable first, and the verb for their beginning.
const CAUSES: [(Subject, &str); 6] = [
    (Subject::Tuned, "was applied"),
    (Subject::Guest, "started"),
    (Subject::Container, "started"),
    (Subject::Service, "started"),
    (Subject::Unit, "started"),
    (Subject::Nic, "changed"),
];

/// The changes of one look. `hints` name causes that are there all the time, by the subject that they change; `at_ns` converts instants to ns since the run's start.
pub(super) fn joined(
    found: &[Difference],
    hints: &[(Subject, String)],
    at_ns: impl Fn(Monotonic) -> u64,
) -> Vec<Change> {
    let causes = causes(found);
    let who = |difference: &Difference| {
        let hint = || hints.iter().find(|(subject, _)| *subject == difference.subject);
        let own = difference.who().map(str::to_owned);
        own.or_else(|| cause(difference, &causes))
            .or_else(|| hint().map(|(_, text)| text.clone()))
    };
    let changes = found.iter().map(|difference| Change {
        since_ns: at_ns(difference.since),
        at_ns: at_ns(difference.at),
        subject: difference.subject,
        name: difference.name().to_owned(),
        before: difference.before.as_ref().map(|item| item.value.clone()),
        after: difference.after.as_ref().map(|item| item.value.clone()),
        who: who(difference),
        cpus: difference.cpus(),
        place: None,
    });
    alike(changes.collect())
}

/// The changes of this look that may have caused others.
fn causes(found: &[Difference]) -> Vec<(Subject, String)> {
    let of = |(subject, verb): (Subject, &'static str)| {
        // A guest whose CPUs changed did not start; a profile or card that changed is what may act.
        let is_new = move |one: &&Difference| one.before.is_none() || matches!(subject, Subject::Tuned | Subject::Nic);
        let begun = found
            .iter()
            .filter(move |one| one.subject == subject && one.after.is_some())
            .filter(is_new);
        let named = begun.map(move |one| {
            let what = match subject {
                Subject::Nic => one.name().to_owned(),
                Subject::Tuned => "the profile of TuneD".to_owned(),
                _ => format!("{} {}", subject.word(), one.name()),
            };
            (subject, format!("{what} {verb} in the same second"))
        });
        named.collect::<Vec<_>>()
    };
    CAUSES.into_iter().flat_map(of).collect()
}

/// The most probable cause of a change: one that comes before it in the list. Work that comes or goes is not caused by a setting.
fn cause(difference: &Difference, causes: &[(Subject, String)]) -> Option<String> {
    let rank = |subject: Subject| CAUSES.iter().position(|(known, _)| *known == subject);
    let own = rank(difference.subject).unwrap_or(CAUSES.len());
    let fits = |(subject, _): &&(Subject, String)| rank(*subject).is_some_and(|rank| rank < own);
    let is_work = !difference.subject.is_setting();
    let found = causes.iter().find(fits).filter(|_| !is_work);
    found.map(|(_, text)| text.clone())
}

/// Joins changes of the same subject that have the same values and cause, if there are many.
fn alike(changes: Vec<Change>) -> Vec<Change> {
    let key = |change: &Change| {
        (
            change.subject,
            change.before.clone(),
            change.after.clone(),
            change.who.clone(),
        )
    };
    let mut groups: BTreeMap<_, Vec<Change>> = BTreeMap::new();
    for change in changes {
        groups.entry(key(&change)).or_default().push(change);
    }
    let joined = |group: Vec<Change>| match group.len() > MOST_ALIKE {
        true => vec![one(&group)],
        false => group,
    };
    groups.into_values().flat_map(joined).collect()
}

/// One change in place of many alike.
fn one(group: &[Change]) -> Change {
    let names: Vec<&str> = group.iter().map(|change| change.name.as_str()).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let listed = names[..names.len() - more].join(", ");
    let cpus: Option<Vec<&CpuList>> = group.iter().map(|change| change.cpus.as_ref()).collect();
    Change {
        since_ns: group.iter().map(|change| change.since_ns).min().unwrap_or(0),
        name: match more {
            0 => listed,
            more => format!("{listed} and {more} more"),
        },
        cpus: cpus.map(|cpus| cpus.into_iter().flat_map(CpuList::iter).collect()),
        ..group[0].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::{Difference, Item, Tells};
    use super::joined;
    use model::Subject;
    use units::Monotonic;

    fn difference(subject: Subject, name: &str, before: Option<&str>, after: Option<&str>, cpu: u32) -> Difference {
        let item = |value: &str| Item {
            name: name.to_owned(),
            value: value.to_owned(),
            cpus: Some([cpu].into_iter().collect()),
            who: None,
            tells: Tells::All,
        };
        Difference {
            subject,
            since: Monotonic::from_ns(10),
            at: Monotonic::from_ns(20),
            before: before.map(item),
            after: after.map(item),
        }
    }

    fn at_ns(at: Monotonic) -> u64 {
        u64::try_from(at.as_ns()).expect("positive")
    }

    #[test]
    fn an_interrupt_that_moved_when_a_guest_started_names_the_guest() {
        let found = vec![
            difference(
                Subject::Interrupt,
                "47 (ens2f0-rx-3)",
                Some("CPU 0"),
                Some("CPU 12"),
                12,
            ),
            difference(Subject::Guest, "relay-02", None, Some("pid 7"), 3),
        ];
        let changes = joined(&found, &[], at_ns);
        let who = |subject| {
            let of = changes.iter().find(|change| change.subject == subject);
            of.expect("a change").who.clone()
        };
        assert_eq!(
            who(Subject::Interrupt).as_deref(),
            Some("guest relay-02 started in the same second")
        );
        assert_eq!(who(Subject::Guest), None);
    }

    #[test]
    fn a_cause_that_was_not_seen_stays_unknown() {
        let found = vec![
            difference(Subject::Interrupt, "47", Some("CPU 0"), Some("CPU 12"), 12),
            difference(Subject::Guest, "relay-02", Some("pid 7"), None, 3),
        ];
        assert!(joined(&found, &[], at_ns).iter().all(|change| change.who.is_none()));
        let hint = [(Subject::Interrupt, "irqbalance (pid 9) runs".to_owned())];
        let hinted = joined(&found, &hint, at_ns);
        assert_eq!(hinted[0].who.as_deref(), Some("irqbalance (pid 9) runs"));
        assert_eq!(hinted[1].who, None, "of another subject");
    }

    #[test]
    fn a_guest_that_moved_did_not_start_and_a_profile_that_changed_was_applied() {
        let moved = difference(Subject::Interrupt, "47", Some("CPU 0"), Some("CPU 12"), 12);
        let who = |other| joined(&[moved.clone(), other], &[], at_ns)[0].who.clone();
        assert_eq!(
            who(difference(Subject::Guest, "relay-02", Some("CPU 1"), Some("CPU 2"), 2)),
            None
        );
        let tuned = difference(Subject::Tuned, "profile", Some("balanced"), Some("realtime"), 0);
        let told = "the profile of TuneD was applied in the same second";
        assert_eq!(who(tuned).as_deref(), Some(told));
    }

    #[test]
    fn many_alike_are_one_with_all_their_cpus() {
        let all = (0..8).map(|cpu| {
            difference(
                Subject::Frequency,
                &format!("CPU {cpu}"),
                Some("performance"),
                Some("powersave"),
                cpu,
            )
        });
        let changes = joined(&all.collect::<Vec<_>>(), &[], at_ns);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].name, "CPU 0, CPU 1, CPU 2, CPU 3, CPU 4 and 3 more");
        assert_eq!(
            changes[0].cpus.as_ref().map(ToString::to_string).as_deref(),
            Some("0-7")
        );
        assert_eq!((changes[0].since_ns, changes[0].at_ns), (10, 20));
    }
}
