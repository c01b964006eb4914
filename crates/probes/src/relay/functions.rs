//! Functions of a relay in a cycle, between receiving and sending: from samples to changed members.

use super::RelayConfig;
use super::burden::Burden;
use super::outputs::Told;
use super::receiving::{Came, Takes};
use super::records::Tape;
use super::series::{Stage, TASK};
use super::words;
use crate::error::ProbeError;
use crate::timesync::PtpView;
use ::relay::config::GooseOutput;
use ::relay::engine::Placement;
use ::relay::inputs::{Input, Inputs};
use ::relay::ptp::PtpState;
use ::relay::{Config, Engine, Pace, Sample};
use run::Feed;
use std::ops::Range;
use units::Monotonic;

/// The protection functions, with their state.
pub(super) struct Functions {
    relay: Config,
    engine: Engine,
    inputs: Inputs,
    ptp: Option<PtpView>,
    pace: Pace,
    burden: Burden,
    tape: Option<Tape>,
}

/// Result of a cycle.
pub(super) struct Decided {
    /// Instant of the decision.
    pub(super) at: Monotonic,
    /// One bit for each control block with a changed member.
    pub(super) changed: u64,
    /// Numbers of the processed samples.
    numbers: Range<u64>,
}

impl Functions {
    pub(super) fn new(config: &RelayConfig, tape: Option<Tape>) -> Result<Self, ProbeError> {
        let relay = config.relay.clone();
        let engine = Engine::new(&relay).map_err(|error| ProbeError::Usage(format!("relay: {error}")))?;
        Ok(Self {
            inputs: Inputs::new(&relay),
            ptp: config.ptp.clone(),
            pace: Pace::new(engine.rate()),
            burden: Burden::of(&relay.load),
            relay,
            engine,
            tape,
        })
    }

    /// Takes a sample; returns its placement.
    pub(super) fn take(&mut self, stream: usize, sample: &Sample, came: &Came) -> Placement {
        let placement = self.engine.push(stream, sample);
        if let Some(newest) = self.engine.newest() {
            self.pace.came(newest, came.heard.as_ns());
            if let Some(tape) = &mut self.tape {
                tape.came(newest, came.stamp);
            }
        }
        placement
    }

    /// Processes the samples that are due, after the received ones were taken at `received`.
    pub(super) fn decide(&mut self, received: Monotonic, feed: &mut Feed) -> Decided {
        self.inputs.tell(&mut self.engine, received.as_ns());
        let ptp = self.ptp.as_ref().map_or(PtpState::Unknown, |view| view.state(received));
        self.engine.set_ptp(ptp);
        let due = self.pace.due(received.as_ns());
        let first = self.engine.next();
        self.engine.align(self.engine.ready(due));
        let aligned = Stage::Align.took(received, feed);
        self.engine.measure();
        let measured = Stage::Measure.took(aligned, feed);
        let decision = self.engine.decide();
        let changed = decision.gooses;
        for event in decision.events {
            let (notice, a, b) = words::packed(event);
            feed.notice(TASK, notice, measured, a, b);
        }
        self.burden.carry();
        Decided {
            at: Stage::Decide.took(measured, feed),
            changed,
            numbers: first..self.engine.next(),
        }
    }

    /// Current states of the members of these control blocks.
    pub(super) fn states(&self, blocks: u64) -> impl Iterator<Item = Told> {
        self.followed(blocks).flat_map(move |(block, output)| {
            let feeds = output.feeds.iter().enumerate();
            feeds.map(move |(member, (_, feed))| Told {
                block,
                member,
                state: self.engine.output(*feed),
            })
        })
    }

    /// Number of members of these control blocks that follow a function.
    pub(super) fn members(&self, blocks: u64) -> usize {
        self.followed(blocks).map(|(_, output)| output.feeds.len()).sum()
    }

    fn followed(&self, blocks: u64) -> impl Iterator<Item = (usize, &GooseOutput)> {
        let outputs = self.relay.gooses.iter().enumerate();
        outputs.filter(move |(block, _)| blocks >> block & 1 == 1)
    }

    /// Number of samples of a stream so far that no task could process.
    pub(super) fn lost(&self, stream: usize) -> u64 {
        self.engine.status(stream).map_or(0, |status| status.lost)
    }

    /// Passes on the data for disturbance records, if there are any; returns the instant of its end. This comes after the trip is
    /// sent, so that a record does not delay it.
    pub(super) fn record(&mut self, decided: Decided, sent: Monotonic, feed: &mut Feed) -> Monotonic {
        let Some(tape) = &mut self.tape else { return sent };
        tape.tell(&self.engine, decided.numbers);
        Stage::Record.took(sent, feed)
    }
}

impl Takes for Functions {
    fn sample(&mut self, stream: usize, sample: &Sample, came: &Came) {
        self.take(stream, sample, came);
    }

    fn input(&mut self, number: usize, input: Input) {
        self.inputs.set(number, input);
    }
}
