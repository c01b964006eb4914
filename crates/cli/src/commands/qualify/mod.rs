//! `triptime qualify`: the main job.

mod detach;
mod lasting;
mod matrix;
mod outline;

pub(crate) use lasting::Lasting;

use crate::arguments::RunArgs;
use crate::ending::leave_session;
use crate::failure::Failure;
use crate::far::FarArgs;
use crate::guest::MachineArgs;
use crate::keeper::Detached;
use crate::ready::{explained, no_connection, not_to_be_disturbed};
use crate::run_file::{Run, Start};
use crate::table;
use crate::verdict::write;
use bed::Bed;
use bed::partition::{Partition, clean_up};
use host::CpuFacts;
use lasting::Again;
use model::EventKind;
use place::container::{Containers, RuntimeName};
use place::guest::{GuestSpec, runtime_for_guest};
use place::{Kind, PlaceSpec};
use plan::{Isolation, Left, Named, Plan, PlanRun, Roles, live_facts};
use probes::options::positive_duration;
use probes::{Machine, Need};
use session::memory::{OF_A_BED, OF_A_PROBE};
use session::{Explainer, Inventory};
use std::io::Write;
use units::CpuList;

/// Inventory, loads, all probes of a plan, verdict, HTML report: the main job
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Example: triptime qualify\n         triptime qualify vm-wakeup --duration 60h
         triptime qualify site.toml --html site.html
         triptime qualify networks --nic eth1,eth2
         triptime qualify --nic eth1 --far 192.0.2.7 --secret triptime.secret
         triptime qualify substation --show
         triptime qualify substation --duration 33h --detach
         triptime qualify matrix --budget 15m --out matrix

On a host in service: the judged CPUs are kept busy at real-time priority, and loads run beside them. Look at
--show first. Nothing is changed on the host, and nothing stays behind."
)]
pub(crate) struct QualifyArgs {
    /// Plan: the name of one inside triptime (quick, substation, vpc, avb, vm-wakeup, jitter-table, avb-wakeup, networks, matrix, container-table, two-guests, vm-bench), or a TOML file
    #[arg(default_value = "quick")]
    plan: String,
    /// How long each step measures, instead of what the plan says
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// Also measure over two ports of this machine, the test set's and the device's, used as they are: real ports joined by a
    /// cable or switch, SR-IOV virtual functions. For plans that compare networks. With --far one port, the test set's
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    nic: Vec<String>,
    /// Where the devices under test are: in this process (native), each in a container, each in a guest (vm), or each in a container
    /// in a guest (container-in-vm) [default: as the plan says]
    #[arg(long, value_name = "PLACE", value_parser = kind)]
    place: Option<Kind>,
    /// Runtime of the containers: runc, crun, podman or lxc; in a guest crun or runc [default: the first that is installed]
    #[arg(long, value_name = "RUNTIME", value_parser = runtime)]
    runtime: Option<RuntimeName>,
    /// CPUs to judge [default: as the plan says; of the plans inside triptime, the isolated CPUs that no other process owns, or
    /// where there are none, all but the housekeeping ones]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// CPUs for loads, recorder and test set [default: as the plan says; the lowest that is neither isolated nor owned]
    #[arg(long, value_name = "LIST")]
    housekeeping: Option<CpuList>,
    /// Spin on CPUs that carry other real-time threads, virtual CPUs or interrupt threads of a network interface in use, too:
    /// these wait meanwhile. Use ports that carry a default route or the session of ssh, too
    #[arg(long)]
    disturb: bool,
    /// Of a plan with [matrix]: how long all of it may take; as many measurements of each cell as fit [default: as the plan says]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    budget: Option<u64>,
    /// Of a plan with [matrix]: where the order of the measurements comes from [default: another one each time; it is kept]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// List the plans inside triptime, and end
    #[arg(long)]
    list: bool,
    /// Say what the plan will do on this machine, for how long and on which CPUs, and end
    #[arg(long, conflicts_with = "list")]
    show: bool,
    /// The same, and whether everything it needs is there
    #[arg(long, conflicts_with_all = ["list", "show"])]
    dry_run: bool,
    /// Return when it measures, and let it go on by itself: as a unit where systemd runs, else in a session of its own. `triptime
    /// status` shows it, `triptime stop` ends it
    #[arg(long, conflicts_with_all = ["list", "show", "dry_run"])]
    detach: bool,
    /// Go on with the rest of the plan after a reboot, each time in a run file of its own (needs systemd)
    #[arg(long, requires = "detach")]
    restart_after_reboot: bool,
    /// How it was started, and its name: written by --detach
    #[arg(long, hide = true, value_name = "WAY:NAME", conflicts_with = "detach")]
    detached: Option<Detached>,
    #[command(flatten)]
    guest: MachineArgs,
    #[command(flatten)]
    far: FarArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: QualifyArgs) -> Result<u8, Failure> {
    let detached = args.detached.clone();
    if detached.is_some() {
        leave_session()?;
    }
    let ended = measure(args);
    lasting::at_the_end(detached.as_ref());
    ended
}

