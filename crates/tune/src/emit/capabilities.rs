//! Capabilities in settings for a container, adapted to those of its definition: some tools replace its lists, some join them, and some
//! refuse a name that is added and dropped.

use serde_json::{Value as Json, json};

pub(super) use audit::bare_capability as bare;
use audit::facts::{Facts, Subject};
use audit::refused_by_podman;
use audit::value::Value;

/// Needed for packet sockets: podman and CRI-O grant it only by name.
const RAW: &str = "NET_RAW";

/// Sets of a bundle that decide what its process may do.
const SETS: [&str; 3] = ["bounding", "effective", "permitted"];

/// Sets that a process without root needs besides. The kernel refuses an ambient capability that is not inheritable and permitted (Linux
/// 6.12, kernel/capability.c and security/commoncap.c).
const KEPT_SETS: [&str; 2] = ["inheritable", "ambient"];

/// Capabilities that a definition adds and drops.
#[derive(Debug, Default)]
pub(super) struct Changes {
    added: Vec<String>,
    dropped: Vec<String>,
    argument_added: Vec<String>,
    argument_dropped: Vec<String>,
    refuses_both: bool,
    privileged: bool,
}

impl Changes {
    pub(super) fn of(facts: &Facts, part: &Subject) -> Self {
        let is_set = |name| facts.get(Some(part), name) == Ok(Value::from(true));
        Self {
            added: list(facts, part, "ctr.added"),
            dropped: list(facts, part, "ctr.dropped"),
            argument_added: list(facts, part, "ctr.argument-added"),
            argument_dropped: list(facts, part, "ctr.argument-dropped"),
            refuses_both: is_set("ctr.refuses-both"),
            privileged: is_set("ctr.privileged"),
        }
    }

    /// Names in keys of a quadlet, which an empty value resets.
    fn keys(&self) -> [&[String]; 2] {
        let of = |all: &'_ [String], arguments: &[String]| all.len().saturating_sub(arguments.len());
        [
            &self.added[..of(&self.added, &self.argument_added)],
            &self.dropped[..of(&self.dropped, &self.argument_dropped)],
        ]
    }
}

fn list(facts: &Facts, part: &Subject, name: &str) -> Vec<String> {
    match facts.get(Some(part), name) {
        Ok(Value::List(names)) => names,
        _ => Vec::new(),
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| bare(known) == bare(name))
}

fn without(names: &[String], gone: &[String]) -> Vec<String> {
    names.iter().filter(|name| !has(gone, name)).cloned().collect()
}

/// Both lists, each name once.
fn joined(own: &[String], more: &[String]) -> Vec<String> {
    let mut all = own.to_vec();
    for name in more {
        if !has(&all, name) {
            all.push(name.clone());
        }
    }
    all
}

/// Options for docker: a dropped name that the container's own options add has no effect, and podman refuses it. `leads` is false if the
/// settings of another check contain the lists.
pub(super) fn options(changes: &Changes, lines: Vec<String>, leads: bool) -> Vec<String> {
    let mut out = Vec::new();
    for line in lines {
        let added = line.strip_prefix("--cap-add=");
        let dropped = line.strip_prefix("--cap-drop=");
        let other = match (added, dropped) {
            (_, Some(name)) if has(&changes.added, name) => Some(("--cap-add", name)),
            (Some(name), _) if changes.refuses_both && has(&changes.dropped, name) => Some(("--cap-drop", name)),
            _ => None,
        };
        match other {
            Some((option, name)) if leads => out.push(format!(
                "# by hand: take {option}={name} out of the container's options: no further option outweighs it"
            )),
            Some(_) => {}
            None => {
                let ends_privilege = changes.privileged && line == "--privileged=false";
                out.push(line);
                out.extend(ends_privilege.then(|| format!("--cap-add={RAW}")));
            }
        }
    }
    out
}

