//! Running a plan.

use super::action::{Actions, Group};
use super::beds::{BedOfPlan, Beds};
use super::file::Plan;
use super::links::{LinksBefore, LostSteps};
use super::measure::StepContext;
use super::roles::Roles;
use super::step::{PlanLoad, Step};
use super::value::PlanError;
use bed::kernel_threads::KernelThreads;
use bed::load::LoadSpec;
use bed::loads::Loads;
use bed::{Bed, End};
use host::CpuFacts;
use model::EventKind;
use place::{Place, PlaceError, PlaceSpec, up};
use run::{Events, Stop};
use session::SessionError;
use session::runner::{Position, Runner, Underway};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;
use units::Monotonic;

/// Input for the run of a plan.
pub struct PlanRun<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// CPUs of each role.
    pub roles: Roles,
    /// Facts of the CPUs, for those that steps and loads name.
    pub cpus: CpuFacts,
    /// Ports of this machine that are measured in addition to the plan's networks.
    pub ports: Option<Bed>,
    /// Location of the devices under test.
    pub place: PlaceSpec,
    /// Location of the test set.
    pub test_set: PlaceSpec,
}

/// Builds the parts that the steps need, starts the loads, and runs every step until its end or until the session is stopped.
///
/// # Errors
/// A part that could not be built, started or measured. The bed and the loads are removed in any case.
pub fn run(runner: Runner<'_>, mut work: PlanRun<'_>) -> Result<(), SessionError> {
    let actions = match work.plan.has_actions() {
        true => Some(Actions::start(runner.session.recorder.events())?),
        false => None,
    };
    let beds = match work.plan.steps.iter().any(Step::needs_bed) {
        true => {
            runner.show.show(runner.session, "building the test bed", None);
            Some(Beds::build(
                work.plan,
                work.ports.take(),
                (&work.place, &work.test_set),
                &runner.session.recorder,
            )?)
        }
        false => None,
    };
    let alone = match &beds {
        Some(_) => Vec::new(),
        None => up(&work.place, (None, None), work.plan.devices(), &runner.session.recorder)?,
    };
    let events = runner.session.recorder.events();
    // In addition to the loads of the command line.
    let of_plan = [
        work.specs(&work.plan.loads, beds.as_ref())?,
        work.management(beds.as_ref())?,
    ]
    .concat();
    runner.loads.join(Loads::start(of_plan, &events)?);
    let judged = work.plan.all_judged(&work.cpus, &work.roles)?;
    let before = KernelThreads::look();
    let mut steps = Steps {
        runner,
        work,
        alone,
        actions,
        acting: None,
    };
    let outcome = steps.run(beds.as_ref());
    let facts = KernelThreads::look().since(&before, &judged);
    steps.runner.session.recorder.add_facts(facts);
    // Stops the loads before the bed is removed, because some of them send over it.
    steps.runner.loads.stop(&events);
    outcome
}

impl PlanRun<'_> {
    /// The loads of a plan or a step, each on its CPUs; a command at the end of a bed runs at its end, one per device.
    fn specs<'b>(
        &self,
        loads: impl IntoIterator<Item = &'b PlanLoad>,
        beds: Option<&Beds>,
    ) -> Result<Vec<LoadSpec>, PlanError> {
        let mut specs = Vec::new();
        for load in loads {
            let resolve = |cpus| self.plan.resolve(cpus, &self.cpus, &self.roles);
            let cpus = load.cpus.as_ref().map(resolve).transpose()?;
            let cpus = cpus.unwrap_or_else(|| self.roles.housekeeping.clone());
            let seats = match beds.filter(|_| load.kind.is_command()) {
                Some(beds) if load.at_test_set => beds.first().bed.seats(End::TestSet),
                Some(beds) if load.there => beds.first().bed.seats(End::Device),
                _ => Vec::new(),
            };
            let kinds = match seats.is_empty() {
                true => vec![load.kind.clone()],
                false => seats.into_iter().map(|seat| load.kind.at(seat)).collect(),
            };
            specs.extend(kinds.into_iter().map(|kind| LoadSpec {
                kind,
                cpus: cpus.clone(),
            }));
        }
        Ok(specs)
    }

    /// The traffic on the management network, where the plan has one.
    fn management(&self, beds: Option<&Beds>) -> Result<Vec<LoadSpec>, PlanError> {
        let network = beds.and_then(|beds| beds.first().management.as_ref());
        let specs = network.map(|network| self.plan.management_loads(network, &self.cpus, &self.roles));
        specs.unwrap_or_else(|| Ok(Vec::new()))
    }
}

