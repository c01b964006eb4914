//! Judged and other CPUs, for a run that selected CPUs.

use crate::Report;
use std::fmt::Write;

/// Group of the inventory that lists them; the crate `lab` writes it.
const GROUP: &str = "CPUs of this run";

/// Lines for the head of the report, one for each fact.
pub(super) fn chosen(report: &Report) -> String {
    let mut out = String::new();
    for fact in report.run.facts.iter().filter(|fact| fact.group == GROUP) {
        let value = fact.value.as_ref().unwrap_or_else(|why| why);
        let _ = match fact.name.starts_with("note ") {
            true => writeln!(out, "        {value}"),
            false => writeln!(out, "cpu:    {}: {value}", fact.name),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use model::Fact;
    use testing::synthetic::{run, series};

    #[test]
    fn the_head_says_who_ran_where() {
        let mut run = run(vec![series("wakeup/cpu2", 1_000, 60_000, 10)]);
        let fact = |name: &str, value: &str| Fact {
            group: super::GROUP.into(),
            name: name.into(),
            value: Ok(value.into()),
            source: "plan".into(),
        };
        run.facts = vec![fact("judged", "2-3 (isolated)"), fact("note 1", "cpu 1: left alone")];
        let text = Report::new(run, Vec::new()).text(false, None);
        assert!(
            text.contains("cpu:    judged: 2-3 (isolated)\n        cpu 1: left alone\n"),
            "{text}"
        );
    }
}
