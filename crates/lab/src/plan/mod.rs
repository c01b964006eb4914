//! Plans: what `qualify` runs, as TOML.

mod file;
mod run;

pub use file::{Cpus, Load, Plan, PlanError, Step};
pub use run::{PlanRun, Show, Thresholds, rest, run};

/// The plans inside the binary, by name.
pub const EMBEDDED: [(&str, &str); 1] = [("quick", include_str!("../../../../plans/quick.toml"))];
