//! Allowances: how many of one kind, of alarms or of events, are told in an hour. The others are counted, and the last of them is told when
//! there is room again.

const HOUR_NS: i64 = 3_600_000_000_000;

/// Something that may be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tidings {
    /// It happened within this span, in ns.
    pub(crate) span: [i64; 2],
    /// Its words.
    pub(crate) text: String,
    /// Others of its kind before it that were counted only.
    pub(crate) suppressed: u64,
    /// When the first of these happened, in ns.
    pub(crate) from_ns: i64,
}

/// All of one kind.
#[derive(Debug, Clone)]
struct Allowance<K> {
    key: K,
    /// Alarms that may be told now, in parts of which an hour's time makes `most`.
    credit: i64,
    since_ns: i64,
    all: u64,
    /// The last one that was counted only.
    last: Option<Tidings>,
}

/// The allowances of all kinds.
#[derive(Debug, Clone)]
pub(crate) struct Flood<K> {
    price: i64,
    each: Vec<Allowance<K>>,
}

impl<K: Copy + PartialEq> Flood<K> {
    /// At most so many of one kind in an hour.
    pub(crate) fn new(most: u32) -> Self {
        Self {
            price: HOUR_NS / i64::from(most.max(1)),
            each: Vec::new(),
        }
    }

    /// Counts something of this kind, found at `now_ns`; returns it with the number of those before it if it may be told.
    pub(crate) fn ask(&mut self, key: K, span: [i64; 2], now_ns: i64, text: String) -> Option<Tidings> {
        let index = self.each.iter().position(|each| each.key == key).unwrap_or_else(|| {
            self.each.push(Allowance {
                key,
                credit: HOUR_NS,
                since_ns: now_ns,
                all: 0,
                last: None,
            });
            self.each.len() - 1
        });
        let price = self.price;
        let of = &mut self.each[index];
        of.all += 1;
        let before = of.last.take();
        let this = Tidings {
            span,
            text,
            suppressed: before.as_ref().map_or(0, |before| before.suppressed + 1),
            from_ns: before.map_or(span[0], |before| before.from_ns.min(span[0])),
        };
        if of.pays(price, now_ns) {
            return Some(this);
        }
        of.last = Some(this);
        None
    }

    /// Something that was counted only, and may be told now; all of them if `is_end`. To be called until there is none.
    pub(crate) fn due(&mut self, now_ns: i64, is_end: bool) -> Option<(K, Tidings)> {
        let price = self.price;
        let waiting = self.each.iter_mut().filter(|each| each.last.is_some());
        for each in waiting {
            if (each.pays(price, now_ns) || is_end)
                && let Some(last) = each.last.take()
            {
                return Some((each.key, last));
            }
        }
        None
    }

    /// All so far, told or not, by kind.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.each.iter().map(|each| (each.key, each.all))
    }
}

impl<K> Allowance<K> {
    /// Takes the price of one, if there is so much.
    fn pays(&mut self, price: i64, now_ns: i64) -> bool {
        let passed = now_ns.saturating_sub(self.since_ns).clamp(0, HOUR_NS);
        self.since_ns = self.since_ns.max(now_ns);
        self.credit = (self.credit + passed).min(HOUR_NS);
        let has_enough = self.credit >= price;
        if has_enough {
            self.credit -= price;
        }
        has_enough
    }
}

#[cfg(test)]
mod tests {
    use super::{Flood, HOUR_NS};
    use crate::alarm::AlarmKind;

    const LOST: (AlarmKind, usize) = (AlarmKind::Lost, 1);

    /// How many before it were not told, if it is told.
    fn ask(flood: &mut Flood<(AlarmKind, usize)>, key: (AlarmKind, usize), now_ns: i64) -> Option<u64> {
        let told = flood.ask(key, [now_ns, now_ns], now_ns, format!("at {now_ns}"));
        told.map(|told| told.suppressed)
    }

    #[test]
    fn a_flood_is_told_as_often_as_allowed_and_counted_in_full() {
        let mut flood = Flood::new(4);
        let mut told = 0;
        let mut suppressed = 0;
        for second in 0..3_600 {
            if let Some(before) = ask(&mut flood, LOST, second * 1_000_000_000) {
                told += 1;
                suppressed += before;
            }
        }
        // Four at once, and the rest of the hour's four while it passes.
        assert_eq!(told, 7);
        assert_eq!(flood.counts().next(), Some((LOST, 3_600)));
        // The next one that is told names all that were not.
        let rest = ask(&mut flood, LOST, 3 * HOUR_NS).expect("an hour later");
        assert_eq!(told + suppressed + rest, 3_600);
    }

    #[test]
    fn the_last_one_of_a_flood_is_told_when_there_is_room_or_at_the_end() {
        let mut flood = Flood::new(1);
        assert_eq!(ask(&mut flood, LOST, 0), Some(0));
        for at_ns in [10, 20, 30] {
            assert_eq!(ask(&mut flood, LOST, at_ns), None);
        }
        assert_eq!(flood.due(40, false), None);
        let (key, last) = flood.due(HOUR_NS, false).expect("told");
        assert_eq!((key, last.suppressed, last.from_ns, last.span), (LOST, 2, 10, [30, 30]));
        assert_eq!(last.text, "at 30");
        assert_eq!(flood.due(2 * HOUR_NS, false), None, "once");
        ask(&mut flood, LOST, 2 * HOUR_NS);
        assert_eq!(ask(&mut flood, LOST, 2 * HOUR_NS + 1), None);
        assert!(
            flood
                .due(2 * HOUR_NS + 2, true)
                .is_some_and(|(_, last)| last.suppressed == 0)
        );
    }

    #[test]
    fn another_subject_or_kind_has_an_allowance_of_its_own() {
        let mut flood = Flood::new(1);
        assert_eq!(ask(&mut flood, LOST, 0), Some(0));
        assert_eq!(ask(&mut flood, LOST, 1), None);
        assert_eq!(ask(&mut flood, (AlarmKind::Lost, 2), 1), Some(0));
        assert_eq!(ask(&mut flood, (AlarmKind::Late, 1), 1), Some(0));
    }
}
