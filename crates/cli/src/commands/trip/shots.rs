//! A test set for relays: shots with faults, and the trips that come back.

use super::TripArgs;
use crate::failure::Failure;
use crate::lans::DeviceOfKernel;
use crate::ready::ready;
use crate::run_file::{Judged, Run};
use model::EventKind;
use probes::publish::port_options;
use probes::trip::{Ports, TripConfig, goose_port_options, limits};
use probes::{Numbers, Probe};
use session::RunSpec;
use session::preflight::Intent;
use sys::packet::PortOptions;
use units::CpuList;

/// Runs the command; returns its exit status.
pub(super) fn run(args: TripArgs) -> Result<u8, Failure> {
    let config = config(&args)?;
    let interface = &args.port.interface;
    ready(&config, &[], Some(interface), &args.run)?;
    let numbers = Numbers::default();
    let hearing = args.routed.hearing(interface, args.lans.lan_b.as_deref(), &args.key)?;
    let wrapper = args.routed.wrapper(interface)?;
    let opened = |options: &PortOptions| args.lans.open_any(interface, options, &numbers);
    let stream = opened(&port_options())?.with_wrapper(wrapper);
    let open = || opened(&hearing.options(goose_port_options())).map(|port| hearing.at(port));
    // Checks before there is a run.
    drop(open()?);
    let cpus: CpuList = config.cpu.into_iter().chain(config.goose_cpu).collect();
    let spec = RunSpec {
        open_ended: false,
        ..args
            .run
            .spec("trip", cpus.clone(), args.port.duration)
            .on(interface)
            .with_lan_b(args.lans.lan_b.as_deref())
    };
    let judged = Judged {
        own_limits: Some(limits(&config).concat()),
        ..Judged::default()
    };
    let through = DeviceOfKernel::of(interface).map(|device| device.through());
    let mut run = Run::start_judged(spec, &judged, args.run)?;
    if let Some(note) = through {
        run.session.recorder.events().write(EventKind::Note, note);
    }
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
    let stream = run.port(stream, &args.port, &intent)?;
    let started = config.start(Ports { stream, goose }, &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}

fn config(args: &TripArgs) -> Result<TripConfig, Failure> {
    Ok(TripConfig {
        duration_ns: args.port.duration,
        receive: args.receive,
        policy: args.port.policy,
        cpu: args.port.cpu,
        goose_cpu: args.goose_cpu.or(args.port.cpu),
        lan_fault: args.lan_fault,
        ..args.options.config()?
    })
}

#[cfg(test)]
mod tests {
    use super::{TripConfig, limits};
    use probes::trip::TripOptions;
    use report::limits::Profile;
    use waveform::sample::Sampling;
    use waveform::scenario::{Scenario, find};

    #[test]
    fn its_own_limits_are_a_profile_alone_and_behind_another() {
        let scenarios = ["overcurrent", "load"].map(|name| find(name, &Sampling::new(4_800)).expect(name));
        let config = |scenarios: &[Scenario]| TripConfig {
            scenarios: scenarios.to_vec(),
            ..TripOptions::default().config().expect("the usual scenario")
        };
        let own = limits(&config(&scenarios)).concat();
        let ids = |text: &str| {
            let profile = Profile::parse(text, "x").expect("a profile");
            profile.limits.into_iter().map(|limit| limit.id).collect::<Vec<_>>()
        };
        let alone = ids(&format!("name = \"x\"\nwhat = \"x\"\n{own}"));
        assert_eq!(alone, ["trip.within.overcurrent", "trip.failures", "trip.false"]);
        for name in Profile::embedded_names() {
            let text = Profile::embedded_text(name).expect(name);
            assert!(ids(&format!("{text}\n{own}")).len() >= 4, "{name}");
        }
        let secure = limits(&config(&scenarios[1..])).concat();
        assert_eq!(ids(&format!("name = \"x\"\nwhat = \"x\"\n{secure}")), ["trip.false"]);
    }
}
