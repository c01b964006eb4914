//! Changes of the machine during the run, each with the worst sample at that time.

mod document;
mod drift;
mod page;
mod sample;
#[cfg(test)]
mod tests;
mod text;
mod whereabouts;

use crate::Report;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use crate::text::plural;
use model::{Change, ChangeWatch, Event, EventKind};
use std::io;
use units::Ns;

use drift::drift;
pub(crate) use sample::Sample;

/// The section of the report.
pub(crate) struct ChangesSection;

impl Section for ChangesSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::changes(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        let has_any = !report.run.watches.is_empty();
        has_any.then(|| Link::to("changes", "Changes")).into_iter().collect()
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("changes", document::changes(report))
    }
}

/// Number of changes that people see; the others are in the run file.
const LISTED: usize = 100;

/// Number of changes that a reservation names.
const NAMED: usize = 3;

/// A change with the samples that were measured meanwhile.
pub(crate) struct Row<'a> {
    pub(crate) change: &'a Change,
    /// Its probable cause: the one that was seen, else an action of the plan at that time.
    pub(crate) who: Option<String>,
    /// The worst sample at that time, on the CPUs that it concerns.
    pub(crate) sample: Option<Sample>,
}

impl Row<'_> {
    /// The part that changed: `interrupt 24 (eth1-rx-0)`, for a place with its name.
    pub(crate) fn what(&self) -> String {
        let what = format!("{} {}", self.change.subject.word(), self.change.name);
        match &self.change.place {
            Some(place) => format!("{place}: {what}"),
            None => what,
        }
    }

    /// Its probable cause.
    pub(crate) fn who(&self) -> &str {
        self.who.as_deref().unwrap_or("unknown")
    }

    /// The worst sample at that time, in words.
    pub(crate) fn sample_text(&self) -> String {
        self.sample.as_ref().map_or_else(|| "–".to_owned(), Sample::text)
    }
}

/// The changes of a run in order of time. One that the run of a container saw too, on the same kernel, is listed once.
pub(crate) fn rows(report: &Report) -> Vec<Row<'_>> {
    let all = &report.run.changes;
    let is_again = |change: &Change| {
        let own = all.iter().filter(|other| other.place.is_none());
        change.place.as_deref() == Some("container") && own.clone().any(|own| own.is_seen_twice(change))
    };
    let once = all.iter().filter(|change| !is_again(change));
    once.map(|change| Row {
        change,
        who: change.who.clone().or_else(|| action(report, change)),
        sample: Sample::at(report, change),
    })
    .collect()
}

/// The action of the plan that began or ended at the time of a change. Actions run on this machine: they explain nothing on another one.
fn action(report: &Report, change: &Change) -> Option<String> {
    if change
        .place
        .as_ref()
        .is_some_and(|place| place.starts_with(whereabouts::FAR))
    {
        return None;
    }
    let mut events = report.run.events.iter();
    let is_then = |event: &&Event| {
        event.kind == EventKind::Action && change.since_ns <= event.at_ns && event.at_ns <= change.at_ns
    };
    events
        .find(is_then)
        .map(|event| format!("an action of the plan {}", event.text))
}

/// The number of changes, and how they were watched for; `None` if nothing was watched.
fn sentence(report: &Report, found: usize) -> Option<String> {
    let watches = &report.run.watches;
    if watches.is_empty() {
        return None;
    }
    let blind = watches.iter().filter(|watch| watch.looks == 0).count();
    let dropped: u64 = watches.iter().map(|watch| watch.dropped).sum();
    let count = match found as u64 + dropped {
        0 if blind == watches.len() => "Nothing is known about changes".to_owned(),
        0 if blind > 0 => "No change was seen where anything looked".to_owned(),
        0 => "No change was seen".to_owned(),
        n => format!("{} seen", plural(n, "change")),
    };
    let left_out = match dropped {
        0 => String::new(),
        n => format!(" ({} not stored)", crate::text::count(n)),
    };
    let each: Vec<String> = watches.iter().map(watched).collect();
    Some(format!("{count}{left_out}: {}.", each.join("; ")))
}

