//! Relations between the clocks of the runs.

use super::source::Source;
use model::fact::{BOOT_ID, CLOCK_SOURCE};
use model::{Event, EventKind, FactOf, STEP_NOTICED_NS};
use units::{Ns, Refusal, SignedNs, refusal};

/// Stated relation between the clocks of two consecutive runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Nothing was stated.
    Unstated,
    /// Both runs are of one machine that was not restarted in between.
    SameHost,
    /// Both machines follow one PTP grandmaster, and agree within this many ns.
    Ptp(u64),
    /// The second run's clock minus the first's, and the uncertainty of this offset, in ns.
    Offset(i64, u64),
    /// The clocks agree within this many ns, as the caller knows, who also watches them; with the reason in words.
    Known(u64, &'static str),
}

impl Relation {
    /// The correction of the time stamps of run number `run`.
    pub(super) fn shift_ns(self, run: usize) -> i64 {
        match self {
            Self::Offset(ns, _) if run > 0 => ns,
            _ => 0,
        }
    }

    /// Largest possible difference of the clocks, without the error of the stamps; `None` if nothing was stated.
    pub(super) fn apart_ns(self) -> Option<u64> {
        match self {
            Self::Unstated => None,
            Self::SameHost => Some(0),
            Self::Ptp(ns) | Self::Offset(_, ns) | Self::Known(ns, _) => Some(ns),
        }
    }

    /// The relation as text.
    pub fn text(self) -> String {
        match self {
            Self::Unstated => "not stated".to_owned(),
            Self::SameHost => "one clock: the runs are of the same host".to_owned(),
            Self::Ptp(ns) => format!("both follow one PTP grandmaster and agree to {}, as stated", Ns(ns)),
            Self::Offset(ns, apart) => format!(
                "the later run's clock is {} ahead of the first's, within {}, as stated",
                SignedNs(ns),
                Ns(apart)
            ),
            Self::Known(ns, why) => format!("{why}: they agree within {}", Ns(ns)),
        }
    }
}

/// Facts that identify a common clock.
const OF_ONE_HOST: [&FactOf<String>; 2] = [&BOOT_ID, &CLOCK_SOURCE];

/// Limit of an offset: more than ten years is a mistake in the unit.
const FURTHEST_NS: u64 = 3_653 * 86_400 * 1_000_000_000;

/// Checks that the clocks of the runs can have this relation.
pub(super) fn check(relation: Relation, sources: &[Source]) -> Result<(), Refusal> {
    match relation {
        Relation::Offset(..) if sources.len() != 2 => {
            Err("an offset relates two runs: for more, state ptp:UNCERTAINTY, or nothing".into())
        }
        Relation::Offset(ns, _) if ns.unsigned_abs() > FURTHEST_NS => {
            Err(refusal!("an offset of {} is more than ten years", SignedNs(ns)))
        }
        Relation::SameHost => sources.windows(2).try_for_each(|pair| same_host(&pair[0], &pair[1])),
        Relation::Unstated | Relation::Ptp(_) | Relation::Offset(..) | Relation::Known(..) => Ok(()),
    }
}

fn same_host(a: &Source, b: &Source) -> Result<(), Refusal> {
    for of in OF_ONE_HOST {
        let (name, of_a, of_b) = (of.name, value(a, of)?, value(b, of)?);
        if of_a != of_b {
            return Err(refusal!(
                "same-host: {} and {} do not have one clock: their {name} is {of_a} and {of_b}",
                a.label,
                b.label
            ));
        }
    }
    Ok(())
}

fn value<'a>(source: &'a Source, of: &FactOf<String>) -> Result<&'a str, Refusal> {
    let unknown = |why: &str| {
        refusal!(
            "same-host: {} does not state its {} ({why}): it is unknown if it ran on the same host",
            source.label,
            of.name
        )
    };
    let fact = of
        .find(&source.facts)
        .ok_or_else(|| unknown("measured by an earlier version"))?;
    fact.value.as_deref().map_err(|why| unknown(why))
}

