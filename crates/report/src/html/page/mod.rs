//! The contents of the page, as text ready for the template.

mod checks;
mod events;
mod nics;
mod record;
mod series;
mod why;

use super::{bed, budget};
use crate::Report;
use crate::screen::Screen;
use crate::section::{PAGE_END, PAGE_MIDDLE, PAGE_TOP, Section};
use crate::stall::StallSection;
use crate::text::{rfc3339, wall_clock};
use crate::verdict::{Judgement, ProfileVerdict};
use checks::{LimitGroup, NotMeasuredRow, groups, not_measured};
use events::EventsPart;
use model::fact::{CPU_MODEL, HOST_NAME, HYPERVISOR, KERNEL_RELEASE, PREEMPTION};
use model::{Fact, FactOf};
use nics::{NicPart, NotApplicableRow};
pub(super) use record::RecordPart;
use series::{FamilyPart, families};
use units::format_ns;

/// Facts shown beside the verdict, and their headings.
const HEADLINE_FACTS: [(&FactOf<String>, &str); 5] = [
    (&HOST_NAME, "Host"),
    (&KERNEL_RELEASE, "Kernel"),
    (&PREEMPTION, "Preemption"),
    (&CPU_MODEL, "CPU"),
    (&HYPERVISOR, "Hypervisor"),
];

