//! The rule by which the start of a fault is recognised, as it is written on the command line.

use std::fmt;
use std::str::FromStr;
use waveform::sample::Quantity;
use wire::goose::Member;

/// Most members of the dataset that one rule looks at.
pub const MOST_MEMBERS: usize = 12;

/// Members that a rule looks at where it names none: the phases of the currents, or of the voltages, of 9-2LE.
const CURRENTS: [u8; 3] = [0, 1, 2];
const VOLTAGES: [u8; 3] = [4, 5, 6];

/// The rule by which the start of a fault is recognised.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// A sample is larger than this, in counts of the dataset, whatever its sign.
    Above {
        /// Counts.
        counts: f64,
        /// The members that are looked at.
        members: Vec<u8>,
    },
    /// A phasor differs from that of one cycle before by more than this.
    Change {
        /// The difference.
        step: StepSize,
        /// The members that are looked at.
        members: Vec<u8>,
    },
    /// A bit of the dataset becomes 1.
    Digital(Digital),
    /// A boolean of a GOOSE message becomes true.
    Contact {
        /// The control block reference.
        gocb_ref: String,
        /// The boolean.
        member: Member,
    },
}

/// The size of a step of a phasor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepSize {
    /// A share of the largest phasor of the members, one cycle before.
    Share(f64),
    /// Counts of the dataset, as the peak of a sine.
    Counts(f64),
}

/// A bit of the dataset of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digital {
    /// The INT32 of a member is not 0.
    Value(u8),
    /// A bit of the INT32 of a member; bit 0 is the least significant one.
    Bit(u8, u8),
    /// A bit of the quality of a member; bit 0 is the least significant one.
    Quality(u8, u8),
    /// An octet of seqData, from 0, is not 0: a BOOLEAN.
    Octet(u16),
}

/// The text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no rule: {why}")]
pub struct RuleError {
    text: String,
    why: &'static str,
}

const FORMS: &str = "write above:2000A, change:20%, digital:8.0 or goose:GOCBREF:MEMBER";
const AMOUNT: &str = "write an amount above 0, such as 2000A, 50kV, 2.5x1000A, or counts of the dataset without a unit";
const MEMBERS: &str = "write members by their numbers from 0, twelve at the most, such as @0-2 or @0,4";
const DIGITAL: &str =
    "write a member (8), a bit of its value (8.0), a bit of its quality (8.q12), or an octet of seqData (@64)";
const CONTACT: &str = "write the control block reference and the member, such as goose:INJLD0/LLN0$GO$gcbStart:0";

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let refused = |why| RuleError {
            text: text.to_owned(),
            why,
        };
        let (kind, rest) = text.split_once(':').ok_or(refused(FORMS))?;
        match kind {
            "above" => {
                let (amount, members) = split(rest);
                let (counts, unit) = amount_of(amount).ok_or(refused(AMOUNT))?;
                let members = members_of(members, unit).ok_or(refused(MEMBERS))?;
                Ok(Self::Above { counts, members })
            }
            "change" => {
                let (amount, members) = split(rest);
                let (step, unit) = step_of(amount).ok_or(refused(AMOUNT))?;
                let members = members_of(members, unit).ok_or(refused(MEMBERS))?;
                Ok(Self::Change { step, members })
            }
            "digital" => digital_of(rest).map(Self::Digital).ok_or(refused(DIGITAL)),
            "goose" => {
                let (gocb_ref, member) = rest.rsplit_once(':').unwrap_or((rest, "0"));
                let member = member.parse().map_err(|_| refused(CONTACT))?;
                match (1..=wire::goose::MAX_NAME).contains(&gocb_ref.len()) {
                    true => Ok(Self::Contact {
                        gocb_ref: gocb_ref.to_owned(),
                        member,
                    }),
                    false => Err(refused(CONTACT)),
                }
            }
            _ => Err(refused(FORMS)),
        }
    }
}

/// An amount, and its members after an `@`.
fn split(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once('@') {
        Some((amount, members)) => (amount, Some(members)),
        None => (rest, None),
    }
}

/// Counts of an amount, and its quantity where it has a unit. `2.5x1000A`: 2.5 times the peak of a nominal RMS value.
fn amount_of(text: &str) -> Option<(f64, Option<Quantity>)> {
    if let Some((times, nominal)) = text.split_once('x') {
        let times: f64 = times.parse().ok()?;
        let (nominal, unit) = amount_of(nominal)?;
        return positive(times * nominal * std::f64::consts::SQRT_2).map(|counts| (counts, unit));
    }
    let units = [
        ("kA", 1_000.0, Quantity::Current),
        ("A", 1.0, Quantity::Current),
        ("kV", 1_000.0, Quantity::Voltage),
        ("V", 1.0, Quantity::Voltage),
    ];
    for (unit, factor, quantity) in units {
        if let Some(number) = text.strip_suffix(unit) {
            let number: f64 = number.parse().ok()?;
            return positive(number * factor * quantity.per_unit()).map(|counts| (counts, Some(quantity)));
        }
    }
    positive(text.parse().ok()?).map(|counts| (counts, None))
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

fn step_of(text: &str) -> Option<(StepSize, Option<Quantity>)> {
    match text.strip_suffix('%') {
        Some(percent) => positive(percent.parse().ok()?).map(|percent| (StepSize::Share(percent / 100.0), None)),
        None => amount_of(text).map(|(counts, unit)| (StepSize::Counts(counts), unit)),
    }
}

fn members_of(text: Option<&str>, unit: Option<Quantity>) -> Option<Vec<u8>> {
    let Some(text) = text else {
        return Some(match unit {
            Some(Quantity::Voltage) => VOLTAGES.to_vec(),
            _ => CURRENTS.to_vec(),
        });
    };
    let mut members: Vec<u8> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u8, u8) = (first.parse().ok()?, last.parse().ok()?);
        if first > last {
            return None;
        }
        members.extend(first..=last);
    }
    members.sort_unstable();
    members.dedup();
    (1..=MOST_MEMBERS).contains(&members.len()).then_some(members)
}

