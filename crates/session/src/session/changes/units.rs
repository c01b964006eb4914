//! Containers and units of systemd, by the control groups of their processes.

use super::Part;
use super::groups::below;
use super::known::{Item, Listing, Tells};
use host::Host;
use host::cgroup::Hierarchy;
use host::reader::Reader;
use model::Subject;
use std::collections::BTreeMap;

/// Beginnings of the names of groups of containers, and the engine.
const ENGINES: [(&str, &str); 8] = [
    ("docker-", "docker"),
    ("libpod-", "podman"),
    ("crio-", "cri-o"),
    ("cri-containerd-", "containerd"),
    ("nerdctl-", "containerd"),
    ("crun-", "crun"),
    ("runc-", "runc"),
    ("lxc.payload.", "lxc"),
];

/// Beginnings of groups beside a container: its monitor.
const BESIDE: [&str; 3] = ["libpod-conmon-", "crio-conmon-", "lxc.monitor."];

/// Beginnings of the names of the process that prepares a container.
const RUNTIMES: [&str; 4] = ["runc", "crun", "youki", "conmon"];

/// Name of this program's process.
const OURS: &str = "triptime";

/// Letters of a container's number that people use.
const SHORT: usize = 12;

/// Length of a container's whole number, in hexadecimal digits.
const WHOLE: usize = 64;

/// Units of logged-in users: they come and go with each login.
const OF_USERS: &str = "/user.slice/";

/// The groups of systemd, with the names of containers that are already known.
#[derive(Default)]
pub(super) struct Units {
    names: BTreeMap<String, String>,
}

impl Part for Units {
    fn name(&self) -> &'static str {
        "units and containers"
    }

    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String> {
        let reader = host.reader();
        let mounts = Hierarchy::read(reader).map_err(|error| error.to_string())?;
        let Some((_, top)) = mounts.mount_of("name=systemd") else {
            return Ok(Some(Listing::new()));
        };
        let mut found = Listing::new();
        for (group, _) in below(reader, &top)? {
            let path = group.strip_prefix(&top).unwrap_or(&group);
            if path.contains(OF_USERS) {
                continue;
            }
            let Some((subject, name)) = kind(path.rsplit('/').next().unwrap_or_default()) else {
                continue;
            };
            let name = match subject {
                Subject::Container => self.with_command(reader, &group, &name),
                _ => Some(name),
            };
            let Some(name) = name else { continue };
            let item = Item {
                name,
                value: "running".to_owned(),
                cpus: None,
                who: None,
                tells: Tells::All,
            };
            found.push(((subject, path.to_owned()), Ok(item)));
        }
        self.names
            .retain(|group, _| found.iter().any(|((_, path), _)| group.ends_with(path.as_str())));
        Ok(Some(found))
    }
}

impl Units {
    /// The name of a container with that of its first process; `None` as long as it runs none of its own, and for a container in which triptime
    /// measures: it is a place of this run, or another measurement.
    fn with_command(&mut self, reader: &Reader, group: &str, name: &str) -> Option<String> {
        if let Some(known) = self.names.get(group) {
            return Some(known.clone());
        }
        let processes = reader
            .line_or_blank(&format!("{group}/cgroup.procs"))
            .unwrap_or_default();
        let first = processes.split_whitespace().next();
        let command = first.and_then(|pid| reader.line(&format!("/proc/{pid}/comm")).ok());
        let is_of_runtime =
            |command: &str| command == OURS || RUNTIMES.iter().any(|runtime| command.starts_with(runtime));
        let command = command.filter(|command| !is_of_runtime(command))?;
        let named = format!("{name} ({command})");
        self.names.insert(group.to_owned(), named.clone());
        Some(named)
    }
}

