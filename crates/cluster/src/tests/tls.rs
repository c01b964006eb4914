//! The server's certificate is checked, against the account's root and by its address.

use super::{name, patience};
use crate::Cluster;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn openssl(folder: &Path, words: &[&str]) -> bool {
    let run = Command::new("openssl")
        .args(words)
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    run.is_ok_and(|status| status.success())
}

/// A root, and a certificate for `address` that it signed: `NAME.ca`, `NAME.pem`, `NAME.key`.
fn certificates(folder: &Path, name: &str, address: &str) -> bool {
    let file = |kind: &str| format!("{name}.{kind}");
    let of_address = format!("subjectAltName=IP:{address}");
    let root = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=root",
    ];
    let (root_key, root_file) = (file("rootkey"), file("ca"));
    let root = [&root[..], &["-keyout", &root_key, "-out", &root_file]].concat();
    let (key, own) = (file("key"), file("pem"));
    let leaf = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=api",
    ];
    let signed = [
        "-CA",
        &root_file,
        "-CAkey",
        &root_key,
        "-addext",
        &of_address,
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ];
    let leaf = [&leaf[..], &signed, &["-keyout", &key, "-out", &own]].concat();
    openssl(folder, &root) && openssl(folder, &leaf)
}

/// A server of files, ended when it is dropped.
struct Files(Child, String);

impl Drop for Files {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &Path, name: &str) -> Files {
    let words = ["s_server", "-accept", "127.0.0.1:0", "-HTTP", "-naccept", "1"];
    let mut command = Command::new("openssl");
    command
        .args(words)
        .args(["-cert", &format!("{name}.pem"), "-key", &format!("{name}.key")]);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("openssl starts");
    let out = child.stdout.take().expect("a pipe");
    // It says `ACCEPT 127.0.0.1:PORT`.
    let lines = BufReader::new(out).lines().map_while(Result::ok);
    let address = lines
        .filter_map(|line| Some(line.strip_prefix("ACCEPT ")?.to_owned()))
        .next();
    Files(child, format!("https://{}", address.expect("an address")))
}

fn asked(folder: &Path, server: &str, root: &str) -> Result<String, String> {
    let account = folder.join(format!("account-{server}-{root}"));
    std::fs::create_dir(&account).expect("a folder");
    std::fs::write(account.join("token"), "secret").expect("written");
    std::fs::copy(folder.join(format!("{root}.ca")), account.join("ca.crt")).expect("copied");
    let served = serve(folder, server);
    let once = crate::Patience {
        attempts: 1,
        answer: std::time::Duration::from_secs(5),
        ..patience()
    };
    let cluster = Cluster::at(&served.1, &account, once).expect("a cluster");
    let map = cluster.config_map(&name());
    map.map(|map| map.data()["spec.timeout"].clone())
        .map_err(|error| error.to_string())
}

#[test]
fn only_the_server_that_the_accounts_root_vouches_for_is_told_the_token() {
    let test = "only_the_server_that_the_accounts_root_vouches_for_is_told_the_token";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    if !(certificates(path, "good", "127.0.0.1") && certificates(path, "other", "10.96.0.1")) {
        return testing::skip(test, "openssl cannot make certificates here: install openssl 3");
    }
    let file = path.join("api/v1/namespaces/relay/configmaps/triptime-config");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let object =
        "{\"kind\": \"ConfigMap\", \"metadata\": {\"resourceVersion\": \"1\"}, \"data\": {\"spec.timeout\": \"10m\"}}";
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", object.len());
    std::fs::write(file, format!("{head}{object}")).expect("written");
    assert_eq!(asked(path, "good", "good"), Ok("10m".to_owned()));
    let stranger = asked(path, "good", "other").expect_err("an unknown root");
    assert!(
        stranger.contains("UnknownIssuer") || stranger.contains("BadSignature"),
        "{stranger}"
    );
    let elsewhere = asked(path, "other", "other").expect_err("another address");
    assert!(elsewhere.contains("not valid for name"), "{elsewhere}");
}
