//! Divides the real-time CPUs among several containers: no two get the same.

use units::CpuList;

use audit::Audit;
use audit::facts::{Class, Subject};
use audit::finding::Outcome;
use audit::value::{Unknown, Value};

/// Rule that requires separate CPUs for a container.
const RULE: &str = "ctr-cpuset";

/// Replaces, for a container, all real-time CPUs by its own share of those that no domain uses.
pub(super) fn give(audit: &Audit, container: &mut Subject) {
    let asking = parts(audit, |outcome| {
        matches!(outcome, Outcome::Fail | Outcome::Warn | Outcome::Unknown)
    });
    let Some(place) = asking.iter().position(|name| *name == container.name) else {
        return;
    };
    let Ok(Value::Cpus(all)) = audit.facts.get(None, "rt_cpus") else {
        return;
    };
    let of_domains = match audit.facts.get(None, "domains.pinned-cpus") {
        Ok(Value::Cpus(cpus)) => cpus,
        Ok(_) => CpuList::default(),
        Err(unknown) => return container.set("rt_cpus", Err::<CpuList, _>(unknown)),
    };
    let free = all.without(&taken(audit)).without(&of_domains);
    container.set("rt_cpus", share(&free, place, asking.len()));
}

/// Containers with a wanted outcome, without the one in which this process runs: its definition stands for it.
fn parts(audit: &Audit, wanted: impl Fn(Outcome) -> bool) -> Vec<&str> {
    let finding = audit.findings.iter().find(|finding| finding.rule.id == RULE);
    let parts = finding.into_iter().flat_map(|finding| &finding.parts);
    let named = parts.filter(|part| wanted(part.outcome) && !is_running(audit, &part.part));
    named.map(|part| part.part.as_str()).collect()
}

fn is_running(audit: &Audit, name: &str) -> bool {
    let known = audit
        .facts
        .parts(Class::Container)
        .iter()
        .find(|part| part.name == name);
    known.is_some_and(|part| audit.facts.get(Some(part), "ctr.form") == Ok(Value::from("running")))
}

/// CPUs of containers that satisfy the rule.
fn taken(audit: &Audit) -> CpuList {
    let kept = parts(audit, |outcome| outcome == Outcome::Pass);
    let subjects = audit.facts.parts(Class::Container).iter();
    let of = |part: &Subject| match audit.facts.get(Some(part), "ctr.cpus") {
        Ok(Value::Cpus(cpus)) => cpus,
        _ => CpuList::default(),
    };
    let cpus = subjects.filter(|part| kept.contains(&part.name.as_str())).map(of);
    cpus.flat_map(|cpus| cpus.iter().collect::<Vec<_>>()).collect()
}

/// An equal share for each, in order; the first ones get the remainder.
fn share(free: &CpuList, place: usize, count: usize) -> Result<CpuList, Unknown> {
    let (each, over) = (free.len() / count, free.len() % count);
    if each == 0 {
        return Err(Unknown::unclear(format!(
            "{count} containers have {} real-time CPUs between them that no other container or domain uses: name more with --cpus",
            free.len()
        )));
    }
    let first = place * each + place.min(over);
    let own = each + usize::from(place < over);
    Ok(free.iter().skip(first).take(own).collect())
}

#[cfg(test)]
mod tests {
    use super::share;
    use units::CpuList;

    #[test]
    fn no_cpu_is_given_twice() {
        let free: CpuList = "2-6".parse().expect("CPUs");
        let of = |place, count| share(&free, place, count).map(|cpus| cpus.to_string());
        assert_eq!(of(0, 1), Ok("2-6".to_owned()));
        assert_eq!([of(0, 2), of(1, 2)], [Ok("2-4".to_owned()), Ok("5-6".to_owned())]);
        assert!(of(0, 6).is_err_and(|why| why.text.contains("--cpus")));
    }
}
