//! An audit as one HTML file.

use super::AuditReport;
use super::map::HEADS;
use super::row::Row;
use askama::Template;
use audit::finding::Outcome;

#[derive(Template)]
#[template(path = "audit.html")]
struct Html<'a> {
    css: &'a str,
    word: &'static str,
    sign: &'static str,
    machine: &'a str,
    tally: String,
    environment: Vec<(&'a str, String)>,
    cpus: &'a str,
    groups: Vec<Group<'a>>,
    heads: Vec<&'static str>,
    map: Vec<[String; 7]>,
    hidden: usize,
}

struct Group<'a> {
    name: &'a str,
    rows: Vec<&'a Row>,
}

impl AuditReport {
    /// As one self-contained HTML file.
    ///
    /// # Errors
    /// Only when a value cannot be written as text, which none of ours can.
    pub fn html(&self) -> Result<String, askama::Error> {
        let environment = self.environment.iter().map(|(name, value)| {
            let value = match value {
                Ok(value) => value.clone(),
                Err(reason) => format!("unknown: {reason}"),
            };
            (name.as_str(), value)
        });
        Html {
            css: crate::html::CSS,
            word: self.word(),
            sign: self.sign(),
            machine: &self.machine,
            tally: self.tally(),
            environment: environment.collect(),
            cpus: &self.cpus,
            groups: self.groups(),
            heads: HEADS.iter().map(|(head, _)| *head).collect(),
            map: self.map.iter().map(super::map::CpuRow::cells).collect(),
            hidden: self.count(Outcome::NotApplicable),
        }
        .render()
    }

    /// The findings by group, the group with the worst finding first.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for row in self.rows.iter().filter(|row| row.outcome != Outcome::NotApplicable) {
            match groups.iter_mut().find(|group| group.name == row.group) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group {
                    name: row.group,
                    rows: vec![row],
                }),
            }
        }
        groups
    }
}
