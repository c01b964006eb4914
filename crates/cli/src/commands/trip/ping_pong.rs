//! GOOSE ping-pong: the answers of a device, timed.

use super::TripArgs;
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use probes::Probe;
use probes::ping_pong::{PingPongConfig, PingPorts, limits, ping_port_options};
use probes::publish::port_options;
use probes::trip::goose_port_options;
use session::RunSpec;
use session::preflight::Intent;
use sys::packet::PacketPort;
use units::CpuList;

/// Sends pings until everything is measured; returns the exit status.
pub(super) fn run(args: TripArgs) -> Result<u8, Failure> {
    let config = config(&args)?;
    let interface = &args.port.interface;
    ready(&config, &[], Some(interface), &args.run)?;
    let ping = PacketPort::open(interface, &ping_port_options())?;
    let load = PacketPort::open(interface, &port_options())?;
    let open = || PacketPort::open(interface, &goose_port_options());
    // Checks before there is a run.
    drop(open()?);
    let cpus: CpuList = config.cpu.into_iter().chain(config.load_cpu).collect();
    let spec = RunSpec {
        open_ended: false,
        ..args.run.spec("trip", cpus.clone(), args.port.duration).on(interface)
    };
    let judged = Judged {
        own_limits: Some(limits(&config).concat()),
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    // Opened only now: GOOSE that waited during the preparation of the run is older than the run.
    let goose = match open() {
        Ok(goose) => goose,
        Err(error) => return run.finish(Err(error.into())),
    };
    let stop = run.session.stop.clone();
    let intent = Intent {
        cpus,
        ..args.port.intent()
    };
    let goose = run.port(goose, &args.port, &intent)?;
    let ports = PingPorts {
        ping: ping.into(),
        goose,
        load: load.into(),
    };
    let started = config.start(ports, &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}

fn config(args: &TripArgs) -> Result<PingPongConfig, Failure> {
    Ok(PingPongConfig {
        duration_ns: args.port.duration,
        receive: args.receive,
        policy: args.port.policy,
        cpu: args.port.cpu,
        load_cpu: args.goose_cpu.or(args.port.cpu),
        ..args.ping.config(&args.options)?
    })
}
