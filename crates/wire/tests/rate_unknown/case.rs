//! A random stream: what is done to it, the frames that arrive, and the record of what is missing.

use super::random::Random;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const SECOND_NS: i64 = 1_000_000_000;
const MILLISECOND_NS: i64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Contained {
    Noise,
    /// Four cycles of 80 samples, repeated.
    Periodic,
    Constant,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Deed {
    /// Every frame arrives again, this many ms later, with or without copies from before the first frame.
    Copies { later_ms: u64, from_before: bool },
    /// One frame arrives again, this many frames later.
    Again { later: u64 },
    /// Nothing arrives for this time, then everything at once.
    Hold { ms: u64 },
    /// Like [`Deed::Hold`], but this many frames overtake the others: the first ones after those that were held, or those that are this many
    /// frames before the end of those that were held.
    Overtake { ms: u64, frames: u64, back: u64 },
    /// One frame comes this late.
    Late { ms: u64 },
    /// A copy of one frame comes this many frames early.
    Early { frames: u64 },
    /// This many frames are lost.
    Lose { frames: u64 },
    /// One turn of the counter, minus this many frames, is lost.
    LoseTurnLess { frames: u64 },
    /// Another publisher, this many counts away, for this time; its contents are its own, or those of the stream's
    /// feeder.
    Second { away: u64, ms: u64, has_own_contents: bool },
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) rate: u64,
    pub(crate) asdus: u64,
    first: u64,
    frames: u64,
    pub(crate) contained: Contained,
    jitter_us: u64,
    deeds: Vec<(u64, Deed)>,
}

/// A frame: its arrival time, the count of its first sample, and its sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) at_ns: i64,
    /// Place of its first sample in the publisher's stream, which starts some seconds before the first frame.
    pub(crate) place: u64,
    pub(crate) is_foreign: bool,
    is_copy: bool,
    has_own_contents: bool,
}

/// Number of places before the first one that copies may come from; a multiple of each rate.
const BEFORE: u64 = 4_000 * 4_800 * 15_360;

impl Case {
    /// A stream to which nothing is done.
    fn stream(random: &mut Random) -> Self {
        let (rate, asdus) = random.one_of(&[
            (4_000, 1),
            (4_000, 1),
            (4_000, 8),
            (4_000, 13),
            (4_800, 1),
            (4_800, 2),
            (4_800, 11),
            (4_800, 16),
            (5_760, 1),
            (12_800, 8),
            (12_800, 16),
            (14_400, 6),
            (14_400, 9),
            (15_360, 1),
        ]);
        Self {
            rate,
            asdus,
            first: random.below(rate / asdus) * asdus,
            frames: random.within(1_200, 4_500) * rate / asdus / 1_000,
            contained: random.one_of(&[Contained::Noise, Contained::Periodic, Contained::Constant]),
            // Frames of one sender do not overtake each other.
            jitter_us: random.one_of(&[0, 20, 100]).min(asdus * 500_000 / rate),
            deeds: Vec::new(),
        }
    }

    /// A stream with up to two deeds.
    pub(crate) fn of(seed: u64) -> Self {
        let random = &mut Random::of(seed);
        let mut case = Self::stream(random);
        for _ in 0..random.below(3) {
            let deed = case.deed(random);
            if matches!(deed, Deed::Copies { .. }) && case.has(|deed| matches!(deed, Deed::Copies { .. })) {
                continue;
            }
            case.add(deed, random);
        }
        case
    }

    /// A stream that was held back once, and one frame that overtook the others; and, in half of the cases, a loss or a second publisher.
    pub(crate) fn held_back(seed: u64) -> Self {
        let random = &mut Random::of(seed);
        let mut case = Self::stream(random);
        let held = case.overtake(random, 400, 1);
        case.add(held, random);
        let other = match random.below(4) {
            0 => Deed::Lose {
                frames: random.within(1, 3 * case.rate / case.asdus),
            },
            1 => Deed::Second {
                away: random.within(1, case.rate),
                ms: random.within(100, 2_000),
                has_own_contents: true,
            },
            _ => return case,
        };
        case.add(other, random);
        case
    }

    fn add(&mut self, deed: Deed, random: &mut Random) {
        let at = random.within(self.frames / 50, self.frames * 4 / 5);
        self.deeds.push((at, deed));
    }

