//! The state of one part of the machine as it was last read, and its differences from a new reading.

use model::Subject;
use std::collections::{BTreeMap, BTreeSet};
use units::{CpuList, Monotonic};

/// Identity of an item: its subject, and a text that no other item of this subject has.
pub(super) type Key = (Subject, String);

/// A setting, thread, guest… as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Its name for a person.
    pub(super) name: String,
    /// Its value.
    pub(super) value: String,
    /// CPUs that it concerns; `None`: all, or not known.
    pub(super) cpus: Option<CpuList>,
    /// Cause of its presence, as far as it can be seen: the parent of a process.
    pub(super) who: Option<String>,
    /// The changes of it that matter.
    pub(super) tells: Tells,
}

/// The changes of an item that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// Another value, its beginning and its end.
    All,
    /// Another value, and its beginning. It stays known after its end, so that it begins with another value or not at all.
    NoEnd,
    /// Another value only.
    ValueOnly,
}

/// An item that was found, or the reason why its value cannot be read.
pub(super) type Found = (Key, Result<Item, String>);

/// All items of a part.
pub(super) type Listing = Vec<Found>;

/// A difference between two looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) subject: Subject,
    /// The last look at which it was as before.
    pub(super) since: Monotonic,
    /// The look that found it changed.
    pub(super) at: Monotonic,
    pub(super) before: Option<Item>,
    pub(super) after: Option<Item>,
}

impl Difference {
    /// The item as it was, or as it is.
    fn any(&self) -> &Item {
        let either = self.after.as_ref().or(self.before.as_ref());
        either.expect("a difference has an item before or after")
    }

    pub(super) fn name(&self) -> &str {
        &self.any().name
    }

    pub(super) fn who(&self) -> Option<&str> {
        self.any().who.as_deref()
    }

    /// CPUs before and after; `None` if either is not known.
    pub(super) fn cpus(&self) -> Option<CpuList> {
        let each = [self.before.as_ref(), self.after.as_ref()].into_iter().flatten();
        let lists: Option<Vec<&CpuList>> = each.map(|item| item.cpus.as_ref()).collect();
        lists.map(|lists| lists.into_iter().flat_map(CpuList::iter).collect())
    }
}

/// Everything known about a part.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Each item with the instant at which it was last read.
    items: BTreeMap<Key, (Item, Monotonic)>,
    /// Items that exist and were never read.
    unread: BTreeSet<Key>,
    /// Instant of the last listing; `None` before the first.
    listed: Option<Monotonic>,
}

impl Known {
    /// Takes a new listing, and returns its differences. An item whose value cannot be read now stays as it was; `cannot_read` gets the reason.
    pub(super) fn compare(
        &mut self,
        listing: Listing,
        now: Monotonic,
        cannot_read: &mut impl FnMut(String),
    ) -> Vec<Difference> {
        let listed = self.listed.replace(now);
        let mut there = BTreeSet::new();
        let mut differences = Vec::new();
        for (key, read) in listing {
            there.insert(key.clone());
            match read {
                Ok(item) => differences.extend(self.take(key, item, listed, now)),
                Err(why) => {
                    cannot_read(why);
                    if !self.items.contains_key(&key) {
                        self.unread.insert(key);
                    }
                }
            }
        }
        differences.extend(self.without(&there, now));
        differences
    }

    /// Takes the value of one item.
    fn take(&mut self, key: Key, item: Item, listed: Option<Monotonic>, now: Monotonic) -> Option<Difference> {
        let subject = key.0;
        let was_unread = self.unread.remove(&key);
        let (before, since) = match self.items.insert(key, (item.clone(), now)) {
            Some((before, _)) if before.value == item.value => return None,
            Some((before, since)) => (Some(before), since),
            None if was_unread || item.tells == Tells::ValueOnly => return None,
            None => (None, listed?),
        };
        Some(Difference {
            subject,
            since,
            at: now,
            before,
            after: Some(item),
        })
    }

