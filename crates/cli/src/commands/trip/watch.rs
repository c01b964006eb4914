//! Relays side by side: pairs their decisions.

use super::TripArgs;
use crate::failure::Failure;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use probes::Probe;
use probes::trip::goose_port_options;
use probes::watch::{LIMIT, WatchConfig};

/// Watches until the duration is over or a signal comes; returns the exit status.
pub(super) fn run(args: TripArgs) -> Result<u8, Failure> {
    let config = WatchConfig {
        duration_ns: args.port.duration,
        receive: args.receive,
        policy: args.port.policy,
        cpu: args.port.cpu,
        ..WatchConfig::of(args.watch, args.pair_within)?
    };
    let interface = &args.port.interface;
    ready(&config, &[], Some(interface), &args.run)?;
    let open = || args.lans.receiving(interface, &goose_port_options());
    // Checks before there is a run.
    drop(open()?);
    let spec = args
        .run
        .spec("trip", args.port.measured(), args.port.duration)
        .on(interface)
        .with_lan_b(args.lans.lan_b.as_deref());
    let judged = Judged {
        own_limits: Some(LIMIT.to_owned()),
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    // Opened only now: GOOSE that waited during the preparation of the run is older than the run.
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
