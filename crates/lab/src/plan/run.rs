//! Running a plan.

use super::beds::{Beds, Way};
use super::file::{Cpus, Plan, PlanError};
use super::hops::{Hops, Wanted};
use super::roles::Roles;
use super::step::{self, Load as PlanLoad, ReflectStep, SampledValuesStep, Step, TalkListenStep};
use super::{paced, streams};
use crate::bed::{Bed, End};
use crate::load::LoadSpec;
use crate::loads::Loads;
use crate::session::{Session, SessionError};
use host::{CpuFacts, Host};
use model::EventKind;
use probes::SenderEnd;
use probes::listen;
use probes::noise::{self, NoiseConfig};
use probes::publish::{self, PublishConfig};
use probes::reflect::{self, Receive, ReflectConfig, Role};
use probes::subscribe::{self, SubscribeConfig};
use probes::talk;
use probes::wakeup::{self, WakeupConfig};
use probes::{ProbeError, Rest, Running};
use run::{Events, Stop};
use std::time::Duration;
use units::CpuList;
use wire::ether::Mac;

/// How long a receiver goes on after the sender's end, to take what is still on its way.
const AFTER_SENDER: Duration = Duration::from_millis(300);

/// How often the run looks at its loads and shows its progress.
const LOOK: Duration = Duration::from_millis(200);

/// Shows progress: the session, and what is being done.
pub type Show<'a> = dyn FnMut(&Session, &str) + 'a;

/// What a plan is run with.
pub struct PlanRun<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Who runs where.
    pub roles: Roles,
    /// What is known of the CPUs, for those that steps and loads name.
    pub cpus: CpuFacts,
    /// Ports of this machine that are measured beside the plan's networks.
    pub ports: Option<Bed>,
    /// Called now and then with what is being done.
    pub progress: Box<Show<'a>>,
}

/// Builds what the steps need, starts the loads, and runs every step until its end or until the session is told to stop.
///
/// # Errors
/// What could not be built, started or measured. The bed and the loads are gone in any case.
pub fn run<'a>(session: &'a mut Session, mut work: PlanRun<'a>) -> Result<(), SessionError> {
    let beds = match work.plan.steps.iter().any(Step::needs_bed) {
        true => {
            (work.progress)(session, "building the test bed");
            Some(Beds::build(work.plan, work.ports.take(), &session.recorder)?)
        }
        false => None,
    };
    let loads = Loads::default();
    let mut runner = Runner { session, loads, work };
    let outcome = runner.steps(beds.as_ref());
    runner.loads.stop(&runner.session.recorder.events());
    outcome
}

struct Runner<'a> {
    session: &'a mut Session,
    loads: Loads,
    work: PlanRun<'a>,
}

