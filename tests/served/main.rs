//! A run that is served while it is measured: who gets what, and when it ends. Also in a browser, and by Prometheus.

mod asked;
mod ended;
mod page;
mod scraped;

use asked::{Answer, Way, ask, ask_with};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{run, signal, stderr, triptime, until_file, wait};
use testing::Running;

/// Longest wait for a page, on a machine that runs other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// A port of the loopback interface that the command chooses.
const ANY: &str = "127.0.0.1:0";

/// A command that serves, in a folder of its own.
struct Served {
    run: Running,
    folder: tempfile::TempDir,
    way: Way,
}

impl Served {
    /// Measures wake-ups for some minutes at most, on a free port of the loopback interface.
    fn start(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::at(folder, ANY, more)
    }

    fn at(folder: tempfile::TempDir, address: &str, more: &[&str]) -> Self {
        let file = folder.path().join("run.triptime");
        let mut command = triptime();
        command.args([
            "wakeup",
            "--duration",
            "3m",
            "--window",
            "200ms",
            "--policy",
            "other",
            "--out",
        ]);
        command.arg(&file).args(["--serve", address]).args(more);
        let served = Self::of(command, folder, address);
        until_file(&file);
        served
    }

    /// Starts a command that serves at this address.
    fn of(mut command: Command, folder: tempfile::TempDir, address: &str) -> Self {
        command.env("TRIPTIME_RUNTIME_DIR", folder.path().join("runs"));
        let messages = messages(&folder);
        let to = fs::File::create(&messages).expect("a file");
        let run = Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(to));
        let way = match address.strip_prefix("unix:") {
            Some(path) => Way::Socket(path.into()),
            None => Way::told_in(&messages),
        };
        Self { run, folder, way }
    }

    /// Ends it as Ctrl-C does; returns its exit status, its messages, and its folder.
    fn end(self) -> (Option<i32>, String, tempfile::TempDir) {
        let output = support::end(self.run, &["a command that serves"]);
        let said = fs::read_to_string(messages(&self.folder)).expect("its messages");
        (output.status.code(), said, self.folder)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("run.triptime")
    }

    /// Waits until an answer to this path contains a text.
    fn until(&self, path: &str, part: &str) -> Answer {
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = ask(&self.way, path);
            if let Some(answer) = answer.as_ref().filter(|answer| answer.text.contains(part)) {
                return answer.clone();
            }
            assert!(Instant::now() < end, "{path} has no {part}: {answer:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Number of the process that serves.
    fn server(&self) -> u32 {
        let task = format!("/proc/{}/task/{}/children", self.run.id(), self.run.id());
        let is_it = |number: &u32| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            line.split(|octet| *octet == 0).nth(1) == Some(b"serve")
        };
        let children = fs::read_to_string(task).expect("children");
        let mut numbers = children.split_whitespace().filter_map(|number| number.parse().ok());
        numbers.find(is_it).expect("a process that serves")
    }

    fn kill(mut self) -> (tempfile::TempDir, Way) {
        self.run.kill().expect("our own child");
        self.run.wait().expect("ended");
        (self.folder, self.way)
    }
}

/// Messages of the command: in a file, to be read while it runs and afterwards.
fn messages(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("messages.txt")
}

/// Limits that every run keeps, so that the only doubt is that the run goes on.
fn limits(folder: &Path, allowed: &str) -> String {
    let text = format!(
        "name = \"site\"\nwhat = \"a test\"\n[[limit]]\nid = \"wakeup.max\"\nseries = \"wakeup/*\"\nquantity = \"max\"\nallowed = \"{allowed}\"\n\
         source = \"a test\"\n"
    );
    let path = folder.join("limits.toml");
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn within(allowed: &str, more: &[&str]) -> Served {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = limits(folder.path(), allowed);
    let mut words = vec!["--limits", &limits];
    words.extend(more);
    Served::at(folder, ANY, &words)
}

#[test]
fn a_run_under_way_has_a_page_metrics_and_a_document_and_never_passes() {
    let served = within("60s", &[]);
    let page = served.until("/", "course-wakeup");
    assert!(page.text.contains("Within so far</h1>"), "{}", page.text);
    assert!(!page.text.to_lowercase().contains("pass</h1>"), "{}", page.text);
    assert!(page.text.contains("data-state=\"measuring\""), "{}", page.text);
    let metrics = served.until("/metrics", "triptime_sample_max_seconds{");
    for line in [
        "triptime_run_state{command=\"wakeup\",state=\"measuring\"} 1",
        "triptime_run_complete{command=\"wakeup\"} 0",
        "triptime_run_verdict{command=\"wakeup\"} 2",
    ] {
        assert!(
            metrics.text.lines().any(|found| found == line),
            "{line}: {}",
            metrics.text
        );
    }
    assert!(metrics.text.contains("triptime_run_left_seconds{") && metrics.text.ends_with("# EOF\n"));
    let values: Vec<&str> = lines(&metrics.text, "triptime_verdict{").collect();
    assert!(
        !values.is_empty() && values.iter().all(|line| line.ends_with(" 2")),
        "{values:?}"
    );
    assert!(
        metrics
            .head
            .contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{}",
        metrics.head
    );
    let document: Value = serde_json::from_str(&served.until("/result.json", "wakeup/cpu").text).expect("JSON");
    assert_eq!(
        (&document["run"]["state"], &document["verdict"]),
        (&"running".into(), &"inconclusive".into())
    );
    let why = document["checks"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("still measured"), "{why}");
    let way = served.way.clone();
    let (status, said, _) = served.end();
    assert_eq!(status, Some(3), "ended early: {said}");
    assert!(ask(&way, "/").is_none(), "the server ends with its run");
}

fn lines<'a>(text: &'a str, begin: &str) -> impl Iterator<Item = &'a str> {
    text.lines().filter(move |line| line.starts_with(begin))
}

