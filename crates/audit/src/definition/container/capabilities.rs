//! Capabilities of a container.

use crate::value::Unknown;
use host::capability;

/// Capabilities that docker and containerd grant by default; podman and CRI-O grant fewer. None of them decides a rule.
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

/// Programs that set up a container: each applies added and dropped names in a different order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runtime {
    /// Docker and compose. Names that are added are applied after the drops (moby v28.3, oci/caps/utils.go: TweakCapabilities).
    Moby,
    /// A name on both sides is refused, unless all are added or all are dropped (podman 5.8.2 with go.podman.io/common 0.67.1,
    /// pkg/capabilities/capabilities.go: MergeCapabilities, called by pkg/specgen/generate/security_linux.go).
    Podman,
    /// Kubernetes, with CRI-O or containerd. Names that are dropped are applied last (CRI-O, commit 03c46e4,
    /// internal/factory/container/container.go: SpecSetupCapabilities; containerd in the same order: internal/cri/opts/spec_linux_opts.go,
    /// WithCapabilities).
    Kubernetes,
}

/// Capabilities of a container after `added` and `dropped`; every capability if it is privileged.
///
/// # Errors
/// The runtime refuses these two lists.
pub(super) fn after(
    runtime: Runtime,
    added: &[String],
    dropped: &[String],
    privileged: bool,
) -> Result<Vec<String>, Unknown> {
    if privileged {
        return Ok(every());
    }
    let (added, dropped) = (plain(added), plain(dropped));
    match runtime {
        Runtime::Moby => Ok(sorted(by_moby(&added, &dropped))),
        Runtime::Podman => match refused_by_podman(&added, &dropped).first() {
            Some(name) => Err(Unknown::unclear(clash(name))),
            None => Ok(sorted(by_podman(&added, &dropped))),
        },
        Runtime::Kubernetes => Ok(sorted(by_kubernetes(&added, &dropped))),
    }
}

fn has_all(names: &[String]) -> bool {
    names.iter().any(|name| name == "ALL")
}

fn without(mut held: Vec<String>, dropped: &[String]) -> Vec<String> {
    held.retain(|name| !dropped.contains(name));
    held
}

fn named(names: &[String]) -> impl Iterator<Item = String> {
    names.iter().filter(|name| *name != "ALL").cloned()
}

fn by_moby(added: &[String], dropped: &[String]) -> Vec<String> {
    let usual = match (has_all(added), has_all(dropped)) {
        (true, _) => return without(every(), dropped),
        (_, true) => Vec::new(),
        _ => without(usual(), dropped),
    };
    usual.into_iter().chain(named(added)).collect()
}

/// Reasons why podman does not start a container with these lists.
pub(super) fn refused(added: &[String], dropped: &[String], privileged: bool) -> Vec<String> {
    match privileged {
        true => Vec::new(),
        false => refused_by_podman(added, dropped)
            .iter()
            .map(|name| clash(name))
            .collect(),
    }
}

fn clash(name: &str) -> String {
    format!("{name} is added and dropped: podman refuses that, and the container does not start")
}

/// With all added, each dropped name counts; with all dropped, only added names count.
fn by_podman(added: &[String], dropped: &[String]) -> Vec<String> {
    match (has_all(added), has_all(dropped)) {
        (_, true) => named(added).collect(),
        (true, _) => without(every(), dropped),
        _ => without(usual(), dropped).into_iter().chain(named(added)).collect(),
    }
}

/// Names on both sides, in capitals without `CAP_`, because of which podman refuses the lists of a container. Of lists with ALL, that is only ALL itself.
pub fn refused_by_podman(added: &[String], dropped: &[String]) -> Vec<String> {
    let (added, dropped) = (plain(added), plain(dropped));
    let has_all = has_all(&added) || has_all(&dropped);
    let both = added.into_iter().filter(|name| dropped.contains(name));
    sorted(both.filter(|name| !has_all || name == "ALL").collect())
}

fn by_kubernetes(added: &[String], dropped: &[String]) -> Vec<String> {
    let given = match (has_all(added), has_all(dropped)) {
        (_, true) => Vec::new(),
        (true, _) => every(),
        _ => usual(),
    };
    without(given.into_iter().chain(named(added)).collect(), dropped)
}

fn usual() -> Vec<String> {
    USUAL.map(str::to_owned).to_vec()
}

/// Same as [`after`], for a complete list.
pub(super) fn exactly(names: &[String]) -> Vec<String> {
    sorted(plain(names))
}

/// Capabilities of a mask in the form of `/proc/PID/status`, as far as rules use them.
pub(crate) fn of_mask(mask: &str) -> Option<Vec<String>> {
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

/// Name in capitals without `CAP_`: docker accepts both forms.
/// Name of a capability in capitals without `CAP_`.
pub fn bare_capability(name: &str) -> String {
    let name = name.trim().to_ascii_uppercase();
    name.strip_prefix("CAP_").map_or(name.clone(), str::to_owned)
}

fn plain(names: &[String]) -> Vec<String> {
    names.iter().map(|name| bare_capability(name)).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}
