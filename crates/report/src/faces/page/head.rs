//! The head of the page, as text for the template.

use super::bed;
use super::record::RecordPart;
use crate::Report;
use crate::html::look;
use crate::screen::{Screen, Size};
use crate::subjects::method::{ProfileRow, profiles};
use crate::text::{measured_by, rfc3339, start_of};
use model::FactOf;
use model::fact::{CLOCK_SOURCE, CPU_MODEL, HOST_NAME, HYPERVISOR, JUDGED_CPUS, KERNEL_RELEASE, PREEMPTION};

/// Facts shown next to the verdict, and their headings.
const HEADLINE_FACTS: [(&FactOf<String>, &str); 7] = [
    (&HOST_NAME, "Host"),
    (&KERNEL_RELEASE, "Kernel"),
    (&PREEMPTION, "Preemption"),
    (&CPU_MODEL, "CPU"),
    (&HYPERVISOR, "Hypervisor"),
    (&JUDGED_CPUS, "Judged CPUs"),
    (&CLOCK_SOURCE, "Clock"),
];

pub(crate) struct Page {
    pub(crate) verdict: &'static str,
    /// The verdict, as text for people.
    pub(crate) words: &'static str,
    /// Its sign and colour: `partial` if only some limits pass.
    pub(crate) look: &'static str,
    /// The first screen.
    pub(crate) screen: Screen,
    /// The bed with its figures, for each step in which frames passed through one.
    pub(crate) beds: Vec<bed::Picture>,
    /// The acceptance record, for paper.
    pub(crate) record: RecordPart,
    /// The unique name of the run, and its form for use in a style sheet.
    pub(crate) run: String,
    pub(crate) run_in_css: String,
    /// Start of the run: for programs, and for people.
    pub(crate) started: (String, String),
    pub(crate) headline: Vec<(&'static str, String)>,
    pub(crate) profiles: Vec<ProfileRow>,
    pub(crate) title: String,
}

impl Page {
    /// The head of a report whose foreign texts are already safe to show, with its record.
    pub(crate) fn of(report: &Report, record: RecordPart) -> Self {
        let verdict = report.verdict().word();
        Self {
            verdict,
            words: report.words(),
            look: look(verdict, report.is_partial_pass() || report.is_answer()),
            screen: Screen::of(report, Size::LARGEST, None),
            beds: bed::pictures(report),
            record,
            run: report.run.info.id.clone(),
            run_in_css: in_css(&report.run.info.id),
            started: (rfc3339(report.run.info.started), start_of(&report.run)),
            headline: headline(report),
            profiles: profiles(&report.judgement),
            title: format!(
                "triptime: {} {}, {}",
                report.run.info.command,
                report.words(),
                report.run.info.id
            ),
        }
    }
}

/// The name without characters that could end a string in a style sheet.
fn in_css(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.:".contains(c) {
            c
        } else {
            '?'
        }
    };
    name.chars().map(plain).collect()
}

/// The evidence in brackets is only shown in the inventory; here, the word is enough.
fn headline(report: &Report) -> Vec<(&'static str, String)> {
    let words = HEADLINE_FACTS.map(|(of, heading)| Some((heading, of.word_of(&report.run.facts)?)));
    let words = words.into_iter().flatten();
    words.chain([("Measured by", measured_by(&report.run))]).collect()
}