impl Runner<'_> {
    fn steps(&mut self, beds: Option<&Beds>) -> Result<(), SessionError> {
        let plan = self.work.plan;
        let events = self.session.recorder.events();
        self.loads = Loads::start(self.specs(&plan.loads)?, &events)?;
        for step in &plan.steps {
            if self.session.stop.requested() {
                break;
            }
            self.session.leave_idle_alone(step.idle().is_system());
            let mut own = Loads::start(self.specs(step.loads())?, &events)?;
            let beside = self.beside(&own);
            self.session.recorder.set_settings(beside.clone());
            events.write(EventKind::StepStarted, step.name());
            let outcome = self.step(step, beds, &beside);
            if let Some(beds) = beds.filter(|_| step.needs_bed()) {
                say_of_wire(beds, &events);
            }
            events.write(EventKind::StepStopped, step.name());
            own.stop(&events);
            outcome?;
        }
        Ok(())
    }

    /// The loads of a plan or a step, each on its CPUs.
    fn specs(&self, loads: &[PlanLoad]) -> Result<Vec<LoadSpec>, SessionError> {
        let on = |load: &PlanLoad| {
            let cpus = load.cpus.as_ref().map(|cpus| self.resolve(cpus)).transpose()?;
            Ok(LoadSpec {
                kind: load.kind.clone(),
                cpus: cpus.unwrap_or_else(|| self.work.roles.housekeeping.clone()),
            })
        };
        loads.iter().map(on).collect()
    }

    fn resolve(&self, cpus: &Cpus) -> Result<CpuList, SessionError> {
        Ok(self.work.plan.resolve(cpus, &self.work.cpus, &self.work.roles)?)
    }

    /// The loads, as a setting of what is measured beside them.
    fn beside(&self, own: &Loads) -> Vec<(String, String)> {
        let all = [self.loads.describe(), own.describe()].concat();
        vec![crate::loads::setting(&all)]
    }

    fn step(&mut self, step: &Step, beds: Option<&Beds>, beside: &[(String, String)]) -> Result<(), SessionError> {
        let stop = self.session.stop.of_step();
        let name = step.name();
        match (step, beds) {
            (Step::Wakeup(step), _) => {
                let config = WakeupConfig {
                    policy: step.policy.0,
                    period: step.interval.0,
                    duration_ns: Some(step.duration.0),
                    idle: self.session.idle().to_owned(),
                    label: step.label.clone(),
                    ..WakeupConfig::on(self.measured(step.cpus.as_ref())?)
                };
                let running = wakeup::start(&config, &mut self.session.recorder, &stop)?;
                self.attend(name, &running);
                Ok(running.join()?)
            }
            (Step::Noise(step), _) => {
                let config = NoiseConfig {
                    cpus: self.measured(step.cpus.as_ref())?,
                    policy: step.policy.0,
                    threshold_ns: step.threshold.0,
                    spike_above_ns: None,
                    duration_ns: Some(step.duration.0),
                    rest: rest(),
                    idle: self.session.idle().to_owned(),
                    label: step.label.clone(),
                };
                let running = noise::start(&config, &mut self.session.recorder, &stop)?;
                self.attend(name, &running);
                Ok(running.join()?)
            }
            (Step::Reflect(step), Some(beds)) => self.round_trips(step, beds, beside),
            (Step::SampledValues(step), Some(beds)) => self.streams(step, beds, beside),
            (Step::TalkListen(step), Some(beds)) => self.talk_listen(step, beds.first(), &stop),
            (Step::Reflect(_) | Step::SampledValues(_) | Step::TalkListen(_), None) => {
                unreachable!("the bed was built for this step")
            }
        }
    }

    /// What is measured from now on is measured over this network, beside the loads.
    fn measure_over(&mut self, way: &Way, beside: &[(String, String)]) {
        self.session.recorder.set_settings([&way.settings(), beside].concat());
    }

    /// The CPUs a step names, or the plan's measured ones.
    fn measured(&self, cpus: Option<&Cpus>) -> Result<CpuList, SessionError> {
        cpus.map_or_else(|| Ok(self.work.roles.measured.clone()), |cpus| self.resolve(cpus))
    }

    /// The round trip over every bed, in rounds.
    fn round_trips(
        &mut self,
        step: &ReflectStep,
        beds: &Beds,
        beside: &[(String, String)],
    ) -> Result<(), SessionError> {
        let receive = self.receive(step, beds)?;
        for way in beds.in_rounds() {
            if self.session.stop.requested() {
                break;
            }
            self.measure_over(way, beside);
            self.round_trip(step, way, receive)?;
        }
        Ok(())
    }

    /// Two spinning threads cannot share a CPU, the one that waits would keep the other from answering; nor can a switch in
    /// user space, which has the housekeeping CPUs.
    fn receive(&self, step: &ReflectStep, beds: &Beds) -> Result<Receive, SessionError> {
        let shared = self.work.roles.housekeeping.first() == self.work.roles.measured.first();
        match step.receive {
            Some(step::Receive::Spin) if shared => Err(PlanError::Invalid {
                name: self.work.plan.name.clone(),
                problem: "receive = \"spin\" needs a housekeeping and a measured CPU: use \"block\"".into(),
            }
            .into()),
            Some(step::Receive::Spin) => Ok(Receive::Spin),
            Some(step::Receive::Block) => Ok(Receive::Block),
            None if shared || beds.in_user_space() => Ok(Receive::Block),
            None => Ok(Receive::Spin),
        }
    }

    fn round_trip(&mut self, step: &ReflectStep, way: &Way, receive: Receive) -> Result<(), SessionError> {
        let (bed, stop) = (&way.bed, &self.session.stop.of_step());
        let interval_ns = step.interval.0;
        let (near_cpu, far_cpu) = (self.work.roles.housekeeping.first(), self.work.roles.measured.first());
        let reflector = ReflectConfig {
            interval_ns,
            late_after_ns: interval_ns.max(1_000),
            receive,
            policy: step.policy.0,
            cpu: far_cpu,
            rest: rest(),
            label: way.label.clone(),
            ..ReflectConfig::new(Role::Reflector)
        };
        let initiator = ReflectConfig {
            role: Role::Initiator,
            peer: Some(Mac(bed.mac(End::Device)?)),
            duration_ns: Some(step.duration.0),
            cpu: near_cpu,
            ..reflector.clone()
        };
        let options = reflect::port_options(&initiator);
        let device = bed.port(End::Device, &options)?;
        let test_set = bed.port(End::TestSet, &options)?;
        let far = reflect::start(&reflector, device, &mut self.session.recorder, stop)?;
        let near = reflect::start(&initiator, test_set, &mut self.session.recorder, stop);
        self.pair(near, far, &way.doing("round trip"), stop, Duration::ZERO)
    }

    /// The streams over every bed, in rounds.
    fn streams(
        &mut self,
        step: &SampledValuesStep,
        beds: &Beds,
        beside: &[(String, String)],
    ) -> Result<(), SessionError> {
        for way in beds.in_rounds() {
            if self.session.stop.requested() {
                break;
            }
            self.measure_over(way, beside);
            self.sampled_values(step, way)?;
        }
        Ok(())
    }

    fn sampled_values(&mut self, step: &SampledValuesStep, way: &Way) -> Result<(), SessionError> {
        let (bed, stop) = (&way.bed, &self.session.stop.of_step());
        let publisher = streams::publisher(step, way, self.work.roles.housekeeping.first());
        let subscriber = SubscribeConfig {
            cpu: self.work.roles.measured.first(),
            ..streams::subscriber(&publisher)
        };
        let wanted = step.trace.then(|| Wanted {
            bed,
            network: way.network(),
            streams: publisher.streams.iter().map(|stream| stream.sv_id.clone()).collect(),
            threshold_ns: step.trace_threshold.map(|ns| ns.0),
            window_ns: self.work.plan.window.0,
        });
        let hops = wanted.map(|wanted| Hops::start(wanted, &self.session.recorder, stop));
        let sender = hops.as_ref().map(Hops::sender).unwrap_or_default();
        let subscriber = SubscribeConfig {
            sender: sender.clone(),
            ..subscriber
        };
        let outcome = self.stream_ends(&publisher, &subscriber, way, (stop, &sender));
        stop.request();
        if let Some(hops) = hops {
            hops.finish(&self.session.recorder);
        }
        outcome
    }

    fn stream_ends(
        &mut self,
        publisher: &PublishConfig,
        subscriber: &SubscribeConfig,
        way: &Way,
        (stop, sender): (&Stop, &SenderEnd),
    ) -> Result<(), SessionError> {
        let device = way.bed.port(End::Device, &subscribe::port_options())?;
        let test_set = way.bed.port(End::TestSet, &publish::port_options())?;
        let far = subscribe::start(subscriber, device, &mut self.session.recorder, stop)?;
        let near = publish::start(publisher, test_set, &mut self.session.recorder, stop);
        let near = near.and_then(|near| {
            self.attend(&way.doing("sampled values"), &near);
            sender.tell(near.ended_at().unwrap_or_else(sys::clock::monotonic));
            near.join()
        });
        self.end_other(near, far.running, stop, AFTER_SENDER)
    }

    fn talk_listen(&mut self, step: &TalkListenStep, bed: &Bed, stop: &Stop) -> Result<(), SessionError> {
        let (measured, housekeeping) = (&self.work.roles.measured, &self.work.roles.housekeeping);
        let (talker, listener) = paced::ends(step, measured, housekeeping);
        let test_set = bed.port(End::TestSet, &listen::port_options(listener.framing))?;
        let device = bed.port(End::Device, &talk::port_options(false))?;
        let far = listen::start(&listener, test_set, &mut self.session.recorder, stop)?;
        let near = talk::start(&talker, device, &mut self.session.recorder, stop).map(|talking| talking.running);
        self.pair(near, far.running, "talk and listen", stop, AFTER_SENDER)
    }

    /// Waits for the sending end of a step, then ends the other.
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
        self.end_other(near, far, stop, settle)
    }

    /// Ends the other end of a step some time after the sending one.
    fn end_other(
        &self,
        near: Result<(), ProbeError>,
        far: Running,
        stop: &Stop,
        settle: Duration,
    ) -> Result<(), SessionError> {
        std::thread::sleep(settle);
        stop.request();
        let far = far.join();
        Ok(near.and(far)?)
    }

    /// Shows progress and watches the loads until a probe has ended.
    fn attend(&mut self, name: &str, running: &Running) {
        while !running.is_finished() {
            std::thread::sleep(LOOK);
            self.loads.look(&self.session.recorder.events());
            (self.work.progress)(self.session, name);
        }
    }
}

/// What the wire of a plan with faults did, and whether it still does.
fn say_of_wire(beds: &Beds, events: &Events) {
    for text in beds.faults_done() {
        events.write(EventKind::Note, text);
    }
    if let Some(text) = beds.broken_wire() {
        events.write(EventKind::Incomplete, text);
    }
}

/// Pauses that this kernel's real-time throttling asks for. Where it cannot be read, the kernel's defaults are assumed.
pub fn rest() -> Rest {
    let (runtime_us, period_us) = Host::live().rt_runtime().map_or((950_000, 1_000_000), |rt| {
        (rt.runtime_us, i64::try_from(rt.period_us).unwrap_or(i64::MAX))
    });
    Rest::below_throttling(runtime_us, period_us)
}
