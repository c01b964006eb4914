//! The faults that a plan's wire makes. They verify that the probes count every fault.

use super::value::Duration;
use bed::fault::{Direction, Fault, Faults, LaneCounts, Rule, RuleCounts, Which};
use serde::Deserialize;
use std::fmt;
use wire::avtp;
use wire::ether::{self, EthernetView};
use wire::sv;
use wire::test_frame::{self, COUNTS, TestFrame, TestFrameKind};

/// Resolution of chances: they are counted in millionths.
const MILLION: f64 = 1e6;

/// The smallest chance above zero.
const LEAST_CHANCE: f64 = 1.0 / MILLION;

/// Effect of a fault on a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// It is lost.
    Drop,
    /// It comes out twice.
    Duplicate,
    /// It comes out `time` later.
    Delay,
    /// It comes out after the next `frames` frames.
    HoldBack,
    /// `bits` of the byte at `offset` are inverted.
    Corrupt,
}

/// Destination of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destination {
    /// From the test set to the device under test.
    Device,
    /// From the device under test to the test set.
    TestSet,
}

impl From<Destination> for Direction {
    fn from(to: Destination) -> Self {
        match to {
            Destination::Device => Self::ToDevice,
            Destination::TestSet => Self::ToTestSet,
        }
    }
}

/// One fault, and the frames it is for: `every`, `numbers` or `chance` says which.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFault {
    /// Its effect.
    pub kind: FaultKind,
    /// Direction of the affected frames.
    pub to: Destination,
    /// One frame in this many is affected.
    #[serde(default)]
    pub every: Option<u64>,
    /// Numbers of the affected frames, counted from 1.
    #[serde(default)]
    pub numbers: Option<Vec<u64>>,
    /// Chance of each frame, 0.000001 to 1.
    #[serde(default)]
    pub chance: Option<f64>,
    /// Only frames of this EtherType; without it, the frames that the probes count.
    #[serde(default)]
    pub ether_type: Option<u16>,
    /// How much later a delayed frame comes out.
    #[serde(default)]
    pub time: Option<Duration>,
    /// Number of frames that pass before a frame that is held back comes out.
    #[serde(default)]
    pub frames: Option<u32>,
    /// The byte that is corrupted, from the start of the frame.
    #[serde(default)]
    pub offset: Option<usize>,
    /// The bits of it that are inverted, as a mask (1); not 0.
    #[serde(default)]
    pub bits: Option<u8>,
}

impl PlanFault {
    fn fault(&self) -> Result<Fault, String> {
        let needs = |key: &str| format!("a fault of kind \"{}\" needs {key}", self.word());
        let fault = match self.kind {
            FaultKind::Drop => Fault::Drop,
            FaultKind::Duplicate => Fault::Duplicate,
            FaultKind::Delay => {
                let time = self.time.filter(|time| time.0 > 0);
                let time = time.ok_or_else(|| needs("time = \"3ms\" (more than 0)"))?;
                Fault::Delay(std::time::Duration::from_nanos(time.0))
            }
            FaultKind::HoldBack => Fault::HoldBack(self.frames.filter(|n| *n > 0).ok_or_else(|| needs("frames = 1"))?),
            FaultKind::Corrupt => Fault::Corrupt {
                offset: self.offset.ok_or_else(|| needs("offset = 20"))?,
                bits: match self.bits {
                    Some(0) => return Err(needs("bits = 1 (1 to 255: a mask)")),
                    bits => bits.unwrap_or(1),
                },
            },
        };
        let of = |kind: FaultKind| self.kind == kind;
        let strangers = [
            ("time", self.time.is_some() && !of(FaultKind::Delay)),
            ("frames", self.frames.is_some() && !of(FaultKind::HoldBack)),
            ("offset", self.offset.is_some() && !of(FaultKind::Corrupt)),
            ("bits", self.bits.is_some() && !of(FaultKind::Corrupt)),
        ];
        match strangers.into_iter().find(|(_, is_there)| *is_there) {
            Some((key, _)) => Err(format!("a fault of kind \"{}\" has no key {key}", self.word())),
            None => Ok(fault),
        }
    }

    fn which(&self) -> Result<Which, String> {
        match (self.every, &self.numbers, self.chance) {
            (Some(step), None, None) if step > 0 => Ok(Which::Every(step)),
            (None, Some(numbers), None) if !numbers.is_empty() && !numbers.contains(&0) => {
                Ok(Which::Numbers(numbers.iter().copied().collect()))
            }
            (None, None, Some(chance)) if (LEAST_CHANCE..=1.0).contains(&chance) => {
                // At most a million.
                Ok(Which::Chance((chance * MILLION).round() as u32))
            }
            _ => Err(format!(
                "a fault of kind \"{}\" needs one of every = 100 (1 or more), numbers = [3, 7] (at least one, from 1) and \
                 chance = 0.01 (0.000001 to 1)",
                self.word()
            )),
        }
    }

