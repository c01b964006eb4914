//! Which capabilities a container has.

use crate::capability;

/// Those that docker and containerd give without being asked, which podman and CRI-O give fewer of; none of them decides a rule.
const USUAL: [&str; 11] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FSETID",
    "FOWNER",
    "SETGID",
    "SETUID",
    "SETFCAP",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "SYS_CHROOT",
    "KILL",
];

/// Those of a container that is given `added` and not `dropped`, or everything.
pub(super) fn after(added: &[String], dropped: &[String], privileged: bool) -> Vec<String> {
    if privileged {
        return every();
    }
    let (added, dropped) = (plain(added), plain(dropped));
    let all = |names: &[String]| names.iter().any(|name| name == "ALL");
    let mut held: Vec<String> = match (all(&added), all(&dropped)) {
        (true, _) => every(),
        (_, true) => Vec::new(),
        _ => USUAL.map(str::to_owned).to_vec(),
    };
    held.retain(|name| !dropped.contains(name));
    // What is added by its own name counts beside a `drop: ALL`, and not beside a drop of the same name.
    let named = added
        .into_iter()
        .filter(|name| name != "ALL" && !dropped.contains(name));
    held.extend(named);
    sorted(held)
}

/// As [`after`], of a list that is complete.
pub(super) fn exactly(names: &[String]) -> Vec<String> {
    sorted(plain(names))
}

/// Those of a mask as `/proc/PID/status` has it, as far as anything here speaks of them.
pub(in crate::audit) fn of_mask(mask: &str) -> Option<Vec<String>> {
    Some(capability::of_mask(mask)?.into_iter().map(str::to_owned).collect())
}

fn every() -> Vec<String> {
    sorted(
        USUAL
            .into_iter()
            .chain(capability::names())
            .map(str::to_owned)
            .collect(),
    )
}

/// Without `CAP_`, in capitals: docker takes both.
fn plain(names: &[String]) -> Vec<String> {
    let plain = |name: &String| {
        let name = name.trim().to_ascii_uppercase();
        name.strip_prefix("CAP_").map_or(name.clone(), str::to_owned)
    };
    names.iter().map(plain).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}