    fn deed(&self, random: &mut Random) -> Deed {
        let a_turn = self.rate / self.asdus;
        match random.below(13) {
            0 | 1 => Deed::Copies {
                later_ms: random.one_of(&[0, 1, 3, 5, 6, 20, 55, 200, 700, 900]),
                from_before: random.below(2) == 0,
            },
            2 => Deed::Again {
                later: random.within(1, 40),
            },
            3 => Deed::Hold {
                ms: random.within(1, 400),
            },
            4 => Deed::Hold {
                ms: random.within(900, 1_300),
            },
            5 => Deed::Lose {
                frames: random.within(1, 40),
            },
            6 => Deed::Lose {
                frames: random.within(1, 5 * a_turn / 2),
            },
            7 => self.overtake(random, 240, 6),
            8 => self.overtake(random, 400, 6),
            9 => Deed::Late {
                ms: random.one_of(&[1, 5, 40, 400, 980, 999, 1_000, 1_001, 1_100, 1_500, 1_970, 2_300]),
            },
            10 => Deed::Early {
                frames: random.within(1, 100),
            },
            11 => Deed::LoseTurnLess {
                frames: random.below(4),
            },
            _ => Deed::Second {
                away: random.within(1, self.rate),
                ms: random.within(100, 2_000),
                has_own_contents: random.below(2) == 0,
            },
        }
    }

    /// At most `frames` frames overtake a burst that was held for at most `most_ms`.
    fn overtake(&self, random: &mut Random, most_ms: u64, frames: u64) -> Deed {
        let ms = random.within(5, most_ms + 1);
        let held = ms * self.rate / self.asdus / 1_000;
        Deed::Overtake {
            ms,
            // More than 32 samples that are overtaken may count as lost.
            frames: random.within(1, frames + 1).min(32 / self.asdus),
            back: random.below(2) * random.below(held.max(1)),
        }
    }

    fn frame_ns(&self, place: u64) -> i64 {
        (i128::from(place) - i128::from(BEFORE) - i128::from(self.first)) as i64 * SECOND_NS / self.rate as i64
    }

    pub(crate) fn end_ns(&self) -> i64 {
        (self.frames * self.asdus) as i64 * SECOND_NS / self.rate as i64
    }

    /// The frames in order of arrival.
    pub(crate) fn play(&self, seed: u64) -> Vec<Frame> {
        let mut random = Random::of(seed ^ 0xabcd);
        let first = BEFORE + self.first;
        let before = self.rate / self.asdus;
        let mut frames: Vec<Frame> = (0..self.frames + before)
            .map(|number| {
                let place = first + number * self.asdus - before * self.asdus;
                Frame {
                    at_ns: self.frame_ns(place) + random.below(self.jitter_us * 1_000 + 1) as i64,
                    place,
                    is_foreign: false,
                    is_copy: false,
                    has_own_contents: false,
                }
            })
            .collect();
        let order = |deed: &Deed| match deed {
            Deed::Lose { .. } | Deed::LoseTurnLess { .. } => 0,
            Deed::Copies { .. } | Deed::Again { .. } | Deed::Early { .. } | Deed::Second { .. } => 1,
            Deed::Late { .. } | Deed::Hold { .. } | Deed::Overtake { .. } => 2,
        };
        let mut deeds = self.deeds.clone();
        deeds.sort_by_key(|(_, deed)| order(deed));
        for (at, deed) in deeds {
            self.act(&mut frames, self.frame_ns(first + at * self.asdus), deed);
            frames.sort_by_key(|frame| frame.at_ns);
        }
        frames.retain(|frame| (0..self.end_ns()).contains(&frame.at_ns));
        frames
    }

