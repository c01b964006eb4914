//! A browser, controlled through its driver over HTTP.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Chromedriver on a free port, and one browser session. Both end when it is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts both, with an empty profile.
    ///
    /// # Panics
    /// Chromium or its driver is missing.
    pub fn open() -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|socket| socket.local_addr())
            .expect("a free port")
            .port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver: apt-get install chromium chromium-driver");
        let profile = tempfile::tempdir().expect("a directory for the browser's profile");
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        browser.wait_until_ready();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1280,900",
            &format!("--user-data-dir={}", browser._profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.ask("POST", "/session", &wanted);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        browser
    }

    fn wait_until_ready(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(
                Instant::now() < until,
                "chromedriver does not answer on port {}",
                self.port
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// One request to the driver; the `value` of its answer. An error of the driver ends the test with its message.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        let answer = self
            .exchange(method, path, &body)
            .expect("chromedriver answers within a minute");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let value: Value = serde_json::from_str(body).expect("JSON");
        assert!(
            value["value"]["error"].is_null(),
            "{method} {path}: {}",
            value["value"]["message"]
        );
        value["value"].clone()
    }

    fn exchange(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let (port, length) = (self.port, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        let mut answer = Vec::new();
        let mut part = [0u8; 65_536];
        // The driver keeps the connection open: the length in the header shows when the answer is complete.
        while !is_whole(&answer) {
            match stream.read(&mut part)? {
                0 => break,
                n => answer.extend_from_slice(&part[..n]),
            }
        }
        String::from_utf8(answer).map_err(|_| std::io::Error::other("an answer that is not text"))
    }

    /// One command of the session; the `value` of its answer.
    pub fn in_session(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Opens a page, and waits until it is loaded.
    pub fn go(&self, url: &str) {
        self.in_session("POST", "/url", &json!({ "url": url }));
    }

    /// Runs the body of a script in the page and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.in_session("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script returns true.
    pub fn wait_for(&self, what: &str, script: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.run(script) != json!(true) {
            assert!(Instant::now() < until, "not within 10 s: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Moves and presses the mouse.
    pub fn mouse(&self, actions: &Value) {
        let body = json!({"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]});
        self.in_session("POST", "/actions", &body);
    }

    /// Sets the size of the window.
    pub fn resize(&self, width: u32, height: u32) {
        self.in_session("POST", "/window/rect", &json!({"width": width, "height": height}));
    }

    /// Writes a picture of the window.
    pub fn screenshot(&self, path: &Path) {
        let png = self.in_session("GET", "/screenshot", &Value::Null);
        std::fs::write(path, from_base64(png.as_str().expect("base64"))).expect("the screenshot is written");
    }

    /// The page as PDF, as a person would print it.
    pub fn print(&self) -> Vec<u8> {
        let pdf = self.in_session(
            "POST",
            "/print",
            &json!({"background": true, "page": {"width": 21.0, "height": 29.7}}),
        );
        from_base64(pdf.as_str().expect("base64"))
    }

    /// One command of Chrome's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.in_session(
            "POST",
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// Errors of the browser since the last call.
    pub fn complaints(&self) -> Vec<Value> {
        let log = self.in_session("POST", "/se/log", &json!({"type": "browser"}));
        log.as_array().expect("a list").clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Also after a failed assertion: a driver that is killed leaves its browser running.
        if !self.session.is_empty() {
            let _ = self.exchange("DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|n| n.trim().parse::<usize>().ok());
    length.is_some_and(|length| answer.len() >= end + 4 + length)
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for value in text.bytes().filter_map(digit) {
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}
