//! Certificates: signed, checked by OpenSSH itself, judged again elsewhere, and broken in many ways.

mod bench;
mod tampered;
mod ways;

use bench::{Bench, NAMESPACE, outcome, ssh_keygen, unsigned};
use serde_json::Value;
use std::fs;
use support::{json, root_or_skip, run, stderr};

#[test]
fn a_certificate_is_checked_by_openssh_and_judged_again_elsewhere() {
    let bench = Bench::new();
    let certificate = bench.certificate();
    let verified = bench.verify(&[]);
    assert_eq!(
        (verified.status.code(), outcome(&verified).as_str()),
        (Some(0), "holds"),
        "{}",
        stderr(&verified)
    );
    let verified = json(&verified);
    assert_eq!(verified["verdict"], "pass");
    assert_eq!(verified["signatures"][0]["owner"], "supplier");
    assert_eq!(verified["runs"][0]["differences"], Value::Array(Vec::new()));

    // OpenSSH reads statement and signature, cut at the first line of the block.
    let (statement, signature) = certificate.split_at(unsigned(&certificate).len());
    fs::write(bench.path("cut.sig"), signature).expect("written");
    let arguments = [
        "-Y",
        "verify",
        "-n",
        "triptime-certificate",
        "-I",
        "supplier",
        "-f",
        "signers",
        "-s",
        "cut.sig",
    ];
    assert!(
        ssh_keygen(bench.folder(), &arguments, statement),
        "OpenSSH takes the signature"
    );
    assert!(
        !ssh_keygen(bench.folder(), &arguments, &statement.replacen("pass", "fail", 1)),
        "and refuses another text"
    );

    let nobody = run(&["verify", &bench.text("sat.certificate"), "--json"]);
    assert_eq!(
        (nobody.status.code(), outcome(&nobody).as_str()),
        (Some(3), "undecided")
    );
    let strict = bench.verify(&["--limits", &bench.limits("100us")]);
    assert_eq!(
        (strict.status.code(), json(&strict)["verdict"].as_str()),
        (Some(1), Some("fail"))
    );
    assert_eq!(
        outcome(&strict),
        "holds",
        "newer limits do not break what was certified"
    );
}

#[test]
fn openssh_signs_what_was_not_signed_and_a_witness_signs_too() {
    let bench = Bench::new();
    let later = bench.certify(&["--out", &bench.text("later.certificate")]);
    assert!(
        String::from_utf8_lossy(&later.stdout).contains("not signed yet: ssh-keygen -Y sign -n triptime-certificate")
    );
    let verify = |name: &str| {
        run(&[
            "verify",
            &bench.text(name),
            "--signers",
            &bench.text("signers"),
            "--json",
        ])
    };
    assert_eq!(outcome(&verify("later.certificate")), "undecided");
    bench.sign_again("later.certificate", "supplier", NAMESPACE);
    assert_eq!(
        outcome(&verify("later.certificate")),
        "holds",
        "the signature in later.certificate.sig"
    );

    bench.certificate();
    let added = run(&[
        "certify",
        "--countersign",
        &bench.text("sat.certificate"),
        "--key",
        &bench.text("witness"),
    ]);
    assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    let verified = json(&verify("sat.certificate"));
    let owners: Vec<_> = verified["signatures"]
        .as_array()
        .expect("two")
        .iter()
        .map(|each| each["owner"].clone())
        .collect();
    assert_eq!(owners, ["supplier", "witness"]);
}

/// The program, the certificate, its run and the list of keys: neither OpenSSH nor a folder for temporary files, and no kernel's files.
#[test]
fn a_system_with_nothing_else_judges_again_from_the_raw_files() {
    if !root_or_skip("a_system_with_nothing_else_judges_again_from_the_raw_files") {
        return;
    }
    let bench = Bench::new();
    bench.certificate();
    let system = bench.copy();
    fs::copy(support::binary(), system.path("triptime")).expect("copied");
    let verify = || {
        let mut chroot = std::process::Command::new("chroot");
        chroot.arg(system.folder()).env_remove("TMPDIR");
        let words = [
            "/triptime",
            "verify",
            "/sat.certificate",
            "--signers",
            "/signers",
            "--json",
        ];
        chroot.args(words).output().expect("chroot")
    };
    let verified = verify();
    assert_eq!(
        (verified.status.code(), outcome(&verified).as_str()),
        (Some(0), "holds"),
        "{}",
        stderr(&verified)
    );
    assert_eq!(json(&verified)["verdict"], "pass");
    // Judged from that file: another run in its place is no longer the one that was certified.
    fs::rename(system.path("unjudged.triptime"), system.path("sat.triptime")).expect("replaced");
    let other = verify();
    assert_eq!(
        (other.status.code(), outcome(&other).as_str()),
        (Some(1), "broken"),
        "{}",
        stderr(&other)
    );
}

