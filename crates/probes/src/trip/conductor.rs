//! The conducting thread: it plans shots, evaluates the relays' messages, and decides the outcome of each shot. It is not
//! time-critical.

use super::control::SPREAD_NS;
use super::ears::Hearing;
use super::lans;
use super::peer::PeerConfig;
use super::program::Ask;
use super::proof::Proof;
use super::ramp;
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
use waveform::scenario::Expect;
use waveform::type_test::{PointOnWave, TypeTest};

/// Interval at which the conductor checks for messages.
const LOOK: Duration = Duration::from_micros(500);

/// Time for which the relay is watched after the disturbance: a trip in that time is late, and does not belong to the next shot.
const AFTER_NS: i64 = 100_000_000;

/// Longest wait for a relay's first message.
const FIRST_MESSAGE_NS: i64 = 10_000_000_000;

/// Number of first shots that begin at a random instant. A trip proves something only if no clock could have predicted the
/// instant.
const AT_ANY_INSTANT: u64 = 3;

/// Reason why a test set ends before its last shot.
pub(super) enum EarlyEnd {
    /// A stop was requested, or one of its threads has ended.
    Told,
    /// The test set cannot continue; the text gives the reason.
    Cannot(String),
}

impl From<WaveformError> for EarlyEnd {
    fn from(error: WaveformError) -> Self {
        Self::Cannot(format!("trip: {error}"))
    }
}

/// State of the conductor.
pub(super) struct Conductor {
    pub(super) config: TripConfig,
    pub(super) stage: Stage,
    pub(super) hearing: Hearing,
    pub(super) shared: Shared,
    pub(super) feed: Feed,
    pub(super) events: Events,
    /// Stop request of the user.
    pub(super) stop: Stop,
    /// Start of the first second.
    pub(super) start: Monotonic,
    /// Number of shots so far; shots are numbered in this order.
    pub(super) shots: u64,
    /// Number of groups of shots with their own series, for each relay.
    pub(super) groups: usize,
    /// Proof for each relay that it could have tripped.
    pub(super) proofs: Vec<Proof>,
    /// Link of the test set; `None` if its port cannot report it.
    pub(super) links: Vec<LinkCounters>,
    /// Instant up to which the relays were watched.
    pub(super) watched: Monotonic,
    /// Instant of the first fault that counts.
    pub(super) faulted: Option<Monotonic>,
}

/// A completed shot, as one relay received it.
pub(super) struct Over {
    pub(super) watch: Watch,
    /// First sample of the fault, and first sample after the disturbance.
    pub(super) samples: [u64; 2],
    /// Point on the wave of the first of these, in degrees.
    pub(super) point_deg: f64,
    /// In a ramp, the number of samples that decide on a pick-up or a drop-off: two steps. Otherwise all since the fault do.
    pub(super) decisive: Option<u64>,
    /// True if the test set may have missed a message of the relay.
    pub(super) is_deaf: bool,
    /// True if the test set's link was down at any time.
    pub(super) is_cut: bool,
    /// Reason why the relay's silence proves nothing, as a number of [`super::watch::UNSURE`]; `None` if it does.
    pub(super) unsure: Option<usize>,
}