#[test]
fn a_limit_that_is_exceeded_fails_so_far() {
    let served = within("1ns", &[]);
    let metrics = served.until("/metrics", "triptime_run_verdict{command=\"wakeup\"} 1");
    assert!(metrics.text.contains("triptime_limit_seconds{"), "{}", metrics.text);
    served.until("/", "Fails so far</h1>");
    let (status, said, _) = served.end();
    assert_eq!(status, Some(1), "{said}");
}

#[test]
fn a_killed_run_takes_its_server_with_it_and_is_told() {
    let served = Served::start(&[]);
    served.until("/metrics", "triptime_sample_max_seconds{");
    let server = served.server();
    let (folder, way) = served.kill();
    let begin = Instant::now();
    while Path::new(&format!("/proc/{server}")).exists() {
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "process {server} is still there"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(ask(&way, "/").is_none());
    let file = folder.path().join("run.triptime").display().to_string();
    let mut command = triptime();
    command.args(["serve", &file, "--listen", ANY]);
    let later = Served::of(command, folder, ANY);
    let metrics = later.until("/metrics", "state=\"killed\"} 1");
    assert!(
        metrics.text.contains("triptime_run_complete{command=\"wakeup\"} 0"),
        "{}",
        metrics.text
    );
    let page = later.until("/", "data-state=\"killed\"");
    assert!(
        page.text.contains("is gone") && !page.text.contains("so far"),
        "{}",
        page.text
    );
    signal(&later.run, Signal::TERM);
    let output = wait(later.run, &["serve"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn readers_from_elsewhere_need_the_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    fs::write(&token, "0123456789abcdef0123\n").expect("written");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("set");
    let all = "0.0.0.0:0";
    let refused = run(&["wakeup", "--duration", "1s", "--serve", all]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("token"), "{}", stderr(&refused));
    let token = token.display().to_string();
    let served = Served::at(folder, all, &["--serve-token", &token]);
    let begin = Instant::now();
    let without = loop {
        match ask(&served.way, "/metrics") {
            Some(answer) => break answer,
            None => assert!(begin.elapsed() < PATIENCE),
        }
    };
    assert_eq!(without.status, 401, "{}", without.head);
    assert!(without.head.contains("www-authenticate: basic"), "{}", without.head);
    let with = |value: &str| ask_with(&served.way, "GET", "/metrics", &[("Authorization", value)]).expect("an answer");
    assert_eq!(with("Bearer 0123456789abcdef0123").status, 200);
    // reader:0123456789abcdef0123
    assert_eq!(with("Basic cmVhZGVyOjAxMjM0NTY3ODlhYmNkZWYwMTIz").status, 200);
    assert_eq!(with("Bearer 0123456789abcdef0124").status, 401);
    let shown = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    assert!(
        !String::from_utf8_lossy(&shown.stdout).contains("0123456789abcdef0123"),
        "it is on no command line"
    );
}

#[test]
fn a_socket_is_its_owners_and_goes_with_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("live.sock");
    let served = Served::at(folder, &format!("unix:{}", socket.display()), &[]);
    served.until("/metrics", "triptime_run_state{");
    let mode = fs::metadata(&socket).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (_, said, _folder) = served.end();
    assert!(!socket.exists(), "{said}");
}

#[test]
fn only_reading_is_answered_and_only_by_names_of_this_machine() {
    let served = Served::start(&[]);
    served.until("/metrics", "triptime_run_state{");
    let status = |method: &str, path: &str, headers: &[(&str, &str)]| {
        ask_with(&served.way, method, path, headers).map_or(0, |answer| answer.status)
    };
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        assert_eq!(status(method, "/", &[]), 405, "{method}");
    }
    assert_eq!(status("GET", "/", &[("Host", "attacker.example")]), 421);
    assert_eq!(status("GET", "/../../etc/passwd", &[]), 404);
    assert_eq!(status("GET", "/", &[("X-Long", &"x".repeat(20_000))]), 431);
    assert_eq!(status("GET", "/result.json", &[]), 200);
}

#[test]
fn a_taken_address_ends_the_command_before_it_measures() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.triptime");
    let output = run(&[
        "wakeup",
        "--duration",
        "1s",
        "--serve",
        &port,
        "--out",
        &file.display().to_string(),
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(!file.exists() && stderr(&output).contains(&port), "{}", stderr(&output));
    let several = run(&["capacity", "--serve", "0"]);
    assert_eq!(several.status.code(), Some(2), "{}", stderr(&several));
    let matrix = run(&["qualify", "matrix", "--serve", "0", "--dry-run"]);
    assert_eq!(matrix.status.code(), Some(2), "{}", stderr(&matrix));
}

/// Fifty readers of everything for a while, some of whom say nothing or stop in the middle: memory and open files stay as they are.
#[test]
fn fifty_readers_leave_memory_as_it_is() {
    let served = within("60s", &[]);
    served.until("/", "course-wakeup");
    read_by(&served, 50, |answers| answers < 6);
    let server = served.server();
    let before = resident_kib(server);
    let silent: Vec<_> = (0..30).filter_map(|_| served.way.connect()).collect();
    read_by(&served, 50, |answers| answers < 20);
    let after = resident_kib(server);
    assert!(after < before + (8 << 10), "{before} KiB before, {after} KiB after");
    drop(silent);
    let idle = fs::read_dir(format!("/proc/{server}/fd")).expect("files").count();
    assert!(idle < 130, "{idle} open files");
}

/// Has so many readers ask for page and figures, each while this is true of the number of answers that it has got.
fn read_by(served: &Served, readers: usize, goes_on: impl Fn(usize) -> bool + Sync) {
    let read = || {
        let mut answers = 0;
        while goes_on(answers) {
            for path in ["/", "/metrics"] {
                let answer = ask(&served.way, path).expect("an answer");
                assert_eq!(answer.status, 200, "{}", answer.text);
                answers += 1;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(read);
        }
    });
}

fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .expect("a number")
}

/// The server has no real-time thread, gives way to others, and stays off the judged CPU.
#[test]
fn the_server_stays_off_the_judged_cpus() {
    let cpus = sys::thread::allowed_cpus();
    let judged = cpus.iter().last().expect("a CPU").to_string();
    if cpus.len() < 2 {
        testing::skip("the_server_stays_off_the_judged_cpus", "one CPU");
        return;
    }
    let served = Served::start(&["--cpus", &judged]);
    served.until("/metrics", "triptime_run_state{");
    let server = served.server();
    let text = |name: &str| fs::read_to_string(format!("/proc/{server}/{name}")).expect("a process");
    let status = text("status");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    assert!(
        allowed.is_some_and(|list| !list.trim().split([',', '-']).any(|cpu| cpu == judged)),
        "{status}"
    );
    let stat = text("stat");
    let fields: Vec<&str> = stat.rsplit_once(") ").expect("a name").1.split_whitespace().collect();
    // Fields 19 and 41 of proc_pid_stat(5); the state is field 3.
    assert_eq!((fields[16], fields[38]), ("10", "0"), "nice value and policy: {stat}");
}

#[test]
fn several_runs_have_a_list_and_a_path_each() {
    let minute = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/minute.triptime");
    let folder = tempfile::tempdir().expect("a folder");
    let copies = ["a", "b"].map(|name| folder.path().join(format!("{name}.triptime")));
    for copy in &copies {
        fs::copy(&minute, copy).expect("copied");
    }
    let mut command = triptime();
    command.arg("serve").args(&copies).args(["--listen", ANY]);
    let served = Served::of(command, folder, ANY);
    let list = served.until("/", "b.triptime");
    assert!(list.text.contains("href=\"2/\""), "{}", list.text);
    let page = served.until("/2/", "<h1");
    assert!(
        !page.text.contains("so far</h1>"),
        "a run that has ended has a verdict: {}",
        page.text
    );
    served.until("/1/metrics", "state=\"complete\"} 1");
    assert_eq!(ask(&served.way, "/metrics").map(|answer| answer.status), Some(404));
    assert!(served.file().parent().is_some());
}
