//! A plan made ready for this machine: devices, ports, CPUs and roles are known, but nothing has been measured.

use super::relay::port_to;
use super::{QualifyArgs, outline};
use crate::failure::Failure;
use crate::guest::told;
use crate::ready::{explained, no_connection, not_to_be_disturbed};
use crate::run_file::{Judged, Run};
use bed::{Bed, End};
use host::CpuFacts;
use model::{EventKind, Fact};
use place::container::{Containers, RuntimeName};
use place::guest::{GuestSpec, runtime_for_guest};
use place::{PlaceKind, PlaceSpec};
use plan::{Left, Named, Plan, PlanRun, Roles, live_facts};
use probes::Machine;
use probes::timesync::TimeSync;
use session::RunSpec;
use session::memory::{OF_A_BED, OF_A_PROBE};
use session::room::RoomNeed;
use std::io::Write;

/// A plan, with the place of each participant.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    /// The steps that the command line left out, if there are any.
    part: Option<Fact>,
    /// Ports of this machine that the plan uses.
    ports: Option<Bed>,
    cpus: CpuFacts,
    roles: Roles,
}

impl Prepared {
    /// Puts the devices where the command line asks for them, and assigns the CPUs.
    pub(super) fn of(args: &QualifyArgs, (plan, part): (Plan, Option<Fact>)) -> Result<Self, Failure> {
        let plan = placed(plan, args);
        let (plan, ports) = bed(args, plan)?;
        let (cpus, roles) = machine(args, &plan)?;
        plan.check_beside(&cpus, &roles)?;
        Ok(Self {
            plan,
            part,
            ports,
            cpus,
            roles,
        })
    }

    /// Prints what the plan will do here; returns the exit status.
    pub(super) fn show(&self, args: &QualifyArgs) -> Result<u8, Failure> {
        outline::show(
            (&self.plan, self.part.as_ref()),
            &self.cpus,
            &self.roles,
            guests(args, &self.plan),
        )
    }

    /// Refuses plans that would disturb others or cannot run here; returns the disk room needed.
    pub(super) fn check(&self, args: &QualifyArgs) -> Result<RoomNeed, Failure> {
        let Self { plan, cpus, roles, .. } = self;
        if !args.disturb {
            not_to_be_disturbed(&plan.occupied(cpus, roles)?, args.cpus.is_some())?;
            no_connection(&args.nic)?;
        }
        plan.check_programs().map_err(Failure::CouldNotMeasure)?;
        explained(&args.run);
        probes::Need::check_all(&plan.needs(cpus, roles)?, &Machine::live(), None)?;
        Ok(plan.room(cpus, roles, plan.window.0, args.run.file_budget)?)
    }

    /// Measures, and shows the result; returns the exit status.
    pub(super) fn measure(
        self,
        args: QualifyArgs,
        places: Places,
        need: RoomNeed,
        left: Option<&Left>,
    ) -> Result<u8, Failure> {
        let Self {
            plan,
            part,
            ports,
            cpus,
            roles,
        } = self;
        let partition = plan
            .partition(&roles)
            .map_err(|why| Failure::CouldNotMeasure(format!("partition of control groups: {why}")))?;
        let spec = spec(&args, &plan, &roles, &places, need);
        let judged = Judged {
            profile: Some(&plan.limits),
            own_limits: plan.own_limits()?,
            table: plan.table,
        };
        if !args.run.quiet {
            say(&plan, &roles);
        }
        let mut run = Run::start_judged(spec, &judged, args.run)?;
        run.session.recorder.add_facts(plan.facts_of(&roles));
        run.session.recorder.add_facts(plan.settled_facts());
        if let Some(fact) = part {
            let said = fact.value.clone().unwrap_or_default();
            let text = format!("steps of the plan left out by --step: {said}");
            run.session.recorder.events().write(EventKind::Note, text);
            run.session.recorder.add_facts(vec![fact]);
        }
        match &plan.cell {
            // The matrix has one page for all its runs.
            Some(cell) => run
                .session
                .recorder
                .add_facts(cell.facts(args.runtime.map(|runtime| runtime.name()))),
            None => run.html_beside_the_run(),
        }
        if let Some(partition) = &partition {
            run.session.recorder.add_facts(partition.facts());
        }
        say_rest(&run, left);
        let watch = args.far.watch(&mut run.session.recorder)?;
        let work = PlanRun {
            place: places.device,
            test_set: places.test_set,
            plan: &plan,
            roles,
            cpus,
            ports,
        };
        let outcome = plan::run(run.runner(), work);
        watch.into_iter().for_each(TimeSync::stop);
        // Ends the holds before the report is made, which may use all CPUs.
        drop(partition);
        run.finish(outcome)
    }

