//! `triptime lab up`, `list` and `down`: beds that stay up for manual measurements.

use crate::commands::qualify::{kind, runtime};
use crate::ending;
use crate::failure::{Failure, say};
use crate::guest::{MachineArgs, told};
use crate::verdict::write;
use bed::Network;
use lab::{Asked, Lab, LabName, Labs, forward};
use place::PlaceKind;
use place::container::RuntimeName;
use place::guest::VCPUS;
use plan::Plan;
use probes::{Machine, Need};
use session::steward;
use std::fmt::Write;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::privilege::Capability;
use units::CpuList;

/// Interval at which the process that holds a container up checks whether to end.
const LOOK: Duration = Duration::from_millis(100);

const NEEDS: [Need; 2] = [
    Need::Capability(Capability::SysAdmin, "name network namespaces"),
    Need::Capability(Capability::NetAdmin, "make interfaces in them"),
];

/// Makes a bed that stays up: network namespaces for a test set and a device, the network between them, and a container or guest at the
/// device if wanted
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Prints how to run a command at each end. A second `up` changes nothing. Namespaces are called
triptime-NAME-ts, -dut, -dut1 ...; `triptime lab down` removes everything, after a crash too.

Examples: triptime lab up bay
          triptime lab up bay --network macvlan --devices 2 --place container --cpus 2-3
          triptime lab up vpc --place vm --devices 2 --host-cpus 2-5
          triptime lab up bay --nic eth1,eth2 --place container --devices 2
          triptime lab up substation")]
