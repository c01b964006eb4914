//! Limits that can never judge anything: no kind of series has their name.

use super::{Limit, Profile};
use model::kind;

/// Similarity (Jaro-Winkler, 0 to 1) from which another name is suggested.
const ALIKE: f64 = 0.7;

impl Profile {
    /// Texts about limits whose series cannot exist, each with the kind of series that may have been meant.
    pub fn unmatched(&self) -> Vec<String> {
        self.limits.iter().filter_map(unmatched).collect()
    }
}

fn unmatched(limit: &Limit) -> Option<String> {
    let families = || limit.series.alternatives().map(family);
    if families().any(can_be) {
        return None;
    }
    let nearest = families().find_map(nearest);
    let meant = nearest.map_or_else(String::new, |name| format!("; {name}/* may be meant"));
    Some(format!(
        "{} judges nothing: no series is called {}{meant}",
        limit.id,
        limit.series.as_str()
    ))
}

/// The part of a pattern before the first slash.
fn family(pattern: &str) -> &str {
    pattern.split('/').next().unwrap_or(pattern)
}

fn can_be(family: &str) -> bool {
    family.contains('*') || kind::ALL.iter().any(|kind| kind.name == family)
}

fn nearest(family: &str) -> Option<&'static str> {
    let likeness = |name: &str| strsim::jaro_winkler(name, family);
    let names = kind::ALL.iter().map(|kind| kind.name);
    let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|name| likeness(name) >= ALIKE)
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn limits_of_no_kind_are_named_with_the_nearest() {
        let limit = |id: &str, series: &str| {
            format!(
                "[[limit]]\nid = \"{id}\"\nseries = \"{series}\"\nquantity = \"max\"\nallowed = \"1ms\"\nsource = \"test\"\n"
            )
        };
        let text = ["name = \"site\"\nwhat = \"test\"\n".to_owned()]
            .into_iter()
            .chain([
                limit("a", "wakup/*"),
                limit("b", "*/cpu1"),
                limit("c", "xyz/*|age/*"),
                limit("d", "qqqq/*"),
            ])
            .collect::<String>();
        let found = Profile::parse(&text, "test").expect("a profile").unmatched();
        assert_eq!(
            found,
            [
                "a judges nothing: no series is called wakup/*; wakeup/* may be meant",
                "d judges nothing: no series is called qqqq/*",
            ]
        );
        for name in Profile::embedded_names() {
            assert!(Profile::find(name).expect("embedded").unmatched().is_empty(), "{name}");
        }
    }
}
