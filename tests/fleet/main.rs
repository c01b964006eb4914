//! Many hosts. The Ansible collection: played by Ansible, over ssh, on two hosts of which each has mounts, names and processes of its own.

mod hosts;
mod monitoring;
mod sql;

use hosts::Hosts;
use serde_json::Value;
use std::fs;
use std::process::Output;
use support::root_or_skip;

/// Tasks that changed and tasks that failed, of each host, by the last lines of the play.
fn counts(output: &Output) -> Vec<(u64, u64)> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let recap = text
        .split("PLAY RECAP")
        .nth(1)
        .unwrap_or_else(|| panic!("no recap: {text}"));
    let number = |line: &str, name: &str| {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix(name));
        word.and_then(|word| word.parse().ok())
            .unwrap_or_else(|| panic!("{name}: {line}"))
    };
    let lines = recap.lines().filter(|line| line.contains("changed="));
    let unreachable = |line: &str| number(line, "unreachable=");
    lines
        .map(|line| (number(line, "changed="), number(line, "failed=") + unreachable(line)))
        .collect()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_playbook_qualifies_two_hosts_and_changes_nothing_the_second_time() {
    if !root_or_skip("a_playbook_qualifies_two_hosts_and_changes_nothing_the_second_time") {
        return;
    }
    let hosts = Hosts::start();
    let seen = |host| hosts.on(host, "ls -A /usr/local/bin /var/lib/triptime");

    let checked = hosts.play("triptime.host.acceptance", &["--check"]);
    assert!(
        counts(&checked)
            .iter()
            .all(|(changed, failed)| *changed > 0 && *failed == 0),
        "{}",
        text(&checked)
    );
    assert_eq!(
        seen(0),
        "/usr/local/bin:\n\n/var/lib/triptime:\n",
        "check mode leaves the host as it is"
    );

    let first = hosts.play("triptime.host.acceptance", &[]);
    assert!(
        counts(&first)
            .iter()
            .all(|(changed, failed)| *changed >= 4 && *failed == 0),
        "{}",
        text(&first)
    );
    let left = seen(0);
    let second = hosts.play("triptime.host.acceptance", &[]);
    assert_eq!(counts(&second), [(0, 0), (0, 0)], "{}", text(&second));
    assert_eq!(seen(0), left);

    let table = fs::read_to_string(hosts.path().join("collected/fleet.md")).expect("a table");
    for host in ["relays1", "relays2"] {
        let audit = fs::read_to_string(hosts.path().join(format!("collected/{host}.audit.json"))).expect("an audit");
        let audit: Value = serde_json::from_str(&audit).expect("JSON");
        assert_eq!(audit["schema"], "triptime.audit/1");
        let rows = table
            .lines()
            .filter(|line| line.starts_with(&format!("| {host} | quick-")));
        assert_eq!(rows.count(), 1, "{table}");
    }

    // Another duration is another run; the first one stays.
    let longer = hosts.play(
        "triptime.host.acceptance",
        &[
            "--tags",
            "qualify",
            "-e",
            "triptime_qualify_duration=2s",
            "--limit",
            "relays1",
        ],
    );
    assert_eq!(counts(&longer), [(1, 0)], "{}", text(&longer));
    assert_eq!(hosts.on(0, "ls /var/lib/triptime/*.triptime | wc -l").trim(), "2");

    drop_ins_take_the_run(&hosts);
    a_cut_off_run_is_measured_again_and_none_is_hidden(&hosts);
}

/// A run killed in the middle in place of the complete one, a file that is none, and a folder with a slash at its end.
fn a_cut_off_run_is_measured_again_and_none_is_hidden(hosts: &Hosts) {
    hosts.on(
        1,
        "cd /var/lib/triptime; file=$(ls quick-*.triptime); rm -f quick-*; \
         /usr/local/bin/triptime wakeup --policy other --cpus 0 --window 100ms --duration 60s --out \"$file\" >/dev/null 2>&1 & \
         until [ -s \"$file-wal\" ]; do sleep 0.1; done; sleep 1; kill -9 $!; wait; echo damaged > bad.triptime",
    );
    let played = hosts.play(
        "triptime.host.acceptance",
        &["-e", "triptime_qualify_folder=/var/lib/triptime/"],
    );
    assert!(
        counts(&played).iter().all(|(_, failed)| *failed == 0),
        "{}",
        text(&played)
    );
    let files = hosts.on(1, "ls /var/lib/triptime");
    let again = files
        .lines()
        .filter(|name| name.starts_with("quick-") && name.ends_with(".triptime"));
    assert_eq!(again.count(), 1, "measured again: {files}");
    let table = fs::read_to_string(hosts.path().join("collected/fleet.md")).expect("a table");
    let row = |words: &[&str]| {
        let has = |line: &&str| line.starts_with("| relays2 |") && words.iter().all(|word| line.contains(word));
        assert!(table.lines().any(|line| has(&line)), "{words:?}: {table}");
    };
    row(&["cut-off-", ", interrupted"]);
    row(&["bad", "cannot be read"]);
    let complete = |line: &&str| line.starts_with("| relays2 | quick-") && !line.contains("interrupted");
    assert_eq!(table.lines().filter(complete).count(), 1, "{table}");
}

