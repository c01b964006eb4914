//! Running a plan.

use super::file::{Load as PlanLoad, Plan, Step};
use crate::bed::{Bed, End};
use crate::load::{Load, LoadKind, LoadSpec};
use crate::session::{Session, SessionError};
use host::Host;
use probes::publish::{self, PublishConfig};
use probes::reflect::{self, Receive, ReflectConfig, Role};
use probes::subscribe::{self, ClockRelation, SubscribeConfig};
use probes::wakeup::{self, WakeupConfig};
use probes::{ProbeError, Rest, Running, Stop};
use std::time::Duration;
use store::model::EventKind;
use sys::thread::Policy;
use units::CpuList;
use wire::ether::Mac;

/// Bytes of the messages that scheduler loads exchange, as hackbench has them.
const MESSAGE_BYTES: usize = 100;

/// The test set's sender spins for the last part of each period, so that the publisher is not what is measured.
const SPIN_AHEAD_NS: u64 = 60_000;

/// How long a subscriber goes on after the publisher's end, to take what is still on its way.
const AFTER_PUBLISHER: Duration = Duration::from_millis(300);

/// How often the run looks at its loads and shows its progress.
const LOOK: Duration = Duration::from_millis(200);

/// Values above which samples are kept as spikes: the limits that judge them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thresholds {
    /// For `wakeup/*`.
    pub wakeup_ns: Option<u64>,
    /// For `rtt/*`.
    pub rtt_ns: Option<u64>,
    /// For `age/*`.
    pub age_ns: Option<u64>,
}

/// Shows progress: the session, and what is being done.
pub type Show<'a> = dyn FnMut(&Session, &str) + 'a;

/// What a plan is run with.
pub struct PlanRun<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Loads, recorder, test set.
    pub housekeeping: CpuList,
    /// Device under test.
    pub measured: CpuList,
    /// What counts as a spike.
    pub thresholds: Thresholds,
    /// Called now and then with what is being done.
    pub progress: Box<Show<'a>>,
}

/// Builds the bed, starts the loads, and runs every step until its end or until the session is told to stop.
///
/// # Errors
/// What could not be built, started or measured. The bed and the loads are gone in any case.
pub fn run<'a>(session: &'a mut Session, mut work: PlanRun<'a>) -> Result<(), SessionError> {
    (work.progress)(session, "building the test bed");
    let bed = Bed::build()?;
    session.recorder.events().write(EventKind::Note, bed.describe());
    let loads = Loads::start(work.plan, &work.housekeeping, session)?;
    let mut runner = Runner {
        session,
        bed,
        loads,
        work,
    };
    let outcome = runner.steps();
    runner.loads.stop(runner.session);
    outcome
}

struct Runner<'a> {
    session: &'a mut Session,
    bed: Bed,
    loads: Loads,
    work: PlanRun<'a>,
}

