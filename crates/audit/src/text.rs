//! Findings as texts: live values, boot values, and the facts that a run keeps of an audit.

use model::Fact;
use model::fact::AUDIT;
use units::CpuList;

use super::Audit;
use super::facts::Class;
use super::finding::{Finding, Outcome, PartFinding};
use super::value::{Known, Value, Why};

impl Audit {
    /// Facts that a run keeps of an audit: one per applied rule, such as `fail (major): 950000`.
    pub fn facts_of_run(&self) -> Vec<Fact> {
        let asked = self
            .findings
            .iter()
            .filter(|finding| finding.outcome != Outcome::NotApplicable);
        asked.map(Finding::fact).collect()
    }
}

impl Finding {
    fn fact(&self) -> Fact {
        let (word, severity) = (self.outcome.word(), self.severity.word());
        let reason = self
            .worst_parts()
            .next()
            .map(|part| part.reason.clone())
            .unwrap_or_default();
        let value = match self.outcome {
            Outcome::Pass => word.to_owned(),
            Outcome::Unknown => format!("{word} ({severity}): {reason}"),
            _ => format!("{word} ({severity}): {}", self.live_text()),
        };
        Fact {
            group: AUDIT.to_owned(),
            name: self.rule.id.clone(),
            value: Ok(value),
            source: format!("audit, rules of {}", self.group),
        }
    }

    /// Values that decided the worst parts, equal ones combined: `powersave (CPU 0-3)`. Not escaped for display.
    pub fn live_text(&self) -> String {
        self.grouped(PartFinding::live_text)
    }

    /// Same as [`Finding::live_text`], for the values given at the start.
    pub fn booted_text(&self) -> String {
        self.grouped(|part| match &part.booted {
            Some(Ok(value)) => value.to_string(),
            Some(Err(unknown)) => format!("unknown ({})", unknown.text),
            None => String::new(),
        })
    }

    fn grouped(&self, text: impl Fn(&PartFinding) -> String) -> String {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for part in self.worst_parts() {
            let text = text(part);
            match groups.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(&part.part),
                None => groups.push((text, vec![&part.part])),
            }
        }
        let joined = groups.iter().map(|(text, names)| match self.rule.each {
            Some(class) => format!("{text} ({})", class.named(names)),
            None => text.clone(),
        });
        joined.collect::<Vec<_>>().join("; ")
    }
}

impl PartFinding {
    /// Deciding values: a single one alone, several with their names.
    pub fn live_text(&self) -> String {
        let text = |known: &Known| match known {
            Ok(Value::Text(text)) if text.is_empty() => "(empty)".to_owned(),
            Ok(value) => value.to_string(),
            Err(unknown) if unknown.why == Why::Absent => "absent".to_owned(),
            Err(_) => "unknown".to_owned(),
        };
        match self.live.as_slice() {
            [(_, known)] => text(known),
            several => {
                let named = several
                    .iter()
                    .map(|(name, known)| format!("{} {}", short(name), text(known)));
                named.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Last component of a fact's name or path.
fn short(name: &str) -> &str {
    name.rsplit(['/', '.']).next().unwrap_or(name)
}

impl Class {
    /// Name of parts: `CPU 0-3`, `interface eth0, eth1`.
    pub fn named(self, names: &[&str]) -> String {
        let cpus = names.iter().map(|name| name.parse().ok()).collect::<Option<CpuList>>();
        match cpus {
            Some(cpus) if self == Self::RtCpu => format!("CPU {cpus}"),
            _ => format!("{} {}", self.word(), names.join(", ")),
        }
    }
}
