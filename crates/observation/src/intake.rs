//! The samples of one stream out of frames: which frames are its, what is looked at in them, and its rate.

use crate::detector::Sample;
use crate::rule::{Digital, MOST_MEMBERS, Rule};
use wire::ether::Mac;
use wire::sequence::{self, Contents, Finding, KNOWN_RATES, RateLearner, SampleStep, Sequence};
use wire::sv::{Asdu, Fingerprints, Frame, Marks};

/// Samples that are kept until the rate is known: more than a second of the fastest profile.
const KEPT: usize = 20_000;

/// How far from a profile's rate a stream may be that is shorter than a second, as a share.
const RATE_TOLERANCE: f64 = 0.02;

/// Sender of a stream, and its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    source: Mac,
    destination: Mac,
    appid: u16,
    vid: Option<u16>,
}

/// A sample as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Came {
    pub(crate) sample: Sample,
    contents: Contents,
}

/// Its place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    /// After the newest one, with so many missing between them.
    Next(u64),
    /// So many places before the newest one, which came earlier.
    Late(u64),
    /// The stream began again with it.
    Restart,
    /// It is none of those that are looked at: it came again, or its count is none of the stream's.
    Not,
}

/// The stream.
#[derive(Debug)]
pub(crate) struct Intake {
    sv_id: Vec<u8>,
    rule: Rule,
    /// Members whose values are kept: those of the rule, then others.
    kept: Vec<u8>,
    stated: Option<u32>,
    identity: Option<Identity>,
    marks: Option<Marks>,
    fingerprints: Fingerprints,
    learner: RateLearner,
    /// Samples that came before the rate was known.
    pub(crate) waiting: Vec<Came>,
    rate: Option<u32>,
    sequence: Option<Sequence>,
    newest: u16,
    /// Frames under the svID of another source, or that were sent elsewhere.
    pub(crate) of_others: u64,
    /// Samples without the members that the rule looks at.
    pub(crate) without_members: u64,
    /// Samples that came.
    pub(crate) samples: u64,
}

impl Intake {
    /// Takes the stream of this svID, for this rule; `stated` is its rate, where that is known.
    pub(crate) fn new(sv_id: &str, rule: &Rule, stated: Option<u32>) -> Self {
        Self {
            sv_id: sv_id.as_bytes().to_vec(),
            rule: rule.clone(),
            kept: kept_of(rule),
            stated,
            identity: None,
            marks: None,
            fingerprints: Fingerprints::new(),
            learner: RateLearner::new(),
            waiting: Vec::with_capacity(KEPT),
            rate: None,
            sequence: None,
            newest: 0,
            of_others: 0,
            without_members: 0,
            samples: 0,
        }
    }