impl Runner<'_> {
    fn steps(&mut self) -> Result<(), SessionError> {
        let plan = self.work.plan;
        for step in &plan.steps {
            if self.session.stop.requested() {
                break;
            }
            let events = self.session.recorder.events();
            events.write(EventKind::StepStarted, step.name());
            let outcome = self.step(step);
            events.write(EventKind::StepStopped, step.name());
            outcome?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), SessionError> {
        let stop = self.session.stop.of_step();
        match step {
            Step::Wakeup {
                duration,
                interval,
                policy,
            } => {
                let config = WakeupConfig {
                    cpus: self.work.measured.clone(),
                    policy: policy.0,
                    interval_ns: interval.0,
                    spin_ahead_ns: 0,
                    duration_ns: Some(duration.0),
                    threshold_ns: self.work.thresholds.wakeup_ns,
                    idle: self.session.idle().to_owned(),
                };
                let running = wakeup::start(&config, &mut self.session.recorder, &stop)?;
                self.attend(step.name(), &running);
                Ok(running.join()?)
            }
            Step::Reflect {
                duration,
                interval,
                policy,
            } => self.round_trip(duration.0, interval.0, policy.0, step.name(), &stop),
            Step::SampledValues {
                duration,
                streams,
                rate,
                asdus,
                policy,
            } => {
                let config = PublishConfig {
                    streams: *streams,
                    rate: *rate,
                    asdus: *asdus,
                    duration_ns: Some(duration.0),
                    policy: policy.0,
                    cpu: self.work.housekeeping.first(),
                    spin_ahead_ns: SPIN_AHEAD_NS,
                    ..PublishConfig::default()
                };
                self.sampled_values(&config, step.name(), &stop)
            }
        }
    }

    fn round_trip(
        &mut self,
        duration_ns: u64,
        interval_ns: u64,
        policy: Policy,
        name: &str,
        stop: &Stop,
    ) -> Result<(), SessionError> {
        // Two spinning threads cannot share a CPU: the one that waits would keep the other from answering.
        let (near_cpu, far_cpu) = (self.work.housekeeping.first(), self.work.measured.first());
        let receive = if near_cpu == far_cpu {
            Receive::Block
        } else {
            Receive::Spin
        };
        let reflector = ReflectConfig {
            role: Role::Reflector,
            peer: None,
            interval_ns,
            frame_bytes: reflect::SHORTEST_FRAME,
            duration_ns: None,
            late_after_ns: interval_ns.max(1_000),
            receive,
            policy,
            cpu: far_cpu,
            rest: rest(),
            threshold_ns: None,
        };
        let initiator = ReflectConfig {
            role: Role::Initiator,
            peer: Some(Mac(self.bed.mac(End::Device)?)),
            duration_ns: Some(duration_ns),
            cpu: near_cpu,
            threshold_ns: self.work.thresholds.rtt_ns,
            ..reflector.clone()
        };
        let options = reflect::port_options(reflector.frame_bytes);
        let device = self.bed.port(End::Device, &options)?;
        let test_set = self.bed.port(End::TestSet, &options)?;
        let far = reflect::start(&reflector, device, &mut self.session.recorder, stop)?;
        let near = reflect::start(&initiator, test_set, &mut self.session.recorder, stop);
        self.pair(near, far, name, stop, Duration::ZERO)
    }

    fn sampled_values(&mut self, config: &PublishConfig, name: &str, stop: &Stop) -> Result<(), SessionError> {
        let subscriber = SubscribeConfig {
            rate: Some(config.rate),
            max_streams: config.streams,
            clock: ClockRelation::SameHost,
            receive: Receive::Block,
            duration_ns: None,
            policy: config.policy,
            cpu: self.work.measured.first(),
            threshold_ns: self.work.thresholds.age_ns,
        };
        let device = self.bed.port(End::Device, &subscribe::port_options())?;
        let test_set = self.bed.port(End::TestSet, &publish::port_options())?;
        let far = subscribe::start(&subscriber, device, &mut self.session.recorder, stop)?;
        let near = publish::start(config, test_set, &mut self.session.recorder, stop);
        self.pair(near, far.running, name, stop, AFTER_PUBLISHER)
    }

    /// Waits for the test set's end of a step, then ends the device's.
    fn pair(
        &mut self,
        near: Result<Running, ProbeError>,
        far: Running,
        name: &str,
        stop: &Stop,
        settle: Duration,
    ) -> Result<(), SessionError> {
        let near = near.and_then(|near| {
            self.attend(name, &near);
            near.join()
        });
        std::thread::sleep(settle);
        stop.request();
        let far = far.join();
        Ok(near.and(far)?)
    }

    /// Shows progress and watches the loads until a probe has ended.
    fn attend(&mut self, name: &str, running: &Running) {
        while !running.is_finished() {
            std::thread::sleep(LOOK);
            self.loads.look(self.session);
            (self.work.progress)(self.session, name);
        }
    }
}

/// Pauses that this kernel's real-time throttling asks for. Where it cannot be read, the kernel's defaults are assumed.
pub fn rest() -> Rest {
    let (runtime_us, period_us) = Host::live().rt_runtime().map_or((950_000, 1_000_000), |rt| {
        (rt.runtime_us, i64::try_from(rt.period_us).unwrap_or(i64::MAX))
    });
    Rest::below_throttling(runtime_us, period_us)
}

/// The loads beside the steps.
struct Loads(Vec<(Load, bool)>);

impl Loads {
    fn start(plan: &Plan, cpus: &CpuList, session: &Session) -> Result<Self, SessionError> {
        let mut loads = Vec::new();
        for load in &plan.loads {
            let spec = LoadSpec {
                kind: kind(load),
                cpus: cpus.clone(),
            };
            let load = Load::start(&spec)?;
            session.recorder.events().write(EventKind::LoadStarted, load.describe());
            loads.push((load, false));
        }
        Ok(Self(loads))
    }

    /// Writes an event for a load that ended by itself.
    fn look(&mut self, session: &Session) {
        for (load, reported) in &mut self.0 {
            if !*reported && let Some(why) = load.failed() {
                *reported = true;
                session.recorder.events().write(EventKind::LoadStopped, why);
            }
        }
    }

    fn stop(&mut self, session: &Session) {
        for (load, _) in self.0.drain(..) {
            let name = load.describe();
            let report = load.stop();
            let text = format!(
                "{name}: {} {} in {:.1} s {}",
                report.work, report.unit, report.seconds, report.note
            );
            session.recorder.events().write(EventKind::LoadStopped, text.trim_end());
        }
    }
}

fn kind(load: &PlanLoad) -> LoadKind {
    match load {
        PlanLoad::Scheduler { pairs } => LoadKind::Scheduler {
            pairs: *pairs,
            message_bytes: MESSAGE_BYTES,
        },
        PlanLoad::Memory { size } => LoadKind::Memory {
            threads: 1,
            bytes_per_thread: size.0,
        },
        PlanLoad::Command { line } => LoadKind::Command { line: line.clone() },
    }
}
