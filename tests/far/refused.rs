//! Far ends that refuse, or are refused: without the same secret, or the same program.

use crate::machines::{FarEnd, Machines, STEPS, alone, qualify, secret, words};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{binary, root_or_skip, stderr, triptime};

#[test]
fn who_has_no_secret_or_another_is_told_what_to_do() {
    if !root_or_skip("who_has_no_secret_or_another_is_told_what_to_do") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, right) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let wrong = secret(directory.path(), "wrong", "0123456789abcdeX");
    let out = directory.path().join("run.triptime").display().to_string();
    let far = FarEnd::start(&machines, &right);
    let refused = |words: &[String]| {
        let output = qualify(&machines, words);
        (output.status.code(), stderr(&output))
    };
    let all = words(directory.path(), STEPS, &wrong, &out);
    let (code, said) = refused(&all);
    assert!(code == Some(3) && said.contains("does not know the secret"), "{said}");
    let without = |names: [&str; 2]| -> Vec<String> {
        let pairs = all.iter().filter(|word| !names.contains(&word.as_str()));
        pairs.cloned().collect()
    };
    let (code, said) = refused(&without(["--secret", &wrong]));
    assert!(code == Some(2) && said.contains("--secret FILE"), "{said}");
    let (code, said) = refused(&without(["--nic", "pb0"]));
    assert!(code == Some(2) && said.contains("--nic IF"), "{said}");
    let output = far.end(Signal::INT);
    assert!(output.status.success());
    let (code, said) = refused(&words(directory.path(), STEPS, &right, &out));
    assert!(
        code == Some(3) && said.contains("start `triptime far IF --listen 192.0.2.2"),
        "{said}"
    );
    assert!(!Path::new(&out).exists(), "nothing was measured");
}

/// Every user of a machine can connect to its loopback interface, so the secret is needed there, too.
#[test]
fn without_a_secret_nothing_listens_or_connects_on_loopback() {
    for words in [
        &["far", "lo"][..],
        &["far", "lo", "--listen", "127.0.0.1:0"],
        &["qualify", "quick", "--nic", "lo", "--far", "127.0.0.1"],
    ] {
        let output = triptime().args(words).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            said.contains("--secret FILE is missing") && said.contains("/dev/urandom"),
            "{words:?}: {said}"
        );
    }
}

/// A copy of the program with another build ID, which is all that tells two builds of a version apart.
fn another_build(directory: &Path) -> PathBuf {
    let mut octets = std::fs::read(binary()).expect("the program");
    // Name, type and size of the note.
    let head = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let at = octets.windows(head.len()).position(|part| part == head);
    octets[at.expect("a build ID") + head.len()] ^= 1;
    let path = directory.join("triptime");
    std::fs::write(&path, octets).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    path
}

#[test]
fn another_build_of_the_same_version_is_told_what_to_do() {
    if !root_or_skip("another_build_of_the_same_version_is_told_what_to_do") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime").display().to_string();
    let program = another_build(directory.path());
    let far = FarEnd::of(Command::new(program), &machines, &secret, &[]);
    let output = qualify(&machines, &words(directory.path(), STEPS, &secret, &out));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("both must be the same: copy one of the two programs"),
        "{said}"
    );
    assert!(!Path::new(&out).exists(), "nothing was measured");
    assert!(far.end(Signal::INT).status.success());
}