pub(crate) struct UpArgs {
    /// Name of the bed; or a plan, by its name or file, which gives the bed its name and form
    #[arg(value_name = "NAME")]
    name: String,
    /// Network between test set and devices: veth, bridge, macvlan, tap or openvswitch; guests cannot use veth [default: as the plan says,
    /// else a bridge]
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    network: Option<Network>,
    /// Ports of this machine as the ends, in place of a network: the test set's and the device's; or the device's alone, if the test set is
    /// on another machine
    #[arg(long, value_name = "IF,IF", value_delimiter = ',', conflicts_with = "network")]
    nic: Vec<String>,
    /// Place of each device: native, container or vm [default: as the plan says, else native]
    #[arg(long, value_name = "PLACE", value_parser = kind)]
    place: Option<PlaceKind>,
    /// Number of devices side by side [default: as the plan says, else 1]
    #[arg(long, value_name = "COUNT")]
    devices: Option<usize>,
    /// CPUs of the containers [default: all]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Runtime of the containers: runc or crun [default: the first that is installed]
    #[arg(long, value_name = "RUNTIME", value_parser = runtime)]
    runtime: Option<RuntimeName>,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Removes a bed of `lab up` and everything in it
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DownArgs {
    /// Bed to remove [default: all]
    #[arg(value_name = "NAME", value_parser = LabName::parse)]
    name: Option<LabName>,
}

fn network(text: &str) -> Result<Network, String> {
    let found = Network::ALL.into_iter().find(|network| network.name() == text);
    found.ok_or_else(|| format!("use {}", Network::ALL.map(Network::name).join(", ")))
}

impl UpArgs {
    /// Name of the bed, and its form.
    fn asked(&self) -> Result<(LabName, Asked), Failure> {
        let plan = match Plan::load(&self.name) {
            Ok(plan) => Some(plan),
            // Any text that is valid as the name of a bed is taken as its name.
            Err(error) if LabName::parse(&self.name).is_err() => return Err(error.into()),
            Err(_) => None,
        };
        let name = plan.as_ref().map_or(&self.name, |plan| &plan.name);
        let place = self.place.or(plan.as_ref().map(|plan| plan.place)).unwrap_or_default();
        let asked = Asked {
            network: self
                .network
                .or_else(|| network_of(plan.as_ref()?))
                .unwrap_or(Network::Bridge),
            nic: self.nic.clone(),
            place,
            devices: self.devices.or(plan.as_ref().map(Plan::devices)).unwrap_or(1),
            cpus: self.cpus.clone().unwrap_or_default(),
            runtime: self.runtime.map(|runtime| runtime.name().to_owned()),
            guest: match place == PlaceKind::Vm || self.machine.is_named() {
                true => Some(told(self.machine.spec(VCPUS)?)),
                false => None,
            },
        };
        Ok((LabName::parse(name).map_err(|why| Failure::Usage(why.into()))?, asked))
    }
}

/// The first of the networks that a plan compares.
fn network_of(plan: &Plan) -> Option<Network> {
    plan.bed.as_ref()?.networks.first().copied()
}

/// Runs `lab up`; returns its exit status.
pub(crate) fn up(args: &UpArgs) -> Result<u8, Failure> {
    let (name, asked) = args.asked()?;
    Need::check_all(&NEEDS, &Machine::live(), None)?;
    let (lab, was_up) = Labs::lock()?.up(&name, &asked, None)?;
    write(&described(&lab, was_up))?;
    Ok(0)
}

/// Runs `lab list`; returns its exit status.
pub(crate) fn list() -> Result<u8, Failure> {
    let labs = Labs::lock()?.list()?;
    let text = match labs.is_empty() {
        true => "No bed is up. To make one: triptime lab up NAME\n".to_owned(),
        false => labs.iter().map(|lab| described(lab, true)).collect(),
    };
    write(&text)?;
    Ok(0)
}

/// Runs `lab down`; returns its exit status.
pub(crate) fn down(args: &DownArgs) -> Result<u8, Failure> {
    let labs = Labs::lock()?;
    let names = match &args.name {
        Some(name) => vec![name.clone()],
        None => labs.list()?.into_iter().map(|lab| lab.name).collect(),
    };
    for name in names {
        labs.down(&name)?;
        write(&format!("{name}: down\n"))?;
    }
    Ok(0)
}

/// Command in a container of `lab up`, or for a bed
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HoldArgs {
    /// Bed in whose middle it forwards frames
    #[arg(long, value_name = "NAME")]
    bed: Option<String>,
    /// Run and undo the actions of the plan whose run gives orders on standard input
    #[arg(long, conflicts_with = "bed")]
    actions: bool,
}

/// Forwards frames if requested until the signal to end comes; returns its exit status.
pub(crate) fn hold(args: &HoldArgs) -> Result<u8, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    ending::on_signals(&stop)?;
    if args.actions {
        // The run has put it into a process group of its own, whose leader gets no session of its own; SIGHUP is handled. So neither the end of the
        // terminal nor a signal to the run's group keeps it from undoing.
        ending::leave_session()?;
        let orders = BufReader::new(std::io::stdin());
        steward::serve(orders, std::io::stdout(), &mut |text| say(&text));
        return Ok(0);
    }
    if let Some(bed) = &args.bed {
        forward(bed, &stop)?;
        return Ok(0);
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    Ok(0)
}

/// Text for a bed, with the commands that run something at its ends.
fn described(lab: &Lab, was_up: bool) -> String {
    let asked = lab.asked.as_ref().map(|asked| format!(": {asked}")).unwrap_or_default();
    let state = match (&lab.stale, was_up) {
        (Some(why), _) => format!(
            "STALE, {why}: triptime lab down {name}; triptime lab up {name}",
            name = lab.name
        ),
        (None, true) => "is up".to_owned(),
        (None, false) => "made".to_owned(),
    };
    let mut text = format!("{}{asked}; {state}\n", lab.name);
    if lab.stale.is_some() {
        return text;
    }
    for (end, interface, way) in lab.ends() {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {end:<9} {interface:<5} {way} ...");
    }
    if let Some(forwarder) = lab.forwarder() {
        let _ = writeln!(text, "  between:  {forwarder}");
    }
    for (number, guest) in lab.guests().iter().enumerate() {
        let _ = writeln!(text, "  guest {number}: {guest}");
    }
    text
}
