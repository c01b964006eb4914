//! The interfaces used by a run, from its facts.

mod document;
mod page;
#[cfg(test)]
pub(crate) mod samples;
mod text;

use crate::Report;
use crate::limits::word_of;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use model::{Fact, NOT_APPLICABLE, RunView};
use std::io;

/// The section of the report.
pub(crate) struct NicsSection;

impl Section for NicsSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::interfaces(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        let link = (!of(&report.run).is_empty()).then(|| Link::to("interfaces", "Interfaces"));
        link.into_iter().collect()
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("nics", document::nics(&report.run))
    }
}

/// Beginning of the group name of an interface's facts.
const GROUP: &str = "nic ";

/// An interface with its facts.
pub(crate) struct Nic<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its facts, in the order of the run.
    pub(crate) facts: Vec<&'a Fact>,
}

/// Headings of [`Nic::cells`].
pub(crate) const HEADINGS: [&str; 7] = [
    "driver",
    "speed",
    "coalescing",
    "EEE",
    "queueing",
    "stamps",
    "PTP clock",
];

/// True if a group of facts belongs to an interface.
pub(crate) fn is_nic(group: &str) -> bool {
    group.starts_with(GROUP)
}

/// The interfaces of a run, in the order of its facts.
pub(crate) fn of(run: &RunView) -> Vec<Nic<'_>> {
    let mut nics: Vec<Nic<'_>> = Vec::new();
    for fact in &run.facts {
        let Some(name) = fact.group.strip_prefix(GROUP) else {
            continue;
        };
        match nics.iter_mut().find(|nic| nic.name == name) {
            Some(nic) => nic.facts.push(fact),
            None => nics.push(Nic {
                name,
                facts: vec![fact],
            }),
        }
    }
    nics
}

/// A fact in short.
enum Short<'a> {
    /// The fact has this value.
    Is(&'a str),
    /// The fact does not exist for this kind of interface.
    NotApplicable,
    /// The fact is not known.
    Unknown,
}

impl Nic<'_> {
    /// The interface in one line of a table, under [`HEADINGS`].
    pub(crate) fn cells(&self) -> [String; 7] {
        let driver = match self.short("driver") {
            Short::Is(driver) => driver.to_owned(),
            _ => self.word("kind"),
        };
        [
            driver,
            self.speed(),
            self.coalescing(),
            self.word("eee"),
            self.word("queueing discipline"),
            match self.short("hardware stamps") {
                Short::Is("none") => "software".to_owned(),
                Short::Is(which) => format!("hardware: {which}"),
                _ => "unknown".to_owned(),
            },
            self.word("PTP clock"),
        ]
    }

    fn short(&self, name: &str) -> Short<'_> {
        match self.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value) {
            Some(Ok(value)) if value.starts_with(NOT_APPLICABLE) => Short::NotApplicable,
            Some(Ok(value)) => Short::Is(word_of(value)),
            _ => Short::Unknown,
        }
    }

    fn word(&self, name: &str) -> String {
        match self.short(name) {
            Short::Is(word) => word.to_owned(),
            Short::NotApplicable => "n/a".to_owned(),
            Short::Unknown => "unknown".to_owned(),
        }
    }

    fn speed(&self) -> String {
        match (self.short("speed"), self.short("duplex")) {
            (Short::Is(speed), Short::Is(duplex)) => format!("{speed} {duplex}"),
            (Short::Is(speed), _) => speed.to_owned(),
            (Short::NotApplicable, _) => "n/a".to_owned(),
            (Short::Unknown, _) => "unknown".to_owned(),
        }
    }

    /// Text such as `rx-usecs 3, tx-usecs 3, adaptive-rx on`: the driver's settings, without those that are off.
    fn coalescing(&self) -> String {
        let mut parts = Vec::new();
        let mut unknown = false;
        for name in [
            "rx-usecs",
            "rx-frames",
            "tx-usecs",
            "tx-frames",
            "adaptive-rx",
            "adaptive-tx",
        ] {
            match self.short(name) {
                Short::Is("off") | Short::NotApplicable => {}
                Short::Is(value) => parts.push(format!("{name} {value}")),
                Short::Unknown => unknown = true,
            }
        }
        match (parts.is_empty(), unknown) {
            (true, true) => "unknown".to_owned(),
            (true, false) => "n/a".to_owned(),
            (false, _) => parts.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use super::samples::{card_facts, veth_facts};
    use testing::synthetic::run;

    #[test]
    fn a_card_and_a_veth_in_one_line_each() {
        let mut run = run(Vec::new());
        run.facts = [card_facts("eth1"), veth_facts("ts0")].concat();
        run.facts.extend(testing::synthetic::facts());
        let nics = of(&run);
        assert_eq!((nics.len(), nics[0].name, nics[1].name), (2, "eth1", "ts0"));
        let wanted = [
            "igc",
            "1000 Mbit/s full",
            "rx-usecs 3, tx-usecs 3, adaptive-rx on, adaptive-tx on",
            "on",
            "mq",
            "hardware: transmit and receive",
            "/dev/ptp0",
        ];
        assert_eq!(nics[0].cells(), wanted);
        let wanted = ["veth", "n/a", "n/a", "n/a", "noqueue", "software", "none"];
        assert_eq!(nics[1].cells(), wanted);
    }

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        let mut run = run(Vec::new());
        run.facts = card_facts("eth1");
        for fact in &mut run.facts {
            fact.value = Err("the driver does not say (EOPNOTSUPP)".into());
        }
        assert!(of(&run)[0].cells().iter().all(|cell| cell == "unknown"));
    }
}
