//! The thread that conducts: it lays out shots, listens to what the relay says, and decides what each shot was. It is not hot.

use super::control::SPREAD_NS;
use super::ears::Hearing;
use super::program::Ask;
use super::proof::Proof;
use super::script::Manner;
use super::stage::{Planned, Stage};
use super::watch::{Relay, Span, Watch};
use super::{Shared, TripConfig};
use model::EventKind;
use run::{Events, Feed, Stop};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::link::{LinkCounters, LinkInfo};
use units::{Monotonic, Ns};
use waveform::WaveformError;
use waveform::scenario::{Expect, Scenario};
use waveform::type_test::{PointOnWave, TypeTest};

/// How often the conductor looks at what came.
const LOOK: Duration = Duration::from_micros(500);

/// How long the relay is watched after the disturbance: a trip that comes then is late, and not one of the next shot.
const AFTER_NS: i64 = 100_000_000;

/// How long a relay may take to send its first message.
const FIRST_MESSAGE_NS: i64 = 10_000_000_000;

/// So many shots of a run, the first ones, begin by chance at any instant. A trip is evidence only where no clock could have told when to.
const AT_ANY_INSTANT: u64 = 3;

/// Why a test set ends before its last shot.
pub(super) enum EarlyEnd {
    /// It was told to, or one of its threads has ended.
    Told,
    /// It cannot go on, in words.
    Cannot(String),
}

impl From<WaveformError> for EarlyEnd {
    fn from(error: WaveformError) -> Self {
        Self::Cannot(format!("trip: {error}"))
    }
}

/// The conductor.
pub(super) struct Conductor {
    pub(super) config: TripConfig,
    pub(super) stage: Stage,
    pub(super) hearing: Hearing,
    pub(super) shared: Shared,
    pub(super) feed: Feed,
    pub(super) events: Events,
    /// Asked for by the user.
    pub(super) stop: Stop,
    /// The first second.
    pub(super) start: Monotonic,
    /// Shots so far, in whose order they are numbered.
    pub(super) shots: u64,
    /// Groups of shots that have series of their own, of each relay.
    pub(super) groups: usize,
    /// The proof of each relay: that it could have tripped.
    pub(super) proofs: Vec<Proof>,
    /// The test set's own link; `None` where its port cannot tell.
    pub(super) link: Option<LinkCounters>,
    /// Up to here the relays were watched.
    pub(super) watched: Monotonic,
}

/// A shot that is over, as one relay took it.
pub(super) struct Over {
    pub(super) watch: Watch,
    /// First sample of the fault, and the first behind the disturbance.
    pub(super) samples: [u64; 2],
    /// Where on the wave the first of them is, in degrees.
    pub(super) point_deg: f64,
    /// True if the test set may have missed something of the relay.
    pub(super) is_deaf: bool,
    /// True where its own link was down at any time.
    pub(super) is_cut: bool,
    /// Why the relay's silence says nothing, if it does not: a number of [`super::watch::UNSURE`].
    pub(super) unsure: Option<usize>,
}

impl Conductor {
    /// Conducts the whole run, then ends the test set.
    pub(super) fn run(&mut self, over: &Stop) {
        self.stage.begin(self.start);
        self.say_notes();
        let ended = self.conduct();
        (0..self.proofs.len()).for_each(|relay| self.proven(relay, false, sys::clock::monotonic()));
        if let Err(EarlyEnd::Cannot(why)) = ended {
            let _ = self.shared.failure.set(why);
        }
        self.shared.ended.request();
        // Counts of the listener are whole when it has ended; the one that joins the threads sets `over`.
        while !over.requested() && !self.shared.tallies.is_over.load(Ordering::Acquire) {
            std::thread::sleep(LOOK);
        }
        self.hearing.say_doubts(&self.shared.tallies, &self.events);
    }

