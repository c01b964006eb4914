//! `triptime pcap FILE`: the streams of a capture.
//!
//! Without options it prints a listing: per stream its frames, rate, spacing, losses, bursts and worst gaps; for GOOSE
//! its states. With `--json`, `--out`, `--html`, `--junit` or `--limits` it makes a run, as any measuring command does.
//!
//! With `--decode`, one JSON object per line: one for each ASDU, one for each GOOSE message, fields named as on the wire. A
//! frame that breaks a rule gives one line with `error` (the first violation), `offset` (the byte of the frame, from 0), and
//! all that could be decoded. Conditions that a subscriber should count but not refuse are in `flags`. Other traffic is skipped.
//!
//! A capture that is cut or damaged gives everything before the damage, and the error. The exit status is then 2, unless limits
//! were asked for: then their verdict decides.

mod analyse;
mod credit;
mod first_events;
mod lans;
mod listing;
mod observe;
mod run;
mod source;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::arguments::{PageArgs, size, window};
use crate::face::FaceArgs;
use crate::failure::{Failure, USAGE};
use capture::{CaptureError, Reader};
use dissect::DecodeError;
use probes::observe::ObservedRelay;
use source::{Interfaces, interfaces};
use units::foreign;

/// Analyses a capture: spacing, losses, order, bursts and states of SV, GOOSE, AVTP and test streams; trips of a relay (--observe)
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Reads pcap and pcapng, with stamps of any unit, packed with gzip or not.
A run file is written only with --out, --html, --junit, --limits, --observe or --json.

Example: triptime pcap bay.pcapng
         triptime pcap bay.pcapng --limits site.toml --html bay.html
         triptime pcap shots.pcapng --observe above:2000A --sv-id INJ01 --goose 'IED1LD0/LLN0$GO$gcbTrip' --within 30ms
         triptime pcap lan-a.pcap --lan-b lan-b.pcap
         tcpdump -i eth1 -w - ether proto 0x88ba | triptime pcap -")]
pub(crate) struct PcapArgs {
    /// The capture; - reads standard input
    pub(crate) file: PathBuf,
    /// Print each ASDU and each GOOSE message as one line of JSON
    #[arg(long, conflicts_with_all = ["out", "html", "junit", "about", "json", "limits", "rate", "observe"])]
    pub(crate) decode: bool,
    /// Samples a second of every SV stream [default: learned from where smpCnt wraps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) rate: Option<u32>,
    /// Rate of the port that the talkers of AVTP streams send on, in Mbit/s: their shapers are judged by it (IEEE 802.1Qav, series credit/*)
    #[arg(long, value_name = "MBIT", conflicts_with = "decode", value_parser = clap::value_parser!(u32).range(10..=400_000))]
    pub(crate) port_rate: Option<u32>,
    /// Source of the time stamps of the capture, if you know it: a tap, a NIC [default: what the capture states]
    #[arg(long, value_name = "WHAT", conflicts_with = "decode", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) stamped_by: Option<String>,
    /// The capture of LAN B of a redundant network (PRP, HSR), if FILE is that of LAN A: both are read in the order of their stamps
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decode", "lans"])]
    pub(crate) lan_b: Option<PathBuf>,
    /// Interfaces of a pcapng capture that are LAN A and LAN B of a redundant network, by name or number: eth1,eth2 or 0,1
    #[arg(long, value_name = "A,B", conflicts_with = "decode", value_parser = interfaces)]
    pub(crate) lans: Option<Interfaces>,
    #[command(flatten)]
    pub(crate) observed: ObservedRelay,
    /// Check the signatures of R-GOOSE and R-SV with the keys of this file; a datagram that is not signed, or wrongly, is not used
    #[arg(long, value_name = "KEYFILE", conflicts_with_all = ["decode", "observe"])]
    pub(crate) key: Option<PathBuf>,
    /// Maximum number of streams to track
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    pub(crate) max_streams: u16,
    /// Run file to write [default: none; with --json, --html, --junit, --limits or --observe ./runs/TIME-pcap.triptime]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) face: FaceArgs,
    /// Limit profile that judges the capture: substation, seapath, avb, vpac, or a TOML file
    #[arg(long, value_name = "PROFILE")]
    pub(crate) limits: Option<String>,
    /// Length of a window of capture time in the run file
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = window)]
    pub(crate) window: u64,
    /// Room for histograms in the run file. To stay within it, those of older windows are merged; counts and extremes
    /// are always kept
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = size)]
    pub(crate) file_budget: u64,
}

impl PcapArgs {
    /// True if a run is asked for, rather than the listing alone.
    fn wants_run(&self) -> bool {
        self.face.is_given()
            || self.out.is_some()
            || self.pages.html.is_some()
            || self.pages.junit.is_some()
            || self.pages.about.is_some()
            || self.limits.is_some()
            || self.observed.observe.observe.is_some()
    }
}

/// Reason for the command to end early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PcapError {
    /// The capture cannot be read, or cannot be read further.
    #[error("{}: {source}", name(path))]
    Capture {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: CaptureError,
    },
    /// The capture cannot be opened.
    #[error(transparent)]
    Open(CaptureError),
    /// Writing to the output failed.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// An impossible request.
    #[error(transparent)]
    Failure(#[from] Failure),
}

/// Runs the command and returns its exit status. An output that is closed early (`| head`) ends it quietly.
pub(crate) fn run(args: &PcapArgs, out: &mut dyn Write, messages: &mut dyn Write) -> u8 {
    let done = if args.decode {
        decode(&args.file, out, messages)
    } else if args.wants_run() {
        run::run(args, out, messages)
    } else {
        analyse::list(args, out)
    };
    match done {
        Ok(status) => status,
        Err(PcapError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            say(messages, &error);
            match error {
                PcapError::Failure(failure) => failure.status(),
                PcapError::Open(_) | PcapError::Capture { .. } | PcapError::Output(_) => USAGE,
            }
        }
    }
}

/// If standard error is closed as well, the message is lost.
fn say(messages: &mut dyn Write, error: &PcapError) {
    let _ = writeln!(messages, "triptime pcap: {}", foreign::message(&error.to_string()));
}

/// `--decode`: lines of JSON to `out`, and the counts to `messages`.
///
/// # Errors
/// The capture cannot be read to its end (everything before the error has been written), or the output is closed.
fn decode(path: &Path, out: &mut dyn Write, messages: &mut dyn Write) -> Result<u8, PcapError> {
    let counts = dissect::decode(&mut open(path)?, out).map_err(|error| match error {
        DecodeError::Capture(source) => damaged(path, source),
        DecodeError::Output(error) => PcapError::Output(error),
    })?;
    counts.report(messages)?;
    Ok(0)
}

/// Opens the capture, or standard input.
fn open(path: &Path) -> Result<Reader<'static>, PcapError> {
    let opened = if path == Path::new("-") {
        Reader::new(io::stdin())
    } else {
        Reader::open(path)
    };
    opened.map_err(|error| match error {
        // The error names the file.
        CaptureError::Open { .. } => PcapError::Open(error),
        error => damaged(path, error),
    })
}

fn damaged(path: &Path, source: CaptureError) -> PcapError {
    PcapError::Capture {
        path: path.to_owned(),
        source,
    }
}

/// Name of the file for display.
fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Names of the captures for display.
fn name_of(args: &PcapArgs) -> String {
    let a = name(&args.file);
    match &args.lan_b {
        Some(b) => format!("{a} (LAN A) and {} (LAN B)", name(b)),
        None => a,
    }
}

#[cfg(test)]
mod tests;
