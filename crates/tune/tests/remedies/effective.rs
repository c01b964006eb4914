//! Every planned change and every command that is advised changes something, with and without CPUs for real-time work.

use super::{Twin, emitted, has_settings, machines};
use std::fs;
use tune::{Target, TuneStep};

/// Changes of a step that set the value that is there, or a file that is not.
fn useless(twin: &Twin, step: &TuneStep) -> Vec<String> {
    let is_made = |path: &str| {
        let mut above = step.operations.iter().filter_map(|other| match &other.target {
            Target::Folder(folder) => Some(folder.as_str()),
            Target::File(file) => file.strip_suffix("/cgroup.subtree_control"),
            _ => None,
        });
        above.any(|folder| path.starts_with(&format!("{folder}/")))
    };
    let is_useless = |path: &str, value: &str| {
        let file = twin.folder.path().join("root").join(path.trim_start_matches('/'));
        fs::read_to_string(file).map_or(!is_made(path), |now| now.trim() == value)
    };
    let files = step.operations.iter().filter_map(|operation| match &operation.target {
        Target::File(path) => Some((path, &operation.value)),
        _ => None,
    });
    let found = files.filter(|(path, value)| is_useless(path, value));
    found
        .map(|(path, value)| format!("{}: {path} = {value}", step.check))
        .collect()
}

#[test]
fn every_planned_change_has_an_effect() {
    let (mut wrong, mut planned) = (Vec::new(), 0);
    for machine in machines() {
        for has_cpus in [true, false] {
            let mut twin = Twin::of(&machine);
            if !has_cpus {
                twin.parameters.rt_cpus = None;
            }
            let audit = twin.audit();
            for step in tune::plan(&twin.host(), &audit, &[]).steps {
                planned += step.operations.len();
                let name = machine.display();
                let found = useless(&twin, &step).into_iter();
                wrong.extend(found.map(|what| format!("{name}, CPUs {has_cpus}: {what}")));
                for tool in &step.emitted {
                    let only = std::slice::from_ref(&step.check);
                    if !has_settings(&emitted(&audit, only, tool)) {
                        wrong.push(format!("{name}, CPUs {has_cpus}: {} for {tool}", step.check));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(planned > 50, "{planned}");
}

#[test]
fn no_setting_names_a_file_that_the_kernel_lacks() {
    let of = |name: &str, tool: &str, check: &str| {
        let machine = machines().into_iter().find(|machine| machine.ends_with(name));
        let twin = Twin::of(&machine.expect("a machine"));
        emitted(&twin.audit(), &[check.to_owned()], tool)
    };
    let sysctl = of("kvm-guest", "sysctl", "mm-background-work");
    assert!(
        sysctl.contains("kernel.numa_balancing = 0") && !sysctl.contains("vm."),
        "{sysctl}"
    );
    let tasks = of("vmware-guest", "ansible", "guest-idle-mode");
    assert!(tasks.contains("idle=halt") && !tasks.contains("haltpoll"), "{tasks}");
    let tasks = of("kvm-guest", "ansible", "guest-idle-mode");
    assert!(tasks.contains("guest_halt_poll_ns - - - - 0"), "{tasks}");
}
