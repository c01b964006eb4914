//! A number of streams that differ only in their numbers.

use crate::spec::StreamSpec;

/// `count` streams like `first`: see [`StreamSpec::numbered`].
pub fn counted(first: &StreamSpec, count: u16) -> Vec<StreamSpec> {
    (0..count).map(|number| first.numbered(number)).collect()
}

/// The `count` streams after `first`: the number at the end of its svID and its destination increase. A svID without a number counts as the first
/// one.
pub fn following(first: &StreamSpec, count: u16) -> Vec<StreamSpec> {
    let name = first.sv_id.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &first.sv_id[name.len()..];
    let width = digits.len();
    let number: u64 = digits.parse().unwrap_or(1);
    let one = |step: u16| StreamSpec {
        sv_id: format!("{name}{:0width$}", number.saturating_add(u64::from(step))),
        destination: StreamSpec::counted_up(first.destination, step),
        ..first.clone()
    };
    (1..=count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{counted, following};
    use crate::spec::StreamSpec;

    #[test]
    fn names_and_destinations_count_on() {
        let ids = |first: &str, count| -> Vec<String> {
            let all = following(&StreamSpec::named(first), count);
            all.into_iter().map(|spec| spec.sv_id).collect()
        };
        assert_eq!(ids("MU09", 2), ["MU10", "MU11"]);
        assert_eq!(ids("BAY", 2), ["BAY2", "BAY3"]);
        assert!(ids("MU01", 0).is_empty());
        let all = counted(&StreamSpec::named("MU"), 3);
        assert_eq!(following(&all[0], 2), all[1..]);
    }
}
