//! Requirements of a profile on the facts of a run: conditions for its limits to be meaningful.

use super::Pattern;

/// One requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// Unique in its profile, such as `nic.eee`.
    pub id: String,
    /// Name for people; the id if the file gives none.
    pub name: String,
    /// Groups of facts that it applies to: `nic *` for the interfaces used by a run.
    pub group: Pattern,
    /// Name of the fact in each group, such as `eee`.
    pub fact: String,
    /// The wanted value.
    pub wanted: Wanted,
    /// Unit of a number, as shown to people; may be empty.
    pub unit: String,
    /// The source of the requirement.
    pub source: String,
    /// One sentence on the purpose; empty if the file gives none.
    pub why: String,
}

/// The wanted value of a fact. Facts are texts: a number is the one at the beginning of the text, a word is the text
/// before the first comma or bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// This word.
    Is(String),
    /// This number or less.
    AtMost(u64),
    /// This number or more.
    AtLeast(u64),
}

/// A fact compared with the wanted value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// The fact as a number: for a switch, 0 for off and 1 for on; for another word, 1 if it is the wanted one and
    /// otherwise 0.
    pub measured: i64,
    /// True if it is the wanted value.
    pub met: bool,
}

impl Requirement {
    /// Compares the text of a fact with the wanted value; `None` if it should begin with a number but does not.
    pub fn compare(&self, text: &str) -> Option<Compared> {
        match &self.wanted {
            Wanted::Is(word) => {
                let found = word_of(text);
                let met = found == word;
                let measured = switch(word).and(switch(found)).unwrap_or(i64::from(met));
                Some(Compared { measured, met })
            }
            Wanted::AtMost(most) => number_of(text).map(|number| compared(number, number <= *most)),
            Wanted::AtLeast(fewest) => number_of(text).map(|number| compared(number, number >= *fewest)),
        }
    }

    /// The allowed value as a number, in the same form as [`Compared::measured`].
    pub fn allowed(&self) -> u64 {
        match &self.wanted {
            Wanted::Is(word) => switch(word).map_or(1, i64::unsigned_abs),
            Wanted::AtMost(number) | Wanted::AtLeast(number) => *number,
        }
    }

    /// The wanted value as text for people: `off`, `at most 20 us`.
    pub fn wanted_text(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        match &self.wanted {
            Wanted::Is(word) => word.clone(),
            Wanted::AtMost(number) => format!("at most {number}{unit}"),
            Wanted::AtLeast(number) => format!("at least {number}{unit}"),
        }
    }
}

fn compared(number: u64, met: bool) -> Compared {
    Compared {
        measured: i64::try_from(number).unwrap_or(i64::MAX),
        met,
    }
}

fn switch(word: &str) -> Option<i64> {
    match word {
        "off" => Some(0),
        "on" => Some(1),
        _ => None,
    }
}

/// The beginning of a fact's text, without the explanation after it.
pub(crate) fn word_of(text: &str) -> &str {
    text.split([',', '(', ':']).next().unwrap_or(text).trim()
}

fn number_of(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Compared, Requirement, Wanted};
    use crate::limits::Pattern;

    fn requirement(wanted: Wanted) -> Requirement {
        Requirement {
            id: "nic.x".into(),
            name: "nic.x".into(),
            group: Pattern::new("nic *"),
            fact: "x".into(),
            wanted,
            unit: "us".into(),
            source: "the site's own".into(),
            why: String::new(),
        }
    }

    #[test]
    fn words_are_compared_up_to_their_explanation() {
        let off = requirement(Wanted::Is("off".into()));
        for (text, measured, met) in [
            ("off", 0, true),
            ("on", 1, false),
            ("on, in use", 1, false),
            ("on (rx-usecs 3 is a mode of igc, not a time: up to 250 us)", 1, false),
            ("off, really", 0, true),
            ("offline", 0, false),
        ] {
            assert_eq!(off.compare(text), Some(Compared { measured, met }), "{text}");
        }
        assert_eq!((off.allowed(), off.wanted_text().as_str()), (0, "off"));
        let rt = requirement(Wanted::Is("PREEMPT_RT".into()));
        assert_eq!(rt.compare("PREEMPT_RT").map(|found| found.measured), Some(1));
        assert_eq!(rt.compare("PREEMPT_DYNAMIC").map(|found| found.met), Some(false));
        assert_eq!(rt.allowed(), 1);
    }

    #[test]
    fn numbers_are_those_a_text_begins_with() {
        let most = requirement(Wanted::AtMost(20));
        for (text, met) in [("0", true), ("20", true), ("21", false), ("20 of 4096", true)] {
            assert_eq!(most.compare(text).map(|found| found.met), Some(met), "{text}");
        }
        for text in ["", "unknown", "-1", "99999999999999999999999"] {
            assert_eq!(most.compare(text), None, "{text}");
        }
        assert_eq!(most.wanted_text(), "at most 20 us");
        let fewest = requirement(Wanted::AtLeast(1000));
        assert_eq!(fewest.compare("100 Mbit/s").map(|found| found.met), Some(false));
        assert_eq!(fewest.compare("1000 Mbit/s").map(|found| found.met), Some(true));
    }
}