impl Over {
    /// The first of the samples that decide on an act of the relay at `sample`.
    pub(super) fn since(&self, sample: u64) -> u64 {
        let [fault, _] = self.samples;
        self.decisive
            .map_or(fault, |count| fault.max(sample.saturating_sub(count)))
    }
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
        // The listener's counts are complete when it has ended. `over` is set by the thread that joins the threads.
        while !over.requested() && !self.shared.tallies.is_over.load(Ordering::Acquire) {
            std::thread::sleep(LOOK);
        }
        self.hearing.say_doubts(&self.shared.tallies, &self.events);
        self.say_silent_lans();
    }

    /// Writes the notes about open points of the scenarios and how they were decided.
    fn say_notes(&self) {
        for scenario in &self.config.scenarios {
            for note in &scenario.notes {
                self.events
                    .write(EventKind::Note, format!("scenario {}: {note}", scenario.name));
            }
        }
        if let Some(said) = self.config.type_test.as_ref().and_then(ramp::said) {
            self.events.write(EventKind::Note, said);
        }
    }

    /// Writes the LANs in which a relay was silent, of a test set in two LANs.
    fn say_silent_lans(&self) {
        let Some(firsts) = self.shared.tallies.firsts.get() else {
            return;
        };
        let relays = self.config.relays.iter().zip(self.hearing.relays());
        let relays = relays.map(|(under_test, relay)| (under_test.prefix(), relay.src_on_wire()));
        lans::say_silent(firsts, relays, self.faulted, self.config.lan_fault, &self.events);
    }

    fn conduct(&mut self) -> Result<(), EarlyEnd> {
        self.meet()?;
        if let Some(peer) = self.config.peer.clone() {
            return self.attacks(&peer);
        }
        self.positive_control()?;
        self.controls()?;
        match self.config.type_test.clone() {
            Some(test) => self.type_test(&test)?,
            None => self.rounds()?,
        }
        self.controls()?;
        self.positive_control()
    }

    /// Plays all shots of a type test; each is made just before it is needed.
    fn type_test(&mut self, test: &TypeTest) -> Result<(), EarlyEnd> {
        if let Some(search) = test.search() {
            return self.search(test, search);
        }
        let places = test.places(self.config.seed);
        for place in &places {
            if self.is_over() {
                let (played, all) = (self.shots, places.len());
                let text = format!("type test {}: {played} of {all} shots: its time ran out", test.name);
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

    /// Plays one shot of each scenario and of each disturbance of the samples; returns true if there was time for all.
    fn round(&mut self) -> Result<bool, EarlyEnd> {
        let scenarios = self.config.scenarios.clone();
        let faulted = self.config.faulted();
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

    /// Plays the rounds of shots with a peer, between the negative controls, for which it permits a trip and orders none. Honest shots that have to trip begin and end each, so that silence proves something.
    fn attacks(&mut self, peer: &PeerConfig) -> Result<(), EarlyEnd> {
        self.controls()?;
        let fault = self.config.faulted();
        for ask in (0..self.config.shots).flat_map(|_| peer.round(&fault)) {
            if self.is_over() {
                break;
            }
            self.shot(&ask)?;
        }
        self.controls()
    }

    pub(super) fn is_over(&self) -> bool {
        let duration = self.config.duration_ns;
        duration.is_some_and(|ns| sys::clock::monotonic() >= self.start + Ns(ns))
    }

    /// Waits until the relay's control block is known: the named one, or the one that trips in a shot that is not counted.
    fn meet(&mut self) -> Result<(), EarlyEnd> {
        if self.hearing.is_learning() {
            let scenario = self.config.faulted();
            let planned = self
                .stage
                .plan(&scenario, PointOnWave::anywhere(scenario.wave.voltage_deg()))?;
            self.permit(&planned);
            self.watch(planned, Some(Manner::Plain), false)?;
            let found = self.hearing.found(&self.shared.tallies).map_err(EarlyEnd::Cannot)?;
            self.events.write(EventKind::Note, found);
            return Ok(());
        }
        let until = sys::clock::monotonic() + FIRST_MESSAGE_NS;
        while !self.hearing.relays().all(Relay::is_known) {
            self.pause()?;
            self.hearing.listen(&mut []);
            if sys::clock::monotonic() > until || self.is_over() {
                return Err(EarlyEnd::Cannot(self.hearing.silence(&self.shared.tallies)));
            }
        }
        self.watched = sys::clock::monotonic();
        Ok(())
    }

    /// Waits for some time, unless the test set has ended.
    fn pause(&mut self) -> Result<(), EarlyEnd> {
        self.stage.listen();
        if self.stop.requested() || self.shared.ended.requested() {
            return Err(EarlyEnd::Told);
        }
        std::thread::sleep(LOOK);
        Ok(())
    }

    /// Plays one shot that counts. Returns for a search whether the last relay tripped in time. What the peer says begins with the shot: a fault at a
    /// random instant after it, in every shot, finds a device that trips some time after the peer and reads no sample.
    pub(super) fn shot(&mut self, ask: &Ask) -> Result<Option<bool>, EarlyEnd> {
        if self.shots < AT_ANY_INSTANT || ask.course.is_some() {
            self.stage.linger(SPREAD_NS);
        }
        let planned = self.stage.plan(&ask.scenario, ask.point)?;
        if let Some(course) = ask.course {
            self.stage.order(&planned, course);
        }
        self.shots += 1;
        self.faulted.get_or_insert(self.stage.due(planned.fault));
        let mut all = self.watch(planned, Some(ask.manner), ask.scenario.expect != Expect::NoTrip)?;
        let decisive = ask.ramp_step_ns().map(|ns| 2 * self.stage.samples(ns));
        all.iter_mut().for_each(|over| over.decisive = decisive);
        let mut tripped = None;
        for (relay, over) in all.iter().enumerate() {
            tripped = self.account(ask, relay, over);
        }
        Ok(tripped)
    }

    /// Publishes a shot in this manner, or nothing, and watches the relays meanwhile; returns the result for each. With `breaks`,
    /// the breaker opens when all relays have tripped, if there is a breaker.
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
        let (losses, before) = (self.losses(), self.looked_links());
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
        let is_cut = self.are_cut(before);
        let over = |(watch, relay): (Watch, &Relay)| Over {
            unsure: watch.unsure(relay),
            watch,
            samples,
            point_deg,
            decisive: None,
            is_deaf,
            is_cut,
        };
        Ok(watches.into_iter().zip(self.hearing.relays()).map(over).collect())
    }

    /// Takes the received messages, and the length of the silence.
    fn listen(&mut self, watches: &mut [Watch]) {
        let looked = self.shared.tallies.looked_ns.load(Ordering::Acquire);
        self.hearing.listen(watches);
        self.hearing.look(watches, Monotonic::from_ns(looked));
    }

    /// The current state of the test set's links.
    fn looked_links(&mut self) -> Vec<Option<LinkInfo>> {
        self.links.iter_mut().map(LinkCounters::link).collect()
    }

    /// True if the test set was cut off since its links were `before`. One LAN may be down while the other one carries everything, unless the test
    /// set makes a fault of its own in the other one.
    fn are_cut(&mut self, before: Vec<Option<LinkInfo>>) -> bool {
        let mut cut = before
            .into_iter()
            .zip(self.looked_links())
            .map(|(before, now)| is_cut(before, now));
        match self.config.lan_fault {
            Some(_) => cut.any(|is_cut| is_cut),
            None => !self.links.is_empty() && cut.all(|is_cut| is_cut),
        }
    }

    /// True if all samples before `sample` have been sent, and all frames received before `at` have been taken.
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

/// True if a link was down at any time between two readings. A link that cannot be read counts as up, since a socket reports
/// itself when its interface is removed.
fn is_cut(before: Option<LinkInfo>, now: Option<LinkInfo>) -> bool {
    let Some((before, now)) = before.zip(now) else {
        return false;
    };
    !before.carrier || now.carrier_change(&before).is_some()
}

/// Instant of the last relay's trip; `None` until all have tripped.
fn last_trip(watches: &[Watch]) -> Option<Monotonic> {
    let trips: Option<Vec<Monotonic>> = watches.iter().map(Watch::tripped).collect();
    trips?.into_iter().max()
}
