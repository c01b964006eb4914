//! Tasks for Ansible, with modules that every installation has. Every text from a machine is checked: Ansible would evaluate `{{ }}` as a
//! program, so names with such characters are refused before.

use super::{Open, Set};

/// Files that are read at each boot.
const SYSCTL: &str = "/etc/sysctl.d/90-triptime.conf";
const TMPFILES: &str = "/etc/tmpfiles.d/90-triptime.conf";
/// Read by grub-mkconfig of Debian and Ubuntu after `/etc/default/grub`.
const GRUB: &str = "/etc/default/grub.d/90-triptime.cfg";

/// The tasks.
///
/// # Errors
/// A value that all settings need is missing, such as CPUs.
pub(super) fn emit(open: &Open<'_>) -> Result<String, String> {
    let mut left_out = Vec::new();
    let (settings, files, arguments) = (
        open.settings(&mut left_out),
        open.files(&mut left_out),
        open.arguments(&mut left_out),
    );
    let mut out = match settings.is_empty() && files.is_empty() && arguments.is_empty() {
        true => String::new(),
        false => open.notes(&["sysctl", "kernel-args"], true),
    };
    for Set { name, value } in &settings {
        out += &line(&format!("Set {name}"), SYSCTL, &format!("{name} = {value}"));
    }
    for Set { name, value } in &files {
        out += &line(&format!("Set {name}"), TMPFILES, &format!("w {name} - - - - {value}"));
    }
    if !arguments.is_empty() {
        out += &boot(&arguments);
    }
    super::with_left_out(out, &left_out, "ansible")
}

fn line(name: &str, path: &str, line: &str) -> String {
    format!(
        "- name: {}\n  ansible.builtin.lineinfile:\n    path: {path}\n    create: true\n    mode: \"0644\"\n    line: {}\n",
        quoted(name),
        quoted(line)
    )
}

/// Each boot loader needs its own task: grubby on Fedora and Red Hat, update-grub on Debian and Ubuntu.
fn boot(arguments: &str) -> String {
    let grub = format!("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX {arguments}\"\n");
    let grubby = format!("grubby --update-kernel=ALL --args=\"{arguments}\"");
    format!(
        "- name: \"Set kernel arguments with grubby\"\n  ansible.builtin.command: {}\n  \
         when: ansible_facts['os_family'] == 'RedHat'\n\
         - name: \"Set kernel arguments for GRUB\"\n  ansible.builtin.copy:\n    dest: {GRUB}\n    mode: \"0644\"\n    content: {}\n  \
         when: ansible_facts['os_family'] == 'Debian'\n\
         - name: \"Write GRUB's menu\"\n  ansible.builtin.command: update-grub\n  when: ansible_facts['os_family'] == 'Debian'\n",
        quoted(&grubby),
        quoted(&grub)
    )
}

/// Quotes a text: JSON's quotes are valid in YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
