//! `triptime qualify`: runs a whole plan.

mod detach;
mod lasting;
mod matrix;
mod outline;
mod prepared;
mod relay;

pub(crate) use lasting::Lasting;

use crate::arguments::RunArgs;
use crate::ending::leave_session;
use crate::failure::{Failure, say};
use crate::far::FarArgs;
use crate::guest::MachineArgs;
use crate::run_file::judged_by;
use crate::verdict::write;
use bed::partition::clean_up;
use lasting::Again;
use place::PlaceKind;
use place::container::RuntimeName;
use plan::{Chosen, Left, Plan};
use prepared::{Prepared, settled};
use probes::options::positive_duration;
use relay::RelayArgs;
use session::detach::Detached;
use session::steward;
use units::CpuList;

/// Inventory, loads, all probes of a plan, verdict, HTML report: the main job
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Example: triptime qualify\n         triptime qualify vm-wakeup --duration 60h
         triptime qualify site.toml --html site.html
         triptime qualify networks --nic eth1,eth2
         triptime qualify vpac --relay 'IED1LD0/LLN0$GO$gcbPong' --nic eth1
         triptime qualify --nic eth1 --far 192.0.2.7 --secret triptime.secret
         triptime qualify substation --show
         triptime qualify substation --duration 33h --detach
         triptime qualify matrix --budget 15m --out matrix

On a host in service: judged CPUs are kept busy at real-time priority, and loads run meanwhile.
Look at --show first. Nothing is changed on the host, and nothing is left on it."
)]
pub(crate) struct QualifyArgs {
    #[arg(default_value = "quick", help = format!("Plan: the name of one inside triptime ({}), or a TOML file", plan::embedded_names()))]
    plan: String,
    /// Measuring time of each step, over each network and in each round, instead of the plan's
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    duration: Option<u64>,
    /// Measure this step alone, named by its label, or by its probe if it has none; repeat it for several. Steps side by side are chosen
    /// together. The others are named in the run as left out, and its pass is a partial one
    #[arg(long, value_name = "LABEL")]
    step: Vec<String>,
    /// Also measure over two ports of this machine, the test set's and the device's, used as they are: real ports joined by a
    /// cable or switch, SR-IOV virtual functions. For plans that compare networks. With --far one port, that of the end here; with --relay the one that leads to the relay
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    nic: Vec<String>,
    /// Place of the devices under test: in this process (native), each in a container, each in a guest (vm), or each in a container in a
    /// guest (container-in-vm); with --far, place of the end that is here [default: as the plan says; native for a test set]
    #[arg(long, value_name = "PLACE", value_parser = kind)]
    place: Option<PlaceKind>,
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
    /// Spin even on CPUs that carry other real-time threads, virtual CPUs or interrupt threads of a network interface in use: these wait
    /// during the run. Also use ports that carry a default route or an ssh session
    #[arg(long)]
    disturb: bool,
    /// For a plan with [matrix]: time for the whole matrix; each cell is measured as often as fits [default: as the plan says]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    budget: Option<u64>,
    /// For a plan with [matrix]: seed of the order of the measurements [default: a new one each time, which is recorded]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// List the plans inside triptime, and exit
    #[arg(long)]
    list: bool,
    /// Show what the plan will do on this machine, for how long and on which CPUs, and exit
    #[arg(long, conflicts_with = "list")]
    show: bool,
    /// As --show, and check that everything the plan needs is there
    #[arg(long, conflicts_with_all = ["list", "show"])]
    dry_run: bool,
    /// Run in the background and return once measuring has started: as a unit where systemd runs, else in a session of its own. `triptime
    /// status` shows the run, `triptime stop` ends it
    #[arg(long, conflicts_with_all = ["list", "show", "dry_run"])]
    detach: bool,
    /// Continue the rest of the plan after a reboot, each time in a run file of its own (needs systemd)
    #[arg(long, requires = "detach")]
    restart_after_reboot: bool,
    /// Way the run was started, and its name: written by --detach
    #[arg(long, hide = true, value_name = "WAY:NAME", conflicts_with = "detach")]
    detached: Option<Detached>,
    /// Number of guests, each with its own CPUs, in which steps on CPUs are measured at the same time [default: as the plan says, else 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=64), help_heading = "Guest")]
    guests: Option<u8>,
    #[command(flatten)]
    guest: MachineArgs,
    #[command(flatten)]
    relay: RelayArgs,
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
    let chosen = asked(&args)?;
    let part = chosen.fact();
    let plan = chosen.plan;
    // Runs before the CPUs are read: a killed measurement may have kept this process off some of them. Settings that cannot be restored are
    // reported when a measurement starts.
    let _ = clean_up();
    if let Some(table) = plan.matrix.clone() {
        args.run.served.refuse_for("a matrix")?;
        return matrix::run(&args, plan, &table);
    }
    refuse(&args, &plan)?;
    // Before the rest of a plan after a reboot is found: steps side by side are counted as one.
    let plan = settled(&args, plan)?;
    let Some((plan, left)) = rest(&mut args, plan)? else {
        write("Nothing of the plan is left to measure.\n")?;
        return Ok(0);
    };
    let prepared = Prepared::of(&args, (plan, part))?;
    if args.show {
        return prepared.show(&args);
    }
    // Before a run that nobody looks at begins, and where one is only tried.
    let limits = args.run.limits.as_deref().unwrap_or(&prepared.plan.limits);
    judged_by(Some(limits), prepared.plan.own_limits()?.as_deref())?;
    let need = prepared.check(&args)?;
    if !args.dry_run && !args.detach {
        steward::left_over().iter().for_each(|told| say(told));
    }
    if args.detach {
        return detach::start(&args, &prepared.plan, Some(&need));
    }
    let places = prepared.places(&args)?;
    if args.dry_run {
        prepared.show(&args)?;
        return outline::ready();
    }
    prepared.measure(args, places, need, left.as_deref())
}

