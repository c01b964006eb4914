//! Settings of the network interfaces on which a run measures.

use super::Part;
use super::known::{Item, Listing, Tells};
use host::Host;
use model::{Fact, Subject};
use std::collections::BTreeSet;
use sys::ethtool::Monitor;

/// Looks between two questions to the drivers, where the kernel gives no notices of changes: some drivers ask their card for each answer.
const LOOKS_PER_QUESTION: u64 = 10;

/// Looks between two questions where it does: packet steering, queueing disciplines and indirection tables change without a notice.
const LOOKS_WITHOUT_NOTICE: u64 = 60;

/// Beginnings of the names of facts that are no settings: they name the device, or events and other changes tell them.
const NO_SETTINGS: [&str; 6] = ["interrupt", "carrier", "kind", "firmware", "driver", "state"];

/// The fact with the features that are on, and those that repeat some of them by shorter names.
const FEATURES: &str = "features on";
const SHORT_NAMES: [&str; 5] = ["gro", "gro-hw", "lro", "tso", "gso"];

/// The interfaces of a run, in the network namespace of the watching thread.
pub(super) struct Cards {
    interfaces: Vec<String>,
    monitor: Option<Monitor>,
    looks: u64,
    /// Settings that a driver told at least once.
    told: BTreeSet<String>,
}

impl Cards {
    /// Watches these interfaces, if there are any.
    pub(super) fn new(interfaces: Vec<String>) -> Self {
        Self {
            monitor: (!interfaces.is_empty()).then(Monitor::open).and_then(Result::ok),
            interfaces,
            looks: 0,
            told: BTreeSet::new(),
        }
    }

    /// Asks the drivers. A setting that a driver never tells is left out; one that it does not tell now stays as it was.
    fn ask(&mut self) -> Listing {
        let facts = host::nic::facts_of(&self.interfaces);
        let mut found = Listing::new();
        for fact in facts.iter().filter(|fact| is_setting(fact)) {
            let interface = fact.group.strip_prefix("nic ").unwrap_or(&fact.group);
            match (fact.name.as_str(), &fact.value) {
                (FEATURES, Ok(on)) => self.features(interface, on, &mut found),
                (name, value) => self.setting(&format!("{interface}: {name}"), value.as_ref(), &mut found),
            }
        }
        found
    }

    fn setting(&mut self, name: &str, value: Result<&String, &String>, found: &mut Listing) {
        let key = (Subject::Nic, name.to_owned());
        match value {
            Ok(value) => {
                self.told.insert(name.to_owned());
                found.push((key, Ok(item(name.to_owned(), value))));
            }
            Err(why) if self.told.contains(name) => found.push((key, Err(format!("{name}: {why}")))),
            Err(_) => {}
        }
    }

    /// Each feature that is on, and each that was on before.
    fn features(&mut self, interface: &str, on: &str, found: &mut Listing) {
        let prefix = format!("{interface}: feature ");
        let now: BTreeSet<String> = on
            .split_whitespace()
            .filter(|word| *word != "none")
            .map(|feature| format!("{prefix}{feature}"))
            .collect();
        self.told.extend(now.iter().cloned());
        for name in self.told.iter().filter(|name| name.starts_with(&prefix)) {
            let word = if now.contains(name) { "on" } else { "off" };
            found.push(((Subject::Nic, name.clone()), Ok(item(name.clone(), word))));
        }
    }
}

fn item(name: String, value: &str) -> Item {
    Item {
        name,
        value: value.to_owned(),
        cpus: None,
        who: None,
        tells: Tells::All,
    }
}

fn is_setting(fact: &Fact) -> bool {
    !NO_SETTINGS.iter().any(|begin| fact.name.starts_with(begin)) && !SHORT_NAMES.contains(&fact.name.as_str())
}

impl Part for Cards {
    fn name(&self) -> &'static str {
        Subject::Nic.word()
    }

    fn look(&mut self, _host: &Host) -> Result<Option<Listing>, String> {
        if self.interfaces.is_empty() {
            return Ok(Some(Listing::new()));
        }
        let has_heard = self.monitor.as_mut().map(Monitor::has_heard);
        let is_due = is_due(self.looks, has_heard);
        self.looks += 1;
        // Where nobody asked, nothing is known: a later find dates from the last question.
        Ok(is_due.then(|| self.ask()))
    }
}

/// True if the drivers are asked at the look with this number, from 0. `has_heard` is `None` where the kernel gives no notices.
fn is_due(look: u64, has_heard: Option<bool>) -> bool {
    match has_heard {
        Some(has_heard) => has_heard || look.is_multiple_of(LOOKS_WITHOUT_NOTICE),
        None => look.is_multiple_of(LOOKS_PER_QUESTION),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cards, Listing, is_due};

    fn values(found: &Listing) -> Vec<(&str, &str)> {
        let known = found.iter().filter_map(|(_, item)| item.as_ref().ok());
        known.map(|item| (item.name.as_str(), item.value.as_str())).collect()
    }

    #[test]
    fn drivers_are_asked_after_a_notice_and_from_time_to_time_without_one() {
        let asked = |has_heard| (0..=120).filter(|look| is_due(*look, has_heard)).collect::<Vec<u64>>();
        assert_eq!(asked(Some(false)), [0, 60, 120]);
        assert_eq!(asked(Some(true)).len(), 121);
        assert_eq!(asked(None).len(), 13);
    }

    #[test]
    fn a_feature_that_was_switched_off_is_off_and_a_silent_driver_is_left_out() {
        let mut cards = Cards::new(Vec::new());
        let mut first = Listing::new();
        cards.features("eth1", "rx-gro tx-checksum", &mut first);
        assert_eq!(
            values(&first),
            [("eth1: feature rx-gro", "on"), ("eth1: feature tx-checksum", "on")]
        );
        let mut second = Listing::new();
        cards.features("eth1", "tx-checksum", &mut second);
        assert_eq!(values(&second)[0], ("eth1: feature rx-gro", "off"));
        let (known, silent) = ("512 of 4096".to_owned(), "the driver does not say".to_owned());
        let mut rings = Listing::new();
        cards.setting("eth1: rx-ring", Err(&silent), &mut rings);
        assert!(rings.is_empty(), "never told");
        cards.setting("eth1: rx-ring", Ok(&known), &mut rings);
        cards.setting("eth1: rx-ring", Err(&silent), &mut rings);
        assert_eq!(
            (rings.len(), values(&rings)),
            (2, vec![("eth1: rx-ring", "512 of 4096")])
        );
    }
}