/// How a watch looked: `60 looks from 0 s to 59 s, at most 1 s apart, with 0.3 % of a CPU`. That of a place begins with its name.
fn watched(watch: &ChangeWatch) -> String {
    let place = watch
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!("{place}: "));
    let length_ns = watch.to_ns.saturating_sub(watch.from_ns);
    let share = match length_ns {
        0 => String::new(),
        ns => format!(", with {:.2} % of a CPU", watch.cpu_ns as f64 * 100.0 / ns as f64),
    };
    format!(
        "{place}{} from {} to {}, at most {} apart{share}",
        plural(watch.looks, "look"),
        Ns(watch.from_ns),
        Ns(watch.to_ns),
        Ns(watch.longest_ns)
    )
}

/// The result of the second reading of the facts; `None` if there was none.
fn audited(report: &Report) -> Option<String> {
    report.run.watches.iter().find_map(|watch| watch.audited_ns)?;
    Some(match drift(report).len() as u64 {
        0 => "The last audit agrees with the first.".to_owned(),
        n => format!("The last audit differs from the first in {}.", plural(n, "fact")),
    })
}

/// Parts that a watch could not see, each with its place and the reason.
fn unread(report: &Report) -> Vec<String> {
    let of = |watch: &ChangeWatch| {
        let place = watch
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!("{place}: "));
        let lines = watch.unread.iter().map(|why| format!("{place}{why}"));
        lines.collect::<Vec<_>>()
    };
    report.run.watches.iter().flat_map(of).collect()
}

impl Report {
    /// Reservations about a run whose machine changed meanwhile, so that its figures are those of more than one configuration, or was not watched.
    pub fn reservations(&self) -> Vec<String> {
        let rows = rows(self);
        let settings: Vec<&Row<'_>> = rows.iter().filter(|row| row.change.subject.is_setting()).collect();
        let named: Vec<String> = settings
            .iter()
            .take(NAMED)
            .map(|row| format!("{}: {}", row.what(), row.change.step()))
            .collect();
        let more = match settings.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!("; and {n} more"),
        };
        let changed = (!settings.is_empty()).then(|| {
            format!(
                "the machine changed during the run ({}): {}{more}",
                plural(settings.len() as u64, "change"),
                named.join("; ")
            )
        });
        let differ: Vec<String> = drift(self).iter().map(drift::Drift::text).collect();
        let more = match differ.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!("; and {n} more"),
        };
        let drifted = (!differ.is_empty()).then(|| {
            format!(
                "the last audit differs from the first ({}): {}{more}",
                plural(differ.len() as u64, "fact"),
                differ[..differ.len().min(NAMED)].join("; ")
            )
        });
        let unwatched = self.run.watches.iter().all(|watch| watch.looks == 0);
        let unwatched = unwatched.then(|| "nothing watched whether the machine changed during the run".to_owned());
        let unread = unread(self).into_iter();
        let unread = unread.map(|why| format!("not watched for changes during the run: {why}"));
        [changed, drifted, unwatched]
            .into_iter()
            .flatten()
            .chain(unread)
            .collect()
    }

    /// A sentence about the change with the worst sample over a limit; `None` if no change coincides with one.
    pub(crate) fn change_with_late_sample(&self) -> Option<String> {
        let rows = rows(self);
        let late = rows.iter().filter_map(|row| Some((row, row.sample.as_ref()?)));
        let (row, sample) = late
            .filter(|(_, sample)| sample.is_over())
            .max_by(|a, b| a.1.times().total_cmp(&b.1.times()))?;
        let who = row
            .change
            .who
            .as_ref()
            .map_or_else(String::new, |who| format!(" ({who})"));
        Some(format!(
            "The machine changed at {}: {}: {}{who}; at that time {}.",
            Ns(row.change.at_ns),
            row.what(),
            row.change.step(),
            sample.text()
        ))
    }
}
