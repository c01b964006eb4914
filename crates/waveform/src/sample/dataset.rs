//! The currents and voltages of a sample: `4I4U`, `6I3U`, …

use std::str::FromStr;

/// The quantity of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Current; 1 LSB is 1 mA (9-2LE).
    Current,
    /// Voltage; 1 LSB is 10 mV (9-2LE).
    Voltage,
}

impl Quantity {
    /// LSBs per ampere or volt.
    pub const fn per_unit(self) -> f64 {
        match self {
            Self::Current => 1_000.0,
            Self::Voltage => 100.0,
        }
    }
}

/// The role of a member among those of its quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemberRole {
    /// Phase a, b or c: 0 to 2.
    Phase(usize),
    /// The sum of the three phases, unless it has its own source.
    Residual,
    /// An additional sensor; zero unless it has a source.
    Further,
}

/// One member of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// `Ia`, `Un`, …
    pub name: String,
    /// Current or voltage.
    pub quantity: Quantity,
    /// Phase, residual or further.
    pub place: MemberRole,
}

/// Largest number of members of a dataset: the limit of IEC 61869-9 for a stream at 100 Mbit/s.
const MOST: usize = 24;

/// The members of a sample, in order: the currents, then the voltages.
///
/// The first three of each quantity are the phases a, b and c, the fourth is the residual, and all others are additional sensors. Six currents are
/// named as in RTE's merging units: Ia Ib Ic Ires In Ih.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    members: Vec<Member>,
}

/// A text that is not a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberError(String);

impl std::fmt::Display for MemberError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MemberError {}

impl Dataset {
    /// `currents` currents and `voltages` voltages.
    ///
    /// # Errors
    /// No member at all, or more than 24.
    pub fn new(currents: usize, voltages: usize) -> Result<Self, MemberError> {
        let total = currents.saturating_add(voltages);
        if !(1..=MOST).contains(&total) {
            return Err(MemberError(format!(
                "{currents} currents and {voltages} voltages: 1 to {MOST} members are possible"
            )));
        }
        let of = |quantity, count| (0..count).map(move |index| member(quantity, index, count));
        Ok(Self {
            members: of(Quantity::Current, currents)
                .chain(of(Quantity::Voltage, voltages))
                .collect(),
        })
    }

    /// The members in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Size of seqData in bytes.
    pub fn octets(&self) -> usize {
        self.members.len() * wire::sv::MEMBER
    }

    /// The member `name`, ignoring letter case.
    ///
    /// # Errors
    /// There is no such member; the error lists the members.
    pub fn find(&self, name: &str) -> Result<usize, MemberError> {
        let found = self
            .members
            .iter()
            .position(|member| member.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            MemberError(format!(
                "\"{name}\" is not a member of this dataset (have: {})",
                self.names()
            ))
        })
    }

    /// Names of the members, separated by commas.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        names.join(", ")
    }
}

impl Default for Dataset {
    /// Ia Ib Ic In Ua Ub Uc Un, the dataset of 9-2LE.
    fn default() -> Self {
        let of = |quantity| (0..4).map(move |index| member(quantity, index, 4));
        Self {
            members: of(Quantity::Current).chain(of(Quantity::Voltage)).collect(),
        }
    }
}

fn member(quantity: Quantity, index: usize, count: usize) -> Member {
    let letter = match quantity {
        Quantity::Current => 'I',
        Quantity::Voltage => 'U',
    };
    let six_currents = quantity == Quantity::Current && count == 6;
    let name = match index {
        0 => format!("{letter}a"),
        1 => format!("{letter}b"),
        2 => format!("{letter}c"),
        3 if six_currents => "Ires".to_owned(),
        4 if six_currents => "In".to_owned(),
        5 if six_currents => "Ih".to_owned(),
        3 => format!("{letter}n"),
        further => format!("{letter}{}", further + 1),
    };
    let place = match index {
        phase @ 0..3 => MemberRole::Phase(phase),
        3 => MemberRole::Residual,
        _ => MemberRole::Further,
    };
    Member { name, quantity, place }
}

impl FromStr for Dataset {
    type Err = MemberError;

    /// `I4U4` as IEC 61869-9 writes it, or `4I4U`.
    fn from_str(text: &str) -> Result<Self, MemberError> {
        let refused = || {
            MemberError(format!(
                "\"{text}\" is not a dataset: write it as 4I4U or I4U4, 6I3U or I6U3"
            ))
        };
        let upper = text.trim().to_ascii_uppercase();
        let counts = match upper.strip_prefix('I') {
            Some(rest) => rest.split_once('U'),
            None => upper.strip_suffix('U').and_then(|rest| rest.split_once('I')),
        };
        let (currents, voltages) = counts.ok_or_else(refused)?;
        let count = |digits: &str| digits.parse().map_err(|_| refused());
        Self::new(count(currents)?, count(voltages)?)
    }
}

impl std::fmt::Display for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |quantity| self.members.iter().filter(|member| member.quantity == quantity).count();
        write!(f, "I{}U{}", of(Quantity::Current), of(Quantity::Voltage))
    }
}