/// The plan with the options applied.
fn asked(args: &QualifyArgs) -> Result<Chosen, Failure> {
    let chosen = Plan::load(&args.plan)?.only(&args.step)?;
    if chosen.plan.matrix.is_some() && !args.step.is_empty() {
        return Err(Failure::Usage(format!(
            "--step: the plan {} has a [matrix], whose cells are compared by all of its steps: leave --step out, or write a plan with fewer steps",
            chosen.plan.name
        )));
    }
    Ok(Chosen {
        plan: with_options(chosen.plan, args)?,
        ..chosen
    })
}

fn with_options(plan: Plan, args: &QualifyArgs) -> Result<Plan, Failure> {
    let plan = match args.duration {
        Some(ns) => plan.lasting(ns),
        None => plan,
    };
    // As the plan's file has it, this was checked when it was read.
    let too_long = |error| Failure::Usage(format!("--duration: {error}"));
    plan.check_length().map_err(too_long)?;
    plan.check_actions()?;
    let plan = match args.guests {
        Some(guests) => plan.in_guests(guests.into()),
        None => plan,
    };
    let plan = match args.run.hold_idle {
        true => plan.holding_idle(),
        false => plan,
    };
    let plan = match args.run.window {
        Some(ns) => plan.in_windows(ns),
        None => plan,
    };
    args.relay.in_plan(plan)
}

/// Refuses options of a matrix where the plan has none.
fn refuse(args: &QualifyArgs, plan: &Plan) -> Result<(), Failure> {
    match args.budget.is_some() || args.seed.is_some() {
        true => Err(Failure::Usage(format!(
            "--budget, --seed: the plan {} has no [matrix]: use `triptime qualify matrix`",
            plan.name
        ))),
        false => Ok(()),
    }
}

/// A plan, and the part of an earlier run that it continues.
type Rest = (Plan, Option<Box<Left>>);

/// The plan, or its remaining steps after a reboot, which go into a separate file; `None` if no step remains.
fn rest(args: &mut QualifyArgs, plan: Plan) -> Result<Option<Rest>, Failure> {
    Ok(match lasting::again(args, &plan)? {
        Again::Whole => Some((plan, None)),
        Again::Rest(left, file) => {
            args.run.out = Some(file);
            Some((left.plan.clone(), Some(left)))
        }
        Again::Nothing => None,
    })
}

/// A place by its name.
pub(crate) fn kind(text: &str) -> Result<PlaceKind, String> {
    let names = || PlaceKind::OF_PLANS.map(PlaceKind::name).join(", ");
    PlaceKind::named(text).ok_or_else(|| format!("use {}", names()))
}

/// A runtime by its name.
pub(crate) fn runtime(text: &str) -> Result<RuntimeName, String> {
    let found = RuntimeName::ALL.into_iter().find(|name| name.name() == text);
    found.ok_or_else(|| format!("use {}", RuntimeName::ALL.map(RuntimeName::name).join(", ")))
}
