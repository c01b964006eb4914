//! Names from a tree or a definition are quoted for the reader of each file, or refused: no part of them is read as a setting.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::{audit, emit, yaml_documents};
use crate::{KINDS, harms, libvirt_patch, plan};
use audit::Audit;
use audit::facts::Class;
use audit::parameters::Parameters;
use host::Host;

/// Names with a special meaning to a shell, a template, a unit, YAML, XML or a path, and one with every other character.
fn names() -> Vec<String> {
    let known = [
        "",
        ".",
        "..",
        "-rf",
        "/etc/passwd",
        "../../x",
        "a b",
        "$(reboot)",
        "`reboot`",
        "${HOME}",
        "{{ lookup('pipe','id') }}",
        "{% raw %}",
        "%n",
        "%%",
        "a\nb",
        "a\r\nRUN+=\"x\"",
        "\"; reboot; \"",
        "' || reboot '",
        "]]>",
        "--><x/>",
        "a: b",
        "- a",
        "#x",
        "&a",
        "*a",
        "!!x",
        "[Install]",
        "\u{1b}[2J",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{202e}",
        "a=b",
        "a,b",
        "a;b",
        "a\\b",
        "~",
        "null",
        "yes",
        "1e3",
        "0x10",
    ];
    let each = (1..128_u32)
        .filter_map(char::from_u32)
        .filter(|c| !c.is_ascii_alphanumeric());
    known
        .map(str::to_owned)
        .into_iter()
        .chain(each.map(|c| format!("a{c}b")))
        .collect()
}

fn is_plain(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@".contains(c))
}

