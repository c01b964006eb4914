//! As much of an API server as a checkup asks: one ConfigMap, read and replaced by its version.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

#[derive(Default)]
struct State {
    data: BTreeMap<String, String>,
    version: u64,
    /// Every state that the map had, the first one first.
    history: Vec<BTreeMap<String, String>>,
    forbidden: bool,
    /// How many of the next updates somebody else comes before.
    rivals: u32,
}

/// The server, and a folder with an account for it.
pub(crate) struct Api {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    account: TempDir,
}

impl Api {
    pub(crate) fn with(data: &[(&str, &str)]) -> Self {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let state = Arc::new(Mutex::new(State {
            data: data.iter().map(owned).collect(),
            version: 1,
            ..State::default()
        }));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let account = tempfile::tempdir().expect("a folder");
        std::fs::write(account.path().join("token"), "secret").expect("written");
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&stream.expect("a connection"), &mut served.lock().expect("a state"));
            }
        });
        Self { url, state, account }
    }

    pub(crate) fn account(&self) -> &str {
        self.account.path().to_str().expect("UTF-8")
    }

    pub(crate) fn forbid(&self) {
        self.state.lock().expect("a state").forbidden = true;
    }

    /// Somebody else changes the map before each of the next `updates`.
    pub(crate) fn send_rivals(&self, updates: u32) {
        self.state.lock().expect("a state").rivals = updates;
    }

    pub(crate) fn data(&self) -> BTreeMap<String, String> {
        self.state.lock().expect("a state").data.clone()
    }

    pub(crate) fn history(&self) -> Vec<BTreeMap<String, String>> {
        self.state.lock().expect("a state").history.clone()
    }
}

fn answer(mut stream: &TcpStream, state: &mut State) {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        match line.trim() {
            "" => break,
            line => lines.push(line.to_ascii_lowercase()),
        }
    }
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("a body");
    let is_known = lines.iter().any(|line| line == "authorization: bearer secret");
    let (status, object) = match (lines[0].split(' ').next(), is_known, state.forbidden) {
        (_, false, _) => (401, status("Unauthorized")),
        (_, _, true) => (403, status("configmaps is forbidden")),
        (Some("get"), ..) => (200, object(state)),
        _ => put(state, &serde_json::from_slice(&body).expect("JSON")),
    };
    let text = object.to_string();
    let head = format!(
        "HTTP/1.1 {status} So\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(format!("{head}{text}").as_bytes()).expect("sent");
}

fn status(message: &str) -> Value {
    json!({"kind": "Status", "message": message})
}

fn object(state: &State) -> Value {
    let metadata = json!({"name": "config", "namespace": "relay", "resourceVersion": state.version.to_string()});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": state.data})
}

fn put(state: &mut State, sent: &Value) -> (u16, Value) {
    if state.rivals > 0 {
        state.rivals -= 1;
        state.version += 1;
        state
            .data
            .insert(format!("rival.{}", state.rivals), "was here".to_owned());
    }
    if sent["metadata"]["resourceVersion"] != *state.version.to_string() {
        return (409, status("the object has been modified"));
    }
    let before = std::mem::replace(
        &mut state.data,
        serde_json::from_value(sent["data"].clone()).expect("texts"),
    );
    state.history.push(before);
    state.version += 1;
    (200, object(state))
}
