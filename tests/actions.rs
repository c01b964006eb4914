//! Commands of a site that run while a plan measures: their rows, their failures, and their undo in every kind of end.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::{binary, json, stderr, until_file};
use testing::Running;

/// A step of wake-ups that needs no right, with these actions.
fn plan(duration: &str, actions: &str) -> String {
    format!(
        r#"
name = "site"
what = "Wake-ups under maintenance, for tests"
limits = "substation"
window = "200ms"

[cpus]
housekeeping = "first"
measured = "first"

[[step]]
probe = "wakeup"
duration = "{duration}"
interval = "5ms"
policy = "other"
{actions}"#
    )
}

/// A folder with a plan, in which its commands run, and one for what the run writes down.
struct Site(tempfile::TempDir);

impl Site {
    fn new(plan: &str) -> Self {
        let site = Self(tempfile::tempdir().expect("a folder"));
        std::fs::write(site.path("site.toml"), plan).expect("writable");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary().canonicalize().expect("the binary"));
        command
            .args(["qualify", "site.toml"])
            .args(arguments)
            .current_dir(self.0.path());
        command
            .env("TRIPTIME_RUNTIME_DIR", self.path("told"))
            .stdin(Stdio::null());
        command
    }

    fn qualify(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    fn measure(&self) -> (Value, Output) {
        let output = self.qualify(&["--json", "--no-flight-recorder", "--out", "run.triptime"]);
        (json(&output), output)
    }

    fn start(&self) -> Running {
        let mut command = self.command(&["--json", "--no-flight-recorder", "--out", "run.triptime"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running::start(&mut command)
    }

    /// Files of undos that are still written down.
    fn written(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.path("told")).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("undo")).collect()
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(process: &Child, signal: Signal) {
    kill_process(Pid::from_child(process), signal).expect("our own child");
}

fn rows<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = document["actions"].as_array().expect("actions");
    all.iter().filter(|row| row["name"] == name).collect()
}

fn events(document: &Value, kind: &str) -> String {
    let all = document["events"].as_array().expect("events");
    let texts = all
        .iter()
        .filter(|event| event["kind"] == kind)
        .map(|event| event["text"].to_string());
    texts.collect::<Vec<_>>().join("\n")
}

fn wakeup_verdicts(document: &Value) -> Vec<String> {
    let checks = document["checks"].as_array().expect("checks");
    let of_wakeups = checks
        .iter()
        .filter(|check| check["series"].as_str().is_some_and(|name| name.starts_with("wakeup/")));
    of_wakeups
        .map(|check| check["verdict"].as_str().expect("a verdict").to_owned())
        .collect()
}

/// An action with an undo: a flag that `run` makes and `undo` removes, and a line for each time either ran.
const FLAG: &str = r#"
[[step.action]]
name = "flag"
run = ["sh", "-c", "echo run >> log; touch flag; echo flag is up"]
undo = ["sh", "-c", "echo undo >> log; rm flag; echo flag is down"]
at = "300ms"
"#;

#[test]
fn each_execution_is_a_row_with_its_cost_and_is_undone_before_the_next() {
    let actions = FLAG.replace("at = \"300ms\"", "at = [\"20%\", \"1500ms\"]\nsettle = \"400ms\"");
    let site = Site::new(&plan("3s", &actions));
    let (document, output) = site.measure();
    let rows = rows(&document, "flag");
    let told: Vec<[String; 4]> = rows
        .iter()
        .map(|row| ["part", "number", "end", "said"].map(|key| row[key].to_string().replace('"', "")))
        .collect();
    let row = |part: &str, number: &str, said: &str| [part, number, "exited", said].map(str::to_owned);
    assert_eq!(
        told,
        [
            row("run", "1", "flag is up"),
            row("undo", "1", "flag is down"),
            row("run", "2", "flag is up"),
            row("undo", "2", "flag is down"),
        ],
        "{}",
        stderr(&output)
    );
    assert_eq!(site.text("log"), "run\nundo\nrun\nundo\n");
    assert_eq!((site.path("flag").exists(), site.written()), (false, Vec::new()));
    let first = rows[0];
    assert_eq!(first["status"], 0);
    assert!(
        first["command"]
            .as_str()
            .is_some_and(|line| line.starts_with("sh -c '")),
        "{first}"
    );
    let cost = &first["costs"][0];
    assert_eq!(cost["kind"], "wakeup", "{first}");
    for span in ["before", "under", "after"] {
        assert!(
            cost[span]["at_most"].as_i64().is_some_and(|ns| ns > 0),
            "{span}: {first}"
        );
    }
    assert!(first["spans"]["under_s"].is_array(), "{first}");
    assert_eq!(events(&document, "action-failed"), "");
    // The file has all that the run showed.
    let again = Command::new(binary())
        .args(["report", "--json"])
        .arg(site.path("run.triptime"))
        .output()
        .expect("it runs");
    assert_eq!(json(&again)["actions"], document["actions"]);
}

#[test]
fn an_action_that_does_not_do_its_work_leaves_the_step_undecided() {
    let site = Site::new(&plan(
        "1500ms",
        r#"
[[step.action]]
name = "refused"
run = ["sh", "-c", "echo no such domain >&2; exit 3"]
at = "10%"

[[step.action]]
name = "slow"
run = ["sh", "-c", "echo begun; sleep 60"]
limit = "200ms"
at = "20%"

[[step.action]]
name = "broken"
run = ["./broken"]
undo = ["sh", "-c", "echo undone >> log"]
at = "30%"
"#,
    ));
    // Found, executable, and refused by the kernel at its start.
    std::fs::write(site.path("broken"), "#!/no/such/interpreter\n").expect("writable");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(site.path("broken"), permissions).expect("set");
    let (document, output) = site.measure();
    let end = |name: &str| rows(&document, name)[0].clone();
    assert_eq!(
        (&end("refused")["end"], &end("refused")["status"]),
        (&"exited".into(), &3.into())
    );
    assert_eq!(end("refused")["said"], "no such domain");
    assert_eq!(
        (&end("slow")["end"], &end("slow")["said"]),
        (&"limit".into(), &"begun".into())
    );
    assert_eq!(end("broken")["end"], "not-started");
    assert!(!site.path("log").exists(), "nothing to undo");
    let failed = events(&document, "action-failed");
    for text in [
        "action refused 1: exit status 3",
        "action slow 1: ended at its limit",
        "action broken 1: not started",
    ] {
        assert!(failed.contains(text), "{text}: {failed}");
    }
    let verdicts = wakeup_verdicts(&document);
    assert!(
        !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict != "pass"),
        "{verdicts:?} {}",
        stderr(&output)
    );
}

