//! Plans: what `qualify` runs, as TOML.

mod beds;
mod faults;
mod file;
mod networks;
mod paced;
mod run;
mod step;

pub use faults::{Destination, FaultKind, PlanFault};
pub use file::{Cpus, Plan, PlanError, Table};
pub use networks::Networks;
pub use run::{PlanRun, Show, Thresholds, rest, run};
pub use step::{Load, Step};

/// The plans inside the binary, by name.
pub const EMBEDDED: [(&str, &str); 6] = [
    ("quick", include_str!("../../../../plans/quick.toml")),
    ("vm-wakeup", include_str!("../../../../plans/vm-wakeup.toml")),
    ("jitter-table", include_str!("../../../../plans/jitter-table.toml")),
    ("avb", include_str!("../../../../plans/avb.toml")),
    ("avb-wakeup", include_str!("../../../../plans/avb-wakeup.toml")),
    ("networks", include_str!("../../../../plans/networks.toml")),
];
