//! The facts about the machine, read a second time at the end of a run.

use super::facts_of;
use model::Fact;
use units::CpuList;

/// Value of a fact that was there at first and is no longer.
const NOT_THERE: &str = "no longer there";

/// The facts of the beginning, and what they are about.
pub(super) struct First {
    facts: Vec<Fact>,
    cpus: CpuList,
    interfaces: Vec<String>,
}

impl First {
    /// Keeps the facts that were read at the beginning for these CPUs and interfaces.
    pub(super) fn of(facts: Vec<Fact>, cpus: CpuList, interfaces: &[String]) -> Self {
        Self {
            facts,
            cpus,
            interfaces: interfaces.to_vec(),
        }
    }

    /// Reads them again; returns those that are different.
    pub(super) fn differences(self) -> Vec<Fact> {
        let last = facts_of(self.cpus, &self.interfaces);
        different(&self.facts, last)
    }
}

fn is_same(one: &Fact, other: &Fact) -> bool {
    one.group == other.group && one.name == other.name
}

/// The last facts that have another value than the first, or none.
fn different(first: &[Fact], last: Vec<Fact>) -> Vec<Fact> {
    let gone = first
        .iter()
        .filter(|fact| !last.iter().any(|other| is_same(fact, other)));
    let gone = gone.map(|fact| Fact {
        value: Err(NOT_THERE.to_owned()),
        ..fact.clone()
    });
    let gone: Vec<Fact> = gone.collect();
    let is_new = |fact: &Fact| {
        let before = first.iter().find(|other| is_same(fact, other));
        before.is_none_or(|before| before.value != fact.value)
    };
    last.into_iter().filter(is_new).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::{NOT_THERE, different};
    use model::Fact;

    fn fact(name: &str, value: Result<&str, &str>) -> Fact {
        Fact {
            group: "clock".to_owned(),
            name: name.to_owned(),
            value: value.map(str::to_owned).map_err(str::to_owned),
            source: "/sys".to_owned(),
        }
    }

    #[test]
    fn facts_with_another_value_new_ones_and_missing_ones_are_different() {
        let first = [
            fact("same", Ok("1")),
            fact("changed", Ok("1")),
            fact("gone", Ok("1")),
            fact("lost", Ok("1")),
        ];
        let last = vec![
            fact("same", Ok("1")),
            fact("changed", Ok("2")),
            fact("lost", Err("denied")),
            fact("new", Ok("3")),
        ];
        let wanted = [
            fact("changed", Ok("2")),
            fact("lost", Err("denied")),
            fact("new", Ok("3")),
            fact("gone", Err(NOT_THERE)),
        ];
        assert_eq!(different(&first, last), wanted);
    }
}
