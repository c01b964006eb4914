//! The loads of a run: they are started, watched and ended together; each of these is an event of the run.

use crate::load::{Load, LoadError, LoadSpec};
use model::EventKind;
use model::setting::{LOAD, NO_LOAD};
use run::Events;
use units::Monotonic;

/// Running loads.
#[derive(Default)]
pub struct Loads(Vec<RunningLoad>);

struct RunningLoad {
    load: Load,
    /// Time of its start.
    began: Monotonic,
    /// True if its early end was already reported.
    reported: bool,
    /// Reason why it does nothing, if already reported.
    missed: Option<String>,
}

impl Loads {
    /// Starts loads; each is an event of the run.
    ///
    /// # Errors
    /// A load could not be started; those already started are ended.
    pub fn start(specs: impl IntoIterator<Item = LoadSpec>, events: &Events) -> Result<Self, LoadError> {
        let mut loads = Self::default();
        for spec in specs {
            let began = sys::clock::monotonic();
            let load = Load::start(&spec)?;
            events.write(EventKind::LoadStarted, load.describe());
            loads.0.push(RunningLoad {
                load,
                began,
                reported: false,
                missed: None,
            });
        }
        Ok(loads)
    }

    /// Adds loads that are already running.
    pub fn join(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Each load in one line.
    pub fn describe(&self) -> Vec<String> {
        self.0.iter().map(|entry| entry.load.describe()).collect()
    }

    /// Writes an event for each load that ended early, or that does nothing although the run needs it.
    pub fn look(&mut self, events: &Events) {
        for entry in &mut self.0 {
            if entry.missed.is_none()
                && let Some(why) = entry.load.missed()
            {
                entry.missed = Some(why.to_owned());
                miss((&entry.load.describe(), entry.began), why, events);
            }
            if !entry.reported
                && let Some(why) = entry.load.failed()
            {
                entry.reported = true;
                events.write(EventKind::LoadStopped, why);
            }
        }
    }

    /// Ends the loads; an event for each reports its amount of work.
    pub fn stop(&mut self, events: &Events) {
        for RunningLoad {
            load,
            began,
            reported,
            missed,
        } in self.0.drain(..)
        {
            let name = load.describe();
            let report = load.stop();
            // An early end was already reported.
            if !reported {
                events.write(EventKind::LoadStopped, format!("{name}: {report}"));
            }
            // Reported again, because measurements that began since the first report are affected, too.
            let missed = missed.or_else(|| report.is_missed.then(|| report.note.clone()));
            if let Some(why) = missed {
                miss((&name, began), &why, events);
            }
        }
    }
}

/// Reports a load that does not work: measurements since its start were made without it.
fn miss((load, began): (&str, Monotonic), why: &str, events: &Events) {
    let text = format!("{load}: {why}: the run was to be measured under this load");
    events.write_since(began, EventKind::Incomplete, text);
}

/// Setting of a series: its loads.
pub fn setting(descriptions: &[String]) -> (String, String) {
    let value = match descriptions {
        [] => NO_LOAD.to_owned(),
        all => all.join("; "),
    };
    (LOAD.to_owned(), value)
}
