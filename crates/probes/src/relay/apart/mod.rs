//! A relay in three threads, each on a CPU of its own: one receives, one has the functions, one sends. Rings are between them.
//!
//! The receiving thread waits for frames, and the functions for their cycle. The one that sends is woken by a bell when something has changed.

mod functions;
mod output;
mod receive;
#[cfg(test)]
mod tests;

pub(super) use functions::Between;
pub(super) use output::Output;
pub(super) use receive::Receive;

use super::outputs::Told;
use super::receiving::Came;
use super::ring::{From, To, ring};
use ::relay::inputs::Input;
use ::relay::{Config, Engine, Sample};
use std::sync::Arc;
use sys::bell::Bell;
use units::Monotonic;

/// Items that the functions are given.
#[derive(Debug, Clone, Copy)]
enum Given {
    Sample { stream: usize, sample: Sample, came: Came },
    Input { number: usize, input: Input },
}

/// Changes that the output is told.
#[derive(Debug, Clone, Copy)]
enum Changed {
    Member(Told),
    /// In these control blocks, by their bits; what their members are was told before.
    Blocks {
        blocks: u64,
        /// When the functions had decided.
        at: Monotonic,
    },
}

/// Changes of all members at once that the ring to the output has room for.
const CHANGES: usize = 64;

/// Inputs that the ring to the functions has room for beside the samples.
const INPUTS: usize = 256;

/// The ring to the functions: as many samples as these hold themselves. Those beyond could not be worked on either.
fn samples(relay: &Config) -> (To<Given>, From<Given>) {
    let blank = Given::Input {
        number: 0,
        input: Input::default(),
    };
    ring(relay.streams.len() * Engine::KEPT as usize + INPUTS, blank)
}

/// The ring to the output.
fn changes(relay: &Config) -> (To<Changed>, From<Changed>) {
    let members: usize = relay.gooses.iter().map(|output| output.feeds.len()).sum();
    let blank = Changed::Blocks {
        blocks: 0,
        at: Monotonic::from_ns(0),
    };
    ring((members + 1) * CHANGES, blank)
}

/// The ends of all rings of a relay.
pub(super) struct Rings {
    pub(super) receive: ReceiveEnd,
    pub(super) functions: FunctionsEnds,
    pub(super) output: OutputEnd,
}

/// End that the receiving thread holds.
pub(super) struct ReceiveEnd(To<Given>);

/// Ends that the thread of the functions holds.
pub(super) struct FunctionsEnds {
    from: From<Given>,
    to: To<Changed>,
    bell: Arc<Bell>,
}

/// End that the sending thread holds.
pub(super) struct OutputEnd {
    from: From<Changed>,
    bell: Arc<Bell>,
}

impl Rings {
    pub(super) fn of(relay: &Config) -> Self {
        let bell = Arc::new(Bell::default());
        let (give, given) = samples(relay);
        let (tell, told) = changes(relay);
        Self {
            receive: ReceiveEnd(give),
            functions: FunctionsEnds {
                from: given,
                to: tell,
                bell: Arc::clone(&bell),
            },
            output: OutputEnd { from: told, bell },
        }
    }
}
