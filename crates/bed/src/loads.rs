//! The loads of a run: started together, watched, ended together, each an event of the run.

use crate::load::{Load, LoadError, LoadSpec};
use model::EventKind;
use run::Events;
use units::Monotonic;

/// Loads that run.
#[derive(Default)]
pub struct Loads(Vec<RunningLoad>);

struct RunningLoad {
    load: Load,
    /// When it began.
    began: Monotonic,
    /// True if its early end is an event already.
    reported: bool,
    /// Why it does nothing, as an event says already.
    missed: Option<String>,
}

impl Loads {
    /// Starts loads; each is an event of the run.
    ///
    /// # Errors
    /// The error that kept one of them from starting; those that ran are ended then.
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

    /// Takes more of them, which run already.
    pub fn join(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Each load in one line.
    pub fn describe(&self) -> Vec<String> {
        self.0.iter().map(|entry| entry.load.describe()).collect()
    }

    /// Writes an event for each load that ended by itself, or that does nothing though the run is to be measured beside it.
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

    /// Ends the loads; each event says how much it did.
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
            // That it ended by itself was said when it did.
            if !reported {
                events.write(EventKind::LoadStopped, format!("{name}: {report}"));
            }
            // Said again where it was said before: what began since then is concerned, too.
            let missed = missed.or_else(|| report.is_missed.then(|| report.note.clone()));
            if let Some(why) = missed {
                miss((&name, began), &why, events);
            }
        }
    }
}

/// A load that does not do what the run is to be measured beside: nothing that was measured since it began is what it seems.
fn miss((load, began): (&str, Monotonic), why: &str, events: &Events) {
    let text = format!("{load}: {why}: the run was to be measured beside it");
    events.write_since(began, EventKind::Incomplete, text);
}

/// Name of the setting that says what runs beside a measurement.
pub const SETTING: &str = "load";

/// Its value where nothing of ours does.
pub const NONE: &str = "none of ours";

/// Setting of a series: the loads that run beside its measurement.
pub fn setting(descriptions: &[String]) -> (String, String) {
    let value = match descriptions {
        [] => NONE.to_owned(),
        all => all.join("; "),
    };
    (SETTING.to_owned(), value)
}