    /// Says what the scenarios left open, and how it was decided.
    fn say_notes(&self) {
        for scenario in &self.config.scenarios {
            for note in &scenario.notes {
                self.events
                    .write(EventKind::Note, format!("scenario {}: {note}", scenario.name));
            }
        }
    }

    fn conduct(&mut self) -> Result<(), EarlyEnd> {
        self.meet()?;
        self.positive_control()?;
        self.controls()?;
        match self.config.type_test.clone() {
            Some(test) => self.type_test(&test)?,
            None => self.rounds()?,
        }
        self.controls()?;
        self.positive_control()
    }

    /// All shots of a type test, each made when its turn has come.
    fn type_test(&mut self, test: &TypeTest) -> Result<(), EarlyEnd> {
        let places = test.places(self.config.seed);
        for place in &places {
            if self.is_over() {
                let (played, all) = (self.shots, places.len());
                let text = format!("type test {}: {played} of {all} shots: its time was over", test.name);
                self.events.write(EventKind::NotCounted, text);
                return Ok(());
            }
            self.shot(&Ask::of(test.shot(*place)))?;
        }
        Ok(())
    }

    fn rounds(&mut self) -> Result<(), EarlyEnd> {
        for _ in 0..self.config.shots {
            if !self.round()? {
                break;
            }
        }
        Ok(())
    }

