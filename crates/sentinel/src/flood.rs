//! The allowance of alarms: how many of one kind and subject are told in an hour. The others are counted.

use crate::alarm::AlarmKind;

const HOUR_NS: i64 = 3_600_000_000_000;

/// Alarms of one kind and subject.
#[derive(Debug, Clone)]
struct Allowance {
    kind: AlarmKind,
    subject: usize,
    /// Alarms that may be told now, in parts of which an hour's time makes `most`.
    credit: i64,
    since_ns: i64,
    all: u64,
    suppressed: u64,
}

/// The allowances of all kinds and subjects.
#[derive(Debug, Clone)]
pub(crate) struct Flood {
    most: i64,
    each: Vec<Allowance>,
}

/// An alarm may be told; so many before it were not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Yes { suppressed: u64 },
    No,
}

impl Flood {
    /// At most so many alarms of one kind and subject in an hour.
    pub(crate) fn new(most: u32) -> Self {
        Self {
            most: i64::from(most.max(1)),
            each: Vec::new(),
        }
    }

    /// Counts an alarm of this kind and subject at `now_ns`.
    pub(crate) fn ask(&mut self, kind: AlarmKind, subject: usize, now_ns: i64) -> Told {
        let is_it = |each: &Allowance| each.kind == kind && each.subject == subject;
        let index = self.each.iter().position(is_it).unwrap_or_else(|| {
            self.each.push(Allowance {
                kind,
                subject,
                credit: HOUR_NS,
                since_ns: now_ns,
                all: 0,
                suppressed: 0,
            });
            self.each.len() - 1
        });
        let price = HOUR_NS / self.most;
        let of = &mut self.each[index];
        let passed = now_ns.saturating_sub(of.since_ns).clamp(0, HOUR_NS);
        of.since_ns = now_ns;
        of.credit = (of.credit + passed).min(HOUR_NS);
        of.all += 1;
        if of.credit < price {
            of.suppressed += 1;
            return Told::No;
        }
        of.credit -= price;
        Told::Yes {
            suppressed: std::mem::take(&mut of.suppressed),
        }
    }

    /// All alarms so far, told or not, by kind and subject.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (AlarmKind, usize, u64)> + '_ {
        self.each.iter().map(|each| (each.kind, each.subject, each.all))
    }
}

#[cfg(test)]
mod tests {
    use super::{Flood, HOUR_NS, Told};
    use crate::alarm::AlarmKind;

    #[test]
    fn a_flood_is_told_as_often_as_allowed_and_counted_in_full() {
        let mut flood = Flood::new(4);
        let mut told = 0;
        let mut suppressed = 0;
        for second in 0..3_600 {
            if let Told::Yes { suppressed: before } = flood.ask(AlarmKind::Lost, 1, second * 1_000_000_000) {
                told += 1;
                suppressed += before;
            }
        }
        // Four at once, and the rest of the hour's four while it passes.
        assert_eq!(told, 7);
        assert_eq!(flood.counts().next(), Some((AlarmKind::Lost, 1, 3_600)));
        // The next one that is told names all that were not.
        let Told::Yes { suppressed: rest } = flood.ask(AlarmKind::Lost, 1, 3 * HOUR_NS) else {
            panic!("an hour later")
        };
        assert_eq!(told + suppressed + rest, 3_600);
    }

    #[test]
    fn another_subject_or_kind_has_an_allowance_of_its_own() {
        let mut flood = Flood::new(1);
        assert_eq!(flood.ask(AlarmKind::Lost, 1, 0), Told::Yes { suppressed: 0 });
        assert_eq!(flood.ask(AlarmKind::Lost, 1, 1), Told::No);
        assert_eq!(flood.ask(AlarmKind::Lost, 2, 1), Told::Yes { suppressed: 0 });
        assert_eq!(flood.ask(AlarmKind::Late, 1, 1), Told::Yes { suppressed: 0 });
    }
}
