//! The acceptance record: two separate pages at the beginning of the printed report.

use crate::Report;
use crate::about::{About, Evidence};
use crate::procedure::on_paper;
use crate::subjects::{nics, uncertainty};
use crate::text::count;
use model::RunView;
use model::fact::{BUILD, CLOCK_SOURCE, HOST_NAME, KERNEL_RELEASE};

/// Signature lines if nobody is named.
const SIGNATURES: [&str; 2] = ["Operator", "Witness"];

pub(crate) struct RecordPart {
    /// Name of the test.
    pub(crate) test: String,
    /// Headings and given values; a value is empty if it is to be filled in by hand.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Limits in the days of long steps, in a sentence each.
    pub(crate) days: Vec<String>,
    /// The limit profiles used, each with its purpose.
    pub(crate) profiles: Vec<(String, String)>,
    pub(crate) remarks: String,
    /// Steps and deviations, as HTML.
    pub(crate) protocol: String,
    /// Instrument, machine, clock and interfaces, each with what the run knows about it.
    pub(crate) equipment: Vec<(String, String)>,
    pub(crate) evidence: Vec<(&'static str, String)>,
    /// Roles, and the names of those who sign in them; a name is empty if it is to be filled in by hand.
    pub(crate) signatures: Vec<(String, String)>,
}

impl RecordPart {
    pub(super) fn of(report: &Report, about: &About, evidence: Option<&Evidence>) -> askama::Result<Self> {
        let given = |text: &String| text.clone();
        let mut fields = vec![
            ("Document", document(about)),
            ("Object", given(&about.object)),
            ("Serial number", given(&about.serial_number)),
            ("Site", given(&about.site)),
            ("Operator", given(&about.operator)),
            ("Criteria", given(&about.criteria)),
            ("Calibration", given(&about.calibration)),
        ];
        fields.extend(of_the_instrument(report));
        Ok(Self {
            test: match about.test.as_str() {
                "" => "Acceptance record".to_owned(),
                test => test.to_owned(),
            },
            fields,
            profiles: report
                .profiles
                .iter()
                .map(|profile| (profile.name.clone(), profile.what.clone()))
                .collect(),
            days: report
                .days
                .iter()
                .map(|days| format!("{}: {}", days.limit.name, days.sentence()))
                .collect(),
            remarks: about.remarks.clone(),
            protocol: on_paper(report)?,
            equipment: equipment(&report.run),
            evidence: evidence_rows(report, evidence),
            signatures: signatures(about),
        })
    }
}

/// The error of the instrument, and the rule by which it counts; nothing if it is not known and no rule depends on it.
fn of_the_instrument(report: &Report) -> Vec<(&'static str, String)> {
    let own = uncertainty::summary(report);
    if own.is_empty() {
        return Vec::new();
    }
    let rules = crate::uncertainty::rules(&report.profiles);
    let rules = rules.into_iter().map(|rule| ("Decision rule", rule));
    std::iter::once(("Own uncertainty", own)).chain(rules).collect()
}

/// The equipment of the test: with the calibration and the uncertainty, its sheet.
fn equipment(run: &RunView) -> Vec<(String, String)> {
    let facts = [
        ("Instrument", BUILD),
        ("Machine", HOST_NAME),
        ("Kernel", KERNEL_RELEASE),
        ("Clock", CLOCK_SOURCE),
    ];
    let known = facts.map(|(heading, fact)| (heading.to_owned(), fact.word_of(&run.facts).unwrap_or_else(unknown)));
    let interfaces = nics::of(run).into_iter().map(|nic| {
        let cells = nics::HEADINGS.iter().zip(nic.cells());
        let parts: Vec<String> = cells.map(|(heading, value)| format!("{heading} {value}")).collect();
        (format!("Interface {}", nic.name), parts.join("; "))
    });
    known.into_iter().chain(interfaces).collect()
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// Number and revision of the document.
fn document(about: &About) -> String {
    match (about.document.as_str(), about.revision.as_str()) {
        (number, "") => number.to_owned(),
        ("", revision) => format!("revision {revision}"),
        (number, revision) => format!("{number}, revision {revision}"),
    }
}

/// The four roles of a protocol if one of them is named, then the other people who sign; operator and witness if there are none.
fn signatures(about: &About) -> Vec<(String, String)> {
    let roles = [
        ("Prepared", &about.prepared),
        ("Reviewed", &about.reviewed),
        ("Recommended", &about.recommended),
        ("Approved", &about.approved),
    ];
    let are_named = roles.iter().any(|(_, name)| !name.is_empty());
    let roles = roles.into_iter().filter(|_| are_named);
    let others = about.signatures.iter().map(|name| (name.clone(), String::new()));
    let all: Vec<_> = roles
        .map(|(role, name)| (role.to_owned(), name.clone()))
        .chain(others)
        .collect();
    match all.is_empty() {
        true => SIGNATURES.map(|role| (role.to_owned(), String::new())).to_vec(),
        false => all,
    }
}

fn evidence_rows(report: &Report, evidence: Option<&Evidence>) -> Vec<(&'static str, String)> {
    let info = &report.run.info;
    let mut rows = vec![
        ("Run", info.id.clone()),
        ("Run file", report.run.file.display().to_string()),
    ];
    if let Some(evidence) = evidence {
        let sha256 = match &evidence.sha256 {
            Ok(digits) => digits.clone(),
            Err(why) => format!("none: {why}"),
        };
        rows.push(("Length", format!("{} bytes", count(evidence.octets))));
        rows.push(("SHA-256", sha256));
    }
    rows.push(("Command", info.arguments.join(" ")));
    rows
}