/// Each of the three drop-in roles, with the run on the hosts.
fn drop_ins_take_the_run(hosts: &Hosts) {
    let tasks = "    \
    - ansible.builtin.find: {paths: /var/lib/triptime, patterns: ['*.triptime']}
      register: found
    - ansible.builtin.import_role: {name: triptime.host.vpac_findings}
      vars: {triptime_vpac_findings_run: '{{ found.files[0].path }}', triptime_vpac_findings_audit: true}
    - ansible.builtin.copy:
        content: '{{ validate_findings | to_json }}'
        dest: 'collected/{{ inventory_hostname }}.findings.json'
      delegate_to: localhost
    - ansible.builtin.import_role: {name: triptime.host.seapath_partial}
      vars: {triptime_seapath_partial_run: '{{ found.files[0].path }}', triptime_seapath_partial_audit: true, triptime_seapath_partial_include: collected}
    - ansible.builtin.import_role: {name: triptime.host.latency_test}
      vars: {triptime_latency_test_environment: {LATENCY_TEST_RUNTIME: '1', MAXIMUM_LATENCY: '30000000'}, triptime_latency_test_required: false}
    - ansible.builtin.debug: {msg: 'latency test: {{ triptime_latency_test.verdict }}'}
";
    let played = hosts.play_tasks(tasks, &[]);
    assert!(
        counts(&played).iter().all(|(_, failed)| *failed == 0),
        "{}",
        text(&played)
    );
    // Both hosts measure on the same CPUs here, which may put it in doubt.
    let verdicts = ["pass", "inconclusive"].map(|verdict| format!("latency test: {verdict}"));
    assert!(
        verdicts.iter().any(|verdict| text(&played).contains(verdict)),
        "{}",
        text(&played)
    );
    let findings = fs::read_to_string(hosts.path().join("collected/relays2.findings.json")).expect("findings");
    let findings: Vec<Value> = serde_json::from_str(&findings).expect("JSON");
    for name in ["wakeup.max", "cpu-isolated"] {
        assert!(
            findings.iter().any(|finding| finding["check"] == name),
            "{name}: {findings:?}"
        );
    }
    // One step of the plan is no acceptance, so the word is there.
    let partial = fs::read_to_string(hosts.path().join("collected/triptime_relays1.adoc")).expect("a partial");
    assert!(partial.contains("FAILED"), "{partial}");
    assert!(hosts.path().join("collected/triptime_audit_relays1.adoc").exists());
}

#[test]
fn roles_refuse_what_would_be_wrong_and_leave_nothing() {
    if !root_or_skip("roles_refuse_what_would_be_wrong_and_leave_nothing") {
        return;
    }
    let hosts = Hosts::start();
    let other = hosts.play_tasks(
        "    - ansible.builtin.import_role: {name: triptime.host.install}\n",
        &["-e", &format!("triptime_install_checksum={}", "0".repeat(64))],
    );
    assert!(
        text(&other).contains(&format!("expected {}", "0".repeat(64))),
        "{}",
        text(&other)
    );
    let without = hosts.play_tasks(
        "    - ansible.builtin.import_role: {name: triptime.host.qualify}\n",
        &[],
    );
    assert!(
        text(&without).contains("no /usr/local/bin/triptime on this host"),
        "{}",
        text(&without)
    );
    let wrong = hosts.play_tasks(
        "    - ansible.builtin.import_role: {name: triptime.host.audit}\n",
        &["-e", "triptime_audit_fail_on=high"],
    );
    assert!(
        text(&wrong).contains("value of triptime_audit_fail_on must be one of"),
        "{}",
        text(&wrong)
    );

    // An audit without an installation: this host is not set up for real time, and the copy is gone.
    let audited = hosts.play_tasks(
        "    - ansible.builtin.import_role: {name: triptime.host.audit}\n",
        &[
            "-e",
            "triptime_audit_binary={{ triptime_install_binary }} triptime_audit_cpus=1",
        ],
    );
    assert!(text(&audited).contains("Something failed: "), "{}", text(&audited));
    for output in [&other, &without, &wrong, &audited] {
        assert!(
            counts(output)
                .iter()
                .all(|(changed, failed)| (*changed, *failed) == (0, 1)),
            "{}",
            text(output)
        );
    }
    assert!(
        hosts.path().join("collected/relays1.audit.json").exists(),
        "the audit is written before the play fails"
    );
    assert_eq!(
        hosts.on(0, "ls -A /usr/local/bin; ls -d /tmp/triptime-*/triptime 2>/dev/null"),
        ""
    );
}