fn measure(mut args: QualifyArgs) -> Result<u8, Failure> {
    if args.list {
        return outline::list();
    }
    let plan = Plan::load(&args.plan)?;
    let plan = match args.duration {
        Some(ns) => plan.lasting(ns),
        None => plan,
    };
    // As the plan's file has it, this was checked when it was read.
    let too_long = |error| Failure::Usage(format!("--duration: {error}"));
    plan.check_length().map_err(too_long)?;
    let plan = match args.run.hold_idle {
        true => plan.holding_idle(),
        false => plan,
    };
    let plan = match args.run.window {
        Some(ns) => plan.in_windows(ns),
        None => plan,
    };
    // Before it is looked which CPUs there are: a killed measurement may have kept this process off some of them. What cannot be taken
    // back is said when something is to be measured.
    let _ = clean_up();
    if let Some(table) = plan.matrix.clone() {
        return matrix::run(&args, plan, &table);
    }
    if args.budget.is_some() || args.seed.is_some() {
        return Err(Failure::Usage(format!(
            "--budget, --seed: the plan {} has no [matrix]: use `triptime qualify matrix`",
            plan.name
        )));
    }
    let (plan, left) = match lasting::again(&args, &plan)? {
        Again::Whole => (plan, None),
        Again::Rest(left, file) => {
            args.run.out = Some(file);
            (left.plan.clone(), Some(left))
        }
        Again::Nothing => {
            write("Nothing of the plan is left to measure.\n")?;
            return Ok(0);
        }
    };
    let plan = placed(plan, &args);
    let (plan, ports) = bed(&args, plan)?;
    let cpus = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    let is_named = args.cpus.is_some();
    let named = Named {
        measured: args.cpus.clone(),
        housekeeping: args.housekeeping.clone(),
    };
    let mut roles = plan.roles(&cpus, &named)?;
    roles.elsewhere = args.far.machine();
    plan.check_beside(&cpus, &roles)?;
    if args.show {
        return outline::show(&plan, &cpus, &roles, guests(&args, &plan));
    }
    if !args.disturb {
        not_to_be_disturbed(&plan.occupied(&cpus, &roles)?, is_named)?;
        no_connection(&args.nic)?;
    }
    explained(&args.run);
    Need::check_all(&plan.needs(&cpus, &roles)?, &Machine::live(), None)?;
    let need = plan.room(&cpus, &roles, plan.window.0, args.run.file_budget)?;
    if args.detach {
        return detach::start(&args, &plan, Some(&need));
    }
    let place = place(&args, &plan, &cpus, &roles)?;
    if args.dry_run {
        outline::show(&plan, &cpus, &roles, guests(&args, &plan))?;
        return outline::ready();
    }
    let partition = partition(&plan, &roles)?;
    let begin = Start {
        command: "qualify",
        file: None,
        profile: Some(&plan.limits),
        window_ns: plan.window.0,
        // Each step says it.
        hold_idle: false,
        flight_recorder: true,
        // Its cost would be part of the wake-ups, too.
        osnoise: false,
        measured: roles.measured.clone(),
        inventory: Inventory::Measured,
        recorder: Some(roles.recorder.clone()),
        interfaces: Vec::new(),
        ports: args.nic.clone(),
        documents: vec![("plan".into(), plan.text.clone())],
        open_ended: false,
        table: plan.table.map(table::layout),
        own_limits: plan.own_limits()?,
        explain: Explainer::Own,
        plan: Some(&plan.name),
        lasts_ns: None,
        need: Some(need),
        memory: if plan.needs_bed() { OF_A_BED } else { OF_A_PROBE },
        detached: args.detached.clone(),
        // Measurements of another place come at the end of its step.
        is_paced: matches!(place, PlaceSpec::Native),
    };
    if !args.run.quiet {
        say(&plan, &roles);
    }
    let mut run = Run::start(begin, args.run)?;
    run.session.recorder.add_facts(roles.facts());
    match &plan.cell {
        // Its matrix has a page for all of them.
        Some(cell) => run.session.recorder.add_facts(cell.facts()),
        None => run.html_beside_the_run(),
    }
    if let Some(partition) = &partition {
        run.session.recorder.add_facts(partition.facts());
    }
    say_rest(&run, left.as_deref());
    let work = PlanRun {
        place,
        plan: &plan,
        roles,
        cpus,
        ports,
    };
    let outcome = plan::run(run.runner(), work);
    // Before the report is made, which may take all CPUs.
    drop(partition);
    run.finish(outcome)
}

/// The partition that a cell of a matrix is measured in. What a killed measurement left of one is taken back in any case.
fn partition(plan: &Plan, roles: &Roles) -> Result<Option<Partition>, Failure> {
    let is_of_cell = plan
        .cell
        .as_ref()
        .is_some_and(|cell| cell.isolation == Isolation::Cpuset);
    let made = match is_of_cell && !plan.place.is_in_guest() {
        true => Partition::make(&roles.measured).map(Some),
        false => clean_up().map(|()| None),
    };
    made.map_err(|why| Failure::CouldNotMeasure(format!("partition of control groups: {why}")))
}

