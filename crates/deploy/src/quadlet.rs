//! A container as a podman quadlet: a unit file for systemd.

use std::fmt::Write;

use crate::{CAPABILITIES, RUNS};

/// Settings that a check of the audit requests for a quadlet: lines of a unit file, each section after its name in brackets.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The check's name.
    pub check: String,
    /// Title of the check.
    pub title: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// Description of a unit.
#[derive(Debug, Clone)]
pub struct QuadletSpec<'a> {
    /// Name of the unit and of the container.
    pub name: &'a str,
    /// Image, by name and tag.
    pub image: &'a str,
    /// Words after `triptime`.
    pub words: &'a [String],
    /// Folder of the host for run files.
    pub runs: &'a str,
    /// Its network.
    pub network: UnitNetwork<'a>,
    /// Settings that the rules for containers request.
    pub settings: &'a [Setting],
}

/// Network of a quadlet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitNetwork<'a> {
    /// `host`, `none`, or a network that exists.
    Named(&'a str),
    /// A new network, made by the settings of the rules: macvlan on an interface of the host.
    OfRules,
}

/// A unit file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitFile {
    /// Its name in `/etc/containers/systemd`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The rule with the network's settings.
const NETWORK_RULE: &str = "ctr-network-path";

/// The unit of the container, and the unit of its network if the rules make one.
pub fn quadlet(spec: &QuadletSpec<'_>) -> Vec<UnitFile> {
    let is_made = spec.network == UnitNetwork::OfRules;
    let asked = spec
        .settings
        .iter()
        .filter(|setting| is_made || setting.check != NETWORK_RULE);
    let asked: Vec<(&Setting, Vec<Section>)> = asked.map(|setting| (setting, sections(&setting.lines))).collect();
    let mut container = section("Container", &own(spec));
    add(&mut container, "Container", &asked);
    let mut service = section("Service", &["Type=oneshot".to_owned(), folder(spec.runs)]);
    add(&mut service, "Service", &asked);
    let unit = section(
        "Unit",
        &[format!(
            "Description=triptime {}",
            spec.words.join(" ").replace('%', "%%")
        )],
    );
    let mut files = vec![UnitFile {
        name: format!("{}.container", spec.name),
        text: [unit, container, service].join("\n"),
    }];
    let mut network = String::new();
    add(&mut network, "Network", &asked);
    if !network.is_empty() {
        files.push(UnitFile {
            name: "process-bus.network".to_owned(),
            text: format!("[Network]\nNetworkName=process-bus\n{network}"),
        });
    }
    files
}

/// Lines that belong to no rule. They drop all capabilities first, so that the container only has those that later lines add.
fn own(spec: &QuadletSpec<'_>) -> Vec<String> {
    let mut lines = vec![
        format!("Image={}", spec.image),
        format!("ContainerName={}", spec.name),
        format!(
            "Exec={}",
            spec.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        ),
        // Labelled for SELinux as the container's own; without SELinux the label has no effect.
        format!("Volume={}:{RUNS}:Z", spec.runs.replace('%', "%%")),
        "ReadOnly=true".to_owned(),
        "NoNewPrivileges=true".to_owned(),
        "AddDevice=/dev/cpu_dma_latency".to_owned(),
        "DropCapability=ALL".to_owned(),
        format!("AddCapability={}", CAPABILITIES.join(" ")),
    ];
    if let UnitNetwork::Named(name) = spec.network {
        lines.push(format!("Network={name}"));
    }
    lines
}

/// Makes the host's folder: podman refuses a volume whose source does not exist (status 125).
fn folder(runs: &str) -> String {
    format!("ExecStartPre=/usr/bin/mkdir -p {}", quoted(runs))
}

/// A word of a command line in a unit file (systemd.syntax(7)), quoted if necessary and without specifiers.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@+".contains(c);
    let escaped = word.replace('%', "%%");
    match !word.is_empty() && word.chars().all(plain) {
        true => escaped,
        false => format!(
            "\"{}\"",
            escaped.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        ),
    }
}

type Section = (String, Vec<String>);

/// Lines grouped by section, without the rule's comments and without capabilities, which are written once for all rules.
fn sections(lines: &[String]) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    for line in lines.iter().filter(|line| !line.starts_with('#')) {
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        match (name, found.last_mut()) {
            (Some(name), _) => found.push((name.to_owned(), Vec::new())),
            (None, Some((_, lines))) if !is_of_capabilities(line) => lines.push(line.clone()),
            _ => {}
        }
    }
    found
}

fn is_of_capabilities(line: &str) -> bool {
    line.starts_with("AddCapability=") || line.starts_with("DropCapability=")
}

fn section(name: &str, lines: &[String]) -> String {
    format!("[{name}]\n{}\n", lines.join("\n"))
}

/// Adds the lines of a section, with a comment above each check that names it.
fn add(out: &mut String, name: &str, asked: &[(&Setting, Vec<Section>)]) {
    for (setting, sections) in asked {
        let lines = sections
            .iter()
            .filter(|(section, _)| section == name)
            .flat_map(|(_, lines)| lines);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "# {}: {}\n{}", setting.check, setting.title, lines.join("\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{QuadletSpec, Setting, UnitNetwork, quadlet};

    fn settings() -> Vec<Setting> {
        let of = |check: &str, lines: &[&str]| Setting {
            check: check.to_owned(),
            title: format!("{check} in words"),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        vec![
            of("ctr-cpuset", &["[Container]", "PodmanArgs=--cpuset-cpus=2-3"]),
            of(
                "ctr-capabilities",
                &["[Container]", "AddCapability=SYS_NICE", "DropCapability=NET_ADMIN"],
            ),
            of("ctr-no-cpu-quota", &["[Service]", "CPUQuota="]),
            of(
                "ctr-network-path",
                &[
                    "# a file",
                    "[Network]",
                    "Driver=macvlan",
                    "# the container",
                    "[Container]",
                    "Network=process-bus.network",
                ],
            ),
        ]
    }

    fn units(network: UnitNetwork<'_>) -> Vec<super::UnitFile> {
        quadlet(&QuadletSpec {
            name: "triptime",
            image: "localhost/triptime:0.1.0",
            words: &["wakeup".into(), "--label".into(), "100 % \"fit\"".into()],
            runs: "/var/lib/triptime",
            network,
            settings: &settings(),
        })
    }

    #[test]
    fn settings_stand_in_their_sections_and_capabilities_once() {
        let files = units(UnitNetwork::OfRules);
        insta::assert_snapshot!(
            files
                .iter()
                .map(|file| format!("# {}\n{}", file.name, file.text))
                .collect::<Vec<_>>()
                .join("\n")
        );
    }

    #[test]
    fn a_network_by_name_takes_the_place_of_the_rules() {
        let files = units(UnitNetwork::Named("host"));
        assert_eq!(files.len(), 1);
        assert!(files[0].text.contains("Network=host\n") && !files[0].text.contains("process-bus"));
    }
}
