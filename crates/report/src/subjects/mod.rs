//! Subjects of the report of a run that have no room elsewhere, each with all its faces.

pub(crate) mod checks;
pub(crate) mod contradiction;
pub(crate) mod events;
pub(crate) mod inventory;
pub(crate) mod method;
pub(crate) mod nics;
pub(crate) mod readings;
pub(crate) mod series;
pub(crate) mod way;