fn digital_of(text: &str) -> Option<Digital> {
    if let Some(octet) = text.strip_prefix('@') {
        return octet.parse().ok().map(Digital::Octet);
    }
    let bit = |text: &str| text.parse().ok().filter(|bit| *bit < 32);
    match text.split_once('.') {
        None => text.parse().ok().map(Digital::Value),
        Some((member, part)) => {
            let member = member.parse().ok()?;
            match part.strip_prefix('q') {
                Some(part) => bit(part).map(|bit| Digital::Quality(member, bit)),
                None => bit(part).map(|bit| Digital::Bit(member, bit)),
            }
        }
    }
}

impl Rule {
    /// The members whose values are kept; none where values are not looked at.
    pub fn members(&self) -> &[u8] {
        match self {
            Self::Above { members, .. } | Self::Change { members, .. } => members,
            Self::Digital(_) | Self::Contact { .. } => &[],
        }
    }

    /// True if it looks at sampled values.
    pub fn is_of_samples(&self) -> bool {
        !matches!(self, Self::Contact { .. })
    }
}

impl fmt::Display for Rule {
    /// For a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |members: &[u8]| {
            let numbers: Vec<String> = members.iter().map(u8::to_string).collect();
            numbers.join(", ")
        };
        match self {
            Self::Above { counts, members } => {
                write!(f, "a value of member {} is above {counts:.0} counts", list(members))
            }
            Self::Change { step, members } => {
                let members = list(members);
                match step {
                    StepSize::Share(share) => write!(
                        f,
                        "the phasor of member {members} changes by {} % in a cycle",
                        share * 100.0
                    ),
                    StepSize::Counts(counts) => {
                        write!(
                            f,
                            "the phasor of member {members} changes by {counts:.0} counts in a cycle"
                        )
                    }
                }
            }
            Self::Digital(Digital::Value(member)) => write!(f, "the value of member {member} is not 0"),
            Self::Digital(Digital::Bit(member, bit)) => write!(f, "bit {bit} of member {member} is 1"),
            Self::Digital(Digital::Quality(member, bit)) => {
                write!(f, "bit {bit} of the quality of member {member} is 1")
            }
            Self::Digital(Digital::Octet(octet)) => write!(f, "octet {octet} of seqData is not 0"),
            Self::Contact { gocb_ref, member } => write!(f, "member {member} of {gocb_ref} is true"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Digital, Rule, StepSize};

    #[test]
    fn rules_are_read_as_they_are_written() {
        let rule = |text: &str| text.parse::<Rule>().unwrap_or_else(|error| panic!("{error}"));
        let above = |counts: f64, members: &[u8]| Rule::Above {
            counts,
            members: members.to_vec(),
        };
        assert_eq!(rule("above:2kA"), above(2_000_000.0, &[0, 1, 2]));
        assert_eq!(rule("above:50kV"), above(5_000_000.0, &[4, 5, 6]));
        assert_eq!(rule("above:123@7,0-1"), above(123.0, &[0, 1, 7]));
        let Rule::Above { counts, .. } = rule("above:2x1000A") else {
            panic!("a threshold")
        };
        assert!((counts - 2_828_427.1).abs() < 1.0, "{counts}");
        let change = |step, members: &[u8]| Rule::Change {
            step,
            members: members.to_vec(),
        };
        assert_eq!(rule("change:20%"), change(StepSize::Share(0.2), &[0, 1, 2]));
        assert_eq!(rule("change:10kV"), change(StepSize::Counts(1_000_000.0), &[4, 5, 6]));
        assert_eq!(rule("digital:8"), Rule::Digital(Digital::Value(8)));
        assert_eq!(rule("digital:8.3"), Rule::Digital(Digital::Bit(8, 3)));
        assert_eq!(rule("digital:8.q12"), Rule::Digital(Digital::Quality(8, 12)));
        assert_eq!(rule("digital:@64"), Rule::Digital(Digital::Octet(64)));
        let Rule::Contact { gocb_ref, member } = rule("goose:LD0/LLN0$GO$gcb:2.0") else {
            panic!("a contact")
        };
        assert_eq!(
            (gocb_ref.as_str(), member.to_string().as_str()),
            ("LD0/LLN0$GO$gcb", "2.0")
        );
    }

    #[test]
    fn a_text_that_is_no_rule_is_refused_with_what_to_write() {
        for (text, why) in [
            ("2000A", "write above:"),
            ("under:3A", "write above:"),
            ("above:", "an amount"),
            ("above:-3A", "an amount"),
            ("above:nanA", "an amount"),
            ("above:infA", "an amount"),
            ("above:0", "an amount"),
            ("change:0%", "an amount"),
            ("above:3A@x", "members"),
            ("above:3A@2-1", "members"),
            ("above:3A@0-12", "members"),
            ("digital:8.32", "a bit"),
            ("digital:a", "a bit"),
            ("goose::0", "control block"),
            ("goose:x:y", "control block"),
        ] {
            let error = text.parse::<Rule>().expect_err(text).to_string();
            assert!(error.contains(why) && error.contains(text), "{error}");
        }
    }
}
