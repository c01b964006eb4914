//! Every frame over both machines: recorded by the publisher on the far one, in this kernel and in a guest on it, joined in one run.

use crate::machines::{FarEnd, Machines, alone, qualify, secret, words};
use crate::setting;
use model::Event;
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use store::RunFile;
use support::left::Before;
use support::{json, root_or_skip, run, series, stderr};
use tempfile::TempDir;

const STEP: &str = r#"
[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
trace = true
record = true
policy = "fifo:60"
"#;

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

/// A run whose publisher is on the far machine, and its document.
struct Recorded {
    document: Value,
    events: Vec<Event>,
    out: PathBuf,
    _folder: TempDir,
}

impl Recorded {
    /// The run of this step with these options more. It leaves nothing behind.
    fn of(step: &str, more: &[&str]) -> Self {
        let before = Before::look();
        let folder = tempfile::tempdir().expect("a directory");
        let (machines, secret) = (Machines::new(), secret(folder.path(), "secret", "0123456789abcdef"));
        let out = folder.path().join("run.triptime");
        let far = FarEnd::start(&machines, &secret);
        let mut words = words(folder.path(), step, &secret, &out.display().to_string());
        let options = ["--far-end", "test-set"].iter().chain(more);
        words.extend(options.map(|&word| word.to_owned()));
        let output = qualify(&machines, &words);
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
        far.until_said("has left");
        assert!(far.end(Signal::INT).status.success());
        drop(machines);
        before.nothing_is_left();
        let entries = std::fs::read_dir(folder.path()).expect("readable");
        let aside = entries.filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().contains(".frames-")
        });
        assert_eq!(aside.count(), 0, "recordings of the ends are removed");
        let events = RunFile::open(&out).expect("a run").events().expect("events");
        Self {
            document: json(&output),
            events,
            out,
            _folder: folder,
        }
    }

    /// Why hops were not traced here, if they were not.
    fn untraced(&self) -> Option<&str> {
        let mut texts = self.events.iter().map(|event| event.text.as_str());
        texts.find(|text| text.contains("hops are not traced"))
    }

    fn hop(&self, way: &str, id: &str) -> &Value {
        series(&self.document, &format!("hop/{way}/{id}"))
    }

    /// Each frame that was sent is in the crossing from machine to machine, the way from `host.nic` to the application is longer, and the run has
    /// a line for each. `ends` took part, and the last of them has the application.
    fn has_every_frame(&self, ends: &str) {
        let end = ends.split(", ").last().expect("an end");
        let sent = count(series(&self.document, "publish/lateness"), "received");
        let mut crossed = 0;
        let points = self.document["recording"]["points"].as_array().expect("a recording");
        let points: Vec<&str> = points.iter().filter_map(Value::as_str).collect();
        let application = points.last().copied().expect("points");
        assert!(application.starts_with(&format!("{end}.app")), "{points:?}");
        for id in ["MU01", "MU02"] {
            let crossing = self.hop("publisher.sent-to-host.nic", id);
            let whole = self.hop(&format!("publisher.due-to-{application}"), id);
            crossed += count(crossing, "expected");
            assert!(count(crossing, "received") > 1_000, "{crossing}");
            assert!(count(whole, "received") > 1_000, "{whole}");
            // All namespaces read one clock: no frame arrives before it is sent, and the whole way is the longer one.
            assert!(crossing["min"].as_i64() > Some(0), "{crossing}");
            assert!(whole["mean"].as_f64() > crossing["mean"].as_f64(), "{crossing} {whole}");
            // They are judged as one-way figures of two machines, whose clocks nobody stated to follow PTP.
            let uncertain = setting(crossing, "clock uncertainty (ns)").and_then(|ns| ns.parse::<u64>().ok());
            assert!(uncertain.is_some_and(|ns| ns > 0), "{crossing}");
            assert!(crossing["clock"].to_string().contains("not monitored"), "{crossing}");
        }
        assert_eq!(crossed, sent, "each frame that was sent is accounted for");
        let joined = format!("joined: merged {ends}: ");
        assert!(
            self.events.iter().any(|event| event.text.starts_with(&joined)),
            "{:?}",
            self.events
        );
        assert_eq!(
            points[..3],
            ["publisher.due", "publisher.sent", "host.nic"],
            "{points:?}"
        );
        let lines = run(&["export", &self.out.display().to_string(), "--format", "frames"]);
        let frames = String::from_utf8_lossy(&lines.stdout).lines().count() as u64;
        assert!(frames >= sent, "{frames} lines for {sent} frames: {}", stderr(&lines));
    }
}

#[test]
fn one_command_has_the_way_of_every_frame_from_the_far_publisher_to_the_application() {
    let test = "one_command_has_the_way_of_every_frame_from_the_far_publisher_to_the_application";
    if !root_or_skip(test) {
        return;
    }
    let _alone = alone();
    let recorded = Recorded::of(STEP, &[]);
    if let Some(why) = recorded.untraced() {
        return testing::skip(test, why);
    }
    recorded.has_every_frame("publisher, host");
    // The hops of this kernel stay series of their own.
    for id in ["MU01", "MU02"] {
        assert!(count(recorded.hop("nic-to-app", id), "received") > 1_000);
    }
}

/// Eight samples a frame, which an emulated guest follows.
#[test]
fn one_command_has_the_way_of_every_frame_into_a_guest_here() {
    let test = "one_command_has_the_way_of_every_frame_into_a_guest_here";
    if !root_or_skip(test) {
        return;
    }
    let kernel = match support::guest::guest("6.12-rt") {
        Ok(folder) => folder,
        Err(why) => return testing::skip(test, &why),
    };
    let path = |name: &str| kernel.join(name).display().to_string();
    let _alone = alone();
    let step = STEP.replace("2s", "4s").replace("asdus = 1", "asdus = 8");
    let (vmlinux, modules) = (path("vmlinux"), path(""));
    let place = [
        "--place",
        "vm",
        "--accel",
        "tcg",
        "--kernel",
        &vmlinux,
        "--modules",
        &modules,
    ];
    let recorded = Recorded::of(&step, &place);
    if let Some(why) = recorded.untraced() {
        return testing::skip(test, why);
    }
    recorded.has_every_frame("publisher, host, guest");
    for id in ["MU01", "MU02"] {
        let hops = [
            recorded.hop("nic-to-taken", id),
            recorded.hop("host.taken-to-guest.kernel", id),
        ];
        assert!(hops.iter().all(|hop| count(hop, "received") > 1_000), "{hops:?}");
    }
    assert!(count(series(&recorded.document, "delivery/subscribe"), "received") > 2_000);
    // An emulated guest passes nothing, and fails nothing.
    assert_eq!(recorded.document["verdict"], "inconclusive");
}
