//! Captures: each gives the findings of its machine, without its secrets.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::recorded::{copy, machines};
use super::told::parameters;
use audit::Audit;
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::capture::{Capture, Processes, TreePart};
use host::{Host, Member, TreeInMemory};

/// A capture as a tree in memory, read like its tar file.
fn held(capture: &Capture) -> TreeInMemory {
    let mut tree = TreeInMemory::default();
    let entries = &capture.entries;
    let known: HashSet<PathBuf> = entries.iter().map(|(path, _)| PathBuf::from(path)).collect();
    for (path, entry) in entries {
        let place = Path::new(&path);
        let member = match entry {
            TreePart::File(bytes) => Member::File(bytes.clone()),
            TreePart::Link(to) => Member::Link(to.clone()),
            TreePart::Directory(names) => {
                for (name, is_folder) in names {
                    let member = if *is_folder {
                        Member::Folder
                    } else {
                        Member::File(Vec::new())
                    };
                    if !known.contains(&place.join(name)) {
                        assert!(tree.add(&place.join(name), member));
                    }
                }
                Member::Folder
            }
        };
        assert!(tree.add(place, member), "{path}");
    }
    tree
}

/// Audit of a tree, and of its capture.
fn twice(root: &Path, parameters: &Parameters) -> (Audit, Audit, Capture) {
    let host = Host::at(root).expect("a tree").remembering();
    let told = audit::audit(&host, parameters, &[]);
    let capture = host.capture(Processes::All);
    let again = Host::held(held(&capture)).expect("a tree");
    (told, audit::audit(&again, parameters, &[]), capture)
}

/// Without secrets, addresses and identifiers every rule gives the same finding.
#[test]
fn a_capture_of_every_machine_gives_its_findings() {
    let mut wrong = Vec::new();
    for machine in machines() {
        let parameters = parameters(&machine);
        let (told, again, _) = twice(&machine.join("root"), &parameters);
        let said = |audit: Audit| {
            let parts = audit.findings.into_iter().flat_map(|finding| {
                let id = finding.rule.id.clone();
                let parts = finding.parts.into_iter();
                parts.map(move |part| {
                    (
                        (id.clone(), part.part),
                        (part.outcome, format!("{:?} {}", part.live, part.reason)),
                    )
                })
            });
            parts.collect::<BTreeMap<_, _>>()
        };
        let (told, again) = (said(told), said(again));
        let outcome = |of: &BTreeMap<_, (Outcome, String)>, which| of.get(which).map(|(outcome, _)| *outcome);
        for which in told.keys().chain(again.keys()) {
            let both = (outcome(&told, which), outcome(&again, which));
            if both.0 != both.1 {
                wrong.push(format!(
                    "{}: {which:?} {both:?}: {:?}",
                    machine.display(),
                    again.get(which)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values for programs have any name, and rules use none of them but the names of daemons.
#[test]
fn a_capture_keeps_no_value_for_the_programs_of_a_definition() {
    let tuned = machines()
        .into_iter()
        .find(|machine| machine.ends_with("seapath-tuned"));
    let tree = tempfile::tempdir().expect("a directory");
    let root = tree.path().join("root");
    copy(&tuned.expect("a machine").join("root"), &root);
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    };
    put(
        "etc/libvirt/qemu/relay.xml",
        "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'><name>relay</name><memory>1048576</memory>\
         <vcpu>1</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/></cputune>\
         <sysinfo type='fwcfg'><entry name='opt/a'>geheim</entry></sysinfo>\
         <qemu:commandline><qemu:arg value='-fw_cfg'/><qemu:arg value='name=opt/b,string=geheim'/>\
         <qemu:env name='API' value='geheim'/></qemu:commandline></domain>",
    );
    for (name, program) in [("relay", "/opt/relay"), ("clock", "exec /usr/sbin/chronyd -d")] {
        put(
            &format!("run/crun/{name}/config.json"),
            &format!(
                r#"{{"ociVersion": "1.0.2", "process": {{"args": ["sh", "-c", "{program} --api geheim"], "env": ["API=geheim"]}},
                "annotations": {{"note": "geheim"}}, "linux": {{"resources": {{"cpu": {{"cpus": "5"}}}}}}}}"#
            ),
        );
    }
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let parameters = Parameters {
        domains: named(&["relay"]),
        containers: named(&["relay", "clock"]),
        ..Parameters::default()
    };
    let (told, again, capture) = twice(&root, &parameters);
    let of = |audit: &Audit| {
        let parts = audit.findings.iter().flat_map(|finding| {
            let parts = finding.parts.iter();
            parts.map(|part| (finding.rule.id.clone(), part.part.clone(), part.outcome))
        });
        parts.collect::<Vec<_>>()
    };
    assert_eq!(of(&told), of(&again));
    for (name, outcome) in [("relay", Outcome::Pass), ("clock", Outcome::Fail)] {
        let found = of(&again)
            .into_iter()
            .find(|(id, part, _)| id == "ctr-no-time-daemon" && part == name);
        assert_eq!(found.expect("a finding").2, outcome, "{name}");
    }
    let files = capture.entries.iter().filter_map(|(path, part)| match part {
        TreePart::File(bytes) => Some((path, String::from_utf8_lossy(bytes))),
        _ => None,
    });
    let files: BTreeMap<_, _> = files.collect();
    assert!(files.keys().any(|path| path.ends_with("qemu/relay.xml")));
    assert!(files.keys().any(|path| path.ends_with("relay/config.json")));
    for (path, text) in files {
        assert!(!text.contains("geheim"), "{path}: {text}");
    }
}