    /// Removes the items that are no longer there.
    fn without(&mut self, there: &BTreeSet<Key>, now: Monotonic) -> Vec<Difference> {
        self.unread.retain(|key| there.contains(key));
        let gone: Vec<Key> = self.items.keys().filter(|key| !there.contains(*key)).cloned().collect();
        let mut differences = Vec::new();
        for key in gone {
            if self.items[&key].0.tells == Tells::NoEnd {
                continue;
            }
            let Some((before, since)) = self.items.remove(&key) else {
                continue;
            };
            if before.tells == Tells::All {
                differences.push(Difference {
                    subject: key.0,
                    since,
                    at: now,
                    before: Some(before),
                    after: None,
                });
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, Found, Item, Known, Tells};
    use model::Subject;
    use units::Monotonic;

    fn item(name: &str, value: &str, tells: Tells) -> Found {
        let item = Item {
            name: name.to_owned(),
            value: value.to_owned(),
            cpus: None,
            who: None,
            tells,
        };
        ((Subject::Sysctl, name.to_owned()), Ok(item))
    }

    fn looks(listings: Vec<Vec<Found>>) -> Vec<Vec<Difference>> {
        let mut known = Known::default();
        let at = (1..).map(Monotonic::from_ns);
        let looks = listings.into_iter().zip(at);
        looks
            .map(|(listing, at)| known.compare(listing, at, &mut |_| ()))
            .collect()
    }

    fn values(difference: &Difference) -> (i64, Option<&str>, Option<&str>) {
        let value = |item: &'_ Option<Item>| item.as_ref().map(|item| item.value.clone());
        let leak = |text: Option<String>| text.map(|text| &*text.leak());
        (
            difference.since.as_ns(),
            leak(value(&difference.before)),
            leak(value(&difference.after)),
        )
    }

    #[test]
    fn what_was_there_at_first_is_no_change_and_a_value_is_told_with_its_last_look() {
        let found = looks(vec![
            vec![item("a", "1", Tells::All)],
            vec![item("a", "1", Tells::All), item("b", "7", Tells::All)],
            vec![item("a", "2", Tells::All)],
        ]);
        assert!(found[0].is_empty());
        assert_eq!(found[1].iter().map(values).collect::<Vec<_>>(), [(1, None, Some("7"))]);
        assert_eq!(
            found[2].iter().map(values).collect::<Vec<_>>(),
            [(2, Some("1"), Some("2")), (2, Some("7"), None)]
        );
    }

    #[test]
    fn an_item_that_cannot_be_read_stays_as_it_was() {
        let refused = || ((Subject::Sysctl, "a".to_owned()), Err("refused".to_owned()));
        let found = looks(vec![
            vec![item("a", "1", Tells::All)],
            vec![refused()],
            vec![item("a", "2", Tells::All)],
        ]);
        assert!(found[1].is_empty());
        assert_eq!(
            found[2].iter().map(values).collect::<Vec<_>>(),
            [(1, Some("1"), Some("2"))]
        );
        let never = looks(vec![vec![refused()], vec![item("a", "1", Tells::All)]]);
        assert!(never.concat().is_empty(), "its value before is not known");
    }

    #[test]
    fn an_end_that_does_not_matter_is_not_told_and_the_return_is_if_the_value_differs() {
        let found = looks(vec![
            vec![item("24", "CPU 0", Tells::NoEnd)],
            vec![],
            vec![item("24", "CPU 0", Tells::NoEnd)],
            vec![],
            vec![item("24", "CPU 1", Tells::NoEnd)],
        ]);
        assert!(found[..4].concat().is_empty());
        assert_eq!(
            found[4].iter().map(values).collect::<Vec<_>>(),
            [(3, Some("CPU 0"), Some("CPU 1"))]
        );
        let quiet = looks(vec![vec![], vec![item("g", "0-1", Tells::ValueOnly)], vec![]]);
        assert!(quiet.concat().is_empty());
    }
}
