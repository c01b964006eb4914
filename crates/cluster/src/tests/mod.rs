mod server;
mod tls;

use super::{Cluster, ClusterError, MapName, Patience};
use serde_json::{Value, json};
use server::{Answer, Request, Server};
use std::time::Duration;
use tempfile::TempDir;

fn patience() -> Patience {
    Patience {
        answer: Duration::from_millis(400),
        pause: Duration::from_millis(1),
        attempts: 4,
    }
}

fn account() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("token"), "secret\n").expect("written");
    folder
}

fn name() -> MapName {
    MapName::new("relay", "triptime-config").expect("a name")
}

fn map(version: &str) -> Answer {
    let data = json!({"spec.timeout": "10m", "status.succeeded": "true"});
    let metadata = json!({"name": "triptime-config", "resourceVersion": version, "labels": {"kept": "yes"}});
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data, "immutable": false});
    Answer::Says(200, object.to_string())
}

fn status(code: u16, message: &str) -> Answer {
    Answer::Says(code, json!({"kind": "Status", "message": message}).to_string())
}

/// Reads the map from a server that answers so; also what was asked.
fn get(answers: Vec<Answer>) -> (Result<String, ClusterError>, Vec<Request>) {
    let (server, account) = (Server::start(answers), account());
    let cluster = Cluster::at(&server.url, account.path(), patience()).expect("a cluster");
    let map = cluster.config_map(&name());
    (map.map(|map| map.data()["spec.timeout"].clone()), server.requests())
}

/// Replaces the status on a server that answers so; also what was asked.
fn update(answers: Vec<Answer>) -> (Result<(), ClusterError>, Vec<Request>) {
    let (server, account) = (Server::start(answers), account());
    let cluster = Cluster::at(&server.url, account.path(), patience()).expect("a cluster");
    let changed = cluster.update(&name(), |data| {
        data.retain(|key, _| !key.starts_with("status."));
        data.insert("status.startTimestamp".into(), "now".into());
    });
    (changed, server.requests())
}

#[test]
fn a_map_is_read_with_the_accounts_token() {
    let (read, asked) = get(vec![map("7")]);
    assert_eq!(read.expect("a map"), "10m");
    assert_eq!(
        asked[0].line,
        "GET /api/v1/namespaces/relay/configmaps/triptime-config HTTP/1.1"
    );
    assert_eq!(asked[0].authorization, "Bearer secret");
}

#[test]
fn an_update_keeps_what_it_does_not_know_and_names_the_version_it_read() {
    let (done, asked) = update(vec![map("7"), map("8")]);
    done.expect("updated");
    let sent: Value = serde_json::from_str(&asked[1].body).expect("JSON");
    assert!(
        asked[1]
            .line
            .starts_with("PUT /api/v1/namespaces/relay/configmaps/triptime-config ")
    );
    assert_eq!(sent["metadata"]["resourceVersion"], "7");
    assert_eq!(sent["metadata"]["labels"]["kept"], "yes");
    assert_eq!(
        sent["data"],
        json!({"spec.timeout": "10m", "status.startTimestamp": "now"})
    );
}

#[test]
fn a_change_in_between_is_read_and_kept() {
    let (done, asked) = update(vec![
        map("7"),
        status(409, "the object has been modified"),
        map("9"),
        map("10"),
    ]);
    done.expect("updated");
    let sent: Value = serde_json::from_str(&asked[3].body).expect("JSON");
    assert_eq!(sent["metadata"]["resourceVersion"], "9");
}

#[test]
fn a_server_that_hangs_up_is_overloaded_or_silent_is_asked_again() {
    for bad in [
        Answer::HangsUp,
        status(503, "overloaded"),
        status(429, "too many"),
        Answer::IsSilent,
    ] {
        let (read, asked) = get(vec![bad, map("7")]);
        assert_eq!(read.expect("a map"), "10m");
        assert_eq!(asked.len(), 2);
    }
}

#[test]
fn it_gives_up_after_its_attempts() {
    let answers = std::iter::repeat_with(|| status(500, "broken")).take(4);
    let (read, asked) = get(answers.collect());
    assert!(matches!(read, Err(ClusterError::Refused { status: 500, .. })));
    assert_eq!(asked.len(), 4);
    let conflicts = std::iter::repeat_with(|| [map("7"), status(409, "modified")])
        .take(4)
        .flatten();
    let (done, _) = update(conflicts.collect());
    assert!(matches!(done, Err(ClusterError::Refused { status: 409, .. })));
}

#[test]
fn a_refusal_is_final_and_says_what_to_do() {
    let (read, asked) = get(vec![
        status(403, "configmaps \"triptime-config\" is forbidden"),
        map("7"),
    ]);
    let text = read.expect_err("refused").to_string();
    assert_eq!(asked.len(), 1, "asked once");
    assert!(text.contains(
        "status 403: configmaps \"triptime-config\" is forbidden (the service account needs the verbs get and update"
    ));
    let (read, _) = get(vec![status(404, "not found")]);
    assert!(
        read.expect_err("refused")
            .to_string()
            .contains("apply the ConfigMap first")
    );
}

#[test]
fn an_answer_that_is_no_map_is_an_error() {
    let wrong = [
        ("{\"kind\": \"Conf", "no JSON"),
        ("[]", "kind is null"),
        ("{\"kind\": \"Secret\"}", "kind is \"Secret\""),
        ("{\"kind\": \"ConfigMap\"}", "no metadata.resourceVersion"),
        (
            "{\"kind\": \"ConfigMap\", \"metadata\": {\"resourceVersion\": \"1\"}, \"data\": {\"a\": 1}}",
            "no map of texts",
        ),
    ];
    for (body, why) in wrong {
        let (read, asked) = get(vec![Answer::Says(200, body.to_owned())]);
        let text = read.expect_err(body).to_string();
        assert!(text.contains(why), "{text}");
        assert_eq!(asked.len(), 1);
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let account = account();
    let cluster = Cluster::at("http://127.0.0.1:1", account.path(), patience()).expect("a cluster");
    let text = cluster.config_map(&name()).expect_err("nobody").to_string();
    assert!(text.starts_with("http://127.0.0.1:1: "), "{text}");
}

#[test]
fn the_token_is_not_sent_in_the_clear_to_another_machine() {
    let account = account();
    for server in [
        "http://10.96.0.1:80",
        "http://localhost@10.96.0.1",
        "http://example.org",
    ] {
        let error = Cluster::at(server, account.path(), patience()).expect_err(server);
        assert!(error.to_string().contains("ask for it by https"), "{error}");
    }
    for server in ["http://127.0.0.1:80", "http://localhost:80", "http://[::1]:80/"] {
        Cluster::at(server, account.path(), patience()).expect(server);
    }
}

#[test]
fn names_cannot_leave_their_path() {
    assert!(MapName::new("relay", "a.b-c1").is_ok());
    for wrong in ["", "../x", "a/b", "A", "-a", "a?", "a ", "a\n"] {
        assert!(
            MapName::new(wrong, "a").is_err() && MapName::new("a", wrong).is_err(),
            "{wrong:?}"
        );
    }
}