/// Times when the clocks are not known to agree, as events of a watch: `clock-doubt` and `clock-good`.
///
/// For runs under PTP: whenever the watch of one of them reports it. For runs with a stated offset: from the first step of either clock on, because
/// that changes the offset. If the frames themselves contradict the statement: all the time.
pub(super) fn words(
    relation: Relation,
    of_runs: Vec<(String, Vec<Event>)>,
    contradiction: Option<String>,
) -> Vec<Event> {
    let word = |at_ns, kind, text| Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text,
    };
    if let Some(text) = contradiction {
        return vec![word(0, EventKind::ClockDoubt, text)];
    }
    match relation {
        Relation::Unstated => Vec::new(),
        Relation::SameHost | Relation::Known(..) => vec![word(0, EventKind::ClockGood, relation.text())],
        Relation::Offset(..) => {
            let mut words = vec![word(0, EventKind::ClockGood, relation.text())];
            if let Some((label, step)) = first_step(&of_runs) {
                let noticed_ns = step.at_ns.saturating_sub(STEP_NOTICED_NS);
                let since_ns = step.since_ns.unwrap_or(noticed_ns);
                let text = format!("{label}: {}: the stated offset was only valid until then", step.text);
                words.push(word(since_ns, EventKind::ClockDoubt, text));
            }
            words
        }
        Relation::Ptp(_) => of_watches(of_runs),
    }
}

fn first_step(of_runs: &[(String, Vec<Event>)]) -> Option<(&str, &Event)> {
    let events = of_runs
        .iter()
        .flat_map(|(label, events)| events.iter().map(move |event| (label.as_str(), event)));
    let steps = events.filter(|(_, event)| event.kind == EventKind::ClockStep);
    steps.min_by_key(|(_, event)| event.at_ns)
}

/// Combines the events of several watches: the result is in doubt while one of them is.
fn of_watches(of_runs: Vec<(String, Vec<Event>)>) -> Vec<Event> {
    let mut doubts: Vec<Option<String>> = Vec::new();
    let mut words: Vec<(u64, usize, Event)> = Vec::new();
    for (run, (label, mut events)) in of_runs.into_iter().enumerate() {
        events.retain(|event| event.kind != EventKind::ClockStep);
        let nobody = events.is_empty();
        doubts.push(nobody.then(|| format!("{label}: its clock was not watched (trace --ptp)")));
        let labelled = events.into_iter().map(|event| Event {
            text: format!("{label}: {}", event.text),
            ..event
        });
        // Before a watch's first event its state is unknown, so the first event counts from the start.
        let timed = labelled.enumerate();
        words.extend(timed.map(|(index, event)| (if index == 0 { 0 } else { event.at_ns }, run, event)));
    }
    words.sort_by_key(|(at_ns, run, _)| (*at_ns, *run));
    let mut said: Vec<Event> = Vec::new();
    let mut say = |at_ns: u64, doubts: &[Option<String>]| {
        let doubt = doubts.iter().flatten().next();
        let (kind, text) = match doubt {
            Some(text) => (EventKind::ClockDoubt, text.clone()),
            None => (EventKind::ClockGood, "all runs' clocks are good".to_owned()),
        };
        if said.last().is_none_or(|last| last.kind != kind || last.text != text) {
            said.push(Event {
                at_ns,
                since_ns: None,
                kind,
                series: None,
                text,
            });
        }
    };
    say(0, &doubts);
    for (at_ns, run, event) in words {
        doubts[run] = (event.kind == EventKind::ClockDoubt).then_some(event.text);
        say(at_ns, &doubts);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::of_watches;
    use model::{Event, EventKind};

    fn event(at_ns: u64, kind: EventKind, text: &str) -> Event {
        Event {
            at_ns,
            since_ns: None,
            kind,
            series: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn it_is_in_doubt_while_one_of_the_watches_is() {
        let (good, doubt) = (EventKind::ClockGood, EventKind::ClockDoubt);
        let host = vec![event(5, good, "ok"), event(100, doubt, "lost"), event(300, good, "ok")];
        let guest = vec![event(7, good, "ok"), event(200, doubt, "far"), event(400, good, "ok")];
        let said = of_watches(vec![("host".to_owned(), host), ("guest".to_owned(), guest)]);
        let words: Vec<(u64, EventKind)> = said.iter().map(|event| (event.at_ns, event.kind)).collect();
        assert_eq!(words, [(0, good), (100, doubt), (300, doubt), (400, good)]);
        assert_eq!(
            (said[1].text.as_str(), said[2].text.as_str()),
            ("host: lost", "guest: far")
        );
    }

    #[test]
    fn a_run_without_a_watch_is_a_doubt_for_ever() {
        let host = vec![event(5, EventKind::ClockGood, "ok")];
        let said = of_watches(vec![("host".to_owned(), host), ("guest".to_owned(), Vec::new())]);
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].kind, EventKind::ClockDoubt);
    }
}
