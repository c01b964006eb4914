//! Steps of a plan, as its file writes them.

/// A measurement of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedMember {
    /// Its name, with its label.
    pub does: String,
    /// First part of its series' names.
    pub family: String,
    /// Second part, if the plan names it.
    pub label: Option<String>,
}

/// A step of a plan; measurements side by side are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// Names of its measurements.
    pub does: String,
    /// Its measurements; several run side by side.
    pub members: Vec<PlannedMember>,
    /// Its keys, loads and actions, in words; may be empty.
    pub settings: String,
    /// Measuring time in the plan's file, in ns.
    pub planned_ns: u64,
    /// Measuring time that the command line asked for, in ns.
    pub asked_ns: u64,
    /// False if the command line left it out.
    pub is_chosen: bool,
    /// True if it measures over one network after the other, so that no series lasts as long as the step.
    pub is_in_turn: bool,
}