/// The steps of a plan under way.
struct Steps<'a, 'b> {
    runner: Runner<'a>,
    work: PlanRun<'b>,
    /// The place of the device of a plan without a bed; empty if the device is in this process.
    alone: Vec<Arc<dyn Place>>,
    /// Commands of the site, if the plan has any.
    actions: Option<Actions>,
    /// The actions of the present steps.
    acting: Option<Group>,
}

impl Steps<'_, '_> {
    fn run(&mut self, beds: Option<&Beds>) -> Result<(), SessionError> {
        let events = self.runner.session.recorder.events();
        let plan = self.work.plan;
        let of = plan.groups().count();
        let mut lost = LostSteps::default();
        for (at, group) in plan.groups().enumerate() {
            if self.runner.session.stop.requested() {
                break;
            }
            if lost.is_place_lost() {
                lost.leave(group, &events);
                continue;
            }
            self.runner.position = Some(Position {
                step: at + 1,
                of,
                left_ns: plan.groups().skip(at).map(|group| plan.lasts_ns(group)).sum(),
                since: Instant::now(),
            });
            self.acting = Group::of(plan, at + 1, group);
            self.runner.session.hold_idle(!group[0].common.idle.is_system());
            let is_native = matches!(self.work.place, PlaceSpec::Native);
            let own = group.iter().flat_map(|step| &step.common.loads);
            let own = own.filter(|load| is_native || !load.there);
            let mut own = Loads::start(self.work.specs(own, beds)?, &events)?;
            let mut settings = self.settings(group, &own)?;
            let is_over_networks = group.len() == 1 && group[0].measure.compares_networks();
            if let Some(beds) = beds.filter(|_| !is_over_networks && group.iter().any(Step::needs_bed)) {
                settings.extend(beds.first().card());
            }
            self.runner.session.recorder.set_settings(settings.clone());
            let say = |kind: EventKind| group.iter().for_each(|step| events.write(kind, step.name()));
            say(EventKind::StepStarted);
            let began = sys::clock::monotonic();
            let used = beds.filter(|_| group.iter().any(Step::needs_bed));
            let links = LinksBefore::look(used);
            let outcome = self.group(group, beds, &settings);
            if let Some(beds) = used {
                say_of_wire(beds, began, &events);
            }
            say(EventKind::StepStopped);
            own.stop(&events);
            if let Err(error) = outcome {
                // What was measured before is kept. A guest that is gone takes its links with it.
                let is_place = matches!(error, SessionError::Place(PlaceError::Lost { .. }));
                match links.lost(used).filter(|_| !is_place) {
                    None if !is_place => return Err(error),
                    links => lost.add(group, &error, links, began, &events),
                }
            }
        }
        lost.outcome()
    }

    /// Concurrent work as settings of the series: loads, and the steps that run side by side.
    fn settings(&self, group: &[Step], own: &Loads) -> Result<Vec<(String, String)>, SessionError> {
        let loads = [self.runner.loads.describe(), own.describe()].concat();
        let mut settings = vec![bed::loads::setting(&loads)];
        if group.len() > 1 {
            let one = |step: &Step| {
                let seat = self.work.plan.seat(step, &self.work.cpus, &self.work.roles)?;
                Ok(format!("{} on {seat}", step.name()))
            };
            let all = group.iter().map(one).collect::<Result<Vec<String>, PlanError>>()?;
            settings.push(("side by side".to_owned(), all.join(", ")));
        }
        Ok(settings)
    }

    fn group(
        &mut self,
        group: &[Step],
        beds: Option<&Beds>,
        settings: &[(String, String)],
    ) -> Result<(), SessionError> {
        match (group, beds) {
            ([step], Some(beds)) if step.measure.compares_networks() => self.in_rounds(step, beds, settings),
            _ => {
                let doing: Vec<&str> = group.iter().map(Step::name).collect();
                let bed = beds.map(|beds| (beds.first(), beds));
                let steps = group.iter().map(|step| (step, bed)).collect();
                self.side_by_side(&doing.join(", "), steps)
            }
        }
    }

