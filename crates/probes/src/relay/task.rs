//! The task: once a cycle, from samples to messages.

use super::RelayConfig;
use super::burden::Burden;
use super::outputs::Output;
use super::records::Tape;
use super::series::{Stage, TASK};
use super::words;
use crate::error::ProbeError;
use crate::reception::Polling;
use crate::subscribe::{Receiver, is_goose};
use ::relay::inputs::Inputs;
use ::relay::intake::Intake;
use ::relay::{Engine, Pace};
use model::Counter;
use run::{Feed, Stop};
use sys::wait::Wait;
use units::{Grid, Monotonic};

pub(super) struct Task {
    config: RelayConfig,
    engine: Engine,
    intake: Intake,
    inputs: Inputs,
    pace: Pace,
    receiver: Receiver,
    /// Where the samples of the streams go.
    received: Feed,
    outputs: Vec<Output>,
    burden: Burden,
    tape: Option<Tape>,
    stop: Stop,
}

impl Task {
    pub(super) fn new(
        config: RelayConfig,
        engine: Engine,
        receiver: Receiver,
        received: Feed,
        outputs: Vec<Output>,
        tape: Option<Tape>,
        stop: Stop,
    ) -> Self {
        Self {
            intake: Intake::new(&config.relay),
            inputs: Inputs::new(&config.relay),
            pace: Pace::new(engine.rate()),
            burden: Burden::of(&config.relay.load),
            config,
            engine,
            receiver,
            received,
            outputs,
            tape,
            stop,
        }
    }

    /// Runs a cycle at every due instant from `start` on, until the duration is over or a stop is asked for.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.received.set_thread(sys::thread::current_cpu());
        sys::wait::sleep_until(start);
        self.receiver.skip_waiting();
        self.receiver.begin(&mut self.received);
        let mut polling = Polling::new(start);
        let ended = self.cycles(start, &mut polling, feed);
        let polled = self.receiver.polled(&polling, &mut self.received);
        self.received.thread_is_over();
        ended.and(polled)
    }

    fn cycles(&mut self, start: Monotonic, polling: &mut Polling, feed: &mut Feed) -> Result<(), ProbeError> {
        let grid = Grid::every_ns(start, self.config.relay.task_ns);
        let cycles = self.config.duration_ns.map(|ns| ns / self.config.relay.task_ns);
        let wait = Wait::spinning_ahead(self.config.spin_ahead_ns);
        let mut cycle = 0;
        while cycles.is_none_or(|end| cycle < end) && !self.stop.requested() {
            let due = grid.due(cycle);
            let began = wait.until(due);
            if began < due {
                continue;
            }
            let ended = self.cycle(start, began, polling, feed)?;
            feed.sample(TASK, ended, ended - began, cycle);
            let is_overrun = (ended - began).unsigned_abs() > self.config.relay.task_ns;
            feed.count(TASK, Counter::Late, ended, u64::from(is_overrun));
            let next = grid.first_after(ended).max(cycle + 1);
            let next = cycles.map_or(next, |end| next.min(end).max(cycle + 1));
            feed.count(TASK, Counter::Missed, ended, next - cycle - 1);
            cycle = next;
        }
        Ok(())
    }

    /// One cycle, which began at `began`; when it ended.
    fn cycle(
        &mut self,
        start: Monotonic,
        began: Monotonic,
        polling: &mut Polling,
        feed: &mut Feed,
    ) -> Result<Monotonic, ProbeError> {
        self.receive(polling)?;
        let received = Stage::Receive.took(began, feed);
        self.inputs.tell(&mut self.engine, received.as_ns());
        let due = self.pace.due(received.as_ns());
        let first = self.engine.next();
        self.engine.align(self.engine.ready(due));
        let aligned = Stage::Align.took(received, feed);
        self.engine.measure();
        let measured = Stage::Measure.took(aligned, feed);
        let decision = self.engine.decide();
        let changed = decision.gooses;
        for event in decision.events {
            let (code, a, b) = words::packed(event);
            feed.notice(TASK, code, measured, a, b);
        }
        self.burden.carry();
        let decided = Stage::Decide.took(measured, feed);
        self.send(start, decided, changed)?;
        let sent = Stage::Send.took(decided, feed);
        let Some(tape) = &mut self.tape else {
            return Ok(sent);
        };
        // After the trip is on its way: a record makes it no later.
        tape.tell(&self.engine, first..self.engine.next());
        Ok(Stage::Record.took(sent, feed))
    }

    fn receive(&mut self, polling: &mut Polling) -> Result<(), ProbeError> {
        let Self {
            config,
            engine,
            intake,
            inputs,
            pace,
            receiver,
            received,
            tape,
            ..
        } = self;
        receiver.poll(polling, received, &mut |data, vlan, arrival| {
            if is_goose(data) {
                inputs.take(data, vlan, arrival.heard.as_ns());
                return true;
            }
            intake.take(&config.relay, engine, data, vlan, |_, _| ());
            if let Some(newest) = engine.newest() {
                pace.came(newest, arrival.heard.as_ns());
                if let Some(tape) = tape {
                    tape.came(newest, arrival.kernel.unwrap_or(arrival.wall));
                }
            }
            false
        })
    }

    /// Sends the control blocks in which something changed, and the repetitions that are due.
    fn send(&mut self, start: Monotonic, now: Monotonic, changed: u64) -> Result<(), ProbeError> {
        for (index, output) in self.outputs.iter_mut().enumerate() {
            let has_changed = changed >> index & 1 == 1;
            if output.make(&self.engine, now - start, has_changed) {
                self.receiver.port().publish(output.frame())?;
                output.sent(sys::clock::monotonic() - start);
            }
        }
        Ok(())
    }
}