    /// Places of the devices and of the test set.
    pub(super) fn places(&self, args: &QualifyArgs) -> Result<Places, Failure> {
        let plan = &self.plan;
        let far = args.far.end();
        // Beside a far machine that has the device, --place says where the test set is.
        let here = match far {
            Some(End::Device) => args.place.unwrap_or_default(),
            _ => plan.place,
        };
        // A matrix passes the runtime to all its cells: those with containers use it.
        if args.runtime.is_some() && !here.has_container() && plan.cell.is_none() {
            return Err(Failure::Usage(
                "--runtime is for containers: add --place container, or container-in-vm".into(),
            ));
        }
        let here = self.place_here(args, here)?;
        Ok(match (args.far.place()?, far) {
            (Some(far), Some(End::TestSet)) => Places {
                device: here,
                test_set: far,
            },
            (Some(far), _) => Places {
                device: far,
                test_set: here,
            },
            (None, _) => Places {
                device: here,
                test_set: PlaceSpec::Native,
            },
        })
    }

    /// A place on this machine, with its CPUs: the judged ones, and those for everything that does not measure.
    fn place_here(&self, args: &QualifyArgs, kind: PlaceKind) -> Result<PlaceSpec, Failure> {
        let Self { plan, cpus, roles, .. } = self;
        Ok(match kind {
            // --far names another machine.
            PlaceKind::Native | PlaceKind::Far => PlaceSpec::Native,
            PlaceKind::Container => {
                let others = match args.far.end() {
                    Some(End::Device) => &roles.housekeeping,
                    _ => &roles.recorder,
                };
                PlaceSpec::Container(Containers {
                    program: None,
                    side_by_side: plan.devices_at_once() as u64,
                    runtime: Some(RuntimeName::find(args.runtime)?),
                    cpus: plan.all_judged(cpus, roles)?.iter().chain(others.iter()).collect(),
                })
            }
            PlaceKind::Vm | PlaceKind::ContainerInVm => {
                let runtime = match kind.has_container() {
                    true => Some(runtime_for_guest(args.runtime)?),
                    false => None,
                };
                let spec = args.guest.spec(plan.guest_cpus())?;
                let usual = || roles.host_cpus(spec.cpus as usize * plan.devices());
                let host_cpus = spec.host_cpus.clone().or_else(usual);
                PlaceSpec::Guest(Box::new(told(GuestSpec {
                    host_cpus,
                    runtime,
                    ..spec
                })))
            }
        })
    }
}

/// The plan for this machine: it is known which steps run side by side.
pub(super) fn settled(args: &QualifyArgs, plan: Plan) -> Result<Plan, Failure> {
    let plan = placed(plan, args);
    let (cpus, roles) = machine(args, &plan)?;
    Ok(plan.settled(&cpus, &roles, args.guest.host_cpus())?)
}

/// CPUs of this machine, and their roles in a plan.
fn machine(args: &QualifyArgs, plan: &Plan) -> Result<(CpuFacts, Roles), Failure> {
    let cpus = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    let named = Named {
        measured: args.cpus.clone(),
        housekeeping: args.housekeeping.clone(),
    };
    let mut roles = plan.roles(&cpus, &named)?;
    roles.elsewhere = args.far.machine_of_device();
    Ok((cpus, roles))
}

/// Where both ends of a plan are.
pub(super) struct Places {
    device: PlaceSpec,
    test_set: PlaceSpec,
}

