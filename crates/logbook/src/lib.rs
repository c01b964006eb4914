//! The logbook of a sentinel, on disk and for others: captures around problems, run files by month, a ledger of counts that outlives
//! them, and alarms to a program, the journal and a file of metrics.
//!
//! [`Logbook::turn`] does a round: it takes what the watch found, writes the frames of each problem, waits until they are on the disk
//! (`fsync`), writes shots and events into the run file, and only then tells the alarm. A disk that refuses loses no count: windows wait
//! in memory, merged into one for each series, and the alarm says that its frames could not be kept.
//!
//! Time comes from the caller, so that a year can be played in seconds.
#![forbid(unsafe_code)]

mod budget;
mod frames;
mod ledger;
mod logbook;
mod metrics;
mod month;
mod settings;
mod teller;

pub use ledger::{Ledger, LedgerLine, Totals};
pub use logbook::{Logbook, Watch};
pub use metrics::Metrics;
pub use month::last_end_ns;
pub use settings::{BookError, Now, Settings};
pub use teller::{Capture, Hook, Journal, Tell, Told};
