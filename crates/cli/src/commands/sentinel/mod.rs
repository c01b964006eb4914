//! `triptime sentinel`: watches relays in service, for years.

mod config;
mod ears;
mod unit;
mod wakeup;

use crate::ending::{self, Hangup};
use crate::failure::Failure;
use crate::verdict;
use ears::Ears;
use logbook::{BookError, Hook, Journal, Logbook, Now, Tell, Watch, last_end_ns};
use model::EventKind;
use probes::observe::port_options;
use probes::{Listening, Port};
use run::Stop;
use rustix::fs::{FlockOperation, flock};
use sentinel::{File, Sentinel};
use session::detach::Notify;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::SysError;

/// Time between two rounds of the logbook.
const ROUND: Duration = Duration::from_millis(50);

/// The watchdog hears nothing if the thread that receives has not looked for so long, in ns.
const DEAF_NS: i64 = 5_000_000_000;

/// A wall clock that moved by more than this against the other one jumped, or the machine slept, in ns.
const JUMP_NS: i64 = 1_000_000_000;

/// Watches relays in service for years, and sends nothing: every trip and start paired and timed, streams supervised, the frames around each
/// problem kept, alarms told
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples: triptime sentinel bay7.toml
          triptime sentinel bay7.toml --check
          triptime sentinel bay7.toml --unit > /etc/systemd/system/triptime-sentinel-bay7.service

The file is described in docs/formats/sentinel.md. Exit status: 0 ended by a signal; 2 a mistake in the file; 3 could not watch.")]
pub(crate) struct SentinelArgs {
    /// The file of the sentinel
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Read the file, print what would be watched, and exit
    #[arg(long)]
    check: bool,
    /// Print a unit of systemd that starts the sentinel at each boot, and again whenever it ends, and exit
    #[arg(long, conflicts_with = "check")]
    unit: bool,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &SentinelArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let text = fs::read_to_string(&args.file).map_err(|error| unread(&args.file, &error))?;
    let file = File::parse(&text, &name).map_err(|error| Failure::Usage(error.to_string()))?;
    let config = config::of(&file, &name)?;
    if args.check {
        verdict::write(&config::described(&file, &config))?;
        return Ok(0);
    }
    if args.unit {
        verdict::write(&unit::text(&file, &args.file)?)?;
        return Ok(0);
    }
    // Refusals come before anything is made.
    let port = Port::open(&file.interface, &port_options()).map_err(|error| passing(&error))?;
    fs::create_dir_all(&file.folder)
        .map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", file.folder.display())))?;
    let _lock = alone(&file.folder)?;
    watch(&file, &config, &text, port)
}

/// Takes the folder for this process alone.
fn alone(folder: &Path) -> Result<fs::File, Failure> {
    let path = folder.join("lock");
    let refused = |error: std::io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display()));
    let file = fs::File::create(&path).map_err(refused)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| Failure::CouldNotMeasure(format!("{}: another sentinel uses this folder", folder.display())))?;
    Ok(file)
}

fn now() -> Now {
    let pair = sys::clock::pair();
    Now {
        at_ns: pair.monotonic.as_ns(),
        wall_ns: pair.realtime.as_ns(),
    }
}

fn watch(file: &File, config: &sentinel::Config, text: &str, port: Port) -> Result<u8, Failure> {
    let stop = Stop::new();
    ending::on_signals_but(&stop.flag(), Hangup::Passes)?;
    let mut notify = Notify::from_environment();
    let gap = last_end_ns(&file.folder).map_err(|error| failed(&error.into()))?;
    let begun = now();
    let watch: Arc<Watch> = Arc::new(Mutex::new(Sentinel::new(config, begun.at_ns)));
    let settings = config::settings(file, text)?;
    let looked = Arc::new(AtomicI64::new(begun.at_ns));
    // A CPU or a priority that is refused leaves no run file behind.
    let hearing = ears::start(file, port, &watch, &looked, &stop)?;
    let mut waking = wakeup::start(file, &watch, &stop)?;
    let mut book = Logbook::open(settings, &watch, tellers(file), gap, begun).map_err(|error| failed(&error))?;
    if let Some(notify) = &notify {
        notify.ready(&format!("watches {} relays on {}", file.relays.len(), file.interface));
    }
    let mut before = now();
    while !stop.requested() && !hearing.is_finished() {
        std::thread::sleep(ROUND);
        let round = now();
        jumped(&watch, before, round);
        before = round;
        if waking.as_ref().is_some_and(JoinHandle::is_finished) && !stop.requested() {
            waking = None;
            hold(&watch).woken_no_more(round.at_ns);
        }
        book.turn(&watch, round);
        let is_hearing = round.at_ns - looked.load(Ordering::Relaxed) < DEAF_NS;
        if let Some(notify) = notify.as_mut().filter(|_| is_hearing) {
            notify.goes_on(Instant::now());
        }
    }
    stop.request();
    let heard = hearing.join();
    if let Some(waking) = waking {
        let _ = waking.join();
    }
    let defect = |_| {
        Err(Failure::CouldNotMeasure(
            "the thread that receives ended by a defect".into(),
        ))
    };
    let heard = heard.unwrap_or_else(defect);
    if let Err(why) = &heard {
        let at_ns = now().at_ns;
        let text = format!("the watch ends: {why}");
        hold(&watch).own([at_ns, at_ns], EventKind::StreamDoubt, &text);
    }
    hold(&watch).end();
    let kept = book.end(&watch, now()).map_err(|error| failed(&error));
    heard?;
    kept.map(|()| 0)
}

