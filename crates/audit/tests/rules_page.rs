//! Checks that `docs/rules.md` agrees with the rules. `RENEW=1 cargo test -p triptime-audit --test rules_page` writes the page.

use std::fs;
use std::path::{Path, PathBuf};

use audit::rule::{Group, Rule, built_in};

const HEAD: &str = "# Rules of the audit

Written from the files of `crates/audit/rules` by a test: `RENEW=1 cargo test -p triptime-audit --test rules_page`.
[formats/audit.md](formats/audit.md) says how a rule is written and added; `triptime audit --full` shows each with its values,
sources and traps. `{cpu}`, `{nic}`, `{rt_cpus}` and similar placeholders stand for parts and values of the machine.

The severity after a comma is that of a profile (`--profile`). *Worth* is the largest effect that anybody published; nobody has
measured it on your machine.
";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md")
}

fn written() -> String {
    let groups = built_in();
    let parts = groups.iter().map(|(name, group)| section(name, group));
    HEAD.to_owned() + &parts.collect::<String>()
}

fn section(name: &str, group: &Group) -> String {
    let head = format!(
        "\n## {} (`{name}`)\n\n| check | severity | what | why | worth | how |\n| --- | --- | --- | --- | --- | --- |\n",
        group.title
    );
    head + &group.rules.iter().map(row).collect::<String>()
}

fn row(rule: &Rule) -> String {
    let of_profiles = rule
        .profiles
        .iter()
        .map(|(name, severity)| format!(", {} in `{name}`", severity.word()));
    let severity = rule.severity.word().to_owned() + &of_profiles.collect::<String>();
    let cases = rule
        .remedy
        .cases
        .iter()
        .map(|case| format!("; or, in another case: {}", case.how));
    let cases = cases.collect::<String>();
    let how = format!("{}: {}{cases}", rule.remedy.change.word(), rule.remedy.how);
    let cells = [&rule.title, &rule.why, &rule.worth.seen, &how].map(|text| cell(text));
    format!("| `{}` | {severity} | {} |\n", rule.id, cells.join(" | "))
}

/// Text escaped for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

#[test]
fn the_page_of_the_rules_is_up_to_date() {
    let written = written();
    assert!(written.lines().count() > 100, "hardly a rule");
    if std::env::var_os("RENEW").is_some() {
        fs::write(page(), written).expect("docs/rules.md can be written");
        return;
    }
    let found = fs::read_to_string(page()).unwrap_or_default();
    let missing = written.lines().find(|line| !found.lines().any(|known| known == *line));
    assert!(
        found == written,
        "docs/rules.md is not what the rules say (RENEW=1 writes it): {missing:?}"
    );
}