    fn act(&self, frames: &mut Vec<Frame>, at_ns: i64, deed: Deed) {
        let period_ns = self.asdus as i64 * SECOND_NS / self.rate as i64;
        let lose = |frames: &mut Vec<Frame>, count: u64| {
            let until_ns = at_ns + count as i64 * period_ns;
            frames.retain(|frame| !(at_ns..until_ns).contains(&frame.at_ns) || frame.is_foreign);
        };
        match deed {
            Deed::Lose { frames: count } => lose(frames, count),
            Deed::LoseTurnLess { frames: less } => lose(frames, self.rate / self.asdus - less),
            Deed::Copies { later_ms, from_before } => {
                let copied = frames.iter().filter(|frame| from_before || frame.at_ns >= 0);
                let copies: Vec<Frame> = copied
                    .map(|frame| Frame {
                        at_ns: frame.at_ns + later_ms as i64 * MILLISECOND_NS + 900,
                        is_copy: true,
                        ..*frame
                    })
                    .collect();
                frames.extend(copies);
            }
            Deed::Again { later } => {
                let again = frames.iter().find(|frame| frame.at_ns >= at_ns).copied();
                frames.extend(again.map(|frame| Frame {
                    at_ns: frame.at_ns + later as i64 * period_ns + 900,
                    is_copy: true,
                    ..frame
                }));
            }
            Deed::Hold { ms } => {
                let mut free_ns = at_ns + ms as i64 * MILLISECOND_NS;
                // A switch sends the frames that it held one after the other, followed by those that arrived in the
                // meantime.
                for frame in frames.iter_mut().filter(|frame| frame.at_ns >= at_ns) {
                    frame.at_ns = frame.at_ns.max(free_ns);
                    free_ns = frame.at_ns + 1_000;
                }
            }
            Deed::Overtake {
                ms,
                frames: ahead,
                back,
            } => {
                let held_ns = at_ns + ms as i64 * MILLISECOND_NS;
                let from = frames.partition_point(|frame| frame.at_ns < at_ns);
                let first = frames
                    .partition_point(|frame| frame.at_ns < held_ns)
                    .saturating_sub(back as usize)
                    .max(from);
                let until = (first + ahead as usize).min(frames.len());
                let mut free_ns = held_ns;
                let mut release = |frames: &mut [Frame]| {
                    for frame in frames {
                        frame.at_ns = frame.at_ns.max(free_ns);
                        free_ns = frame.at_ns + 1_000;
                    }
                };
                release(&mut frames[first..until]);
                release(&mut frames[from..first]);
                release(&mut frames[until..]);
            }
            Deed::Late { ms } => {
                let late = frames.iter_mut().find(|frame| frame.at_ns >= at_ns && !frame.is_copy);
                if let Some(frame) = late {
                    frame.at_ns += ms as i64 * MILLISECOND_NS;
                }
            }
            Deed::Early { frames: earlier } => {
                let early = frames.iter().find(|frame| frame.at_ns >= at_ns).copied();
                frames.extend(early.map(|frame| Frame {
                    at_ns: (frame.at_ns - earlier as i64 * period_ns - 900).max(0),
                    is_copy: true,
                    ..frame
                }));
            }
            Deed::Second {
                away,
                ms,
                has_own_contents,
            } => {
                let until_ns = at_ns + ms as i64 * MILLISECOND_NS;
                let of = frames
                    .iter()
                    .filter(|frame| (at_ns..until_ns).contains(&frame.at_ns) && !frame.is_copy);
                let others: Vec<Frame> = of
                    .map(|frame| Frame {
                        at_ns: frame.at_ns + period_ns / 2,
                        place: frame.place + away,
                        is_foreign: true,
                        has_own_contents,
                        is_copy: false,
                    })
                    .collect();
                frames.extend(others);
            }
        }
    }

    pub(crate) fn contents(&self, frame: &Frame, place: u64) -> u64 {
        let own = u64::from(frame.has_own_contents) * 0x5000_0000;
        let contents = match self.contained {
            Contained::Noise => (place.wrapping_mul(2_654_435_761) >> 3) % 0x1000_0000,
            Contained::Periodic => place % 80,
            Contained::Constant => 0,
        };
        1 + own + contents
    }

    /// Samples that never arrived: between the first and the last one, and after the last one.
    pub(crate) fn lost(&self, frames: &[Frame]) -> (u64, u64) {
        let mut places: Vec<u64> = frames
            .iter()
            .filter(|frame| !frame.is_foreign)
            .map(|frame| frame.place)
            .collect();
        places.sort_unstable();
        places.dedup();
        let of_the_stream = frames.iter().filter(|frame| !frame.is_foreign && !frame.is_copy);
        let first = of_the_stream.map(|frame| frame.place).min().unwrap_or(0);
        let came: Vec<u64> = places.into_iter().filter(|place| *place >= first).collect();
        let due = came.last().map_or(0, |last| (last - first) / self.asdus + 1);
        let end = BEFORE + self.first + self.frames * self.asdus;
        let behind = came.last().map_or(0, |last| end - last - self.asdus);
        ((due - came.len() as u64) * self.asdus, behind)
    }

    /// Samples that came after so many later ones that they may count as lost, and samples whose loss may be in doubt.
    pub(crate) fn overtaken(&self, frames: &[Frame]) -> (u64, u64) {
        let mut came = BTreeSet::new();
        let mut late: BTreeMap<u64, u64> = BTreeMap::new();
        for place in frames.iter().filter(|frame| !frame.is_foreign).map(|frame| frame.place) {
            let later = came.range(place + 1..).take(33).count() as u64 * self.asdus;
            if came.insert(place) && later > 0 {
                late.insert(place, later);
            }
        }
        late.retain(|_, later| *later > 16);
        // Up to 32 later ones may overtake a gap of more than 16.
        let is_late = |place: &u64| late.contains_key(place);
        let most = |place: u64| {
            let back = (0..).take_while(|back| is_late(&(place - back * self.asdus))).count();
            let on = (1..).take_while(|on| is_late(&(place + on * self.asdus))).count();
            if (back + on) as u64 * self.asdus > 16 { 32 } else { 16 }
        };
        let lost = late.iter().filter(|(place, later)| **later > most(**place)).count() as u64;
        let in_doubt = late.len() as u64;
        (lost * self.asdus, in_doubt * self.asdus)
    }

    pub(crate) fn has(&self, of: impl Fn(&Deed) -> bool) -> bool {
        self.deeds.iter().any(|(_, deed)| of(deed))
    }
}