/// Lines of a quadlet: an empty value resets a list (podman 5, pkg/systemd/parser/unitfile.go, LookupAllStrv), and names in `PodmanArgs=`
/// remain. `leads` as above.
pub(super) fn quadlet(changes: &Changes, lines: Vec<String>, leads: bool) -> Vec<String> {
    let words = |key: &str| {
        let of = lines.iter().filter_map(|line| line.strip_prefix(key));
        of.flat_map(|names| names.split(' ').map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let (adds, drops) = (words("AddCapability="), words("DropCapability="));
    if adds.is_empty() && drops.is_empty() {
        return lines;
    }
    let mut out: Vec<String> = lines
        .into_iter()
        .filter(|line| !line.starts_with("AddCapability=") && !line.starts_with("DropCapability="))
        .collect();
    let [keys_added, keys_dropped] = changes.keys();
    let asked = adds.clone();
    let adds = without(&adds, &changes.argument_dropped);
    let drops_wanted = without(&drops, &changes.added);
    if leads {
        out.extend(list_lines("AddCapability", keys_added, &drops, &adds));
        out.extend(list_lines("DropCapability", keys_dropped, &adds, &drops_wanted));
        let stuck = [
            ("--cap-add", &changes.argument_added, &drops),
            ("--cap-drop", &changes.argument_dropped, &asked),
        ];
        for (option, names, other) in stuck {
            let names = names.iter().filter(|name| has(other, name));
            out.extend(names.map(|name| {
                format!("# by hand: take {option}={name:?} out of PodmanArgs=: no further line takes it back")
            }));
        }
        let refused = refused_by_podman(&changes.added, &changes.dropped).into_iter();
        out.extend(refused.filter(|name| !has(&drops, name) && !has(&asked, name)).map(|name| {
            format!("# by hand: take {name:?} out of the added or out of the dropped capabilities: podman starts no container with both")
        }));
        out.extend(changes.privileged.then(|| {
            "# by hand: take --privileged out of PodmanArgs=, and name the capabilities and devices that the container needs"
                .to_owned()
        }));
    } else if !drops_wanted.is_empty() {
        out.push(format!("DropCapability={}", drops_wanted.join(" ")));
    }
    out
}

/// Lines that add `more` to the list of a key, and reset it first if some of its names must go.
fn list_lines(key: &str, own: &[String], gone: &[String], more: &[String]) -> Vec<String> {
    let line = |names: &[String]| (!names.is_empty()).then(|| format!("{key}={}", names.join(" ")));
    if !own.iter().any(|name| has(gone, name)) {
        return line(more).into_iter().collect();
    }
    let is_name = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let kept = without(own, gone).into_iter().filter(is_name).collect::<Vec<_>>();
    let reset = std::iter::once(format!("{key}="));
    reset.chain(line(&joined(&kept, more))).collect()
}

/// Lists of a container in a pod, which a patch replaces as a whole (Kubernetes API 1.31, core/v1, Capabilities: `listType=atomic`).
pub(super) fn of_pod(changes: &Changes, container: &mut Json) {
    let Some(lists) = container.pointer_mut("/securityContext/capabilities") else {
        return;
    };
    let (mut adds, drops) = (names(&lists["add"]), names(&lists["drop"]));
    if changes.privileged {
        adds.push(RAW.to_owned());
    }
    let dropped = without(&changes.dropped, &adds);
    let drop = match has(&dropped, "ALL") {
        true => dropped,
        false => joined(&dropped, &drops),
    };
    *lists = json!({"add": joined(&without(&changes.added, &drops), &adds), "drop": drop});
}

/// Sets of a bundle, which the merging tool replaces.
pub(super) fn of_bundle(facts: &Facts, part: &Subject, fragment: &mut Json) {
    let Some(sets) = fragment.pointer_mut("/process/capabilities") else {
        return;
    };
    let own: Vec<Vec<String>> = list(facts, part, "ctr.capability-sets")
        .iter()
        .map(|set| set.split(' ').map(str::to_owned).collect())
        .collect();
    let of = |name: &str| own.iter().find(|set| set[0] == name).map(|set| &set[1..]);
    let gone = ["NET_ADMIN", "SYS_TIME"].map(str::to_owned);
    let wanted = names(&sets["effective"]);
    for name in SETS {
        let kept = without(of(name).unwrap_or_default(), &gone);
        sets[name] = json!(joined(&kept, &wanted));
    }
    let is_handed_on = of("ambient").is_some_and(|names| !names.is_empty());
    for name in KEPT_SETS {
        let Some(own) = of(name) else { continue };
        let kept = without(own, &gone);
        sets[name] = json!(if is_handed_on { joined(&kept, &wanted) } else { kept });
    }
}

fn names(list: &Json) -> Vec<String> {
    let names = list.as_array().into_iter().flatten().filter_map(Json::as_str);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Changes, of_pod, options, quadlet};

    fn texts(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    fn changes(added: &str, dropped: &str, arguments: [&str; 2]) -> Changes {
        let [argument_added, argument_dropped] = arguments.map(texts);
        Changes {
            added: [texts(added), argument_added.clone()].concat(),
            dropped: [texts(dropped), argument_dropped.clone()].concat(),
            argument_added,
            argument_dropped,
            ..Changes::default()
        }
    }

    fn lines() -> Vec<String> {
        [
            "[Container]",
            "AddCapability=SYS_NICE IPC_LOCK",
            "DropCapability=NET_ADMIN SYS_TIME",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    #[test]
    fn a_quadlet_never_adds_and_drops_one_name() {
        for (changes, wanted) in [
            (
                changes("", "", ["", ""]),
                "AddCapability=SYS_NICE IPC_LOCK|DropCapability=NET_ADMIN SYS_TIME",
            ),
            (
                changes("cap_net_admin NET_RAW", "", ["", ""]),
                "AddCapability=|AddCapability=NET_RAW SYS_NICE IPC_LOCK|DropCapability=SYS_TIME",
            ),
            (
                changes("SYS_NICE NET_ADMIN SYS_TIME", "ALL", ["", ""]),
                "AddCapability=|AddCapability=SYS_NICE IPC_LOCK",
            ),
            (
                changes("", "SYS_NICE CHOWN", ["", ""]),
                "AddCapability=SYS_NICE IPC_LOCK|DropCapability=|DropCapability=CHOWN NET_ADMIN SYS_TIME",
            ),
            (
                changes("KILL", "", ["NET_ADMIN", "SYS_NICE"]),
                "AddCapability=IPC_LOCK|DropCapability=SYS_TIME\
                 |# by hand: take --cap-add=\"NET_ADMIN\" out of PodmanArgs=: no further line takes it back\
                 |# by hand: take --cap-drop=\"SYS_NICE\" out of PodmanArgs=: no further line takes it back",
            ),
            // Refused as they stand: the settings decide only names that the check is about.
            (
                changes("NET_ADMIN KILL", "NET_ADMIN cap_kill", ["", ""]),
                "AddCapability=|AddCapability=KILL SYS_NICE IPC_LOCK|DropCapability=SYS_TIME\
                 |# by hand: take \"KILL\" out of the added or out of the dropped capabilities: podman starts no container with both",
            ),
            (
                changes("SYS_NICE", "SYS_NICE", ["KILL", "KILL"]),
                "AddCapability=SYS_NICE IPC_LOCK|DropCapability=|DropCapability=NET_ADMIN SYS_TIME\
                 |# by hand: take \"KILL\" out of the added or out of the dropped capabilities: podman starts no container with both",
            ),
            (
                changes("ALL", "ALL", ["", ""]),
                "AddCapability=SYS_NICE IPC_LOCK|DropCapability=NET_ADMIN SYS_TIME\
                 |# by hand: take \"ALL\" out of the added or out of the dropped capabilities: podman starts no container with both",
            ),
            (
                changes("KILL", "ALL KILL", ["", ""]),
                "AddCapability=SYS_NICE IPC_LOCK|DropCapability=NET_ADMIN SYS_TIME",
            ),
        ] {
            let said = quadlet(&changes, lines(), true);
            assert_eq!(said[1..].join("|"), wanted, "{changes:?}");
        }
        let second = vec!["[Container]".to_owned(), "DropCapability=SYS_TIME".to_owned()];
        let of = |added: &str, leads| quadlet(&changes(added, "", ["", ""]), second.clone(), leads).join("|");
        assert_eq!(of("SYS_TIME", false), "[Container]");
        assert_eq!(of("", false), "[Container]|DropCapability=SYS_TIME");
        assert_eq!(
            of("SYS_TIME KILL", true),
            "[Container]|AddCapability=|AddCapability=KILL"
        );
    }

    #[test]
    fn an_option_without_effect_is_said_instead() {
        let lines = texts("--privileged=false --cap-add=SYS_NICE --cap-drop=NET_ADMIN");
        let mut changes = changes("CAP_NET_ADMIN", "SYS_NICE", ["", ""]);
        let said = options(&changes, lines.clone(), true);
        assert_eq!(said[..2], lines[..2]);
        assert!(
            said[2].starts_with("# by hand: take --cap-add=NET_ADMIN out"),
            "{said:?}"
        );
        (changes.refuses_both, changes.privileged) = (true, true);
        let said = options(&changes, lines, true);
        assert_eq!(said[1], "--cap-add=NET_RAW");
        assert!(
            said[2].starts_with("# by hand: take --cap-drop=SYS_NICE out"),
            "{said:?}"
        );
    }

    #[test]
    fn a_pod_keeps_its_other_names() {
        let of = |changes: &Changes| {
            let lists = json!({"add": ["SYS_NICE", "IPC_LOCK"], "drop": ["NET_ADMIN", "SYS_TIME"]});
            let mut container = json!({"securityContext": {"capabilities": lists}});
            of_pod(changes, &mut container);
            container["securityContext"]["capabilities"].take()
        };
        assert_eq!(
            of(&changes("NET_RAW NET_ADMIN SYS_NICE", "ALL", ["", ""])),
            json!({"add": ["NET_RAW", "SYS_NICE", "IPC_LOCK"], "drop": ["ALL"]})
        );
        assert_eq!(
            of(&changes("", "SYS_NICE MKNOD", ["", ""])),
            json!({"add": ["SYS_NICE", "IPC_LOCK"], "drop": ["MKNOD", "NET_ADMIN", "SYS_TIME"]})
        );
    }
}
