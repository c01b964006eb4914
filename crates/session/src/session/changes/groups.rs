//! CPUs and partitions of control groups.

use super::Part;
use super::known::{Found, Item, Listing, Tells};
use host::Host;
use host::cgroup::Hierarchy;
use host::reader::Reader;
use model::Subject;

/// Deepest groups that are looked at, below the top one.
const DEEPEST: usize = 6;

/// Most groups that are looked at.
const MOST_GROUPS: usize = 2_000;

/// Files of a group: version, name, subject, and the deepest group in which it is watched. The effective CPUs of deeper groups follow from those above.
const FILES: [(u8, &str, Subject, usize); 6] = [
    (1, "cpuset.cpus", Subject::Cpuset, DEEPEST),
    (1, "cpuset.sched_load_balance", Subject::Partition, DEEPEST),
    (2, "cpuset.cpus", Subject::Cpuset, DEEPEST),
    (2, "cpuset.cpus.effective", Subject::Cpuset, 1),
    (2, "cpuset.cpus.partition", Subject::Partition, DEEPEST),
    (2, "cpuset.cpus.isolated", Subject::Partition, 0),
];

/// The control groups that have CPUs of their own.
pub(super) struct Groups;

impl Part for Groups {
    fn name(&self) -> &'static str {
        Subject::Cpuset.word()
    }

    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String> {
        let reader = host.reader();
        let mounts = Hierarchy::read(reader).map_err(|error| error.to_string())?;
        let Some((version, top)) = mounts.mount_of("cpuset") else {
            return Ok(Some(Listing::new()));
        };
        let mut found = Listing::new();
        for (group, depth) in below(reader, &top)? {
            let files = FILES
                .iter()
                .filter(|(of, _, _, deepest)| *of == version && depth <= *deepest);
            found.extend(files.filter_map(|(_, file, subject, _)| item(reader, &top, &group, file, *subject)));
        }
        Ok(Some(found))
    }
}

/// The group `top` and all below it, each with its depth.
pub(super) fn below(reader: &Reader, top: &str) -> Result<Vec<(String, usize)>, String> {
    let mut all = vec![(top.to_owned(), 0)];
    let mut next = 0;
    while let Some((group, depth)) = all.get(next).cloned() {
        next += 1;
        if depth == DEEPEST {
            continue;
        }
        // A group that was removed meanwhile has none below it.
        let names = reader.folders(&group).unwrap_or_default();
        all.extend(names.into_iter().map(|name| (format!("{group}/{name}"), depth + 1)));
        if all.len() > MOST_GROUPS {
            return Err(format!("more than {MOST_GROUPS} control groups below {top}"));
        }
    }
    Ok(all)
}

fn item(reader: &Reader, top: &str, group: &str, file: &str, subject: Subject) -> Option<Found> {
    let short = match group.strip_prefix(top).unwrap_or(group).trim_start_matches('/') {
        "" => "top group",
        name => name,
    };
    let value = match reader.line_or_blank(&format!("{group}/{file}")) {
        Ok(value) => Ok(value),
        Err(error) if error.is_gone() => return None,
        Err(error) => Err(error.to_string()),
    };
    let name = format!("{short}: {file}");
    let item = value.map(|value| Item {
        name: name.clone(),
        // Its CPUs are those that leave or join it; all others may get the work.
        cpus: None,
        value: if value.is_empty() { "none".to_owned() } else { value },
        who: None,
        tells: Tells::ValueOnly,
    });
    Some(((subject, name), item))
}
