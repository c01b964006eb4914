//! A folder with a run that passes, two keys and the list of both.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::{json, run, stderr};
use tempfile::TempDir;

/// Namespace of the signatures of certificates.
pub(crate) const NAMESPACE: &str = "triptime-certificate";

pub(crate) struct Bench(TempDir);

impl Bench {
    /// A run of an application's maxima that passes its limit, one that nothing judges, and the keys `supplier` and `witness`.
    pub(crate) fn new() -> Self {
        let bench = Self(tempfile::tempdir().expect("a directory"));
        bench.import("sat", 430, &["--limits", &bench.limits("1ms")]);
        bench.import("unjudged", 430, &[]);
        let mut signers = String::new();
        for name in ["supplier", "witness"] {
            assert!(ssh_keygen(
                bench.folder(),
                &["-q", "-t", "ed25519", "-N", "", "-f", name],
                ""
            ));
            let public = fs::read_to_string(bench.path(&format!("{name}.pub"))).expect("a public key");
            signers.push_str(&format!("{name} {public}"));
        }
        fs::write(bench.path("signers"), signers).expect("written");
        bench
    }

    /// A bench with copies of the files of this one.
    pub(crate) fn copy(&self) -> Self {
        let copy = tempfile::tempdir().expect("a directory");
        for file in fs::read_dir(self.folder()).expect("readable").flatten() {
            fs::copy(file.path(), copy.path().join(file.file_name())).expect("copied");
        }
        Self(copy)
    }

    /// Makes the run `NAME.triptime` of maxima that begin at `first_us`.
    pub(crate) fn import(&self, name: &str, first_us: u64, more: &[&str]) {
        let log = self.path(&format!("{name}.csv"));
        let lines: String = (1..=9)
            .map(|n| format!("{},20000,{}\n", 1000 + 20 * n, first_us + n))
            .collect();
        fs::write(&log, format!("time,task/VPC count,task/VPC max_us\n{lines}")).expect("written");
        let file = self.text(&format!("{name}.triptime"));
        let output = run(&[
            &["import", log.to_str().expect("text"), "--out", &file, "--summary"],
            more,
        ]
        .concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }

    /// A limit profile with one limit on the longest task.
    pub(crate) fn limits(&self, allowed: &str) -> String {
        let text = format!(
            "name = \"own\"\nwhat = \"tests\"\n[[limit]]\nid = \"any.max\"\nseries = \"*\"\nquantity = \"max\"\nallowed = \"{allowed}\"\nsource = \"this test\"\n"
        );
        let file = format!("limits-{allowed}.toml");
        fs::write(self.path(&file), text).expect("written");
        self.text(&file)
    }

    /// The text of `sat.certificate`, signed by the supplier; made where it is missing.
    pub(crate) fn certificate(&self) -> String {
        if !self.path("sat.certificate").exists() {
            let output = self.certify(&["--key", &self.text("supplier")]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        }
        fs::read_to_string(self.path("sat.certificate")).expect("a certificate")
    }

    pub(crate) fn certify(&self, more: &[&str]) -> Output {
        run(&[&["certify", &self.text("sat.triptime")], more].concat())
    }

    pub(crate) fn verify(&self, more: &[&str]) -> Output {
        self.verify_as_text(&[&["--json"], more].concat())
    }

    /// The answer for people.
    pub(crate) fn verify_as_text(&self, more: &[&str]) -> Output {
        let (file, signers) = (self.text("sat.certificate"), self.text("signers"));
        run(&[&["verify", &file, "--signers", &signers], more].concat())
    }

    /// Cuts the signatures off a file, and lets OpenSSH sign the rest with this key.
    pub(crate) fn sign_again(&self, file: &str, key: &str, namespace: &str) {
        let text = fs::read_to_string(self.path(file)).expect("there");
        fs::write(self.path(file), unsigned(&text)).expect("written");
        let arguments = ["-Y", "sign", "-q", "-n", namespace, "-f", key, file];
        assert!(ssh_keygen(self.folder(), &arguments, ""));
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }
}

/// The part of a certificate that is signed.
pub(crate) fn unsigned(text: &str) -> String {
    text.split("-----BEGIN").next().unwrap_or_default().to_owned()
}

/// The word of a verification, `unreadable` where there is none.
pub(crate) fn outcome(output: &Output) -> String {
    if output.stdout.is_empty() {
        return "unreadable".to_owned();
    }
    json(output)["outcome"].as_str().expect("an outcome").to_owned()
}

/// Runs OpenSSH's program on a text; returns whether it succeeded.
pub(crate) fn ssh_keygen(folder: &Path, arguments: &[&str], text: &str) -> bool {
    let mut command = Command::new("ssh-keygen");
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("ssh-keygen (scripts/need.sh test)");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    child.wait().expect("ended").success()
}
