mod absence;
mod broken;
mod cache;
mod clock;
mod container;
mod domain;
mod domains;
mod functions;
mod golden;
mod guest;
mod interrupts;
mod iommu;
mod isolation;
mod kernel;
mod kernel_log;
mod memory;
mod network;
mod platform;
mod power;
mod process_table;
mod regressions;
mod rubbish;
mod scheduler;
mod threads;
mod time;
mod tree;
mod vmware;

use std::fs;

use super::finding::Outcome;
use super::parameters::Parameters;
use super::rule::built_in;
use host::Host;

#[test]
fn every_rule_is_told_apart_and_says_what_it_must() {
    let mut ids = Vec::new();
    for (group, rules) in built_in() {
        for rule in rules.rules {
            let id = rule.id.clone();
            assert!(!ids.contains(&id), "{group}: {id} stands twice");
            let texts = [&rule.title, &rule.why, &rule.wants, &rule.worth.seen, &rule.remedy.how];
            assert!(texts.iter().all(|text| !text.trim().is_empty()), "{id}: an empty text");
            assert!(!rule.sources.is_empty(), "{id}: no source");
            for cause in &rule.causes {
                assert!(model::Cause::from_word(cause).is_some(), "{id}: no cause {cause}");
            }
            ids.push(id);
        }
    }
}

#[test]
fn an_empty_tree_passes_nothing() {
    let tree = tempfile::tempdir().expect("a directory");
    let host = Host::at(tree.path()).expect("a tree");
    for finding in crate::audit(&host, &Parameters::default(), &[]).findings {
        let allowed = [Outcome::Unknown, Outcome::NotApplicable];
        assert!(
            allowed.contains(&finding.outcome),
            "{}: {:?}",
            finding.rule.id,
            finding.parts
        );
    }
}

#[test]
fn every_fact_that_a_rule_asks_for_is_gathered() {
    let tree = tempfile::tempdir().expect("a directory");
    let cpu = tree.path().join("sys/devices/system/cpu");
    fs::create_dir_all(&cpu).expect("folders");
    fs::write(cpu.join("online"), "0-3\n").expect("a file");
    let host = Host::at(tree.path()).expect("a tree");
    let parameters = Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    };
    let facts = crate::audit(&host, &parameters, &[]).facts;
    for (group, rules) in built_in() {
        for rule in rules.rules {
            let part = rule.each.and_then(|class| facts.parts(class).first());
            if rule.each.is_some() && part.is_none() {
                continue;
            }
            for name in rule.facts() {
                assert!(
                    facts.is_gathered(part, name),
                    "{group}, {}: nothing gathers {name}",
                    rule.id
                );
            }
        }
    }
}
