//! Plans: what `qualify` runs, as TOML.

#![forbid(unsafe_code)]

mod beds;
mod beside;
mod build;
mod checked;
mod device;
mod faults;
mod file;
mod hops;
mod inside;
mod left;
mod management;
mod matrix;
mod measure;
mod networks;
mod outline;
mod requests;
mod roles;
mod room;
mod run;
mod step;
mod value;

pub use device::{DeviceSteps, Task};
pub use faults::{Destination, FaultKind, PlanFault};
pub use file::Plan;
pub use left::{Left, left_of};
pub use management::ManagementTable;
pub use matrix::{Cell, Isolation, MatrixTable};
pub use measure::there::Asks;
pub use networks::Networks;
pub use outline::Outline;
pub use roles::{GROUP as ROLES_GROUP, Named, Roles, live_facts};
pub use run::{PlanRun, run};
pub use step::{PlanLoad, Step};
pub use value::{Cpus, PlanError};

/// The plans inside the binary, by name.
pub const EMBEDDED: [(&str, &str); 12] = [
    ("quick", include_str!("../../../plans/quick.toml")),
    ("substation", include_str!("../../../plans/substation.toml")),
    ("vpc", include_str!("../../../plans/vpc.toml")),
    ("vm-wakeup", include_str!("../../../plans/vm-wakeup.toml")),
    ("jitter-table", include_str!("../../../plans/jitter-table.toml")),
    ("avb", include_str!("../../../plans/avb.toml")),
    ("avb-wakeup", include_str!("../../../plans/avb-wakeup.toml")),
    ("networks", include_str!("../../../plans/networks.toml")),
    ("matrix", include_str!("../../../plans/matrix.toml")),
    ("container-table", include_str!("../../../plans/container-table.toml")),
    ("two-guests", include_str!("../../../plans/two-guests.toml")),
    ("vm-bench", include_str!("../../../plans/vm-bench.toml")),
];
