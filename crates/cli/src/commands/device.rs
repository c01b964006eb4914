//! `triptime device`: the device's end of a step, at the place of the device.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::run_file::Run;
use place::asking;
use plan::{Asks, Task};
use probes::timesync::{TimeSync, TimeSyncConfig};
use session::{Explainer, RunSpec};
use std::path::PathBuf;

/// Runs the device's end of a step of a plan, on behalf of the end that runs the plan: prints `ready`, runs until the step ends or standard
/// input is closed, and leaves its run file
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime device device.toml --out device.triptime")]
pub(crate) struct DeviceArgs {
    /// Task, as `qualify` writes it
    #[arg(value_name = "FILE")]
    task: PathBuf,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: DeviceArgs) -> Result<u8, Failure> {
    let path = args.task.display();
    let text = std::fs::read_to_string(&args.task).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    let task = Task::parse(&text).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    let (asking, answers) = asking();
    let spec = RunSpec {
        explain: match task.asks() {
            Asks::Nothing => Explainer::Own,
            Asks::Causes => Explainer::Other(Box::new(asking)),
            Asks::VirtualCpus => Explainer::OverHost(asking),
        },
        hold_idle: task.holds_idle() || args.run.hold_idle,
        flight_recorder: args.run.explains(),
        // Stopped by the other end: this is its normal end.
        open_ended: true,
        inventory: task.inventory(),
        housekeeping: Some(task.others()),
        interfaces: task.interface().map(str::to_owned).into_iter().collect(),
        ..args.run.spec("device", task.judged(), None)
    };
    let mut run = Run::start(spec, args.run)?;
    let watch = task
        .clock_within()
        .map(|ns| TimeSync::start(&TimeSyncConfig::within(ns), &mut run.session.recorder));
    let watch = watch.transpose()?;
    let outcome = task.run(run.runner(), answers);
    watch.into_iter().for_each(TimeSync::stop);
    run.close(outcome)?;
    Ok(0)
}