#[test]
fn ctrl_c_undoes_and_tells_what_did_not_run() {
    let later = "\n[[step.action]]\nname = \"later\"\nrun = [\"sh\", \"-c\", \"echo later >> log\"]\nat = \"99%\"\n";
    let site = Site::new(&plan("10m", &format!("{FLAG}{later}")));
    let mut running = site.start();
    until_file(&site.path("flag"));
    kill(&running, Signal::INT);
    running.wait().expect("it ends");
    assert_eq!(site.text("log"), "run\nundo\n");
    assert_eq!(site.written(), Vec::<String>::new());
    let report = Command::new(binary())
        .args(["report", "--json"])
        .arg(site.path("run.triptime"))
        .output()
        .expect("it runs");
    let document = json(&report);
    assert_eq!(rows(&document, "later")[0]["end"], "skipped");
}

#[test]
fn a_killed_run_is_undone_once_within_seconds() {
    let site = Site::new(&plan("10m", FLAG));
    let mut running = site.start();
    until_file(&site.path("flag"));
    assert_eq!(site.written().len(), 1);
    kill(&running, Signal::KILL);
    let killed = Instant::now();
    running.wait().expect("it ends");
    until("the flag is gone", || !site.path("flag").exists());
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    until("it is no longer written down", || site.written().is_empty());
    // The next run finds nothing to undo.
    std::fs::write(site.path("site.toml"), plan("300ms", "")).expect("writable");
    let output = site.qualify(&["--json", "--no-flight-recorder", "--out", "next.triptime"]);
    assert!(!stderr(&output).contains("undone"), "{}", stderr(&output));
    assert_eq!(site.text("log"), "run\nundo\n");
}

