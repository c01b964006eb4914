//! `triptime serve`: a live page of runs, and their figures for Prometheus.

use crate::failure::{Failure, say};
use crate::live::Runs;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open, setpriority_process};
use serve::{Address, Bound, Ending, Gate, Token};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use store::RunFile;
use units::CpuList;

/// Nice value of the server: it gives way to the recorder and to what is measured, and still gets its turn beside loads.
const NICE: i32 = 10;

/// Shows runs on a page that renews itself, and gives their figures to Prometheus; also runs that are still measured
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
It reads the files and changes nothing. A run that is still measured never passes: it has a verdict
`so far`. It serves until it is ended (Ctrl-C).

Paths: / the page, /metrics (OpenMetrics), /result.json; of several runs /1/, /1/metrics and so on.

Example: triptime serve runs/20261121T020000-qualify.triptime
         triptime serve run.triptime --listen 192.0.2.7:9850 --token triptime.token
         triptime serve run.triptime --listen unix:/run/triptime/live.sock")]
pub(crate) struct ServeArgs {
    /// Run file
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Address to listen on: a port of the loopback interface, IP:PORT with --token, or unix:/PATH for the owner alone
    #[arg(long, value_name = "ADDRESS", default_value = "9850")]
    listen: Address,
    /// File with the token that readers must give: a program as Authorization: Bearer, a person as the password
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
    /// Process that started this one for its run: the socket is on standard input
    #[arg(long, hide = true, value_name = "PID")]
    of_run: Option<i32>,
    /// CPUs to stay on
    #[arg(long, hide = true, value_name = "LIST")]
    cpus: Option<CpuList>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: ServeArgs) -> Result<u8, Failure> {
    stay_aside(args.cpus.as_ref());
    let token = args.token.as_deref().map(Token::read).transpose()?;
    let bound = match args.of_run {
        Some(_) => {
            let socket = io::stdin()
                .as_fd()
                .try_clone_to_owned()
                .map_err(|error| cannot(&error))?;
            Bound::passed(socket, args.listen)?
        }
        None => {
            // A wrong name is told at once. The run of a parent is there.
            args.runs.iter().try_for_each(|file| RunFile::open(file).map(drop))?;
            args.listen.bind(token.as_ref())?
        }
    };
    let gate = match bound.address() {
        Address::Tcp(_) => Gate::of_network(token, vec![host_name()]),
        Address::Unix(_) => Gate::of_socket(token),
    };
    let until = Until::of(args.of_run)?;
    if args.of_run.is_none() {
        say(&format_args!("serving {}; end it with Ctrl-C", bound.address()));
    }
    let library = Arc::new(Runs::of(args.runs, args.of_run.is_some()));
    serve::serve(bound, gate, library, |ending| until.then(ending))?;
    Ok(0)
}

fn cannot(error: &io::Error) -> Failure {
    Failure::CouldNotMeasure(format!("cannot serve: {error}"))
}

/// Leaves the judged CPUs, and lets others go first. Where that is refused it serves all the same.
fn stay_aside(cpus: Option<&CpuList>) {
    let _ = setpriority_process(None, NICE);
    if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
        let _ = sys::thread::set_affinity_of(std::process::id(), cpus);
    }
}

fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// Causes of its end: a signal, or the end of the process that started it.
struct Until {
    signal: UnixStream,
    /// `None`: nobody started it for a run.
    run: Option<rustix::fd::OwnedFd>,
}

impl Until {
    fn of(run: Option<i32>) -> Result<Self, Failure> {
        let (signal, told) = UnixStream::pair().map_err(|error| cannot(&error))?;
        for number in [SIGINT, SIGTERM, SIGHUP] {
            pipe::register(number, told.try_clone().map_err(|error| cannot(&error))?)
                .map_err(|error| cannot(&error))?;
        }
        let run = run.map(process).transpose()?;
        Ok(Self { signal, run })
    }

    /// Requests the end when it is due, from a thread of its own.
    fn then(self, ending: Ending) {
        std::thread::spawn(move || {
            self.wait();
            ending.request();
        });
    }

    fn wait(&self) {
        let files = std::iter::once(self.signal.as_fd()).chain(self.run.as_ref().map(AsFd::as_fd));
        let mut files: Vec<PollFd<'_>> = files
            .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
            .collect();
        while let Err(rustix::io::Errno::INTR) = poll(&mut files, None) {}
    }
}

/// The process that started this one, which must still exist.
fn process(number: i32) -> Result<rustix::fd::OwnedFd, Failure> {
    let gone = || Failure::CouldNotMeasure("the run that wanted a live page has ended".to_owned());
    let pid = Pid::from_raw(number).ok_or_else(gone)?;
    let opened = pidfd_open(pid, PidfdFlags::empty());
    // Its number may belong to another process by now.
    match opened {
        Ok(process) if getppid() == Some(pid) => Ok(process),
        Ok(_) => Err(gone()),
        Err(errno) => Err(cannot(&errno.into())),
    }
}