/// Says in the run that it is the rest of a plan.
fn say_rest(run: &Run, left: Option<&Left>) {
    if let Some(left) = left {
        let text = format!("the rest of the plan after a reboot: {}", left.said());
        run.session.recorder.events().write(EventKind::Note, text);
    }
}

/// A place by its name.
pub(crate) fn kind(text: &str) -> Result<Kind, String> {
    let known = [Kind::Native, Kind::Container, Kind::Vm, Kind::ContainerInVm];
    let found = known.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| format!("use {}", known.map(Kind::name).join(", ")))
}

/// A runtime by its name.
pub(crate) fn runtime(text: &str) -> Result<RuntimeName, String> {
    let found = RuntimeName::ALL.into_iter().find(|name| name.name() == text);
    found.ok_or_else(|| format!("use {}", RuntimeName::ALL.map(RuntimeName::name).join(", ")))
}

/// The plan with its devices where the command line wants them.
fn placed(plan: Plan, args: &QualifyArgs) -> Plan {
    let place = match args.far.is_asked_for() {
        true => Kind::Far,
        false => args.place.unwrap_or(plan.place),
    };
    let vcpus = args.guest.vcpus().or(plan.vcpus);
    Plan { place, vcpus, ..plan }
}

/// Kernel that the guests of a plan boot, in a sentence; `None`: it has none.
fn guests(args: &QualifyArgs, plan: &Plan) -> Option<String> {
    let booted = || match args.guest.spec(plan.guest_cpus()) {
        Ok(spec) => format!("Its guests boot {}.", spec.kernel_in_words()),
        Err(failure) => format!("Its guests cannot boot: {failure}"),
    };
    plan.is_in_guests().then(booted)
}

/// The place of each device, with the CPUs that it needs: those that are judged, and one for what does not measure.
fn place(args: &QualifyArgs, plan: &Plan, facts: &CpuFacts, roles: &Roles) -> Result<PlaceSpec, Failure> {
    if args.runtime.is_some() && !plan.place.has_container() {
        return Err(Failure::Usage(
            "--runtime is of containers: add --place container, or container-in-vm".into(),
        ));
    }
    if let Some(far) = args.far.place()? {
        return Ok(far);
    }
    Ok(match plan.place {
        // Another machine is named by --far.
        Kind::Native | Kind::Far => PlaceSpec::Native,
        Kind::Container => PlaceSpec::Container(Containers {
            program: None,
            side_by_side: plan.devices_at_once() as u64,
            runtime: args.runtime,
            cpus: plan
                .all_judged(facts, roles)?
                .iter()
                .chain(roles.recorder.iter())
                .collect(),
        }),
        Kind::Vm | Kind::ContainerInVm => {
            let runtime = match plan.place.has_container() {
                true => Some(runtime_for_guest(args.runtime)?),
                false => None,
            };
            let spec = args.guest.spec(plan.guest_cpus())?;
            let usual = || on_cpus_of_the_run(roles, spec.cpus as usize * plan.devices());
            let host_cpus = spec.host_cpus.clone().or_else(usual);
            PlaceSpec::Guest(Box::new(GuestSpec {
                host_cpus,
                runtime,
                ..spec
            }))
        }
    })
}

/// CPUs for so many virtual ones: those that are judged, where there are enough. Else what keeps house there is on one that is not judged
/// here, the others on those that are. `None`: there are too few.
fn on_cpus_of_the_run(roles: &Roles, wanted: usize) -> Option<CpuList> {
    let judged = roles.measured.clone();
    let with_one_more = roles.recorder.iter().take(1).chain(judged.iter()).collect();
    let enough = [judged, with_one_more].into_iter().find(|cpus| cpus.len() >= wanted);
    enough.map(|cpus| cpus.iter().take(wanted).collect())
}

/// How long it takes and who runs where, before anything is measured. Standard output is the result's.
fn say(plan: &Plan, roles: &Roles) {
    for line in std::iter::once(outline::extent(plan)).chain(roles.lines()) {
        let _ = writeln!(std::io::stderr(), "triptime: {line}");
    }
}

/// The plan as it is measured, and the ports of this machine that it takes.
fn bed(args: &QualifyArgs, plan: Plan) -> Result<(Plan, Option<Bed>), Failure> {
    if args.far.is_asked_for() {
        return args.far.bed(plan, &args.nic);
    }
    let is_guest = args.place.unwrap_or(plan.place).is_in_guest();
    let ports = ports(&plan, &args.nic, is_guest)?;
    Ok((plan, ports))
}

/// The ports of this machine that are to be measured beside the plan's networks, or in their place.
fn ports(plan: &Plan, nic: &[String], is_guest: bool) -> Result<Option<Bed>, Failure> {
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