    /// One shot of each scenario and of each disturbance of the samples; tells whether there was time for all.
    fn round(&mut self) -> Result<bool, EarlyEnd> {
        let scenarios = self.config.scenarios.clone();
        let faulted = self.faulted();
        let cases = self.config.security.clone().into_iter();
        let behind = scenarios.len()..;
        let made = behind
            .zip(cases)
            .map(|(group, case)| Ask::disturbed(group, case, &faulted));
        let plain = scenarios
            .iter()
            .enumerate()
            .map(|(group, scenario)| Ask::plain(group, scenario));
        for ask in plain.chain(made) {
            if self.is_over() {
                return Ok(false);
            }
            self.shot(&ask)?;
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        let duration = self.config.duration_ns;
        duration.is_some_and(|ns| sys::clock::monotonic() >= self.start + Ns(ns))
    }

    /// Waits until the relay's control block is known: the one that was named, or the one that trips in a shot that does not count.
    fn meet(&mut self) -> Result<(), EarlyEnd> {
        if self.hearing.is_learning() {
            let scenario = self.faulted();
            let planned = self
                .stage
                .plan(&scenario, PointOnWave::anywhere(scenario.wave.voltage_deg()))?;
            self.watch(planned, Some(Manner::Plain), false)?;
            let found = self.hearing.found().map_err(EarlyEnd::Cannot)?;
            self.events.write(EventKind::Note, found);
            return Ok(());
        }
        let until = sys::clock::monotonic() + FIRST_MESSAGE_NS;
        while !self.hearing.relays().all(Relay::is_known) {
            self.pause()?;
            self.hearing.listen(&mut []);
            if sys::clock::monotonic() > until || self.is_over() {
                return Err(EarlyEnd::Cannot(self.hearing.silence()));
            }
        }
        self.watched = sys::clock::monotonic();
        Ok(())
    }

    /// The first scenario with a trip; where there is none, a plain fault out of the first one's steady state.
    pub(super) fn faulted(&self) -> Scenario {
        let scenarios = &self.config.scenarios;
        let tripping = scenarios.iter().find(|scenario| scenario.wants_trip());
        tripping.map_or_else(|| Scenario::plain_fault(&scenarios[0].wave), Scenario::clone)
    }

    /// Lets time pass, unless the test set has ended.
    fn pause(&mut self) -> Result<(), EarlyEnd> {
        self.stage.listen();
        if self.stop.requested() || self.shared.ended.requested() {
            return Err(EarlyEnd::Told);
        }
        std::thread::sleep(LOOK);
        Ok(())
    }

    /// One shot that counts.
    fn shot(&mut self, ask: &Ask) -> Result<(), EarlyEnd> {
        if self.shots < AT_ANY_INSTANT {
            self.stage.linger(SPREAD_NS);
        }
        let planned = self.stage.plan(&ask.scenario, ask.point)?;
        self.shots += 1;
        let all = self.watch(planned, Some(ask.manner), ask.scenario.expect != Expect::NoTrip)?;
        for (relay, over) in all.iter().enumerate() {
            self.account(ask, relay, over);
        }
        Ok(())
    }

    /// Publishes a shot in this manner, or nothing, and watches the relays meanwhile; how each took it. With `breaks` the breaker opens,
    /// if there is one, when all have tripped.
    pub(super) fn watch(
        &mut self,
        planned: Planned,
        manner: Option<Manner>,
        breaks: bool,
    ) -> Result<Vec<Over>, EarlyEnd> {
        let samples = [planned.fault, planned.end];
        let point_deg = planned.point_deg;
        let span = Span {
            begin: self.watched,
            fault: self.stage.due(planned.fault),
            deadline: self.stage.due(planned.end),
            until: self.stage.due(planned.end) + AFTER_NS,
        };
        let (losses, link) = (self.losses(), self.link());
        match manner {
            Some(manner) => self.stage.play(planned, manner)?,
            None => self.stage.pass(&planned),
        }
        let mut watches: Vec<Watch> = self.hearing.relays().map(|relay| Watch::new(span, relay)).collect();
        let mut breaker = self.config.breaker_ns.filter(|_| breaks);
        self.watched = span.until;
        while !self.is_watched(samples[1], span.until) {
            self.pause()?;
            self.listen(&mut watches);
            if let (Some(trip), Some(ns)) = (last_trip(&watches), breaker) {
                self.stage.open(trip + Ns(ns))?;
                breaker = None;
            }
        }
        self.listen(&mut watches);
        if breaks && breaker.is_none() && self.config.breaker_ns.is_some() {
            self.stage.reclose();
        }
        let is_deaf = self.losses() != losses;
        let is_cut = is_cut(link, self.link());
        let over = |(watch, relay): (Watch, &Relay)| Over {
            unsure: watch.unsure(relay),
            watch,
            samples,
            point_deg,
            is_deaf,
            is_cut,
        };
        Ok(watches.into_iter().zip(self.hearing.relays()).map(over).collect())
    }

    /// Takes what came, and how long nothing did.
    fn listen(&mut self, watches: &mut [Watch]) {
        let looked = self.shared.tallies.looked_ns.load(Ordering::Acquire);
        self.hearing.listen(watches);
        self.hearing.look(watches, Monotonic::from_ns(looked));
    }

    /// The test set's own link as it is now.
    fn link(&mut self) -> Option<LinkInfo> {
        self.link.as_mut().and_then(LinkCounters::link)
    }

    /// True if all samples before `sample` are sent, and all frames taken that came before `at`.
    fn is_watched(&self, sample: u64, at: Monotonic) -> bool {
        let tallies = &self.shared.tallies;
        let sent = self.shared.sent.load(Ordering::Acquire);
        sent >= sample && tallies.looked_ns.load(Ordering::Acquire) > at.as_ns()
    }

    /// Losses of the listener so far.
    fn losses(&self) -> [u64; 2] {
        let tallies = &self.shared.tallies;
        [&tallies.unheard, &tallies.link_downs].map(|count| count.load(Ordering::Acquire))
    }
}

/// True where a link was down at any time between two looks at it. One that cannot be asked is taken to have been up: a socket says itself
/// when its interface goes.
fn is_cut(before: Option<LinkInfo>, now: Option<LinkInfo>) -> bool {
    let Some((before, now)) = before.zip(now) else {
        return false;
    };
    !before.carrier || now.carrier_change(&before).is_some()
}

/// When the last of the relays tripped, once all have.
fn last_trip(watches: &[Watch]) -> Option<Monotonic> {
    let trips: Option<Vec<Monotonic>> = watches.iter().map(Watch::tripped).collect();
    trips?.into_iter().max()
}
