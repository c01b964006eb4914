//! The machine that a run was measured on.

use model::fact::{CONTAINER, CPU_MODEL, HYPERVISOR, KERNEL_RELEASE, LABEL};
use model::{FactOf, RunView};

/// A machine, as far as a run knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct System {
    /// The name the run was given, its label, or its CPU and kernel.
    pub(super) name: String,
    /// CPU and kernel.
    pub(super) hardware: String,
    /// Native, or the container or virtual machine that it is.
    pub(super) environment: String,
}

impl System {
    /// The machine of a run, under the name it was given, if any.
    pub(super) fn of(name: Option<String>, run: &RunView) -> Self {
        let hardware = format!("{} {}", fact(run, &CPU_MODEL), fact(run, &KERNEL_RELEASE));
        Self {
            name: name
                .or_else(|| LABEL.of(&run.facts))
                .unwrap_or_else(|| hardware.clone()),
            environment: environment(run),
            hardware,
        }
    }
}

/// Numbers those of one name, or of one name and one environment where rows tell environments apart: two runs do not share a place
/// in a table.
pub(super) fn distinguish<'a>(systems: impl Iterator<Item = &'a mut System>, by_environment: bool) {
    let mut seen: Vec<(String, Option<String>)> = Vec::new();
    for system in systems {
        let key = (system.name.clone(), by_environment.then(|| system.environment.clone()));
        let before = seen.iter().filter(|other| **other == key).count();
        if before > 0 {
            system.name = format!("{} ({})", system.name, before + 1);
        }
        seen.push(key);
    }
}

/// Native, or the container or virtual machine the run was made in.
fn environment(run: &RunView) -> String {
    let [container, hypervisor] = [&CONTAINER, &HYPERVISOR].map(|of| fact(run, of));
    match (container.as_str(), hypervisor.as_str()) {
        ("none", "none") => "Native".to_owned(),
        ("none" | "unknown", "unknown") => "unknown".to_owned(),
        ("none", _) => format!("virtual machine ({hypervisor})"),
        ("unknown", "none") => "native, or an unknown container".to_owned(),
        ("unknown", _) => format!("virtual machine ({hypervisor}), or an unknown container in it"),
        (_, "none") => container,
        (_, "unknown") => format!("{container}, on a machine of unknown kind"),
        _ => format!("{container} in a virtual machine ({hypervisor})"),
    }
}

/// A fact of the inventory in short.
pub(super) fn fact(run: &RunView, of: &FactOf<String>) -> String {
    of.word_of(&run.facts).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{System, distinguish};
    use model::fact::{CONTAINER, HYPERVISOR, LABEL};
    use testing::synthetic;

    fn of(container: Result<&str, &str>, hypervisor: Result<&str, &str>) -> System {
        let mut run = synthetic::run(Vec::new());
        let known = |value: Result<&str, &str>| value.map(str::to_owned).map_err(str::to_owned);
        run.facts = vec![
            CONTAINER.fact(known(container), "test"),
            HYPERVISOR.fact(known(hypervisor), "test"),
        ];
        System::of(None, &run)
    }

    #[test]
    fn the_environment_is_what_the_inventory_says_and_unknown_is_not_native() {
        let named = |container, hypervisor| of(container, hypervisor).environment;
        assert_eq!(named(Ok("none"), Ok("none")), "Native");
        assert_eq!(
            named(Ok("none"), Ok("kvm (KVM in /sys/class/dmi/id)")),
            "virtual machine (kvm)"
        );
        assert_eq!(named(Ok("docker"), Ok("none")), "docker");
        assert_eq!(named(Ok("docker"), Ok("kvm")), "docker in a virtual machine (kvm)");
        assert_eq!(named(Err("no /proc"), Err("no /proc")), "unknown");
        assert_eq!(named(Err("no /proc"), Ok("none")), "native, or an unknown container");
        assert_eq!(
            named(Ok("docker"), Err("no /sys")),
            "docker, on a machine of unknown kind"
        );
    }

    #[test]
    fn a_label_is_the_name_and_equal_names_are_numbered() {
        let mut run = synthetic::run(Vec::new());
        run.facts = vec![LABEL.fact(Ok("bay 7".into()), "--label")];
        let mut systems = [
            System::of(None, &run),
            System::of(None, &run),
            System::of(Some("x".into()), &run),
        ];
        distinguish(systems.iter_mut(), true);
        assert_eq!(systems.map(|system| system.name), ["bay 7", "bay 7 (2)", "x"]);
    }

    #[test]
    fn one_name_in_two_environments_is_numbered_where_rows_do_not_tell_them_apart() {
        let named = |by_environment: bool| {
            let mut systems = [of(Ok("none"), Ok("none")), of(Ok("docker"), Ok("none"))];
            systems.iter_mut().for_each(|system| system.name = "x".to_owned());
            distinguish(systems.iter_mut(), by_environment);
            systems.map(|system| system.name)
        };
        assert_eq!(named(true), ["x", "x"]);
        assert_eq!(named(false), ["x", "x (2)"]);
    }
}
