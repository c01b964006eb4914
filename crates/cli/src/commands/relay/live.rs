//! A relay on an interface.

use super::{RelayArgs, open};
use crate::arguments::PortArgs;
use crate::failure::Failure;
use crate::lans::DeviceOfKernel;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use model::EventKind;
use probes::relay::{Found, RelayConfig, port_options};
use probes::subscribe::lan_limit;
use probes::{Numbers, Port, Probe, ProbeError};
use session::preflight::Intent;
use session::{RunSpec, SessionError};
use sys::packet::PacketPort;
use sys::thread::Policy;

/// Name of the relay's file among the documents of a run.
const DOCUMENT: &str = "relay";

/// Runs the relay until its duration is over; returns the exit status.
pub(super) fn run(found: Found, interface: &str, args: RelayArgs) -> Result<u8, Failure> {
    let Found {
        config: mut relay,
        text,
    } = found;
    relay.cpus = args.live.cpu.unwrap_or(relay.cpus);
    let numbered = relay.number_blocks(args.live.number);
    numbered.map_err(|why| Failure::Usage(format!("--number: {why}")))?;
    // The file states the destinations in layer 2.
    if let Some(mac) = args.routed.mac() {
        relay
            .streams
            .iter_mut()
            .for_each(|stream| stream.spec.destination = mac);
    }
    let cpus = relay.cpus.all();
    let port_args = PortArgs {
        interface: interface.to_owned(),
        duration: args.live.duration,
        policy: args.live.policy.unwrap_or(Policy::Fifo(relay.priority)),
        cpu: cpus.first(),
        capture: args.capture,
    };
    let records = args.records.as_deref().map(|path| open(path, &relay)).transpose()?;
    let mut config = RelayConfig {
        relay,
        records,
        clock: args.live.clock,
        duration_ns: port_args.duration,
        policy: port_args.policy,
        spin_ahead_ns: args.live.spin_ahead,
        stream_labels: Vec::new(),
        ptp: None,
        beside: Vec::new(),
    };
    ready(&config, &[], Some(interface), &args.run)?;
    let hearing = args.routed.hearing(interface, args.lans.lan_b.as_deref(), &args.key)?;
    let wrapper = args.routed.wrapper(interface)?;
    let options = hearing.options(port_options(&config.relay));
    let numbers = Numbers::default();
    let open = || {
        let port = match args.lans.open(interface, &options, &numbers)? {
            Some(port) => port,
            None => PacketPort::open(interface, &options)?.into(),
        };
        Ok::<Port, ProbeError>(hearing.at(port).with_wrapper(wrapper.clone()))
    };
    // Checks before there is a run.
    drop(open()?);
    let mut spec = RunSpec {
        flight_recorder: args.run.explains(),
        ..args
            .run
            .spec("relay", cpus.clone(), port_args.duration)
            .on(interface)
            .with_lan_b(args.lans.lan_b.as_deref())
    };
    spec.run.documents.push((DOCUMENT.to_owned(), text));
    let through = DeviceOfKernel::of(interface).map(|device| device.through());
    // A profile for streams alone would pass without any redundancy.
    let judged = Judged {
        own_limits: (args.lans.lan_b.is_some() && args.run.limits.is_some()).then(|| lan_limit(None)),
        ..Judged::default()
    };
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    if let Some(note) = through {
        run.session.recorder.events().write(EventKind::Note, note);
    }
    // Opened only now: frames that waited during the preparation of the run would seem late.
    let port = match open() {
        Ok(port) => port,
        Err(error) => return run.finish(Err(error.into())),
    };
    let stop = run.session.stop.clone();
    let intent = Intent {
        cpus,
        ..port_args.intent()
    };
    let port = run.port(port, &port_args, &intent)?;
    // A relay always watches its clock, as part of its self-monitoring.
    let watch = args.time.watch_always(args.live.clock, &mut run.session.recorder);
    let outcome = watch.map_err(SessionError::from).and_then(|watch| {
        config.ptp = Some(watch.view());
        let started = config.start(port, &mut run.session.recorder, &stop);
        let outcome = run.attend(started);
        drop(watch);
        outcome
    });
    run.finish(outcome)
}
