//! Random streams, followed with and without a known rate, are compared with a record of what was done to them. There
//! must be no wrong pass and no wrong fail, and the results without the rate must not contradict those with it.

mod case;
mod random;

use case::{Case, Contained, Deed, Frame, SECOND_NS};
use wire::sequence::{Accounting, Contents, Sample, Sequence};

/// Number of random streams per run.
const CASES: u64 = 350;

impl Case {
    fn supervise(&self, frames: &[Frame], mut sequence: Sequence) -> Said {
        let (mut accounting, mut lost, mut doubts) = (Accounting::default(), 0, Vec::new());
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
            if accounting.is_due(sequence.counters()) {
                lost += accounting.look(sequence.counters()).lost;
            }
        }
        sequence.end(Some(self.end_ns() + SECOND_NS));
        tell(&mut sequence);
        let counters = sequence.counters();
        Said {
            lost: lost + accounting.last_look(counters).lost,
            conflicting: counters.conflicting,
            doubts,
        }
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
    // A stream is reported as stopped after half a second.
    let silent_ns = case.end_ns() - frames.last().map_or(0, |frame| frame.at_ns);
    let is_stopped = silent_ns > SECOND_NS * 6 / 10 && behind > case.rate * if is_hidden { 20 } else { 6 } / 10;
    let is_lost = !is_hidden && within > 0 || is_stopped;
    let foreign = frames.iter().filter(|frame| frame.is_foreign).count() as u64 * case.asdus;
    let is_shown = |deed: &Deed| match deed {
        Deed::Second {
            away, has_own_contents, ..
        } => *has_own_contents || (case.contained == Contained::Constant && (40..case.rate - 40).contains(away)),
        _ => false,
    };
    let has_second = foreign > 20 * case.asdus && case.has(is_shown);
    let is_long = |deed: &Deed| match deed {
        Deed::Hold { ms } | Deed::Overtake { ms, .. } => *ms > 240,
        Deed::Late { ms } => *ms > 240,
        // More than 50 ms early.
        Deed::Early { frames } => frames * case.asdus * 20 > case.rate,
        _ => false,
    };
    let is_nearly_a_turn = |deed: &Deed| matches!(deed, Deed::Copies { later_ms: 700.., .. });
    let is_far = |deed: &Deed| matches!(deed, Deed::Copies { .. } | Deed::Again { .. } | Deed::Early { .. } if case.contained == Contained::Constant);
    // In the first second, it is not known whether contents repeat, nor where a counter of unknown rate wraps.
    let is_alike = |deed: &Deed| matches!(deed, Deed::Overtake { .. } if case.contained != Contained::Noise);
    let overtakes = |deed: &Deed| matches!(deed, Deed::Overtake { .. });
    let is_other = |deed: &Deed| matches!(deed, Deed::Second { .. });
    let (may_be_lost, may_be_doubted) = case.overtaken(frames);
    let is_plain = lost == 0
        && may_be_doubted == 0
        && !case.has(is_long)
        && !case.has(is_far)
        && !case.has(is_alike)
        && !case.has(is_other);
    for (how, said) in ["with", "without"].iter().zip(said) {
        let verdict = said.verdict();
        if verdict == Verdict::Pass && (is_lost || has_second) {
            faults.push(format!("{how}: wrong pass, {lost} lost, second {has_second}"));
        }
        if said.lost > may_be_lost && lost == 0 && foreign == 0 {
            faults.push(format!("{how}: wrong loss, {may_be_lost} may be lost"));
        }
        // Copies that are nearly a second late and a loss of nearly a second look alike.
        if said.conflicting > 0 && foreign == 0 && (lost == 0 || !case.has(is_nearly_a_turn)) {
            faults.push(format!("{how}: wrong conflict"));
        }
        if verdict != Verdict::Pass && is_plain && (*how == "with" || !case.has(overtakes)) {
            faults.push(format!("{how}: no pass of a whole stream"));
        }
    }
    let verdicts = said.map(Said::verdict);
    if verdicts.contains(&Verdict::Pass) && verdicts.contains(&Verdict::Fail) {
        faults.push("contradiction".into());
    }
    faults
}

fn check(seed: u64, case: &Case) -> Result<[Verdict; 2], String> {
    let frames = case.play(seed);
    if frames.is_empty() {
        return Ok([Verdict::Undecided, Verdict::Undecided]);
    }
    let with = case.supervise(&frames, Sequence::new(case.rate as u32).comparing());
    let without = case.supervise(&frames, Sequence::learning().comparing());
    let faults = faults(case, &frames, [&with, &without]);
    match faults.is_empty() {
        true => Ok([with.verdict(), without.verdict()]),
        false => Err(format!(
            "seed {seed}: {faults:?}\n  {case:?}\n  with {with:?}\n  without {without:?}"
        )),
    }
}

fn check_all(case: impl Fn(u64) -> Case) {
    let wrong: Vec<String> = (0..CASES).filter_map(|seed| check(seed, &case(seed)).err()).collect();
    assert!(wrong.is_empty(), "{} of {CASES}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn with_and_without_the_rate_no_verdict_is_wrong() {
    check_all(Case::of);
}

#[test]
fn a_frame_that_overtakes_those_that_were_held_back_accuses_nobody_and_hides_nothing() {
    check_all(Case::held_back);
}
