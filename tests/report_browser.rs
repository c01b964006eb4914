//! The HTML report in a real browser: it opens without a complaint, shows the figures of the result document, zooms, opens
//! and closes, prints. Needs the Debian packages `chromium` and `chromium-driver`.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Chromedriver on a free port, and one browser session. Both end when it is dropped.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn open() -> Self {
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
        // The driver keeps the connection open: the length in the head says when the answer is whole.
        while !is_whole(&answer) {
            match stream.read(&mut part)? {
                0 => break,
                n => answer.extend_from_slice(&part[..n]),
            }
        }
        String::from_utf8(answer).map_err(|_| std::io::Error::other("an answer that is not text"))
    }

    fn in_session(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    fn go(&self, url: &str) {
        self.in_session("POST", "/url", &json!({ "url": url }));
    }

    /// Runs a script's body in the page and gives what it returns.
    fn run(&self, script: &str) -> Value {
        self.in_session("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script gives true.
    fn wait_for(&self, what: &str, script: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.run(script) != json!(true) {
            assert!(Instant::now() < until, "not within 10 s: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn mouse(&self, actions: &Value) {
        let body = json!({"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]});
        self.in_session("POST", "/actions", &body);
    }

    fn resize(&self, width: u32, height: u32) {
        self.in_session("POST", "/window/rect", &json!({"width": width, "height": height}));
    }

    fn screenshot(&self, path: &Path) {
        let png = self.in_session("GET", "/screenshot", &Value::Null);
        std::fs::write(path, from_base64(png.as_str().expect("base64"))).expect("the screenshot is written");
    }

    /// The page as PDF, as a person would print it.
    fn print(&self) -> Vec<u8> {
        let pdf = self.in_session(
            "POST",
            "/print",
            &json!({"background": true, "page": {"width": 21.0, "height": 29.7}}),
        );
        from_base64(pdf.as_str().expect("base64"))
    }

    /// What the browser complained about since the last time it was asked.
    fn complaints(&self) -> Vec<Value> {
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

/// A report and its result document, made by the example of the report crate.
fn make_report(directory: &Path, kind: &str) -> (PathBuf, Value) {
    let html = directory.join(format!("{kind}.html"));
    // In the workspace and not in its package, whose dependencies alone would be compiled again, with fewer features.
    let made = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "synthetic_report", "--"])
        .arg(&html)
        .arg(kind)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()
        .expect("cargo");
    assert!(made.success(), "the example could not be run");
    let document = std::fs::read_to_string(format!("{}.json", html.display())).expect("the result document");
    (html, serde_json::from_str(&document).expect("JSON"))
}

/// Where screenshots go: beside other build results.
fn shots() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-shots");
    std::fs::create_dir_all(&directory).expect("a directory for screenshots");
    directory
}

/// The range a chart shows, or nothing while it is not drawn.
fn range(browser: &Browser, chart: &str) -> (f64, f64) {
    let found = browser.run(&format!(
        "const d = document.querySelector('{chart}').dataset; return [Number(d.min), Number(d.max)];"
    ));
    (
        found[0].as_f64().expect("a number"),
        found[1].as_f64().expect("a number"),
    )
}

/// A point of a chart's drawing area, as shares of its width and height, in pixels of the window.
fn point(browser: &Browser, chart: &str, across: f64, down: f64) -> (i64, i64) {
    let found = browser.run(&format!(
        "const chart = document.querySelector('{chart}'); chart.scrollIntoView({{block: 'center'}});
         const box = chart.querySelector('.u-over').getBoundingClientRect();
         return [box.left + box.width * {across}, box.top + box.height * {down}];"
    ));
    (
        found[0].as_f64().expect("a number") as i64,
        found[1].as_f64().expect("a number") as i64,
    )
}

fn move_to((x, y): (i64, i64)) -> Value {
    json!({"type": "pointerMove", "duration": 30, "x": x, "y": y})
}

fn drag(browser: &Browser, from: (i64, i64), to: (i64, i64)) {
    let button = |kind: &str| json!({"type": kind, "button": 0});
    browser.mouse(&json!([
        move_to(from),
        button("pointerDown"),
        move_to(to),
        button("pointerUp")
    ]));
}

fn double_click(browser: &Browser, at: (i64, i64)) {
    let button = |kind: &str| json!({"type": kind, "button": 0});
    let (down, up) = (button("pointerDown"), button("pointerUp"));
    browser.mouse(&json!([move_to(at), down, up, down, up]));
}

/// Drags across the middle of a chart, checks that it shows less, and gets all of it back.
fn zooms(browser: &Browser, chart: &str) {
    browser.run(&format!(
        "document.querySelector('{chart}').scrollIntoView({{block: 'center'}});"
    ));
    browser.wait_for(
        &format!("{chart} is drawn"),
        &format!("return document.querySelector('{chart}').dataset.max !== undefined;"),
    );
    let whole = range(browser, chart);
    let (from, to) = (point(browser, chart, 0.3, 0.5), point(browser, chart, 0.6, 0.5));
    drag(browser, from, to);
    let part = range(browser, chart);
    assert!(part.0 > whole.0 && part.1 < whole.1, "{chart}: {part:?} of {whole:?}");
    double_click(browser, from);
    assert_eq!(range(browser, chart), whole, "{chart} after a double click");
}

#[test]
fn the_report_opens_shows_its_figures_zooms_and_prints() {
    let directory = tempfile::tempdir().expect("a directory");
    let browser = Browser::open();
    for kind in ["pass", "fail", "doubt"] {
        let (html, document) = make_report(directory.path(), kind);
        browser.resize(1280, 900);
        browser.go(&format!("file://{}", html.display()));
        browser.wait_for(
            "the first chart",
            "return document.documentElement.classList.contains('js');",
        );
        browser.screenshot(&shots().join(format!("{kind}-first.png")));
        shows_the_figures_of(&browser, &document);
        for chart in ["bars", "time"] {
            zooms(&browser, &format!(".chart[data-chart={chart}]"));
        }
        prints(&browser, &shots().join(format!("{kind}.pdf")));
        whole_page(&browser, &shots().join(format!("{kind}-whole.png")));
        gives_its_figures(&browser);
        fits_a_narrow_screen(&browser);
        assert_eq!(
            browser.complaints(),
            Vec::<Value>::new(),
            "{kind}: the browser complained"
        );
    }
}

/// Verdict, checks and maxima on the page are those of the document.
fn shows_the_figures_of(browser: &Browser, document: &Value) {
    let verdict = browser.run("return document.getElementById('verdict').textContent.trim();");
    let word = document["verdict"]
        .as_str()
        .map(|word| match document["coverage"].as_str() {
            Some("partial") if word == "pass" => "partial pass",
            _ => word,
        });
    assert_eq!(verdict.as_str().map(str::to_lowercase).as_deref(), word);
    let checks = browser.run("return document.querySelectorAll('tr.check [data-measured]').length;");
    assert_eq!(
        checks.as_u64(),
        document["checks"].as_array().map(|checks| checks.len() as u64)
    );
    for series in document["series"].as_array().expect("series") {
        let name = series["name"].as_str().expect("a name");
        let shown = browser.run(&format!(
            "return document.querySelector('[data-max-of=\"{name}\"]').textContent;"
        ));
        let max_ns = series["max"].as_f64().expect("a maximum");
        assert_eq!(shown.as_str(), Some(units::format_ns(max_ns).as_str()), "{name}");
    }
}

/// A chart's figures as CSV: a head that names the lines, and a row for each window.
fn gives_its_figures(browser: &Browser) {
    let text = browser.run(
        "const link = document.querySelector('[data-csv=time]'); let blob;
         const made = URL.createObjectURL; URL.createObjectURL = (b) => { blob = b; return made.call(URL, b); };
         link.addEventListener('click', (event) => event.preventDefault()); link.click(); URL.createObjectURL = made;
         return link.download + '\\n' + blob.size;",
    );
    let (name, size) = text
        .as_str()
        .and_then(|text| text.split_once('\n'))
        .expect("a name and a size");
    assert!(name.ends_with("-wakeup-time.csv"), "{name}");
    assert!(size.parse::<u64>().is_ok_and(|size| size > 500), "{size} octets");
}

/// On 420 pixels no part of the page scrolls the whole of it sideways.
fn fits_a_narrow_screen(browser: &Browser) {
    browser.in_session(
        "POST",
        "/goog/cdp/execute",
        &json!({"cmd": "Emulation.setDeviceMetricsOverride",
                "params": {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": false}}),
    );
    let width = browser.run("return document.documentElement.scrollWidth;");
    assert_eq!(width, json!(420));
    browser.in_session(
        "POST",
        "/goog/cdp/execute",
        &json!({"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}}),
    );
}

fn prints(browser: &Browser, path: &Path) {
    let record = "return document.getElementById('record').getBoundingClientRect().height;";
    assert_eq!(browser.run(record), json!(0), "the record is for paper");
    let pdf = browser.print();
    assert!(pdf.starts_with(b"%PDF"));
    let pages = pdf
        .windows(12)
        .filter(|octets| octets.starts_with(b"/Type /Page\n"))
        .count();
    assert!((4..=16).contains(&pages), "{pages} pages");
    std::fs::write(path, pdf).expect("the PDF is written");
}

fn whole_page(browser: &Browser, path: &Path) {
    let height = browser.run("scrollTo(0, 0); return document.documentElement.scrollHeight;");
    browser.resize(
        1280,
        u32::try_from(height.as_u64().unwrap_or(4000))
            .unwrap_or(4000)
            .min(15_000),
    );
    browser.wait_for(
        "charts in sight are drawn",
        "return document.querySelectorAll('.chart.live').length > 0;",
    );
    browser.screenshot(path);
}