#[test]
fn a_command_under_way_ends_with_a_killed_run_before_it_is_undone() {
    let actions = FLAG.replace(
        "echo flag is up",
        "trap 'echo ended >> log; exit' TERM; sleep 600 & wait",
    );
    let site = Site::new(&plan("10m", &actions));
    let mut running = site.start();
    until_file(&site.path("flag"));
    kill(&running, Signal::KILL);
    running.wait().expect("it ends");
    until("the flag is gone", || !site.path("flag").exists());
    assert_eq!(site.text("log"), "run\nended\nundo\n");
}

/// The steward of a run: the only child of the process with these words.
fn steward(run: &Child) -> Pid {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let all = std::fs::read_to_string(children).expect("the kernel lists children");
    let is_it = |pid: &&str| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.ends_with(b"lab\0hold\0--actions\0")
    };
    let pid = all.split_ascii_whitespace().find(is_it).expect("a steward");
    Pid::from_raw(pid.parse().expect("a number")).expect("a process")
}

#[test]
fn what_a_killed_run_and_steward_left_is_undone_by_the_next_run() {
    let site = Site::new(&plan("10m", FLAG));
    let mut running = site.start();
    until_file(&site.path("flag"));
    let steward = steward(&running);
    // Stopped, the run cannot notice the end of its steward. A stopped steward would be continued: at the end of the run, the kernel sends SIGHUP and
    // SIGCONT to its orphaned process group.
    kill(&running, Signal::STOP);
    kill_process(steward, Signal::KILL).expect("a process of ours");
    until("the steward is gone", || is_gone(steward));
    kill(&running, Signal::KILL);
    running.wait().expect("it ends");
    assert_eq!((site.path("flag").exists(), site.written().len()), (true, 1));
    std::fs::write(site.path("site.toml"), plan("300ms", "")).expect("writable");
    let output = site.qualify(&["--json", "--no-flight-recorder", "--out", "next.triptime"]);
    let told = "undone action flag of a run that was killed: exit status 0: flag is down";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    assert_eq!(site.text("log"), "run\nundo\n");
    assert_eq!((site.path("flag").exists(), site.written()), (false, Vec::new()));
}

/// True if a process is gone, or only waits to be collected.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.as_raw_nonzero().to_string()).join("stat"));
    stat.map_or(true, |stat| {
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
    })
}

#[test]
fn every_command_stands_in_the_outline_and_a_missing_program_is_refused() {
    let site = Site::new(&plan("10s", FLAG));
    let output = site.qualify(&["--show"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for text in [
        "Commands that it runs on this machine while it measures",
        "in step 1: flag, at 300 ms after its begin, each at most 1.00 min: sh -c 'echo run",
        "undone by: sh -c 'echo undo",
        "they may change anything",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!site.path("log").exists());
    let missing = FLAG.replace("undo = [\"sh\"", "undo = [\"/no/such/program\"");
    std::fs::write(site.path("site.toml"), plan("10s", &missing)).expect("writable");
    let output = site.qualify(&["--dry-run"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("/no/such/program: no such program"),
        "{}",
        stderr(&output)
    );
    std::fs::write(site.path("site.toml"), plan("200ms", FLAG)).expect("writable");
    let output = site.qualify(&["--show"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("line 21: at: action \"flag\""),
        "{}",
        stderr(&output)
    );
}
