//! `triptime far`: the device's end of a plan that runs on another machine.

use crate::commands::qualify::runtime;
use crate::ending::on_signals;
use crate::failure::{Failure, say};
use crate::far::secret;
use crate::guest::MachineArgs;
use crate::ready::{no_connection, not_to_be_disturbed};
use crate::version;
use place::container::RuntimeName;
use place::far::{Address, FarEnd, Offer, PORT, Tell};
use place::guest::{GuestSpec, VCPUS, can_boot};
use plan::{DeviceSteps, Within, live_facts};
use probes::{Machine, Need};
use run::Stop;
use std::path::PathBuf;
use std::sync::Arc;
use sys::SysError;
use sys::link::LinkInfo;
use sys::privilege::Capability;
use units::CpuList;

/// Serves as the device under test of a plan that another machine runs (qualify --far): waits for that machine, runs the device's end of each
/// step on IF, and sends the results back
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "It does nothing else for the connected machine, and serves one at a time. Run files do not stay here.

Examples: triptime far eth1 --listen 192.0.2.7 --secret /root/triptime.secret
          triptime far eth1 --secret /root/triptime.secret    # for an ssh -L 18850:localhost:18850 from the other machine"
)]
pub(crate) struct FarEndArgs {
    /// The port of the process bus
    #[arg(value_name = "IF")]
    interface: String,
    /// The one address of this machine to listen on
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "127.0.0.1")]
    listen: Address,
    /// Secret that both ends know, in a file readable by this user alone; needed on every address
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Have this end in a container
    #[arg(long)]
    container: bool,
    /// Have this end in a guest, which is booted for each step, with a macvtap on IF
    #[arg(long, conflicts_with = "container")]
    guest: bool,
    #[command(flatten)]
    machine: MachineArgs,
    /// Runtime: runc, crun, podman or lxc [default: the first that is installed]
    #[arg(long, value_name = "RUNTIME", value_parser = runtime, requires = "container")]
    runtime: Option<RuntimeName>,
    /// CPUs to judge [default: the isolated CPUs that no other process owns, or where there are none, all but those on the core of the first]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Spin even on CPUs that carry other real-time threads, virtual CPUs or interrupt threads of a network interface in use: these wait
    /// during the run. Also use a port that carries a default route or an ssh session
    #[arg(long)]
    disturb: bool,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &FarEndArgs) -> Result<u8, Failure> {
    let secret = secret(args.secret.as_deref())?;
    let link = sys::link::find(&args.interface)?;
    if !link.up {
        let name = args.interface.as_str().into();
        return Err(SysError::InterfaceDown { name }.into());
    }
    let cpus = judged(args)?;
    let mut needs = vec![
        Need::Wish(Capability::IpcLock),
        Need::Capability(Capability::NetRaw, "open packet sockets"),
        Need::Capability(Capability::SysNice, "measure at real-time priority"),
    ];
    needs.extend(cpus.iter().map(Need::Cpu));
    Need::check_all(&needs, &Machine::live(), Some(&args.interface))?;
    let within = within(args, &cpus)?;
    // A guest's card has an address of its own on the port.
    let mac = match &within {
        Some(Within::Guest(_)) => bed::mac_on(&link, &bed::device_if(0)),
        _ => link.mac,
    };
    let place = match &within {
        Some(Within::Container(runtime)) => format!(", in a container of {}", runtime.name()),
        Some(Within::Guest(spec)) => format!(", in a guest that boots {}", spec.kernel_in_words()),
        None => String::new(),
    };
    let offer = Offer {
        link: LinkInfo { mac, ..link },
        cpus,
        admission: Box::new(DeviceSteps {
            interface: args.interface.clone(),
            within,
        }),
        secret,
        version: version::identity()?,
    };
    let on = format!("{}, CPUs {} judged{place}", args.interface, offer.cpus);
    let far = FarEnd::listen(&args.listen, offer)?;
    let stop = Stop::new();
    on_signals(&stop.flag())?;
    say(&format_args!(
        "the device's end on {on}: listening on {}",
        far.address()
    ));
    say(&format_args!(
        "on the other machine: triptime qualify PLAN --nic IF --far {} --secret FILE",
        there(&far)
    ));
    let tell: Tell = Arc::new(|what: &str| say(&what));
    far.serve(&stop, &tell)?;
    Ok(0)
}

/// The place of this end on this machine, checked; `None` if it is in `far` itself. A guest's virtual CPUs are on the judged CPUs, if there are
/// enough.
fn within(args: &FarEndArgs, cpus: &CpuList) -> Result<Option<Within>, Failure> {
    if args.container {
        return Ok(Some(Within::Container(RuntimeName::find(args.runtime)?)));
    }
    if !args.guest {
        return Ok(None);
    }
    let spec = args.machine.spec(VCPUS)?;
    can_boot(&spec)?;
    let enough = (cpus.len() >= spec.cpus as usize).then(|| cpus.iter().take(spec.cpus as usize).collect());
    Ok(Some(Within::Guest(Box::new(GuestSpec {
        host_cpus: spec.host_cpus.clone().or(enough),
        ..spec
    }))))
}

/// Address under which the other machine reaches this one.
fn there(far: &FarEnd) -> String {
    let address = far.address();
    match address.port() {
        PORT => address.ip().to_string(),
        _ => address.to_string(),
    }
}

/// The named CPUs; else the CPUs that are kept free of other work, or all but the first and the threads of its core.
fn judged(args: &FarEndArgs) -> Result<CpuList, Failure> {
    let facts = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    let usable = facts.usable();
    let unowned = usable.without(&facts.owned());
    let isolated = unowned.without(&usable.without(&facts.kept_free()));
    let first: CpuList = unowned.iter().take(1).collect();
    let but_first = unowned.without(&first);
    // The first CPU carries the rest of the machine's work, which also slows the threads of its core.
    let choices = [isolated, but_first.without(&facts.siblings(&first)), but_first, usable];
    let found = choices.into_iter().find(|cpus| !cpus.is_empty()).unwrap_or_default();
    let cpus = args.cpus.clone().unwrap_or(found);
    for together in facts.threads_of_one_core(&cpus) {
        say(&format_args!(
            "CPUs {together}: judged, but threads of one core, so each slows the other"
        ));
    }
    if !args.disturb {
        not_to_be_disturbed(&cpus, args.cpus.is_some())?;
        no_connection(std::slice::from_ref(&args.interface))?;
    }
    Ok(cpus)
}