fn is_service(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Settings without comments: the part that a reader acts on.
fn settings(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#') && !line.starts_with("<!--"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks that a file of `kind` is valid for its reader.
fn is_read(kind: &str, text: &str) -> Result<(), String> {
    match kind {
        "compose" | "kubernetes" => {
            let documents = yaml_documents(text)?;
            let known = ["services", "networks", "apiVersion", "kind", "metadata", "spec"];
            let mut keys = documents.iter().filter_map(Json::as_object).flat_map(|one| one.keys());
            keys.find(|key| !known.contains(&key.as_str()) && !key.ends_with("Policy") && *key != "reservedSystemCPUs")
                .map_or(Ok(()), |key| Err(format!("the key {key}")))
        }
        "ansible" => {
            let tasks = yaml_documents(text)?.remove(0);
            let all = tasks.as_array().ok_or("no list of tasks")?;
            let is_task = |task: &Json| task["name"].is_string() && !task.to_string().contains("{{");
            all.iter()
                .all(is_task)
                .then_some(())
                .ok_or_else(|| "no task".to_owned())
        }
        "oci" => serde_json::from_str::<Json>(text)
            .map(drop)
            .map_err(|error| error.to_string()),
        "libvirt" => {
            let whole = format!("<x>{text}</x>");
            roxmltree::Document::parse(&whole)
                .map(drop)
                .map_err(|error| error.to_string())
        }
        "systemd" | "tuned" | "quadlet" => {
            let is_line = |line: &&str| {
                let key = line.split_once('=').map_or("", |(key, _)| key);
                let is_key = !key.is_empty() && !key.contains(char::is_whitespace);
                line.is_empty()
                    || is_key
                    || line.starts_with("systemctl ")
                    || (line.starts_with('[') && line.ends_with(']'))
            };
            let bare = settings(text);
            let odd = bare.lines().find(|line| !is_line(line));
            odd.map_or(Ok(()), |line| Err(format!("the line {line:?}")))
        }
        _ => Ok(()),
    }
}

/// Everything that is emitted for an audit with a name in it.
fn tried(audit: &Audit, name: &str) {
    for kind in KINDS {
        let text = match emit(audit, &[], kind) {
            Ok(text) if !text.is_empty() => text,
            _ => continue,
        };
        let odd = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(odd, None, "{kind}, {name:?}: {text:?}");
        is_read(kind, &text).unwrap_or_else(|why| panic!("{kind}, {name:?}: {why}:\n{text}"));
        // A short name may occur anywhere by chance.
        let is_there = name.chars().count() > 2 && settings(&text).contains(name);
        let is_taken = is_plain(name) || (kind == "compose" && is_service(name));
        assert!(is_taken || !is_there || name == "a b", "{kind}, {name:?}:\n{text}");
    }
}

#[test]
fn an_interface_is_named_as_it_is_or_not_at_all() {
    let untuned = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/debian-untuned/root");
    let told = Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        nics: vec!["eno1".to_owned()],
        ..Parameters::default()
    };
    let host = Host::at(&untuned).expect("a recorded tree");
    let before = audit::audit(&host, &told, &[]);
    let named = |text: Result<String, String>| text.is_ok_and(|text| text.contains("eno1"));
    for kind in ["udev", "systemd"] {
        let text = emit(&before, &[], kind);
        assert!(named(text.clone()), "{kind}: {text:?}");
    }
    for name in names() {
        let mut audit = before.clone();
        for nic in audit.facts.parts_mut(Class::Nic) {
            nic.name.clone_from(&name);
            nic.set("nic", name.clone());
        }
        for part in audit.findings.iter_mut().flat_map(|finding| &mut finding.parts) {
            if part.part == "eno1" {
                part.part.clone_from(&name);
            }
        }
        tried(&audit, &name);
        assert!(
            harms(&audit, &[]).iter().all(|(_, why)| !why.contains('\n')),
            "{name:?}"
        );
    }
}

#[test]
fn a_container_is_named_as_its_reader_takes_it_or_refused() {
    for name in names() {
        let compose = json!({"services": {name.clone(): {"image": "x", "privileged": true}}}).to_string();
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": name, "image": "x"}]}});
        for (file, text) in [("compose.yaml", compose), ("pod.yaml", pod.to_string())] {
            let (audit, _root) = audit(file, &text);
            tried(&audit, &name);
            let kind = if file == "pod.yaml" { "kubernetes" } else { "compose" };
            let is_label = name == name.to_ascii_lowercase() && !name.contains(['_', '.', '@']);
            let is_taken = match kind {
                "compose" => is_service(&name),
                _ => is_plain(&name) && is_label,
            };
            let given = emit(&audit, &["ctr-capabilities".to_owned()], kind);
            let refused = given
                .as_ref()
                .is_err_and(|why| why.contains("rename it") && !why.contains('\n'));
            let is_named = given.as_ref().is_ok_and(|text| text.contains(&name));
            assert!(
                if is_taken { is_named } else { refused || name.is_empty() },
                "{kind}, {name:?}: {given:?}"
            );
        }
    }
}

#[test]
fn a_domain_of_any_name_gets_a_diff_with_lines_of_comments_before_it() {
    for name in names()
        .iter()
        .filter(|name| name.chars().all(|c| !c.is_control() && c != '\u{feff}'))
    {
        let escaped = name.replace('&', "&amp;").replace('<', "&lt;");
        let text = format!(
            "<domain type='kvm'>\n  <name>{escaped}</name>\n  <memory>1</memory>\n  <vcpu>2</vcpu>\n</domain>\n"
        );
        let (_, root) = audit("compose.yaml", super::TWO);
        let file = root.path().join("relay.xml").display().to_string();
        std::fs::write(&file, text).expect("a definition");
        let told = Parameters {
            rt_cpus: Some("4-7".parse().expect("CPUs")),
            domains: vec![file.clone()],
            ..Parameters::default()
        };
        let host = Host::at(root.path()).expect("a tree");
        let audit = audit::audit(&host, &told, &[]);
        let Ok(patch) = libvirt_patch(&audit, &[], &file) else {
            continue;
        };
        let (before, diff) = patch
            .split_once("--- a/")
            .unwrap_or_else(|| panic!("{name:?}: no diff in {patch}"));
        assert!(before.lines().all(|line| line.starts_with("# ")), "{name:?}: {patch}");
        assert!(
            before.contains(": risk: ") && diff.contains("\n+  "),
            "{name:?}: {patch}"
        );
        tried(&audit, name);
        assert!(!plan(&host, &audit, &[]).steps.is_empty());
    }
}

#[test]
fn a_container_that_does_not_know_its_name_gets_no_file_of_another_name() {
    let (mut audit, _root) = audit("compose.yaml", super::TWO);
    for part in audit.facts.parts_mut(Class::Container) {
        part.set("ctr.form", "running");
    }
    for kind in ["compose", "kubernetes"] {
        let only = ["ctr-capabilities".to_owned(), "ctr-network-path".to_owned()];
        let why = emit(&audit, &only, kind).expect_err("no name is known");
        assert!(why.contains("--container") && !why.contains('\n'), "{why}");
    }
}