    /// Gives each sample that a frame has of the stream to `each`; false if it has none.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, at_ns: i64, mut each: impl FnMut(Came)) -> bool {
        let is_ours = |asdu: &Asdu<'_>, sv_id: &[u8]| asdu.sv_id() == sv_id;
        let count = frame.asdus().filter(|asdu| is_ours(asdu, &self.sv_id)).count();
        if count == 0 {
            return false;
        }
        let ethernet = frame.ethernet();
        let identity = Identity {
            source: ethernet.src(),
            destination: ethernet.dst(),
            appid: frame.appid(),
            vid: ethernet.vlan().map(wire::ether::VlanTag::vid),
        };
        if *self.identity.get_or_insert(identity) != identity {
            self.of_others += 1;
            return false;
        }
        match (&mut self.marks, &mut self.sequence) {
            (Some(marks), Some(sequence)) => marks.follow(frame, sequence),
            (marks, _) => *marks = Some(Marks::of(frame)),
        }
        let mut after = count;
        for asdu in frame.asdus() {
            if !is_ours(&asdu, &self.sv_id) {
                continue;
            }
            after -= 1;
            self.samples += 1;
            match self.came(&asdu, at_ns, after) {
                Some(came) => each(came),
                None => self.without_members += 1,
            }
        }
        true
    }

    fn came(&self, asdu: &Asdu<'_>, at_ns: i64, after: usize) -> Option<Came> {
        let mut values = [0; MOST_MEMBERS];
        let needed = self.rule.members().len();
        if needed > 0 {
            let all = asdu.members()?;
            for (number, (value, member)) in values.iter_mut().zip(&self.kept).enumerate() {
                match all.get(usize::from(*member)) {
                    Some((is, _)) => *value = is,
                    None if number < needed => return None,
                    None => {}
                }
            }
        }
        let bit = match &self.rule {
            Rule::Digital(digital) => bit_of(*digital, asdu)?,
            _ => false,
        };
        Some(Came {
            sample: Sample {
                smp_cnt: asdu.smp_cnt(),
                at_ns,
                after: u8::try_from(after).unwrap_or(u8::MAX),
                values,
                bit,
            },
            contents: self.fingerprints.of(asdu.seq_data(), asdu.smp_synch()),
        })
    }

    /// Keeps a sample until the rate is known; the rate, once it is.
    pub(crate) fn wait(&mut self, came: Came) -> Option<u32> {
        if self.waiting.len() < KEPT {
            self.waiting.push(came);
        }
        let learned = self.learner.observe(came.sample.smp_cnt);
        let rate = self.stated.or(learned).or_else(|| self.at_the_end_of_room())?;
        self.go_by(rate);
        Some(rate)
    }

    fn at_the_end_of_room(&self) -> Option<u32> {
        (self.waiting.len() == KEPT).then(|| self.by_pace()).flatten()
    }

    /// The rate of a stream that ended before its count wrapped: that of a profile, which is near.
    pub(crate) fn rate_at_end(&mut self) -> Option<u32> {
        let rate = self.by_pace()?;
        self.go_by(rate);
        Some(rate)
    }

    fn by_pace(&self) -> Option<u32> {
        let (first, last) = (self.waiting.first()?, self.waiting.last()?);
        let seconds = (last.sample.at_ns - first.sample.at_ns) as f64 / 1e9;
        let counted = last.sample.smp_cnt.wrapping_sub(first.sample.smp_cnt);
        let pace = f64::from(counted) / seconds;
        KNOWN_RATES
            .into_iter()
            .find(|rate| (pace / f64::from(*rate) - 1.0).abs() < RATE_TOLERANCE)
    }

    fn go_by(&mut self, rate: u32) {
        self.rate = Some(rate);
        self.sequence = Some(Sequence::checking(rate).comparing());
    }

    /// The place of a sample in the stream, whose rate is known.
    pub(crate) fn place(&mut self, came: &Came) -> Placed {
        let Some(sequence) = &mut self.sequence else {
            return Placed::Not;
        };
        let smp_cnt = came.sample.smp_cnt;
        let step = sequence.accept(sequence::Sample {
            smp_cnt,
            contents: Some(came.contents),
            at_ns: Some(came.sample.at_ns),
            alone: false,
        });
        let rate = self.rate.unwrap_or(1).max(1);
        let counts = step.counts(self.newest, smp_cnt, rate);
        let behind = (u32::from(self.newest) + rate).saturating_sub(u32::from(smp_cnt)) % rate;
        if step.is_newest() {
            self.newest = smp_cnt;
        }
        match step {
            SampleStep::First => Placed::Next(0),
            SampleStep::Next | SampleStep::Gap(_) => match u64::try_from(counts - 1) {
                Ok(missing) => Placed::Next(missing),
                // The samples until now overtook this one.
                Err(_) => Placed::Restart,
            },
            SampleStep::OutOfOrder => Placed::Late(u64::from(behind)),
            SampleStep::Restart => Placed::Restart,
            SampleStep::Duplicate | SampleStep::Conflicting | SampleStep::TooLate | SampleStep::OutOfRange => {
                Placed::Not
            }
        }
    }

    /// The next finding in the stream, if there is one.
    pub(crate) fn finding(&mut self) -> Option<Finding> {
        self.sequence.as_mut()?.take_finding()
    }

    /// Every frame was taken that came before `now_ns`.
    pub(crate) fn look(&mut self, now_ns: i64) {
        if let Some(sequence) = &mut self.sequence {
            sequence.look(now_ns);
        }
    }

    /// Nothing comes any more.
    pub(crate) fn end(&mut self, now_ns: i64) {
        if let Some(sequence) = &mut self.sequence {
            sequence.end(Some(now_ns));
        }
    }

    /// Samples that never came.
    pub(crate) fn lost(&self) -> u64 {
        self.sequence.as_ref().map_or(0, |sequence| sequence.counters().lost)
    }
}

/// Members whose values are kept for a rule: its own, then others, in whose values a fault may show itself sooner.
fn kept_of(rule: &Rule) -> Vec<u8> {
    let own = rule.members();
    let others = (0..MOST_MEMBERS as u8 * 2).filter(|member| !own.contains(member));
    own.iter().copied().chain(others).take(MOST_MEMBERS).collect()
}

/// The bit of a sample; `None` where its dataset does not have it.
fn bit_of(digital: Digital, asdu: &Asdu<'_>) -> Option<bool> {
    let member = |number: u8| asdu.members()?.get(usize::from(number));
    Some(match digital {
        Digital::Value(number) => member(number)?.0 != 0,
        Digital::Bit(number, bit) => member(number)?.0 >> bit & 1 == 1,
        Digital::Quality(number, bit) => member(number)?.1.0 >> bit & 1 == 1,
        Digital::Octet(octet) => *asdu.seq_data().get(usize::from(octet))? != 0,
    })
}
