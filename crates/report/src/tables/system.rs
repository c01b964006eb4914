//! The machine on which a run was measured.

use model::fact::{CONTAINER, CPU_MODEL, HYPERVISOR, KERNEL_RELEASE, LABEL};
use model::{FactOf, RunView, SeriesView, kind, setting};

/// Prefixes of the descriptions of places, and the text between a place and one inside it.
const CONTAINER_IS: &str = "container: ";
const GUEST_IS: &str = "vm: ";
pub(crate) const IN_IT: &str = "; in it, ";

/// A machine, as far as a run recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct System {
    /// The name the run was given, its label, or its CPU and kernel.
    pub(super) name: String,
    /// CPU and kernel.
    pub(super) hardware: String,
    /// Native, or a description of the container or virtual machine.
    pub(super) environment: String,
    /// The places of its wake-ups, each once; each such environment has its own row.
    environments: Vec<String>,
}

impl System {
    /// The machine of a run, under its given name if there is one.
    pub(super) fn of(name: Option<String>, run: &RunView) -> Self {
        let hardware = format!("{} {}", fact(run, &CPU_MODEL), fact(run, &KERNEL_RELEASE));
        let environment = environment(run);
        let of_rows = run.series.iter().filter(|series| series.is(&kind::WAKEUP));
        let places = of_rows.map(|series| place(&environment, series));
        let mut environments: Vec<String> = places.collect();
        if environments.is_empty() {
            environments.push(environment.clone());
        }
        environments.sort_unstable();
        environments.dedup();
        Self {
            name: name
                .or_else(|| LABEL.of(&run.facts))
                .unwrap_or_else(|| hardware.clone()),
            environment,
            environments,
            hardware,
        }
    }

    /// The places of its wake-ups, else the environment of the run itself.
    pub(super) fn measured_in(&self) -> String {
        self.environments.join("; ")
    }

    /// The place of a series' measurement: a place that the run made, or the environment of the run itself.
    pub(super) fn place_of(&self, series: &SeriesView) -> String {
        place(&self.environment, series)
    }
}

fn place(environment: &str, series: &SeriesView) -> String {
    let Some(place) = series.spec.setting(setting::PLACE) else {
        return environment.to_owned();
    };
    let mut inside: Vec<String> = place.split(IN_IT).map(named).collect();
    inside.reverse();
    let is_elsewhere = !place.starts_with(CONTAINER_IS) && !place.starts_with(GUEST_IS);
    match environment {
        "Native" => {}
        _ if is_elsewhere => {}
        "unknown" => inside.push("a machine of unknown kind".to_owned()),
        environment => inside.push(environment.to_owned()),
    }
    inside.join(" in ")
}

/// The kind and the program of a place, without its settings.
fn named(place: &str) -> String {
    let until = |text: &str, end: char| text.split(end).next().unwrap_or(text).trim().to_owned();
    match (place.strip_prefix(CONTAINER_IS), place.strip_prefix(GUEST_IS)) {
        (Some(runtime), _) => format!("container ({})", until(runtime, ',')),
        (_, Some(hypervisor)) => format!("virtual machine ({})", until(hypervisor, ';')),
        _ => until(place, ':'),
    }
}

/// Numbers systems of the same name or, if rows distinguish environments, of the same name and environment: two runs
/// must not share a place in a table.
pub(super) fn distinguish<'a>(systems: impl Iterator<Item = &'a mut System>, by_environment: bool) {
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for system in systems {
        let shares = |(name, others): &&(String, Vec<String>)| {
            let shares_a_row = || others.iter().any(|other| system.environments.contains(other));
            *name == system.name && (!by_environment || shares_a_row())
        };
        let before = seen.iter().filter(shares).count();
        seen.push((system.name.clone(), system.environments.clone()));
        if before > 0 {
            system.name = format!("{} ({})", system.name, before + 1);
        }
    }
}

/// Native, or a description of the run's container or virtual machine.
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

/// A fact of the inventory in short form.
pub(super) fn fact(run: &RunView, of: &FactOf<String>) -> String {
    of.word_of(&run.facts).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{System, distinguish};
    use model::fact::{CONTAINER, HYPERVISOR, LABEL};
    use model::setting;
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
    fn a_series_is_named_after_the_place_that_it_was_measured_in() {
        let named = |hypervisor: &str, place: Option<&str>| {
            let mut series = synthetic::series("wakeup/cpu0", 1, 1, 1);
            let place = place.map(|place| (setting::PLACE.to_owned(), place.to_owned()));
            series.spec.settings.extend(place);
            of(Ok("none"), Ok(hypervisor)).place_of(&series)
        };
        let runc = "container: runc 1.1.5, capabilities CAP_NET_RAW, CPUs 1";
        let guest = "vm: QEMU with KVM; 2 virtual CPUs, kernel 6.1";
        assert_eq!(named("none", None), "Native");
        assert_eq!(named("none", Some(runc)), "container (runc 1.1.5)");
        assert_eq!(
            named("firecracker", Some(runc)),
            "container (runc 1.1.5) in virtual machine (firecracker)"
        );
        let both = format!("{guest}; in it, {runc}");
        let inner = "container (runc 1.1.5) in virtual machine (QEMU with KVM)";
        assert_eq!(named("none", Some(&both)), inner);
        let far = "far machine 192.0.2.7: relay2, Linux 6.1";
        assert_eq!(named("firecracker", Some(far)), "far machine 192.0.2.7");
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
