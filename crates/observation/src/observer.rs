//! The observation of one relay: frames in, findings out.

use crate::detector::Detector;
use crate::intake::{Came, Intake, Placed};
use crate::relay::{Bit, Doubts};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::shots::Shots;
use crate::start::{Edge, Start, StartDoubt};
use crate::whole::Whole;
use std::collections::VecDeque;
use wire::ether::{self, EthernetView, VlanTag};
use wire::goose::{self, FollowerDoubt, Member};
use wire::routed::Datagram;
use wire::sv;

/// Findings that wait until they are taken.
const WAITING: usize = 256;

/// Reports of the same doubt of the same control block, at most. The counts go on.
const MOST_TOLD: u64 = 50;

/// The settings of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How the start of a fault is recognised.
    pub rule: Rule,
    /// svID of the injector's stream. Not looked at where the rule is a contact.
    pub sv_id: String,
    /// Its samples a second, where that is known; else its wrap tells.
    pub rate: Option<u32>,
    /// Frequency of the network, in Hz.
    pub frequency_hz: f64,
    /// The relay's control block reference.
    pub gocb_ref: String,
    /// The member that is true, or the position that is open, when it has tripped.
    pub trip: Member,
    /// The member that is true when it has started.
    pub start: Option<Member>,
    /// How long after the start of a fault a trip is in time, in ns.
    pub deadline_ns: u64,
}

/// A control block whose doubts are reported.
#[derive(Debug, Default)]
struct Told {
    doubts: Doubts,
    named: Doubts,
}

/// An observation. After the rate of the stream is known it allocates nothing.
#[derive(Debug)]
pub struct Observer {
    config: Config,
    intake: Intake,
    detector: Option<Detector>,
    contact: Option<Bit>,
    trip: Bit,
    start: Option<Bit>,
    shots: Shots,
    told: [Told; 2],
    seen: VecDeque<Seen>,
    untold: u64,
    malformed: u64,
    /// Instant up to which the samples were looked at.
    looked_ns: i64,
    is_blind: bool,
}

impl Observer {
    /// Begins to observe.
    pub fn new(config: &Config) -> Self {
        let contact = match &config.rule {
            Rule::Contact { gocb_ref, member } => Some(Bit::of(gocb_ref, *member)),
            _ => None,
        };
        Self {
            intake: Intake::new(&config.sv_id, &config.rule, config.rate),
            detector: None,
            contact,
            trip: Bit::of_trip(&config.gocb_ref, config.trip),
            start: config.start.map(|start| Bit::of(&config.gocb_ref, start)),
            shots: Shots::new(config.deadline_ns),
            told: Default::default(),
            seen: VecDeque::with_capacity(WAITING),
            untold: 0,
            malformed: 0,
            looked_ns: i64::MIN,
            is_blind: false,
            config: config.clone(),
        }
    }

    /// Takes a frame with its stamp, in ns; `vlan` is the tag that the kernel took out of it. True if it is one that is looked at.
    pub fn take(&mut self, octets: &[u8], vlan: Option<VlanTag>, at_ns: i64) -> bool {
        let Ok(ethernet) = EthernetView::with_tag(octets, vlan) else {
            return false;
        };
        let is_taken = match Datagram::within(&ethernet) {
            Some(Ok(datagram)) => self.routed(&datagram, at_ns),
            Some(Err(_)) => Some(self.cannot_read()),
            None => self.one(&ethernet, at_ns),
        };
        if is_taken.is_some() {
            self.look(at_ns);
        }
        is_taken.unwrap_or(false)
    }

    /// The messages of a datagram, as [`Self::one`] takes them.
    fn routed(&mut self, datagram: &Datagram<'_>, at_ns: i64) -> Option<bool> {
        let mut is_taken = None;
        for message in datagram.messages() {
            let one = match message {
                Ok(view) => self.one(&view, at_ns),
                Err(_) => Some(self.cannot_read()),
            };
            is_taken = is_taken.max(one);
        }
        is_taken
    }

    /// True if the message is one that is looked at; `None` if nothing of its kind is.
    fn one(&mut self, ethernet: &EthernetView<'_>, at_ns: i64) -> Option<bool> {
        Some(match ethernet.ether_type() {
            ether::SV if self.config.rule.is_of_samples() => match sv::Frame::parse(ethernet) {
                Ok(frame) => self.samples(&frame, at_ns),
                Err(_) => self.cannot_read(),
            },
            ether::GOOSE => match goose::Frame::parse(ethernet) {
                Ok(frame) => self.message(&frame, at_ns),
                Err(_) => self.cannot_read(),
            },
            _ => return None,
        })
    }

