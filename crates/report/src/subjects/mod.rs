//! Subjects of a run's report that are in no other module, each in all output formats.

pub(crate) mod actions;
pub(crate) mod checks;
pub(crate) mod contradiction;
pub(crate) mod ends;
pub(crate) mod events;
pub(crate) mod inventory;
pub(crate) mod method;
pub(crate) mod nics;
pub(crate) mod readings;
pub(crate) mod series;
pub(crate) mod shots;
pub(crate) mod uncertainty;
pub(crate) mod way;
