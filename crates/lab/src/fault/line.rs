//! One direction of the wire: frames in, rules, frames out. Pure: instants come from outside.

use super::counts::{LineCounts, RuleCounts};
use super::hold::{Delayed, Numbered};
use super::number;
use super::rule::{Direction, Fault, Frames, Pick, Rule};
use units::Monotonic;
use wire::ether::EthernetView;

/// Most frames held back at once in one direction.
pub const MOST_HELD: usize = 65_536;

/// How long a frame waits for the next one to change places with. Then it goes on where it is.
const NO_PARTNER_NS: i64 = 500_000_000;

/// Takes a frame that goes on; tells whether it was taken.
pub(super) trait Out {
    fn send(&mut self, frame: &[u8]) -> bool;
}

/// A frame that waits for the next one to overtake it.
#[derive(Debug)]
struct Waiting {
    rule: usize,
    frame: Numbered,
    until: Monotonic,
}

/// A rule at work.
#[derive(Debug)]
struct Active {
    rule: Rule,
    number: usize,
    /// Frames that passed its filter, those outside its span among them.
    matched: u64,
    random: u64,
}

#[derive(Debug)]
pub(super) struct Line {
    rules: Vec<Active>,
    waiting: Vec<Waiting>,
    delayed: Delayed,
    counts: LineCounts,
    /// The latest place that went on.
    newest_out: Option<u64>,
}

