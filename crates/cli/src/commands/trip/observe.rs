//! Faults of another injector: the trips of a relay, timed.

use super::TripArgs;
use crate::failure::Failure;
use crate::lans::STAMPED_BY_KERNEL;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use probes::observe::{ObserveConfig, limits, port_options};
use probes::{Port, Probe, ReceiveStamps};

/// Observes until the duration is over, or until told to end; returns the exit status.
pub(super) fn run(args: TripArgs) -> Result<u8, Failure> {
    let relay = args.options.under_test()?;
    let Some(observed) = args.observe.config(&relay, &args.options.sv_id, None)? else {
        unreachable!("the command asked what is observed")
    };
    let config = ObserveConfig {
        observed,
        within_ns: args.observe.within,
        duration_ns: args.port.duration,
        stamps: args.stamps,
        receive: args.receive,
        policy: args.port.policy,
        cpu: args.port.cpu,
    };
    let interface = &args.port.interface;
    ready(&config, &[], Some(interface), &args.run)?;
    if args.lans.lan_b.is_some() && config.stamps != ReceiveStamps::Software {
        return Err(Failure::Usage(format!("trip: {STAMPED_BY_KERNEL}")));
    }
    let open = || match args.lans.lan_b {
        Some(_) => args.lans.receiving(interface, &port_options()),
        None => Port::open(interface, &config.stamps.asked_of(port_options())),
    };
    // Refusals come before there is a run.
    drop(open()?);
    let spec = args
        .run
        .spec("trip", args.port.measured(), args.port.duration)
        .on(interface)
        .with_lan_b(args.lans.lan_b.as_deref());
    let judged = Judged {
        own_limits: Some(limits(config.within_ns)),
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    // Opened only now: frames that waited while the run was being prepared are of before it.
    let port = match open() {
        Ok(port) => port,
        Err(error) => return run.finish(Err(error.into())),
    };
    let stop = run.session.stop.clone();
    let port = run.port(port, &args.port, &args.port.intent())?;
    let started = config.start(port, &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}