/// A run file that was moved and renamed, and keys of the kinds that smart cards have.
#[test]
fn another_folder_and_keys_of_other_kinds_break_nothing() {
    let bench = Bench::new();
    bench.certificate();
    let moved = bench.copy();
    fs::rename(moved.path("sat.triptime"), moved.path("archive.triptime")).expect("moved");
    assert_eq!(outcome(&moved.verify(&[])), "undecided", "nobody named the file");
    let named = moved.verify(&[&moved.text("archive.triptime")]);
    assert_eq!((named.status.code(), outcome(&named).as_str()), (Some(0), "holds"));

    for kind in ["rsa", "ecdsa"] {
        assert!(ssh_keygen(
            bench.folder(),
            &["-q", "-t", kind, "-N", "", "-f", kind],
            ""
        ));
        let other = bench.copy();
        other.sign_again("sat.certificate", kind, NAMESPACE);
        let verified = json(&other.verify(&[]));
        assert_eq!(
            (&verified["outcome"], &verified["verdict"]),
            (&"undecided".into(), &"pass".into()),
            "{kind}"
        );
        assert!(verified["signatures"][0]["good"].is_null(), "{kind}: {verified}");
        // Beside a signature that is checked it does no harm.
        let block = fs::read_to_string(other.path("sat.certificate.sig")).expect("a signature");
        fs::write(bench.path("sat.certificate"), bench.certificate() + &block).expect("written");
        assert_eq!(outcome(&bench.verify(&[])), "holds", "{kind}");
    }
}

#[test]
fn what_cannot_be_certified_says_why() {
    let bench = Bench::new();
    let refused = |arguments: &[&str], status: i32, why: &str| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
    };
    let (run_file, key) = (bench.text("sat.triptime"), bench.text("locked"));
    assert!(ssh_keygen(
        bench.folder(),
        &["-q", "-t", "ed25519", "-N", "a secret", "-f", "locked"],
        ""
    ));
    refused(&["certify", &run_file, "--key", &key], 2, "sign with ssh-keygen");
    refused(
        &["certify", &run_file, "--key", &bench.text("signers")],
        2,
        "not a private key",
    );
    bench.certificate();
    refused(&["certify", &run_file], 2, "a certificate is never replaced");
    refused(
        &["certify", &bench.text("unjudged.triptime")],
        2,
        "no limits judge this run",
    );
    refused(&["certify", &bench.text("nothing.triptime")], 2, "nothing.triptime");
    refused(&["verify", &run_file], 2, "sat.triptime");
    refused(&["verify", &bench.text("signers")], 2, "not a certificate of triptime");
    let other = bench.text("unjudged.triptime");
    refused(
        &["verify", &bench.text("sat.certificate"), &other],
        2,
        "none of the runs of this certificate",
    );
}

#[test]
fn another_plan_is_named_and_options_that_change_it_are_deviations() {
    if !root_or_skip("another_plan_is_named_and_options_that_change_it_are_deviations") {
        return;
    }
    let bench = Bench::new();
    let plan = "name = \"short\"\nwhat = \"one step\"\nlimits = \"substation\"\nwindow = \"1s\"\n[cpus]\nhousekeeping = \"first\"\nmeasured = \"rest\"\n[[step]]\nprobe = \"wakeup\"\nduration = \"10s\"\ninterval = \"10ms\"\n";
    fs::write(bench.path("short.toml"), plan).expect("written");
    fs::write(bench.path("other.toml"), plan.replace("10ms", "20ms")).expect("written");
    let (file, limits) = (bench.text("short.triptime"), bench.limits("10s"));
    let measured = run(&[
        "qualify",
        &bench.text("short.toml"),
        "--duration",
        "1s",
        "--limits",
        &limits,
        "--out",
        &file,
        "--summary",
    ]);
    assert!(matches!(measured.status.code(), Some(0 | 3)), "{}", stderr(&measured));
    run(&["certify", &file, "--key", &bench.text("supplier")]);
    let text = fs::read_to_string(bench.path("short.certificate")).expect("a certificate");
    assert!(text.contains("options changed its plan: --duration 1s"), "{text}");
    let verify = |plan: &str| {
        let output = run(&[
            "verify",
            &bench.text("short.certificate"),
            "--signers",
            &bench.text("signers"),
            "--plan",
            &bench.text(plan),
            "--json",
        ]);
        outcome(&output)
    };
    assert_eq!(verify("short.toml"), "holds");
    assert_eq!(verify("other.toml"), "broken");

    // A trusted signer who keeps a deviation back.
    let without = unsigned(&text).replace("options changed its plan: --duration 1s", "nothing");
    fs::write(bench.path("short.certificate"), without).expect("written");
    bench.sign_again("short.certificate", "supplier", NAMESPACE);
    assert_eq!(verify("short.toml"), "broken");
}