pub(super) struct Page {
    pub(super) verdict: &'static str,
    /// The verdict for a person.
    pub(super) words: &'static str,
    /// Its sign and colour: `partial` for a pass of some limits only.
    pub(super) look: &'static str,
    /// The first screen.
    pub(super) screen: Screen,
    /// The bed with its figures, where a frame passed one.
    pub(super) bed_svg: Option<String>,
    /// The acceptance record, for paper.
    pub(super) record: RecordPart,
    /// The unique name of the run; and as it may stand in a style sheet.
    pub(super) run: String,
    pub(super) run_in_css: String,
    /// When it started: for programs, and for a person.
    pub(super) started: (String, String),
    /// Parts before the limits.
    pub(super) top: String,
    pub(super) headline: Vec<(&'static str, String)>,
    pub(super) profiles: Vec<ProfileRow>,
    pub(super) checks: usize,
    pub(super) groups: Vec<LimitGroup>,
    pub(super) not_measured: Vec<NotMeasuredRow>,
    pub(super) not_applicable: Vec<NotApplicableRow>,
    pub(super) nics: Vec<NicPart>,
    pub(super) nic_headings: [&'static str; 7],
    /// Late samples, put together.
    pub(super) stalls: String,
    pub(super) budget_svg: String,
    /// The treatment of the test set's own lateness.
    pub(super) own_lateness: Option<String>,
    /// True if a measurement runs across several lines of the budget.
    pub(super) crossing: bool,
    /// Parts between the budget and the series.
    pub(super) middle: String,
    pub(super) families: Vec<FamilyPart>,
    /// Parts behind the series.
    pub(super) end: String,
    pub(super) events: EventsPart,
    /// The way of a frame inside the host, where hops were traced.
    pub(super) way_svg: Option<String>,
    pub(super) inventory: Vec<(String, Vec<FactRow>)>,
    pub(super) method: Vec<(&'static str, String)>,
    pub(super) title: String,
}

pub(super) struct ProfileRow {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) words: &'static str,
    pub(super) look: &'static str,
    pub(super) coverage: String,
}

pub(super) struct FactRow {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) known: bool,
    pub(super) source: String,
}

impl Page {
    /// Of a report whose foreign texts are safe to show, with its record and the picture of the way.
    pub(super) fn of(report: &Report, record: RecordPart, way_svg: Option<String>) -> askama::Result<Self> {
        let verdict = report.verdict().word();
        Ok(Self {
            verdict,
            words: report.words(),
            look: look(verdict, report.is_partial_pass() || report.is_answer()),
            screen: Screen::of(report, None),
            bed_svg: bed::picture(report),
            record,
            run: report.run.info.id.clone(),
            run_in_css: in_css(&report.run.info.id),
            started: (rfc3339(report.run.info.started), wall_clock(report.run.info.started)),
            top: parts(report, &PAGE_TOP)?,
            headline: headline(report),
            profiles: profiles(&report.judgement),
            checks: report.judgement.checks.len() + report.judgement.requirements.len(),
            groups: groups(report).into_iter().chain(nics::requirements(report)).collect(),
            not_measured: not_measured(&report.judgement)
                .into_iter()
                .chain(nics::not_asked(report))
                .collect(),
            not_applicable: nics::not_applicable(report),
            nics: nics::parts(report),
            nic_headings: crate::nics::HEADINGS,
            stalls: StallSection.html(report)?,
            budget_svg: budget::drawing(report),
            own_lateness: report.budget.own.clone(),
            crossing: report.budget.lines.len() > 7 || !report.budget.beside.is_empty(),
            middle: parts(report, &PAGE_MIDDLE)?,
            families: families(report),
            end: parts(report, &PAGE_END)?,
            events: EventsPart::of(&report.run),
            way_svg,
            inventory: inventory(report),
            method: method(report),
            title: format!(
                "triptime: {} {}, {}",
                report.run.info.command,
                report.words(),
                report.run.info.id
            ),
        })
    }
}

/// Sections one after the other, a line end between them.
fn parts(report: &Report, sections: &[&dyn Section]) -> askama::Result<String> {
    let parts: Result<Vec<String>, _> = sections.iter().map(|section| section.html(report)).collect();
    Ok(parts?.join("\n"))
}

/// A name of which nothing can end a string of a style sheet.
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

/// How a verdict over profiles looks: a pass of some limits only is another thing than one of all.
fn look(verdict: &'static str, is_partial_pass: bool) -> &'static str {
    if is_partial_pass { "partial" } else { verdict }
}

/// The evidence in brackets is in the inventory; here the word is enough.
fn headline(report: &Report) -> Vec<(&'static str, String)> {
    let words = HEADLINE_FACTS.map(|(of, heading)| Some((heading, of.word_of(&report.run.facts)?)));
    words.into_iter().flatten().collect()
}

fn profiles(judgement: &Judgement) -> Vec<ProfileRow> {
    let row = |profile: &ProfileVerdict| ProfileRow {
        name: profile.name.clone(),
        what: profile.what.clone(),
        words: profile.words(),
        look: look(profile.verdict.word(), profile.is_partial_pass()),
        coverage: profile.coverage.text(),
    };
    judgement.profiles.iter().map(row).collect()
}

/// Facts by group, without those of the interfaces, which have a part of their own.
fn inventory(report: &Report) -> Vec<(String, Vec<FactRow>)> {
    let mut groups: Vec<(String, Vec<FactRow>)> = Vec::new();
    for fact in report.run.facts.iter().filter(|fact| !crate::nics::is_nic(&fact.group)) {
        let row = fact_row(fact);
        match groups.iter_mut().find(|(group, _)| *group == fact.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((fact.group.clone(), vec![row])),
        }
    }
    groups
}

fn fact_row(fact: &Fact) -> FactRow {
    FactRow {
        name: fact.name.clone(),
        value: fact.value.clone().unwrap_or_else(|reason| reason),
        known: fact.value.is_ok(),
        source: fact.source.clone(),
    }
}

fn method(report: &Report) -> Vec<(&'static str, String)> {
    let info = &report.run.info;
    vec![
        ("Command", info.arguments.join(" ")),
        ("Run", info.id.clone()),
        ("Run file", report.run.file.display().to_string()),
        ("Measured by", format!("triptime {}", info.tool_version)),
        ("Window", format_ns(info.window_ns as f64)),
        (
            "Limit profiles",
            report
                .profiles
                .iter()
                .map(|profile| profile.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        ),
    ]
}
