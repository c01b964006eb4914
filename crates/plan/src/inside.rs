//! CPUs of a guest by the guest's own numbers, resolved from the `cpus` of a step and of its loads.

use super::file::Plan;
use super::roles::Roles;
use super::step::{PlanLoad, Step};
use super::value::{Cpus, PlanError};
use host::CpuFacts;
use place::guest::VCPUS;
use units::CpuList;

/// Resolves a word to CPUs of a guest that has the CPUs `own`: CPU 0 is for housekeeping, the others can be judged.
///
/// # Errors
/// A CPU that the guest does not have.
pub(super) fn resolve(word: &Cpus, own: &CpuList) -> Result<CpuList, String> {
    let rest: CpuList = own.iter().skip(1).collect();
    match word {
        Cpus::First | Cpus::Others => Ok(own.iter().take(1).collect()),
        Cpus::Rest if !rest.is_empty() => Ok(rest),
        Cpus::Rest | Cpus::All => Ok(own.clone()),
        Cpus::List(list) => match list.without(own).first() {
            None => Ok(list.clone()),
            Some(cpu) => Err(format!(
                "the guest has no cpu {cpu}: it has {own}; give it more (vcpus = {} in the plan, or --vcpus)",
                list.iter().last().unwrap_or(cpu) + 1
            )),
        },
    }
}

impl Plan {
    /// True if the devices under test are in guests: then their steps name CPUs of the guests.
    pub fn is_in_guests(&self) -> bool {
        self.place.is_in_guest()
    }

    /// Number of CPUs of each guest.
    pub fn guest_cpus(&self) -> u32 {
        self.vcpus.unwrap_or(VCPUS)
    }

    /// The CPUs of the guest that a step judges; `None` if its device is not in a guest.
    ///
    /// # Errors
    /// A CPU that the guest does not have.
    pub(super) fn inside(&self, step: &Step) -> Result<Option<CpuList>, PlanError> {
        if !self.is_in_guests() {
            return Ok(None);
        }
        let word = step.common.cpus.as_ref().unwrap_or(&Cpus::Rest);
        self.in_guest(word, step.name()).map(Some)
    }

    /// All CPUs of the guest that some step judges; empty if there are no guests.
    ///
    /// # Errors
    /// A CPU that the guest does not have.
    pub(super) fn all_inside(&self) -> Result<CpuList, PlanError> {
        let all = self.steps.iter().map(|step| self.inside(step));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        Ok(all.iter().flatten().flat_map(CpuList::iter).collect())
    }

    /// The CPUs that a step judges, by the numbers of the machine or guest that it runs on.
    ///
    /// # Errors
    /// A named CPU does not exist.
    pub(super) fn judges(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        match self.inside(step)? {
            Some(inside) => Ok(inside),
            None => self.cpus_of(step, facts, roles).map(|[judged, _]| judged),
        }
    }

    /// All CPUs of steps side by side, by the numbers of the devices' machine or guest: no load of one step may use them.
    ///
    /// # Errors
    /// See [`Plan::judges`].
    pub(super) fn judged_by_all(&self, group: &[&Step], facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let all = group.iter().map(|step| self.judges(step, facts, roles));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        Ok(all.iter().flat_map(CpuList::iter).collect())
    }

