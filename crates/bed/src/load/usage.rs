//! CPU time of a process group, from `/proc/*/stat` (proc_pid_stat(5)).

/// CPU time used by the members of `group` and by the children they waited for, in ms. The kernel's resolution is a tick of 10 ms.
pub(super) fn group_cpu_ms(group: i32) -> u64 {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return 0;
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let processes = names.filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    // A process may end while we read.
    let stats = processes.filter_map(|id| std::fs::read_to_string(format!("/proc/{id}/stat")).ok());
    stats.filter_map(|stat| ticks_in_group(&stat, group)).sum::<u64>() * (1000 / host::USER_HZ)
}

/// User and system time, including waited-for children (fields 14 to 17), if field 5 is `group`. The name in field 2 may have any characters,
/// including blanks and parentheses.
fn ticks_in_group(stat: &str, group: i32) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let in_group = fields.get(2)?.parse() == Ok(group);
    let ticks = fields
        .get(11..15)?
        .iter()
        .map(|ticks| ticks.parse::<u64>().unwrap_or(0))
        .sum();
    in_group.then_some(ticks)
}

#[cfg(test)]
mod tests {
    use super::ticks_in_group;

    #[test]
    fn fields_are_counted_after_the_name() {
        let stat = "42 (a) b (c) S 1 77 77 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!(ticks_in_group(stat, 77), Some(100));
        assert_eq!(ticks_in_group(stat, 78), None);
        assert_eq!(ticks_in_group("", 77), None);
    }
}