    /// The next finding, if there is one.
    pub fn next_seen(&mut self) -> Option<Seen> {
        self.seen.pop_front()
    }

    /// Shots so far in which a fault was seen.
    pub fn faults(&self) -> u64 {
        self.shots.faults()
    }

    /// When to look again though no frame came, in ns: a message expires.
    pub fn deadline_ns(&self) -> Option<i64> {
        let bits = std::iter::once(&self.trip).chain(&self.contact);
        bits.filter_map(Bit::deadline_ns).map(|ns| ns + 1).min()
    }

    /// Every frame was taken that came before `now_ns`.
    pub fn look(&mut self, now_ns: i64) {
        self.intake.look(now_ns);
        self.findings(now_ns);
        let start = self.start.as_mut();
        for bit in std::iter::once(&mut self.trip).chain(start).chain(&mut self.contact) {
            bit.look(now_ns);
        }
        self.doubts(now_ns);
        // A contact needs no sample to be recognised by.
        let seen_ns = if self.contact.is_some() { now_ns } else { self.looked_ns };
        while let Some(seen) = self.shots.advance(now_ns, seen_ns, &self.trip, self.start.as_ref()) {
            self.tell(seen);
        }
        self.blind(now_ns);
    }

    /// Ends the observation: nothing came after `now_ns`.
    pub fn end(&mut self, now_ns: i64) {
        if self.detector.is_none()
            && let Some(rate) = self.intake.rate_at_end()
        {
            self.begin(rate);
        }
        self.look(now_ns);
        self.intake.end(now_ns);
        self.findings(now_ns);
        if let Some(seen) = self.shots.end(now_ns, &self.trip, self.start.as_ref()) {
            self.tell(seen);
        }
        // Where nothing was looked at, no trip has a fault: that is said below.
        while self.detector.is_some() || self.contact.is_some() {
            let Some(at_ns) = self.shots.waiting(&self.trip) else {
                break;
            };
            self.say(Whole::LastTrip, 1, at_ns);
        }
        self.whole(now_ns);
    }

    fn cannot_read(&mut self) -> bool {
        self.malformed += 1;
        false
    }

    fn samples(&mut self, frame: &sv::Frame<'_>, at_ns: i64) -> bool {
        let mut came_now = [None; sv::MAX_ASDUS];
        let mut count = 0;
        let is_ours = self.intake.take(frame, at_ns, |came| {
            came_now[count] = Some(came);
            count += 1;
        });
        for came in came_now.into_iter().flatten() {
            if self.detector.is_some() {
                self.sample(&came);
            } else if let Some(rate) = self.intake.wait(came) {
                self.begin(rate);
            }
        }
        is_ours
    }

    /// The rate is known: all samples that waited for it are looked at.
    fn begin(&mut self, rate: u32) {
        let Config { rule, frequency_hz, .. } = &self.config;
        self.detector = Some(Detector::new(rule, rate, *frequency_hz));
        let mut waiting = std::mem::take(&mut self.intake.waiting);
        waiting.iter().for_each(|came| self.sample(came));
        waiting.clear();
        // Kept: to free it is a system call of the thread that receives.
        self.intake.waiting = waiting;
    }

    fn sample(&mut self, came: &Came) {
        let place = self.intake.place(came);
        self.findings(came.sample.at_ns);
        let Some(detector) = &mut self.detector else { return };
        let edge = match place {
            Placed::Next(missing) => detector.take(missing, &came.sample),
            Placed::Late(behind) => {
                detector.late(behind, &came.sample);
                None
            }
            Placed::Restart => {
                detector.restart();
                detector.take(0, &came.sample)
            }
            Placed::Not => None,
        };
        self.looked_ns = self.looked_ns.max(came.sample.at_ns);
        if let Some(edge) = edge {
            self.edge(edge);
        }
        // Shots are over in the order of the samples, also while many are looked at at once.
        let looked_ns = self.looked_ns;
        while let Some(seen) = self
            .shots
            .advance(looked_ns, looked_ns, &self.trip, self.start.as_ref())
        {
            self.tell(seen);
        }
    }

    fn edge(&mut self, edge: Edge) {
        if let Some(seen) = self.shots.edge(edge, &self.trip, self.start.as_ref()) {
            self.tell(seen);
        }
    }