    /// Errors if a fault is not possible; the text says why.
    pub(super) fn check(&self) -> Result<(), String> {
        self.rule().map(|_| ())
    }

    fn rule(&self) -> Result<Rule, String> {
        let rule = Rule::new(self.which()?, self.fault()?);
        Ok(match self.ether_type {
            Some(ether_type) => rule.of_type(ether_type),
            None => rule.when(is_counted),
        })
    }

    fn word(&self) -> &'static str {
        match self.kind {
            FaultKind::Drop => "drop",
            FaultKind::Duplicate => "duplicate",
            FaultKind::Delay => "delay",
            FaultKind::HoldBack => "hold-back",
            FaultKind::Corrupt => "corrupt",
        }
    }
}

/// In words: `drop every 100th frame to the device`.
impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.word())?;
        match (self.every, &self.numbers, self.chance) {
            (Some(1), ..) => write!(f, "every frame")?,
            (Some(step), ..) => write!(f, "one frame in {step}")?,
            (_, Some(numbers), _) => write!(f, "{} chosen frames", numbers.len())?,
            (_, _, chance) => write!(f, "frames by a chance of {}", chance.unwrap_or_default())?,
        }
        if let Some(ether_type) = self.ether_type {
            write!(f, " of type {ether_type:#06x}")?;
        }
        match self.to {
            Destination::Device => write!(f, " to the device"),
            Destination::TestSet => write!(f, " to the test set"),
        }
    }
}

/// True if the probes count a frame: frames of measured round trips, paced streams and sampled values, but not frames of a greeting, a warm-up or a
/// farewell.
fn is_counted(frame: &[u8]) -> bool {
    let Ok(ethernet) = EthernetView::parse(frame) else {
        return false;
    };
    let ours = |octets: &[u8]| {
        TestFrame::read(octets)
            .ok()
            .filter(|fields| fields.kind == TestFrameKind::Stream)
    };
    let unmarked = |fields: Option<TestFrame>| fields.is_none_or(|fields| fields.flags == 0);
    match ethernet.ether_type() {
        test_frame::ETHER_TYPE => TestFrame::parse(&ethernet).is_ok_and(|fields| match fields.kind {
            TestFrameKind::Probe => fields.flags & COUNTS != 0,
            TestFrameKind::Stream => fields.flags == 0,
            _ => false,
        }),
        avtp::ETHER_TYPE => avtp::Frame::parse(&ethernet).is_ok_and(|frame| unmarked(ours(frame.data()))),
        ether::SV => sv::Frame::parse(&ethernet).is_ok_and(|frame| {
            let first = frame.asdus().next();
            unmarked(first.and_then(|asdu| ours(asdu.seq_data())))
        }),
        _ => false,
    }
}

/// Rules of the wire for these faults, whose chances come from `seed`.
///
/// # Errors
/// A fault that is not possible, in words.
pub(super) fn wire_faults(faults: &[PlanFault], seed: u64) -> Result<Faults, String> {
    let to = |destination: Destination| {
        let of = faults.iter().filter(move |fault| fault.to == destination);
        of.map(PlanFault::rule).collect::<Result<Vec<Rule>, String>>()
    };
    Ok(Faults {
        to_device: to(Destination::Device)?,
        to_test_set: to(Destination::TestSet)?,
        seed,
        observer: None,
    })
}

/// Effect of each fault between two readings of the wire's counts, in words. The counts of a direction are in the order of its faults.
pub(super) fn done(faults: &[PlanFault], before: &[LaneCounts; 2], now: &[LaneCounts; 2]) -> Vec<String> {
    let mut places = [0; 2];
    let mut texts = Vec::new();
    for (number, fault) in (1..).zip(faults) {
        let way = usize::from(fault.to == Destination::TestSet);
        let place = places[way];
        places[way] += 1;
        let of = |lanes: &[LaneCounts; 2]| lanes[way].rules.get(place).copied().unwrap_or_default();
        texts.push(format!("fault {number}, {fault}: {}", in_words(&of(before), &of(now))));
    }
    texts
}

fn in_words(before: &RuleCounts, now: &RuleCounts) -> String {
    let injected = now.injected - before.injected;
    let mut text = format!("{injected} injected");
    for (count, what) in [
        (now.overtaken - before.overtaken, "overtaken"),
        (now.held, "not out yet"),
        (
            now.left_alone - before.left_alone,
            "let through because too many were held up",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text
}