    /// The step over every network, in rounds.
    fn in_rounds(&mut self, step: &Step, beds: &Beds, settings: &[(String, String)]) -> Result<(), SessionError> {
        for way in beds.in_rounds() {
            if self.runner.session.stop.requested() {
                break;
            }
            let settings = [&way.settings(), settings].concat();
            self.runner.session.recorder.set_settings(settings);
            self.side_by_side(&way.doing(step.name()), vec![(step, Some((way, beds)))])?;
        }
        Ok(())
    }

    /// Starts all steps, and waits until all have ended. Steps that begin in places take long to start, so all are prepared first.
    fn side_by_side<'b>(
        &mut self,
        doing: &str,
        steps: Vec<(&'b Step, Option<(&'b BedOfPlan, &'b Beds)>)>,
    ) -> Result<(), SessionError> {
        let mut stops: Vec<Stop> = Vec::new();
        let mut all: Vec<Box<dyn Underway + 'b>> = Vec::new();
        let mut refused = Ok(());
        let group: Vec<&Step> = steps.iter().map(|(step, _)| *step).collect();
        let mut contexts = Vec::new();
        for (step, bed) in steps {
            let stop = self.runner.session.stop.of_step();
            let context = self.place(step, &group, bed, &stop)?;
            context.launch(step.measure.as_ref(), self.runner.session)?;
            stops.push(stop);
            contexts.push((step, context));
        }
        for (_, context) in &contexts {
            context.until_prepared()?;
        }
        for (step, context) in &contexts {
            self.runner.session.recorder.begin_step();
            match step.measure.start(context, self.runner.session) {
                Ok(one) => all.push(one),
                Err(error) => {
                    refused = Err(error);
                    // If one step cannot start, the running ones stop: their concurrent step is missing.
                    stops.iter().for_each(Stop::request);
                    break;
                }
            }
        }
        let acting = self
            .actions
            .as_ref()
            .zip(self.acting.as_ref())
            .filter(|_| refused.is_ok());
        if let Some((actions, group)) = acting {
            actions.begin(group);
        }
        let outcome = self.runner.attend(doing, all, &stops);
        if let Some(actions) = &self.actions {
            self.runner
                .show
                .show(self.runner.session, "undoing actions", self.runner.position);
            actions.end();
        }
        // Frees the memory of the rings for the next steps once they are read to their end.
        self.runner.session.recorder.settle();
        refused.and(outcome)
    }

    fn place<'b>(
        &self,
        step: &'b Step,
        group: &[&Step],
        bed: Option<(&'b BedOfPlan, &'b Beds)>,
        stop: &Stop,
    ) -> Result<StepContext<'b>, SessionError> {
        let work = &self.work;
        let [judged, test_set] = work.plan.cpus_of(step, &work.cpus, &work.roles)?;
        let is_crowded = matches!(&work.place, PlaceSpec::Guest(spec) if spec.host_cpus.is_none());
        Ok(StepContext {
            judged,
            inside: work.plan.inside(step)?,
            judged_by_all: work.plan.judged_by_all(group, &work.cpus, &work.roles)?,
            audited: work.plan.all_inside()?,
            devices: step.devices(),
            in_several_guests: step.common.guests > 1,
            is_crowded,
            launched: RefCell::default(),
            launched_test_set: RefCell::default(),
            test_set,
            duration: step.common.duration,
            label: step.common.label.clone(),
            bed,
            window_ns: self.runner.session.window_ns(),
            plan: work.plan.name.clone(),
            stop: stop.clone(),
            places: bed.map_or(&self.alone, |(way, _)| &way.places).clone(),
            test_set_place: bed.and_then(|(way, _)| way.test_set_place.clone()),
            there: None,
            written: &step.written,
        })
    }
}

/// Reports the faults that the wire of a plan made in a step that began at this time, and an error if the wire has stopped.
fn say_of_wire(beds: &Beds, began: Monotonic, events: &Events) {
    for text in beds.faults_done() {
        events.write(EventKind::Note, text);
    }
    if let Some(text) = beds.broken_wire() {
        events.write_since(began, EventKind::Incomplete, text);
    }
}
