//! A relay in three threads, each on its own CPU: one receives, one runs the functions, one sends. Rings connect them.
//!
//! The receiving thread waits for frames, and the functions for their cycle. The sending thread is woken by a bell when a member
//! has changed.

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

/// Items passed to the functions.
#[derive(Debug, Clone, Copy)]
enum Given {
    Sample { stream: usize, sample: Sample, came: Came },
    Input { number: usize, input: Input },
}

/// Changes passed to the output.
#[derive(Debug, Clone, Copy)]
enum Changed {
    Member(Told),
    /// Marks the control blocks with these bits as changed; the values of their members were passed before.
    Blocks {
        blocks: u64,
        /// Instant of the functions' decision.
        at: Monotonic,
    },
}

/// Number of changes of all members at once that fit into the ring to the output.
const CHANGES: usize = 64;

/// Number of inputs that fit into the ring to the functions in addition to the samples.
const INPUTS: usize = 256;

/// Makes the ring to the functions, for as many samples as the functions keep. More samples could not be processed in any case.
fn samples(relay: &Config) -> (To<Given>, From<Given>) {
    let blank = Given::Input {
        number: 0,
        input: Input::default(),
    };
    ring(relay.streams.len() * Engine::KEPT as usize + INPUTS, blank)
}

/// Makes the ring to the output.
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

/// Ring end of the receiving thread.
pub(super) struct ReceiveEnd(To<Given>);

/// Ring ends of the functions' thread.
pub(super) struct FunctionsEnds {
    from: From<Given>,
    to: To<Changed>,
    bell: Arc<Bell>,
}

/// Ring end of the sending thread.
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