    fn message(&mut self, frame: &goose::Frame<'_>, at_ns: i64) -> bool {
        let mut is_ours = self.trip.take(frame, at_ns).is_some();
        if let Some(start) = &mut self.start {
            start.take(frame, at_ns);
        }
        let was_known = self.contact.as_ref().is_some_and(Bit::is_known);
        let Some(followed) = self.contact.as_mut().and_then(|contact| contact.take(frame, at_ns)) else {
            return is_ours;
        };
        is_ours = true;
        let is_set = self.contact.as_ref().and_then(|contact| contact.before(at_ns + 1)) == Some(true);
        if !was_known && is_set {
            self.edge(Edge::WasOn(at_ns));
        }
        if let Some(changed) = followed {
            let edge = match changed.value {
                false => Edge::Ended(at_ns),
                true => Edge::Began(Start {
                    at_ns,
                    // How long the injector takes to send its contact, only it knows.
                    uncertain_ns: None,
                    smp_cnt: None,
                    doubt: (!changed.is_first).then_some(StartDoubt::FirstMessage),
                }),
            };
            self.edge(edge);
        }
        is_ours
    }

    fn findings(&mut self, at_ns: i64) {
        while let Some(finding) = self.intake.finding() {
            self.tell(Seen::Stream { at_ns, finding });
        }
    }

    /// Reports new doubts of the relay, and of the contact.
    fn doubts(&mut self, at_ns: i64) {
        let bits = [Some(&self.trip), self.contact.as_ref()];
        for (which, bit) in bits.into_iter().enumerate() {
            let Some(bit) = bit else { continue };
            let told = &mut self.told[which];
            let doubts = bit.doubts();
            if doubts == told.doubts {
                continue;
            }
            for (number, doubt) in FollowerDoubt::ALL.into_iter().enumerate() {
                let count = doubts[number] - told.doubts[number];
                if count > 0 && told.named[number] < MOST_TOLD && self.seen.len() < WAITING {
                    told.named[number] += 1;
                    let is_contact = which == 1;
                    self.seen.push_back(Seen::Goose {
                        at_ns,
                        is_contact,
                        doubt,
                        count,
                    });
                }
            }
            told.doubts = doubts;
        }
    }

    fn blind(&mut self, at_ns: i64) {
        let blind_ns = self.detector.as_ref().map_or(0, Detector::blind_ns);
        if blind_ns > 0 && !self.is_blind {
            self.say(Whole::Blind, blind_ns, at_ns);
        }
        self.is_blind = blind_ns > 0;
    }

    /// Reports on the whole, at the end.
    fn whole(&mut self, at_ns: i64) {
        let is_of_samples = self.config.rule.is_of_samples();
        let no_samples = is_of_samples && self.intake.samples == 0;
        let no_rate = is_of_samples && !no_samples && self.detector.is_none() && self.intake.without_members == 0;
        let no_contact = self.contact.as_ref().is_some_and(|contact| !contact.is_known());
        for (what, count) in [
            (Whole::NoStream, u64::from(no_samples)),
            (Whole::NoRate, u64::from(no_rate)),
            (Whole::NoContact, u64::from(no_contact)),
            (Whole::NoRelay, u64::from(!self.trip.is_known())),
            (Whole::WithoutMembers, self.intake.without_members),
            (Whole::OfOthers, self.intake.of_others),
            (Whole::Malformed, self.malformed),
            (Whole::Lost, self.intake.lost()),
            (self.still_on(), u64::from(self.shots.lasts())),
            (Whole::NoFault, u64::from(self.faults() == 0)),
            (Whole::Untold, self.untold),
        ] {
            if count > 0 {
                self.say(what, count, at_ns);
            }
        }
    }

    /// Phasors that are not back hide the next change; the other rules say themselves that a fault is on.
    fn still_on(&self) -> Whole {
        match self.config.rule {
            Rule::Change { .. } => Whole::NotBack,
            _ => Whole::StillOn,
        }
    }

    fn say(&mut self, what: Whole, count: u64, at_ns: i64) {
        self.tell(Seen::Whole { at_ns, what, count });
    }

    /// Keeps a finding until it is taken; counts those that find no room.
    fn tell(&mut self, seen: Seen) {
        match self.seen.len() < WAITING {
            true => self.seen.push_back(seen),
            false => self.untold += 1,
        }
    }
}
