//! A bay: a publisher with faults, a relay process, and a sentinel at the switch between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};
use support::bridge::{bed, inside};
use support::feeder::{BESIDE, FAULTS, RELAY};
use support::{until_packet_socket, until_sent};
use sys::netns::NetNs;
use tempfile::TempDir;
use testing::Running;

/// Words of an alarm on a disk without room.
pub(super) const FULL: &str = "frames not kept: only ";

/// Longest wait for something that is to come.
const PATIENCE: Duration = Duration::from_secs(40);

pub(super) struct Bay {
    publisher: NetNs,
    switch: NetNs,
    device: NetNs,
    directory: TempDir,
    pub(super) folder: PathBuf,
}

impl Bay {
    pub(super) fn new() -> Self {
        let [publisher, switch, device] = bed();
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("faults.toml"), FAULTS).expect("a file");
        Self {
            publisher,
            switch,
            device,
            folder: directory.path().join("kept"),
            directory,
        }
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    /// The file to which the program that is told writes.
    pub(super) fn told_file(&self) -> PathBuf {
        self.directory.path().join("told")
    }

    /// A merging unit with a fault in every second.
    pub(super) fn publisher(&self) -> Running {
        let (waveform, out) = (self.path("faults.toml"), self.path("publish.triptime"));
        let words = [
            "publish",
            "ts0",
            "--streams",
            "1",
            "--rate",
            "4000",
            "--waveform",
            &waveform,
        ];
        let words = [&words[..], &BESIDE, &[&out]].concat();
        let mut command = inside(&self.publisher, &words);
        let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        until_sent(&running, "ts0", 20);
        running
    }

    /// A relay of our own, as a process.
    pub(super) fn relay(&self) -> Running {
        let out = self.path("relay.triptime");
        let _ = fs::remove_file(&out);
        let words = [&["relay", RELAY, "dut0", "--clock", "same-host"][..], &BESIDE, &[&out]].concat();
        let mut command = inside(&self.device, &words);
        let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        until_packet_socket(&running);
        running
    }

    fn file(&self, folder: &Path, after: &str) -> String {
        let path = self.path("bay.toml");
        // The program looks for the capture at the moment at which it is told.
        let hook = format!(
            "if [ -n \"$TRIPTIME_CAPTURE\" ] && [ ! -s \"$TRIPTIME_CAPTURE\" ]; then there=gone; fi; echo \"$TRIPTIME_KIND|$TRIPTIME_SUBJECT|$TRIPTIME_TEXT|$TRIPTIME_CAPTURE|$there\" >> '{}'",
            self.told_file().display()
        );
        let text = format!(
            "name = \"bay\"\ninterface = \"br0\"\nfolder = {folder:?}\n\
             [[relay]]\nname = \"main\"\ngoose = \"F1LD0/LLN0$GO$gcbTrip\"\nfault = \"above:5000A\"\nstream = \"MU01\"\n\
             within = \"500ms\"\ndeadline = \"500ms\"\n[[stream]]\nsvID = \"MU01\"\nrate = 4000\n\
             [ring]\nbefore = \"500ms\"\nafter = \"{after}\"\nmemory = \"64MiB\"\n[run]\nwindow = \"1s\"\n\
             [alarm]\nhook = [\"sh\", \"-c\", {hook:?}]\nmetrics = \"{}/bay.prom\"\nmost_an_hour = 1000\n",
            folder.display()
        );
        fs::write(&path, text).expect("a file");
        path
    }

    /// The sentinel at the switch.
    pub(super) fn sentinel(&self, folder: &Path) -> Running {
        let _ = fs::remove_file(self.told_file());
        let path = self.file(folder, "500ms");
        let mut command = inside(&self.switch, &["sentinel", &path]);
        let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        until_packet_socket(&running);
        running
    }

    /// The sentinel with its folder on a disk of six megabytes, while `work` is done; then it ends.
    pub(super) fn on_a_small_disk(&self, work: impl FnOnce()) -> Output {
        let disk = self.directory.path().join("disk");
        fs::create_dir_all(&disk).expect("a folder");
        // A capture is larger than the disk.
        let path = self.file(&disk.join("kept"), "2s");
        let script = "mount -t tmpfs -o size=6m small \"$1\" && exec \"$2\" sentinel \"$3\"";
        let mut command = std::process::Command::new("nsenter");
        command.arg(format!("--net={}", self.switch.path().display()));
        command.args(["unshare", "--mount", "sh", "-c", script, "sh"]);
        command.args([disk.as_path(), &support::binary(), Path::new(&path)]);
        let running = Running::start(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
        );
        until_packet_socket(&running);
        work();
        support::end(running, &["sentinel"])
    }

    /// All that was told: kind, subject, text, capture.
    pub(super) fn told(&self) -> Vec<String> {
        let text = fs::read_to_string(self.told_file()).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    fn until<T>(&self, what: &str, found: impl Fn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {:?}", self.told());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for an alarm of this kind, and returns it.
    pub(super) fn until_told(&self, kind: &str) -> String {
        self.until_told_any(&[kind])
    }

    pub(super) fn until_told_any(&self, wanted: &[&str]) -> String {
        self.until(&format!("{wanted:?}"), || {
            let told = self.told();
            told.into_iter()
                .find(|line| wanted.iter().any(|kind| line.starts_with(&format!("{kind}|"))))
        })
    }

    /// Waits until the newest run file has so many trips.
    pub(super) fn until_trips(&self, folder: &Path, trips: u64) {
        self.until("trips", || {
            let newest = self.runs(folder).pop()?;
            let run = store::RunFile::open(&newest).ok()?;
            let (id, _) = run
                .series()
                .ok()?
                .into_iter()
                .find(|(_, spec)| spec.name == "trip/main")?;
            (run.totals(id).ok()?.counters.received >= trips).then_some(())
        });
    }

    /// The run files of a folder, the oldest one first.
    pub(super) fn runs(&self, folder: &Path) -> Vec<PathBuf> {
        let files = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.path());
        let mut files: Vec<PathBuf> = files
            .filter(|path| path.extension().is_some_and(|end| end == "triptime"))
            .collect();
        files.sort();
        files
    }

    /// Every capture that was named is there, and its frames can be read.
    pub(super) fn every_announced_capture_is_there(&self) {
        let told = self.told();
        let captures: Vec<&str> = told
            .iter()
            .filter_map(|line| line.split('|').nth(3))
            .filter(|path| !path.is_empty())
            .collect();
        assert!(!captures.is_empty(), "{told:?}");
        for path in captures {
            let file = fs::File::open(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let mut reader = capture::Reader::new(file).expect("a capture");
            let mut frames = 0;
            // The last one may still be written.
            while let Ok(Some(_)) = reader.next_frame() {
                frames += 1;
            }
            assert!(frames > 0, "{path}");
        }
    }
}

/// The kinds of what was told.
pub(super) fn kinds(told: &[String]) -> Vec<&str> {
    told.iter().filter_map(|line| line.split('|').next()).collect()
}
