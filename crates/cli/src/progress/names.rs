//! Shortens names of series for narrow terminals.

/// Shortens a name to this many columns by cutting its middle, because names differ at their ends.
pub(super) fn fitted(name: &str, columns: usize) -> String {
    let length = name.chars().count();
    if length <= columns {
        return name.to_owned();
    }
    let ending = columns * 2 / 3;
    let beginning: String = name.chars().take(columns.saturating_sub(ending + 1)).collect();
    let ending: String = name.chars().skip(length - ending).collect();
    format!("{beginning}…{ending}")
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn names_that_differ_at_their_ends_stay_apart() {
        assert_eq!(fitted("wakeup/cpu1", 24), "wakeup/cpu1");
        let long = |n: u32| format!("hop/host.nic-to-guest.taken/IED_bay_{n:02}_MU01");
        let (a, b) = (fitted(&long(1), 24), fitted(&long(2), 24));
        assert_eq!((a.chars().count(), b.chars().count()), (24, 24));
        assert!(a != b && a.starts_with("hop/"), "{a}");
    }
}