/// Tells of a jump of the wall clock: the machine slept, or its clock was set.
fn jumped(watch: &Watch, before: Now, now: Now) {
    let by_ns = (now.wall_ns - before.wall_ns) - (now.at_ns - before.at_ns);
    if by_ns.abs() > JUMP_NS {
        let text = format!(
            "the wall clock jumped by {}: it was set, or the machine slept",
            units::SignedNs(by_ns)
        );
        hold(watch).jumped([before.at_ns, now.at_ns], &text);
    }
}

/// The watch, for this thread alone, also after another one ended badly.
fn hold(watch: &Watch) -> MutexGuard<'_, Sentinel> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tellers(file: &File) -> Vec<Box<dyn Tell>> {
    let mut tellers: Vec<Box<dyn Tell>> = Vec::new();
    if file.alarm.journal {
        let is_journal = std::env::var_os("JOURNAL_STREAM").is_some();
        tellers.push(Box::new(Journal::new(std::io::stderr(), is_journal)));
    }
    if !file.alarm.hook.is_empty() {
        tellers.push(Box::new(Hook::new(file.alarm.hook.clone(), file.alarm.hook_within.0)));
    }
    tellers
}

/// A failure that may pass without a new file: an interface that is made again, a CPU that is offline. Its unit starts again.
fn passing(error: &dyn Display) -> Failure {
    Failure::CouldNotMeasure(error.to_string())
}

/// The failure to read a file: its disk may not be mounted yet. A file that is no text is a mistake.
fn unread(path: &Path, error: &std::io::Error) -> Failure {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::InvalidData => Failure::Usage(text),
        _ => Failure::CouldNotMeasure(text),
    }
}

fn failed(error: &BookError) -> Failure {
    Failure::CouldNotMeasure(format!("sentinel: {error}"))
}

/// A thread that hears, or wakes.
type Running = JoinHandle<Result<(), Failure>>;

/// Starts a thread of the sentinel, on its CPU and at its priority where these are asked for, and waits until it has them.
fn thread(
    name: &str,
    cpu: Option<u32>,
    priority: Option<u8>,
    work: impl FnOnce() -> Result<(), Failure> + Send + 'static,
) -> Result<Running, Failure> {
    let real_time = sys::thread::RtThread {
        policy: priority.map_or(sys::thread::Policy::Other, sys::thread::Policy::Fifo),
        cpu,
        stack_bytes: 64 << 10,
    };
    let (ready, is_ready) = std::sync::mpsc::channel();
    let body = move || {
        let entered = if cpu.is_some() || priority.is_some() {
            real_time.enter()
        } else {
            Ok(())
        };
        let may_go = entered.is_ok();
        let _ = ready.send(entered);
        if may_go { work() } else { Ok(()) }
    };
    let running = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| Failure::CouldNotMeasure(format!("sentinel: {error}")))?;
    match is_ready.recv() {
        Ok(Ok(())) => Ok(running),
        Ok(Err(error @ (SysError::NoSuchCpu { .. } | SysError::Invalid { .. }))) => Err(error.into()),
        Ok(Err(error)) => Err(passing(&error)),
        Err(_) => Err(Failure::CouldNotMeasure(
            "sentinel: a thread ended before it began".into(),
        )),
    }
}

/// Makes the thread that receives.
fn hear(port: Port, stop: &Stop, ears: Ears) -> impl FnOnce() -> Result<(), Failure> + Send + use<> {
    let (stop, mut ears) = (stop.clone(), ears);
    move || {
        let mut listening = Listening::new(port, stop)?;
        Ok(listening.run(&mut ears)?)
    }
}