/// The run of a plan.
fn spec(args: &QualifyArgs, plan: &Plan, roles: &Roles, places: &Places, need: RoomNeed) -> RunSpec {
    let mut spec = RunSpec {
        flight_recorder: args.run.explains(),
        housekeeping: Some(roles.recorder.clone()),
        ports: announced(args, plan, places),
        open_ended: false,
        plan: Some(plan.name.clone()),
        need: Some(need),
        memory: if plan.needs_bed() { OF_A_BED } else { OF_A_PROBE },
        detached: args.detached.clone(),
        // Results of another place arrive at the end of its step.
        is_paced: places.device.is_here() && places.test_set.is_here(),
        ..args.run.spec("qualify", roles.measured.clone(), None)
    };
    spec.run.window_ns = plan.window.0;
    spec.run.documents.push(("plan".into(), plan.text.clone()));
    spec
}

/// The ports that this session announces and watches. A container on a port does that itself, and the two would take each other for a second
/// measurement.
fn announced(args: &QualifyArgs, plan: &Plan, places: &Places) -> Vec<String> {
    let mut ports = args.nic.clone();
    if matches!(places.device, PlaceSpec::Container(_)) && plan.devices() == 1 {
        ports.pop();
    }
    if matches!(places.test_set, PlaceSpec::Container(_)) {
        ports.clear();
    }
    ports
}

/// Records in the run that it is the rest of a plan.
fn say_rest(run: &Run, left: Option<&Left>) {
    if let Some(left) = left {
        run.session.recorder.events().write(EventKind::Note, left.said());
    }
}

/// The plan with its devices where the command line asks for them.
fn placed(mut plan: Plan, args: &QualifyArgs) -> Plan {
    plan.place = match args.far.end() {
        Some(End::Device) => PlaceKind::Far,
        _ => args.place.unwrap_or(plan.place),
    };
    plan.vcpus = args.guest.vcpus().or(plan.vcpus);
    plan
}

/// Kernel that the guests of a plan boot, in a sentence; `None` if it has no guests.
fn guests(args: &QualifyArgs, plan: &Plan) -> Option<String> {
    let booted = || match args.guest.spec(plan.guest_cpus()) {
        Ok(spec) => format!("Its guests boot {}.", spec.kernel_in_words()),
        Err(failure) => format!("Its guests cannot boot: {failure}"),
    };
    plan.is_in_guests().then(booted)
}

/// Prints the duration and the roles before the measurement, on standard error: standard output is reserved for the result.
fn say(plan: &Plan, roles: &Roles) {
    for line in std::iter::once(outline::extent(plan)).chain(roles.lines()) {
        let _ = writeln!(std::io::stderr(), "triptime: {line}");
    }
}

/// The plan to measure, and the ports of this machine that it uses.
fn bed(args: &QualifyArgs, plan: Plan) -> Result<(Plan, Option<Bed>), Failure> {
    plan.check_beside_lans(
        args.place.unwrap_or(plan.place),
        !args.nic.is_empty() || args.far.end().is_some(),
    )?;
    if let Some(far) = args.far.end() {
        let is_guest = match far {
            End::Device => args.place.unwrap_or_default().is_in_guest(),
            End::TestSet => plan.place.is_in_guest(),
        };
        return args.far.bed(plan, &args.nic, is_guest);
    }
    if let Some(relay) = plan.relay() {
        let port = port_to(relay, &plan, &args.nic)?;
        return Ok((plan, Some(port)));
    }
    let is_guest = args.place.unwrap_or(plan.place).is_in_guest();
    let ports = ports(&plan, &args.nic, is_guest)?;
    Ok((plan, ports))
}

/// The ports of this machine to measure in addition to the plan's networks, or instead of them.
fn ports(plan: &Plan, nic: &[String], is_guest: bool) -> Result<Option<Bed>, Failure> {
    if !nic.is_empty() && plan.compares_networks() {
        plan.check_beside_ports()?;
    }
    match (nic, &plan.bed) {
        ([], _) => Ok(None),
        ([_, _], None) => Err(Failure::Usage(format!(
            "--nic: the plan {} compares no networks: use `triptime qualify networks --nic {}`",
            plan.name,
            nic.join(",")
        ))),
        ([test_set, device], Some(_)) if is_guest => {
            Ok(Some(Bed::of_ports_for_guests(test_set, device, plan.devices())?))
        }
        ([test_set, device], Some(_)) => Ok(Some(Bed::of_ports(test_set, device, plan.devices())?)),
        _ => Err(Failure::Usage(
            "--nic takes two ports, the test set's and the device's: --nic eth1,eth2; or one, and --far HOST".into(),
        )),
    }
}
