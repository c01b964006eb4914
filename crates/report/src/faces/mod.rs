//! The output formats of a run's report: terminal, page, result document. Each consists of a head and an ordered list
//! of sections.
//!
//! To add a subject, write its [`Section`] in a file of `subjects` or in its own module, and add it to the lists here.
//! Comparison, matrix and audit have their own lists in their folders.

mod cpus;
pub(crate) mod document;
mod page;
mod terminal;

use crate::budget::BudgetSection;
use crate::capacity::CapacitySection;
use crate::changes::ChangesSection;
use crate::days::DaysSection;
use crate::procedure::ProcedureSection;
use crate::recording::RecordingSection;
use crate::section::Section;
use crate::stall::StallSection;
use crate::subjects::actions::ActionsSection;
use crate::subjects::checks::{
    ChecksSection, CoverageSection, NotApplicableSection, NotMeasuredSection, ProfilesSection,
};
use crate::subjects::contradiction::ContradictionSection;
use crate::subjects::ends::EndsSection;
use crate::subjects::events::EventsSection;
use crate::subjects::inventory::InventorySection;
use crate::subjects::method::MethodSection;
use crate::subjects::nics::NicsSection;
use crate::subjects::readings::ReadingsSection;
use crate::subjects::series::SeriesSection;
use crate::subjects::shots::ShotsSection;
use crate::subjects::uncertainty::UncertaintySection;
use crate::subjects::way::WaySection;
use crate::tables::TablesSection;
use crate::tables::networks::NetworksSection;
use crate::terminal::{buffers, clock, paced, why, worst_samples};
use crate::type_test::TypeTestSection;
use terminal::Part;

/// Sections on the terminal, after its head.
pub(crate) const TERMINAL: [&dyn Section; 22] = [
    &CapacitySection,
    &ContradictionSection,
    &ChecksSection,
    &DaysSection,
    &NicsSection,
    &BudgetSection,
    &SeriesSection,
    &Part(clock::clocks),
    &Part(why::statistics),
    &TypeTestSection,
    &ShotsSection,
    &ActionsSection,
    &RecordingSection,
    &StallSection,
    &ChangesSection,
    &Part(worst_samples),
    &Part(why::causes),
    &EventsSection,
    &Part(buffers::buffers),
    &Part(paced::paced),
    &ReadingsSection,
    &UncertaintySection,
];

/// Sections of the page, after its first screen.
pub(crate) const PAGE: [&dyn Section; 23] = [
    &ContradictionSection,
    &CapacitySection,
    &ChecksSection,
    &DaysSection,
    &ProcedureSection,
    &StallSection,
    &ChangesSection,
    &BudgetSection,
    &TablesSection,
    &NetworksSection,
    &TypeTestSection,
    &ShotsSection,
    &ActionsSection,
    &RecordingSection,
    &EndsSection,
    &SeriesSection,
    &ReadingsSection,
    &NicsSection,
    &EventsSection,
    &WaySection,
    &InventorySection,
    &UncertaintySection,
    &MethodSection,
];

/// Sections of the result document, after the run and its verdict.
pub(crate) const DOCUMENT: [&dyn Section; 23] = [
    &SeriesSection,
    &ChecksSection,
    &DaysSection,
    &EventsSection,
    &ProfilesSection,
    &NotMeasuredSection,
    &BudgetSection,
    &InventorySection,
    &NicsSection,
    &NotApplicableSection,
    &ContradictionSection,
    &CoverageSection,
    &StallSection,
    &ReadingsSection,
    &RecordingSection,
    &CapacitySection,
    &TypeTestSection,
    &TablesSection,
    &ShotsSection,
    &ChangesSection,
    &ActionsSection,
    &UncertaintySection,
    &ProcedureSection,
];