/// Subject and name of a group with this last name; `None` if it is neither a unit nor a container, or belongs to this run.
fn kind(last: &str) -> Option<(Subject, String)> {
    let own = format!("triptime-{}-", std::process::id());
    if last.starts_with(&own) || BESIDE.iter().any(|beside| last.starts_with(beside)) {
        return None;
    }
    let is_hexadecimal = |text: &str| text.bytes().all(|octet| octet.is_ascii_hexdigit());
    let scope = last.strip_suffix(".scope").unwrap_or(last);
    if scope.len() == WHOLE && is_hexadecimal(scope) {
        return Some((Subject::Container, scope[..SHORT].to_owned()));
    }
    let engine = ENGINES
        .iter()
        .find_map(|(begin, engine)| Some((engine, scope.strip_prefix(begin)?)));
    if let Some((engine, number)) = engine {
        let short = number.get(..SHORT).filter(|_| is_hexadecimal(number)).unwrap_or(number);
        return Some((Subject::Container, format!("{engine} {short}")));
    }
    let foreign = scope.strip_prefix("triptime-").filter(|rest| rest.contains('-'));
    if foreign.is_some_and(|rest| rest.bytes().all(|octet| octet.is_ascii_digit() || octet == b'-')) {
        return Some((Subject::Container, scope.to_owned()));
    }
    last.ends_with(".service").then(|| (Subject::Unit, last.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::{Units, kind};
    use host::Host;
    use model::Subject;
    use std::fs;

    #[test]
    fn groups_are_units_containers_or_neither() {
        let number = "3fa9c1d2e4b5".to_owned() + &"0".repeat(52);
        for (name, wanted) in [
            (
                format!("docker-{number}.scope"),
                Some((Subject::Container, "docker 3fa9c1d2e4b5")),
            ),
            (
                format!("libpod-{number}"),
                Some((Subject::Container, "podman 3fa9c1d2e4b5")),
            ),
            (format!("libpod-conmon-{number}.scope"), None),
            (number.clone(), Some((Subject::Container, "3fa9c1d2e4b5"))),
            ("lxc.payload.relay".to_owned(), Some((Subject::Container, "lxc relay"))),
            (
                "apt-daily.service".to_owned(),
                Some((Subject::Unit, "apt-daily.service")),
            ),
            ("triptime-1-0".to_owned(), Some((Subject::Container, "triptime-1-0"))),
            (format!("triptime-{}-0", std::process::id()), None),
            ("triptime-others".to_owned(), None),
            ("session-4.scope".to_owned(), None),
            ("system.slice".to_owned(), None),
        ] {
            let wanted = wanted.map(|(subject, name)| (subject, name.to_owned()));
            assert_eq!(kind(&name), wanted, "{name}");
        }
    }

    #[test]
    fn a_container_has_the_name_of_its_first_process_and_users_units_are_left_out() {
        let root = tempfile::tempdir().expect("a directory");
        let number = "a".repeat(64);
        let container = format!("sys/fs/cgroup/machine.slice/libpod-{number}.scope");
        for (path, text) in [
            (
                "proc/self/mountinfo".to_owned(),
                "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            (format!("{container}/cgroup.procs"), "77\n78\n"),
            ("proc/77/comm".to_owned(), "relayd\n"),
            (
                format!(
                    "sys/fs/cgroup/machine.slice/docker-{}.scope/cgroup.procs",
                    "b".repeat(64)
                ),
                "79\n",
            ),
            ("proc/79/comm".to_owned(), "triptime\n"),
            (
                format!(
                    "sys/fs/cgroup/machine.slice/docker-{}.scope/cgroup.procs",
                    "c".repeat(64)
                ),
                "80\n",
            ),
            ("proc/80/comm".to_owned(), "runc:[2:INIT]\n"),
            (
                "sys/fs/cgroup/system.slice/tuned.service/cgroup.procs".to_owned(),
                "9\n",
            ),
            (
                "sys/fs/cgroup/user.slice/user-0.slice/user@0.service/cgroup.procs".to_owned(),
                "10\n",
            ),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let host = Host::at(root.path()).expect("a tree");
        let found = Units::default().look(&host).expect("read").expect("looked").into_iter();
        let names: Vec<String> = found.map(|(_, item)| item.expect("read").name).collect();
        assert_eq!(names, ["podman aaaaaaaaaaaa (relayd)", "tuned.service"]);
    }
}
