//! Unique names.

use std::collections::{HashMap, HashSet};

/// Gives out every name only once: if the wanted name is taken, the result has the first free number, `MU01#2`,
/// `MU01#3`…
///
/// The same requests in the same order get the same names. A numbered name is then taken as well, even if it is
/// requested itself later.
#[derive(Debug, Clone, Default)]
pub struct FreeNames {
    taken: HashSet<String>,
    /// The next number to try for a name; all lower ones are taken.
    next: HashMap<String, u64>,
}

impl FreeNames {
    /// The name that [`FreeNames::take`] would give for `wanted`.
    pub fn free(&self, wanted: &str) -> String {
        self.numbered(wanted).0
    }

    /// Gives `wanted`, or the first free name derived from it.
    pub fn take(&mut self, wanted: &str) -> String {
        let (name, next) = self.numbered(wanted);
        if name != wanted {
            self.next.insert(wanted.to_owned(), next);
        }
        self.taken.insert(name.clone());
        name
    }

    /// The free name with its number, and the next number to try.
    fn numbered(&self, wanted: &str) -> (String, u64) {
        if !self.taken.contains(wanted) {
            return (wanted.to_owned(), 2);
        }
        let mut number = self.next.get(wanted).copied().unwrap_or(2);
        loop {
            let name = format!("{wanted}#{number}");
            number += 1;
            if !self.taken.contains(&name) {
                return (name, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FreeNames;
    use proptest::prelude::{any, proptest};
    use std::collections::HashSet;

    #[test]
    fn a_name_that_looks_like_a_numbered_one_is_numbered_itself() {
        let mut names = FreeNames::default();
        let given: Vec<String> = ["MU01", "MU01", "MU01#2", "MU01", "MU01#3"]
            .map(|name| names.take(name))
            .into();
        assert_eq!(given, ["MU01", "MU01#2", "MU01#2#2", "MU01#3", "MU01#3#2"]);
        assert_eq!(names.free("MU01"), "MU01#4");
        assert_eq!(names.free("MU02"), "MU02");
    }

    proptest! {
        #[test]
        fn no_two_are_given_the_same(wanted in proptest::collection::vec("[ab](#[23]){0,3}", 0..60), again in any::<bool>()) {
            let mut names = FreeNames::default();
            let mut given: Vec<String> = wanted.iter().map(|name| names.take(name)).collect();
            if again {
                given.extend(wanted.iter().map(|name| names.take(name)));
            }
            let distinct: HashSet<&String> = given.iter().collect();
            assert_eq!(distinct.len(), given.len(), "{given:?}");
        }
    }
}
