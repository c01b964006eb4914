//! Plans: what `qualify` runs, as TOML.

#![forbid(unsafe_code)]

mod action;
mod beds;
mod beside;
mod build;
mod checked;
mod chosen;
mod device;
mod faults;
mod file;
mod hops;
mod inside;
mod joined;
mod left;
mod links;
mod management;
mod matrix;
mod measure;
mod networks;
mod outline;
mod refusal;
mod relay;
mod requests;
mod roles;
mod room;
mod run;
mod step;
mod value;

pub use action::PlanAction;
pub use chosen::Chosen;
pub use device::{DeviceSteps, Task, Within};
pub use faults::{Destination, FaultKind, PlanFault};
pub use file::Plan;
pub use left::{Left, first_step_of_rest, left_of};
pub use management::ManagementTable;
pub use matrix::{Cell, Isolation, MatrixTable};
pub use measure::there::Asks;
pub use networks::{Lans, Networks};
pub use outline::Outline;
pub use relay::ForeignRelay;
pub use roles::{GROUP as ROLES_GROUP, Named, Roles, live_facts};
pub use run::{PlanRun, run};
pub use step::{Beside, PlanLoad, Step};
pub use value::{Cpus, PlanError};

/// Name and text of each plan inside the binary: the files in `plans/`, sorted by name.
pub const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// Names of the plans inside the binary: `avb, avb-wakeup, …`.
#[must_use]
pub fn embedded_names() -> String {
    let names: Vec<&str> = EMBEDDED.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
