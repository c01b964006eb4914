//! GOOSE options of `publish` and `subscribe`.

use crate::arguments::PortArgs;
use crate::failure::Failure;
use probes::publish::GooseConfig;
use probes::subscribe::SuperviseConfig;
use std::path::{Path, PathBuf};
use streamset::StreamSet;
use streamset::goose::{ControlBlock, parse};
use wire::goose::Simulation;

/// Options for publishing GOOSE.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "GOOSE")]
pub(crate) struct GooseArgs {
    /// Publish the GOOSE control blocks of this TOML file; without --streams, nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "replay", group = "goose_blocks")]
    pub(crate) goose: Option<PathBuf>,
    /// Publish the GOOSE control blocks of the SCL file in addition to its sampled values: each at rest, repeated as MinTime and MaxTime
    /// say
    #[arg(long, requires = "scl", conflicts_with = "replay", group = "goose_blocks")]
    pub(crate) goose_from_scl: bool,
    /// CPU of the thread that publishes GOOSE [default: that of --cpu]
    #[arg(long, value_name = "CPU", requires = "goose_blocks")]
    pub(crate) goose_cpu: Option<u32>,
}

impl GooseArgs {
    /// The control blocks to publish, if any, with notes about them. Those of the set, an SCL file, have the simulation bit where
    /// `simulate` asks for it.
    pub(crate) fn blocks(
        &self,
        set: &StreamSet,
        simulate: bool,
    ) -> Result<(Option<Vec<ControlBlock>>, Vec<String>), Failure> {
        if !self.goose_from_scl {
            let blocks = self.goose.as_deref().map(read).transpose()?;
            return Ok((blocks, Vec::new()));
        }
        let (blocks, notes) = set.published_blocks(simulate);
        if blocks.is_empty() {
            let why = match notes.is_empty() {
                true => format!("{}: no GSEControl can be published (--goose-from-scl)", set.file),
                false => notes.join("; "),
            };
            return Err(Failure::Usage(why));
        }
        Ok((Some(blocks), notes))
    }

    /// Settings for publishing `blocks`.
    pub(crate) fn config(&self, blocks: Vec<ControlBlock>, port: &PortArgs, spin_ahead_ns: u64) -> GooseConfig {
        GooseConfig {
            blocks,
            spin_ahead_ns,
            duration_ns: port.duration,
            policy: port.policy,
            cpu: self.goose_cpu.or(port.cpu),
            threshold_ns: None,
        }
    }
}

fn read(path: &Path) -> Result<Vec<ControlBlock>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Ok(parse(&text, &name)?)
}

/// Choice of messages when some are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SimulationArg {
    /// Real messages until the first simulated one, then simulated ones (LPHD.Sim true)
    On,
    /// Real messages; simulated ones are refused (LPHD.Sim false)
    Off,
    /// All, as if from one publisher
    Both,
}

/// Options for supervising GOOSE.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "GOOSE")]
pub(crate) struct SuperviseArgs {
    /// Allow silence for this many times timeAllowedtoLive; 2 tolerates one lost message
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    goose_tal_factor: f64,
    /// Messages to accept when some are simulated
    #[arg(long, value_enum, default_value = "on", value_name = "SIM")]
    goose_simulation: SimulationArg,
    /// Accept messages that set the simulation (test) flag without the simulate bit, as Edition 1 publishers do
    #[arg(long)]
    goose_edition_1: bool,
    /// Maximum number of control blocks to track
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    max_control_blocks: u16,
}

impl SuperviseArgs {
    /// Settings for supervising the received messages.
    pub(crate) fn config(&self) -> SuperviseConfig {
        SuperviseConfig {
            tal_factor: self.goose_tal_factor,
            simulation: match self.goose_simulation {
                SimulationArg::On => Simulation::On,
                SimulationArg::Off => Simulation::Off,
                SimulationArg::Both => Simulation::Both,
            },
            edition_1: self.goose_edition_1,
            max_blocks: self.max_control_blocks,
            expected: Vec::new(),
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|factor| (0.1..=1_000.0).contains(factor));
    found.ok_or_else(|| format!("\"{text}\" is not a factor: use a number from 0.1 to 1000"))
}