    /// CPUs of the threads of a step, in words: `cpu 1-2`, `cpu 3 of the guest`.
    ///
    /// # Errors
    /// See [`Plan::judges`].
    pub(super) fn seat(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<String, PlanError> {
        let Some(inside) = self.inside(step)? else {
            return Ok(format!("cpu {}", self.takes(step, facts, roles)?));
        };
        let own = match step.common.guests {
            1 => format!("cpu {inside} of the guest"),
            several => format!("cpu {inside} of each of {several} guests"),
        };
        let [_, test_set] = self.cpus_of(step, facts, roles)?;
        Ok(match test_set.first().filter(|_| step.has_test_set()) {
            Some(cpu) => format!("{own} and cpu {cpu}"),
            None => own,
        })
    }

    /// CPUs of a load that runs in the device's place, in words; `None` if it runs on this machine's CPUs.
    ///
    /// # Errors
    /// A CPU that the guest does not have.
    pub(super) fn seat_of_load(&self, load: &PlanLoad) -> Result<Option<String>, PlanError> {
        if !load.there || !self.is_in_guests() {
            return Ok(None);
        }
        Ok(Some(match &load.cpus {
            None | Some(Cpus::Others) => "every cpu of the guest that is not judged".to_owned(),
            Some(word) => format!("cpu {} of the guest", self.in_guest(word, "load")?),
        }))
    }

    /// Checks that each guest has the CPUs that steps and their loads name, and that steps side by side use different CPUs.
    ///
    /// # Errors
    /// The first CPU that is missing, or that two steps would share.
    pub(super) fn check_inside(&self) -> Result<(), PlanError> {
        match (
            self.is_in_guests(),
            self.steps.iter().find(|step| step.common.guests > 1),
        ) {
            (true, _) => self.management_inside().map(|_| ())?,
            (false, Some(step)) => {
                return Err(self.refused(&format!(
                    "guests = {}: the devices of this plan are not in guests: add --place vm, or place = \"vm\" to the plan",
                    step.common.guests
                )));
            }
            (false, None) => {}
        }
        for group in self.groups() {
            let mut taken: Vec<(&Step, CpuList)> = Vec::new();
            for step in group {
                for load in &step.common.loads {
                    self.seat_of_load(load)?;
                }
                let Some(cpus) = self.inside(step)? else { continue };
                let cpus = step.measure.takes_in_guest(&cpus);
                for (other, theirs) in &taken {
                    if let Some(cpu) = cpus.iter().find(|cpu| theirs.contains(*cpu)) {
                        return Err(self.refused(&format!(
                            "steps \"{}\" and \"{}\" run side by side, and both take cpu {cpu} of the guest: give each CPUs of \
                             its own (cpus = \"...\"), and the guest as many as they need (vcpus); guests = 2 measures one step in guests of \
                             their own",
                            other.name(),
                            step.name()
                        )));
                    }
                }
                taken.push((step, cpus));
            }
        }
        Ok(())
    }

    fn in_guest(&self, word: &Cpus, who: &str) -> Result<CpuList, PlanError> {
        let own = (0..self.guest_cpus()).collect();
        resolve(word, &own).map_err(|problem| self.refused(&format!("{who}: {problem}")))
    }

    fn refused(&self, problem: &str) -> PlanError {
        PlanError::Cpu {
            plan: self.name.clone(),
            problem: problem.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::resolve;
    use crate::{Cpus, Named, Plan};
    use host::CpuFacts;
    use place::PlaceKind;

    #[test]
    fn words_stand_for_cpus_of_the_guest() {
        let of = |word: &str, own: &str| {
            let word = Cpus::try_from(word.to_owned()).expect("a word");
            resolve(&word, &own.parse().expect("a list")).map(|cpus| cpus.to_string())
        };
        let known = |text: &str| Ok(text.to_owned());
        assert_eq!([of("first", "0-3"), of("rest", "0-3")], [known("0"), known("1-3")]);
        assert_eq!([of("all", "0-3"), of("2-3", "0-3")], [known("0-3"), known("2-3")]);
        assert_eq!(of("rest", "0"), known("0"), "the only one is judged");
        let refused = of("1,4", "0-1").expect_err("refused");
        assert!(
            refused.contains("no cpu 4: it has 0-1") && refused.contains("vcpus = 5"),
            "{refused}"
        );
    }

    /// The plan of the bench, run in guests on a machine with these CPUs.
    fn bench(vcpus: u32, online: &str) -> Result<Vec<String>, String> {
        let mut plan = Plan::load("vm-bench").expect("inside");
        plan.vcpus = Some(vcpus);
        let facts = CpuFacts {
            online: online.parse().expect("a list"),
            ..CpuFacts::default()
        };
        let all = plan.roles(&facts, &Named::default()).and_then(|roles| {
            plan.check_beside(&facts, &roles)?;
            plan.outline(&facts, &roles)
        });
        all.map(|outline| outline.steps).map_err(|error| error.to_string())
    }

    #[test]
    fn the_bench_runs_in_a_guest_of_four_on_a_machine_of_two() {
        let steps = bench(4, "0-1").expect("it can");
        assert!(
            steps[0].contains("on cpu 1-2 of the guest and cpu 0, side by side"),
            "{steps:?}"
        );
        assert!(steps[0].contains("on cpu 0 of the guest"), "its load: {steps:?}");
        assert!(steps[1].contains("on cpu 3 of the guest, side by side"), "{steps:?}");
        let refused = bench(3, "0-7").expect_err("too few");
        assert!(refused.contains("the guest has no cpu 3: it has 0-2"), "{refused}");
    }

    #[test]
    fn one_two_and_four_guests_are_measured_at_once() {
        let plan = Plan::load("guests-at-once").expect("inside");
        let facts = CpuFacts {
            online: "0-16".parse().expect("a list"),
            ..CpuFacts::default()
        };
        let roles = plan.roles(&facts, &Named::default()).expect("roles");
        plan.check_beside(&facts, &roles).expect("it can");
        let outline = plan.outline(&facts, &roles).expect("an outline");
        for (step, seat) in outline.steps.iter().zip([
            "on cpu 1 of the guest",
            "on cpu 1 of each of 2 guests",
            "on cpu 1 of each of 4 guests",
        ]) {
            assert!(step.ends_with(seat), "{step}");
        }
        assert_eq!(plan.devices(), 4, "as many guests as the step with the most");
        let wanted = plan.guest_cpus() as usize * plan.devices();
        assert_eq!(
            roles.host_cpus(wanted).map(|cpus| cpus.to_string()).as_deref(),
            Some("1-16")
        );
        assert!(
            outline
                .does
                .iter()
                .any(|text| text.contains("each of their 16 virtual CPUs has a CPU of its own"))
        );
        let need = |guests| {
            let room = plan.clone().in_guests(guests).room(&facts, &roles, plan.window.0, 0);
            room.expect("room").series
        };
        assert_eq!((need(1), need(4)), (3, 12), "each guest has series of its own");
    }

    #[test]
    fn guests_are_for_steps_on_cpus_in_guests() {
        let facts = CpuFacts {
            online: "0-7".parse().expect("a list"),
            ..CpuFacts::default()
        };
        let plan = Plan::load("vm-wakeup").expect("inside").in_guests(2);
        let roles = plan.roles(&facts, &Named::default()).expect("roles");
        let refused = plan.check_beside(&facts, &roles).expect_err("native").to_string();
        assert!(
            refused.contains("guests = 2") && refused.contains("--place vm"),
            "{refused}"
        );
        let text = Plan::load("vm-bench").expect("inside").text;
        let over_the_bed = text.replacen("duration = ", "guests = 2\nduration = ", 1);
        let refused = Plan::parse("site", &over_the_bed).expect_err("a bed").to_string();
        assert!(refused.contains("over the test bed"), "{refused}");
        let none = text.replace("beside_previous = true", "guests = 0\nbeside_previous = true");
        assert!(Plan::parse("site", &none).is_err());
    }

    #[test]
    fn steps_side_by_side_share_no_cpu_of_the_guest() {
        let mut plan = Plan::load("vm-bench").expect("inside");
        let text = plan.text.replace("cpus = \"3\"", "cpus = \"1\"");
        plan = Plan::parse("site", &text).expect("a plan");
        assert_eq!((plan.place, plan.vcpus), (PlaceKind::Vm, Some(4)));
        let refused = plan.check_inside().expect_err("both").to_string();
        assert!(refused.contains("both take cpu 1 of the guest"), "{refused}");
    }
}
