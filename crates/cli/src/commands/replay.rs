//! `triptime publish --replay`: sends a capture again.

use crate::arguments::PortArgs;
use crate::failure::Failure;
use crate::run_file::Run;
use probes::publish::{StreamConfig, captured_streams};
use probes::replay::{CapturedFrames, ReplayConfig};
use probes::{Port, Probe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options for a capture in place of generated streams.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Replay")]
pub(crate) struct ReplayArgs {
    /// Send the frames of this capture (pcap, pcapng, gzip) with its own timing. State --rate for streams whose smpCnt does not wrap in the
    /// capture
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "scl", "profile", "streams", "asdus", "sv_id", "appid", "dst", "vlan", "conf_rev", "smp_synch", "simulate"])]
    pub(crate) replay: Option<PathBuf>,
    /// Publish its sampled-value streams on the grid of the second instead: with new smpCnt, and with their samples repeated
    #[arg(long, requires = "replay", conflicts_with = "rounds")]
    pub(crate) on_grid: bool,
    /// How many times to send the capture; smpCnt continues from one to the next [default: until --duration is over or interrupted]
    #[arg(long, value_name = "N", requires = "replay", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: Option<u64>,
    /// Count frames as late when they are sent this much after they were due
    #[arg(long, value_name = "DURATION", requires = "replay", default_value = "250us", value_parser = probes::options::positive_duration)]
    pub(crate) late_after: u64,
}

/// Way of sending the capture.
pub(crate) fn config(
    file: &Path,
    args: &ReplayArgs,
    rate: Option<u32>,
    port: &PortArgs,
    spin_ahead_ns: u64,
) -> Result<ReplayConfig, Failure> {
    let frames = CapturedFrames::load(file, rate).map_err(|error| Failure::Usage(error.to_string()))?;
    let name = file.file_name().unwrap_or(file.as_os_str());
    Ok(ReplayConfig {
        frames: Arc::new(frames),
        name: name.to_string_lossy().into_owned(),
        rounds: args.rounds,
        spin_ahead_ns,
        late_after_ns: args.late_after,
        duration_ns: port.duration,
        policy: port.policy,
        cpu: port.cpu,
        threshold_ns: None,
    })
}

/// The streams of the capture, for publishing on the grid.
pub(crate) fn streams(capture: &Path, rate: Option<u32>) -> Result<Vec<StreamConfig>, Failure> {
    captured_streams(capture, rate).map_err(|error| Failure::Usage(error.to_string()))
}

/// Sends the capture.
pub(crate) fn attend(config: &ReplayConfig, port: Port, mut run: Run) -> Result<u8, Failure> {
    let stop = run.session.stop.clone();
    let started = config.start(port, &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}