impl Line {
    pub(super) fn new(direction: Direction, rules: &[Rule], seed: u64) -> Self {
        let active = |(number, rule): (usize, &Rule)| Active {
            rule: rule.clone(),
            number,
            matched: 0,
            // A stream of its own, so that what a rule draws does not depend on the others.
            random: seed ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        let own = rules.iter().enumerate().filter(|(_, rule)| rule.direction == direction);
        Self {
            rules: own.map(active).collect(),
            waiting: Vec::new(),
            delayed: Delayed::default(),
            counts: LineCounts {
                rules: vec![RuleCounts::default(); rules.len()],
                ..LineCounts::default()
            },
            newest_out: None,
        }
    }

    pub(super) fn counts(&self) -> &LineCounts {
        &self.counts
    }

    /// When something that is held back has to go on.
    pub(super) fn next_due(&self) -> Option<Monotonic> {
        let waiting = self.waiting.iter().map(|waiting| waiting.until).min();
        [waiting, self.delayed.next_due()].into_iter().flatten().min()
    }

    /// Takes a frame that came in.
    pub(super) fn take(&mut self, octets: &[u8], now: Monotonic, out: &mut impl Out) {
        self.release(now, out);
        let place = self.counts.came;
        self.counts.came += 1;
        let chosen = self.choose(octets);
        let passed_before = self.counts.passed;
        let frame = Numbered {
            place,
            octets: octets.to_vec(),
        };
        match chosen {
            None => self.pass(&frame, out),
            Some((rule, fault)) => self.treat(frame, rule, fault, now, out),
        }
        if self.counts.passed > passed_before {
            self.overtake(place, octets, out);
        }
    }

    /// Lets go on what is due.
    pub(super) fn release(&mut self, now: Monotonic, out: &mut impl Out) {
        while let Some(frame) = self.delayed.pop(now) {
            self.counts.held -= 1;
            self.pass(&frame, out);
        }
        while let Some(index) = self.waiting.iter().position(|waiting| waiting.until <= now) {
            let waiting = self.waiting.remove(index);
            self.counts.held -= 1;
            self.pass(&waiting.frame, out);
        }
    }

    /// The first rule that chooses the frame. Every rule looks, so that none depends on what another one chooses.
    fn choose(&mut self, octets: &[u8]) -> Option<(usize, Fault)> {
        let mut chosen = None;
        for active in &mut self.rules {
            let Some(picked) = active.look(octets) else { continue };
            self.counts.rules[active.number].looked_at += 1;
            if picked && chosen.is_none() {
                chosen = Some((active.number, active.rule.fault));
            }
        }
        chosen
    }

    /// Lets the waiting frames go on behind the one that just did, where it is of the kind that their rule looks at.
    fn overtake(&mut self, place: u64, octets: &[u8], out: &mut impl Out) {
        let rules = &self.rules;
        let overtaken = |waiting: &Waiting| {
            let rule = rules.iter().find(|active| active.number == waiting.rule);
            waiting.frame.place < place && rule.is_some_and(|active| active.rule.frames.admit(octets))
        };
        let (overtaken, waiting): (Vec<_>, _) = std::mem::take(&mut self.waiting).into_iter().partition(overtaken);
        self.waiting = waiting;
        for waiting in overtaken {
            self.counts.rules[waiting.rule].done += 1;
            self.counts.held -= 1;
            self.pass(&waiting.frame, out);
        }
    }

    fn treat(&mut self, mut frame: Numbered, rule: usize, fault: Fault, now: Monotonic, out: &mut impl Out) {
        let full = self.delayed.len() + self.waiting.len() >= MOST_HELD;
        let count = &mut self.counts.rules[rule];
        match fault {
            Fault::Delay { .. } | Fault::Reorder if full => {
                self.counts.not_held += 1;
                self.pass(&frame, out);
            }
            Fault::Drop => {
                count.done += 1;
                self.counts.dropped += 1;
            }
            Fault::Duplicate => {
                count.done += 1;
                self.counts.doubled += 1;
                self.pass(&frame, out);
                self.pass(&frame, out);
            }
            Fault::Delay { ns } => {
                count.done += 1;
                self.counts.held += 1;
                self.delayed.push(now + i64::try_from(ns).unwrap_or(i64::MAX), frame);
            }
            // Counted when it was overtaken.
            Fault::Reorder => {
                self.counts.held += 1;
                self.waiting.push(Waiting {
                    rule,
                    frame,
                    until: now + NO_PARTNER_NS,
                });
            }
            Fault::Corrupt { at, flip } => {
                if let Some(octet) = frame.octets.get_mut(at) {
                    *octet ^= flip;
                    count.done += 1;
                }
                self.pass(&frame, out);
            }
        }
    }

    fn pass(&mut self, frame: &Numbered, out: &mut impl Out) {
        if !out.send(&frame.octets) {
            self.counts.refused += 1;
            return;
        }
        self.counts.passed += 1;
        self.counts.overtaken += u64::from(self.newest_out.is_some_and(|newest| frame.place < newest));
        self.newest_out = self.newest_out.max(Some(frame.place));
    }
}

impl Frames {
    /// Whether a frame is of the kind that is looked at, wherever it stands.
    fn admit(&self, frame: &[u8]) -> bool {
        let is_of_type = |wanted: u16| EthernetView::parse(frame).is_ok_and(|view| view.ether_type() == wanted);
        self.ether_type.is_none_or(is_of_type) && self.octets.iter().all(|(at, octet)| frame.get(*at) == Some(octet))
    }
}

impl Active {
    /// Whether it chooses the frame; `None` when it does not even look at it.
    fn look(&mut self, octets: &[u8]) -> Option<bool> {
        if !self.rule.frames.admit(octets) {
            return None;
        }
        self.matched += 1;
        let frames = &self.rule.frames;
        if self.matched < frames.from || frames.to.is_some_and(|to| self.matched > to) {
            return None;
        }
        Some(match &self.rule.pick {
            Pick::Every(n) => (self.matched + 1 - frames.from.max(1)).is_multiple_of(*n),
            Pick::Numbers(numbers) => number::of(octets).is_some_and(|number| numbers.contains(&number)),
            Pick::Chance(chance) => draw(&mut self.random) < *chance,
        })
    }
}

/// The next number in 0..1 (splitmix64).
fn draw(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // The 53 bits that a double holds.
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
