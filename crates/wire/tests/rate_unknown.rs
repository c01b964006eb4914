//! Random streams, followed with and without a known rate, are compared with a record of what was done to them. There
//! must be no wrong pass and no wrong fail, and the results without the rate must not contradict those with it.

use wire::sequence::{Contents, Sample, Sequence};

const SECOND_NS: i64 = 1_000_000_000;
/// Number of random streams per run.
const CASES: u64 = 350;

const MILLISECOND_NS: i64 = 1_000_000;

/// A small random number generator (xorshift64*): its seed identifies a case.
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end.max(1)
    }

    fn within(&mut self, start: u64, end: u64) -> u64 {
        start + self.below(end - start)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Contained {
    Noise,
    /// Four cycles of 80 samples, repeated.
    Periodic,
    Constant,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    /// Every frame arrives again, this many ms later, with or without copies from before the first frame.
    Copies { later_ms: u64, from_before: bool },
    /// One frame arrives again, this many frames later.
    Again { later: u64 },
    /// Nothing arrives for this time, then everything at once.
    Hold { ms: u64 },
    /// This many frames are lost.
    Lose { frames: u64 },
    /// One turn of the counter, minus this many frames, is lost.
    LoseTurnLess { frames: u64 },
    /// Another publisher, this many counts away, for this time; its contents are its own, or those of the stream's
    /// feeder.
    Second { away: u64, ms: u64, has_own_contents: bool },
}

#[derive(Debug, Clone)]
struct Case {
    rate: u64,
    asdus: u64,
    first: u64,
    frames: u64,
    contained: Contained,
    jitter_us: u64,
    deeds: Vec<(u64, Deed)>,
}

/// A frame: its arrival time, the count of its first sample, and its sender.
#[derive(Debug, Clone, Copy)]
struct Frame {
    at_ns: i64,
    /// Place of its first sample in the publisher's stream, which starts some seconds before the first frame.
    place: u64,
    is_foreign: bool,
    is_copy: bool,
    has_own_contents: bool,
}

/// Number of places before the first one that copies may come from; a multiple of each rate.
const BEFORE: u64 = 4_000 * 4_800 * 15_360;

impl Case {
    fn of(seed: u64) -> Self {
        let mut random = Random::of(seed);
        let (rate, asdus) = random.one_of(&[
            (4_000, 1),
            (4_000, 1),
            (4_000, 8),
            (4_800, 1),
            (4_800, 2),
            (4_800, 16),
            (5_760, 1),
            (12_800, 8),
            (12_800, 16),
            (14_400, 6),
            (14_400, 9),
            (15_360, 1),
        ]);
        let frames = random.within(1_200, 4_500) * rate / asdus / 1_000;
        let mut case = Self {
            rate,
            asdus,
            first: random.below(rate / asdus) * asdus,
            frames,
            contained: random.one_of(&[Contained::Noise, Contained::Periodic, Contained::Constant]),
            // Frames of one sender do not overtake each other.
            jitter_us: random.one_of(&[0, 20, 100]).min(asdus * 500_000 / rate),
            deeds: Vec::new(),
        };
        for _ in 0..random.below(3) {
            let deed = case.deed(&mut random);
            if matches!(deed, Deed::Copies { .. }) && case.has(|deed| matches!(deed, Deed::Copies { .. })) {
                continue;
            }
            case.deeds.push((random.within(frames / 50, frames * 4 / 5), deed));
        }
        case
    }

    fn deed(&self, random: &mut Random) -> Deed {
        let a_turn = self.rate / self.asdus;
        match random.below(9) {
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
            7 => Deed::LoseTurnLess {
                frames: random.below(4),
            },
            _ => Deed::Second {
                away: random.within(1, self.rate),
                ms: random.within(100, 2_000),
                has_own_contents: random.below(2) == 0,
            },
        }
    }

    fn frame_ns(&self, place: u64) -> i64 {
        (i128::from(place) - i128::from(BEFORE) - i128::from(self.first)) as i64 * SECOND_NS / self.rate as i64
    }

    fn end_ns(&self) -> i64 {
        (self.frames * self.asdus) as i64 * SECOND_NS / self.rate as i64
    }

    /// The frames in order of arrival.
    fn play(&self, seed: u64) -> Vec<Frame> {
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
            Deed::Copies { .. } | Deed::Again { .. } | Deed::Second { .. } => 1,
            Deed::Hold { .. } => 2,
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

    fn contents(&self, frame: &Frame, place: u64) -> u64 {
        let own = u64::from(frame.has_own_contents) * 0x5000_0000;
        let contents = match self.contained {
            Contained::Noise => (place.wrapping_mul(2_654_435_761) >> 3) % 0x1000_0000,
            Contained::Periodic => place % 80,
            Contained::Constant => 0,
        };
        1 + own + contents
    }

    fn supervise(&self, frames: &[Frame], mut sequence: Sequence) -> Said {
        let mut doubts = Vec::new();
        let mut tell = |sequence: &mut Sequence| {
            while let Some(finding) = sequence.take_finding() {
                if finding.what.is_doubt() {
                    doubts.push(finding.to_string());
                }
            }
        };
        for frame in frames {
            for place in frame.place..frame.place + self.asdus {
                sequence.accept(Sample {
                    smp_cnt: (place % self.rate) as u16,
                    contents: Contents::new(self.contents(frame, place) as u32),
                    at_ns: Some(frame.at_ns + SECOND_NS),
                    alone: false,
                });
                tell(&mut sequence);
            }
        }
        sequence.end(Some(self.end_ns() + SECOND_NS));
        tell(&mut sequence);
        let counters = sequence.counters();
        Said {
            lost: counters.lost,
            conflicting: counters.conflicting,
            doubts,
        }
    }

    /// Samples that never arrived: between the first and the last one, and after the last one.
    fn lost(&self, frames: &[Frame]) -> (u64, u64) {
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

    fn has(&self, of: impl Fn(&Deed) -> bool) -> bool {
        self.deeds.iter().any(|(_, deed)| of(deed))
    }
}

#[derive(Debug)]
struct Said {
    lost: u64,
    conflicting: u64,
    doubts: Vec<String>,
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Pass,
    Fail,
    Undecided,
}

impl Said {
    fn verdict(&self) -> Verdict {
        match (self.lost + self.conflicting, self.doubts.is_empty()) {
            (0, true) => Verdict::Pass,
            (0, false) => Verdict::Undecided,
            _ => Verdict::Fail,
        }
    }
}

/// Errors in the reported results.
fn faults(case: &Case, frames: &[Frame], said: [&Said; 2]) -> Vec<String> {
    let mut faults = Vec::new();
    let (within, behind) = case.lost(frames);
    let lost = within + behind;
    // Copies with contents that repeat each second cannot be distinguished from the stream.
    let is_hidden = case.contained == Contained::Periodic
        && case.has(|deed| matches!(deed, Deed::Copies { from_before: true, .. }));
    let is_lost = !is_hidden && within > 0 || behind > case.rate * if is_hidden { 20 } else { 6 } / 10;
    let foreign = frames.iter().filter(|frame| frame.is_foreign).count() as u64 * case.asdus;
    let is_shown = |deed: &Deed| match deed {
        Deed::Second {
            away, has_own_contents, ..
        } => *has_own_contents || (case.contained == Contained::Constant && (40..case.rate - 40).contains(away)),
        _ => false,
    };
    let has_second = foreign > 20 * case.asdus && case.has(is_shown);
    let is_long = |deed: &Deed| matches!(deed, Deed::Hold { ms } if *ms > 240);
    let is_far =
        |deed: &Deed| matches!(deed, Deed::Copies { .. } | Deed::Again { .. } if case.contained == Contained::Constant);
    let is_other = |deed: &Deed| matches!(deed, Deed::Second { .. });
    let is_plain = lost == 0 && !case.has(is_long) && !case.has(is_far) && !case.has(is_other);
    for (how, said) in ["with", "without"].iter().zip(said) {
        let verdict = said.verdict();
        if verdict == Verdict::Pass && (is_lost || has_second) {
            faults.push(format!("{how}: wrong pass, {lost} lost, second {has_second}"));
        }
        if verdict == Verdict::Fail && lost == 0 && foreign == 0 {
            faults.push(format!("{how}: wrong fail"));
        }
        if said.conflicting > 0 && foreign == 0 && lost == 0 {
            faults.push(format!("{how}: wrong conflict"));
        }
        if verdict != Verdict::Pass && is_plain {
            faults.push(format!("{how}: no pass of a whole stream"));
        }
    }
    let verdicts = said.map(Said::verdict);
    if verdicts.contains(&Verdict::Pass) && verdicts.contains(&Verdict::Fail) {
        faults.push("contradiction".into());
    }
    faults
}

fn check(seed: u64) -> Result<[Verdict; 2], String> {
    let case = Case::of(seed);
    let frames = case.play(seed);
    if frames.is_empty() {
        return Ok([Verdict::Undecided, Verdict::Undecided]);
    }
    let with = case.supervise(&frames, Sequence::new(case.rate as u32).comparing());
    let without = case.supervise(&frames, Sequence::learning().comparing());
    let faults = faults(&case, &frames, [&with, &without]);
    match faults.is_empty() {
        true => Ok([with.verdict(), without.verdict()]),
        false => Err(format!(
            "seed {seed}: {faults:?}\n  {case:?}\n  with {with:?}\n  without {without:?}"
        )),
    }
}

#[test]
fn with_and_without_the_rate_no_verdict_is_wrong() {
    let wrong: Vec<String> = (0..CASES).filter_map(|seed| check(seed).err()).collect();
    assert!(wrong.is_empty(), "{} of {CASES}:\n{}", wrong.len(), wrong.join("\n"));
}
