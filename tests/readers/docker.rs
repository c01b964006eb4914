//! Options for docker, read by its own client, which sends requests to a daemon that only stores them.

use super::{emitted, folder, host, judged, said, text, written};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// docker's client, unpacked; `None` if the test was skipped.
fn client(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/docker.io/usr/bin/docker");
    if !path.exists() {
        let why = format!("no {} (package docker.io): run scripts/need.sh test", path.display());
        testing::skip(test, &why);
        return None;
    }
    Some(path)
}

/// The client's answer, and its last request to the daemon.
fn asked(client: &Path, words: &[&str]) -> (Output, Value) {
    let own = folder();
    let socket = own.path().join("docker.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let daemon = thread::spawn(move || serve(&listener));
    let output = Command::new(client)
        .args(words)
        .env("DOCKER_HOST", format!("unix://{}", text(&socket)))
        .env("DOCKER_CONFIG", own.path())
        .output()
        .expect("docker starts");
    let mut end = UnixStream::connect(&socket).expect("a connection");
    end.write_all(b"END / HTTP/1.1\r\n\r\n").expect("the end");
    (output, daemon.join().expect("the daemon"))
}

/// Accepts requests (API 1.41 of the Docker Engine) until an invalid one comes; returns the last body that was JSON.
fn serve(listener: &UnixListener) -> Value {
    let mut last = Value::Null;
    for stream in listener.incoming() {
        let mut reader = BufReader::new(stream.expect("a connection"));
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).expect("a request");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if line.trim().is_empty() {
                break;
            }
            let line = line.to_ascii_lowercase();
            length = line
                .strip_prefix("content-length:")
                .map_or(length, |text| text.trim().parse().expect("a length"));
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        last = serde_json::from_slice(&body).unwrap_or(last);
        let answer = match first.split(' ').next() {
            Some("HEAD") => "",
            Some("GET" | "POST") => r#"{"Id":"relay","Warnings":[]}"#,
            _ => break,
        };
        let status = if first.contains("/create") {
            "201 Created"
        } else {
            "200 OK"
        };
        let head = "Api-Version: 1.41\r\nContent-Type: application/json\r\nConnection: close";
        let answer = format!(
            "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{answer}",
            answer.len()
        );
        reader.get_mut().write_all(answer.as_bytes()).expect("an answer");
    }
    last
}

/// Output of `docker inspect` for a container that is made with these options, and for its network.
fn made(client: &Path, options: &[&str], network: &Value) -> String {
    let (output, mut container) = asked(
        client,
        &[&["create", "--name=relay"][..], options, &["relay:1", "run"]].concat(),
    );
    assert!(output.status.success(), "{options:?}: {}", said(&output));
    let host = container["HostConfig"].take();
    json!([{"Name": "/relay", "Config": container, "HostConfig": host}, network]).to_string()
}

#[test]
fn dockers_client_takes_every_option_and_the_container_is_as_wanted() {
    let test = "dockers_client_takes_every_option_and_the_container_is_as_wanted";
    let Some(client) = client(test) else {
        return;
    };
    let bad = |file: &Path| judged("--container", file, "2-3", &["fail", "warn"]);
    for before in [
        &[][..],
        &[
            "--cpus=2",
            "--privileged",
            "--ulimit=rtprio=1",
            "--memory=1g",
            "--memory-swap=2g",
        ],
        &[
            "--cpu-quota=50000",
            "--cpuset-cpus=0",
            "--cap-drop=ALL",
            "--oom-score-adj=0",
            "--memory=16g",
        ],
        &["--cap-add=NET_ADMIN", "--memory=2g"],
    ] {
        let own = folder();
        let file = written(
            own.path(),
            "before.json",
            &made(&client, before, &json!({"Name": "none", "Driver": "null", "IPAM": {}})),
        );
        assert!(bad(&file).len() > 4, "{before:?}: {:?}", bad(&file));
        let lines = emitted(&host("debian-untuned"), &["--container", text(&file)], "docker");
        let options = lines
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.split(' '));
        let options: Vec<&str> = before.iter().copied().chain(options).collect();
        let network = lines.lines().find_map(|line| line.strip_prefix("# before: docker "));
        let words: Vec<&str> = network.expect("a network").split(' ').collect();
        let (output, network) = asked(&client, &words);
        assert!(output.status.success(), "{}", said(&output));
        let after = written(own.path(), "after.json", &made(&client, &options, &network));
        let left = judged("--container", &after, "2-3", &["fail", "warn", "unknown"]);
        let asks = |what: &str| {
            lines
                .lines()
                .any(|line| line.starts_with("# by hand: ") && line.contains(what))
        };
        let is_added = before.contains(&"--cap-add=NET_ADMIN");
        let expected = match (before.is_empty(), is_added) {
            (true, _) => &["ctr-memory-limits"][..],
            (_, true) => &["ctr-capabilities"],
            _ => &[],
        };
        assert_eq!(left, expected, "{before:?}: {lines}");
        assert_eq!(asks("no limit of memory"), before.is_empty(), "{lines}");
        assert_eq!(asks("take --cap-add=NET_ADMIN out"), is_added, "{lines}");
        assert_eq!(
            lines.contains("--memory=17179869184 "),
            before.contains(&"--memory=16g"),
            "{lines}"
        );
        let wrong = [&["create"], &options[..], &["--cpuset=2-3", "relay:1"]].concat();
        assert!(
            !asked(&client, &wrong).0.status.success(),
            "an option that is none is taken"
        );
    }
}

/// `docker update`, as in the audit's text.
#[test]
fn dockers_client_moves_a_container_that_runs() {
    let Some(client) = client("dockers_client_moves_a_container_that_runs") else {
        return;
    };
    let own = folder();
    let mut whole: Value = serde_json::from_str(&made(
        &client,
        &[],
        &json!({"Name": "none", "Driver": "null", "IPAM": {}}),
    ))
    .expect("JSON");
    let (output, update) = asked(&client, &["update", "--cpuset-cpus", "2-3", "relay"]);
    assert!(output.status.success(), "{}", said(&output));
    let bad = |whole: &Value| {
        let file = written(own.path(), "relay.json", &whole.to_string());
        judged("--container", &file, "2-3", &["fail"])
    };
    let before = bad(&whole);
    // The daemon ignores empty values.
    whole[0]["HostConfig"]["CpusetCpus"] = update["CpusetCpus"].clone();
    let mended: Vec<String> = before.iter().filter(|id| !bad(&whole).contains(id)).cloned().collect();
    assert_eq!(mended, ["ctr-cpuset"]);
}
