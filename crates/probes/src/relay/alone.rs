//! A relay in one thread: the thread of the functions reads the socket and sends.

use super::functions::{Decided, Functions};
use super::outputs::Outputs;
use super::receiving::Receiving;
use super::task::Ends;
use crate::error::ProbeError;
use crate::reception::Polling;
use run::Feed;
use units::Monotonic;

pub(super) struct Alone {
    receiving: Receiving,
    polling: Polling,
    outputs: Outputs,
}

impl Alone {
    pub(super) fn new(receiving: Receiving, outputs: Outputs) -> Self {
        Self {
            receiving,
            polling: Polling::new(Monotonic::from_ns(0)),
            outputs,
        }
    }
}

impl Ends for Alone {
    fn begin(&mut self, start: Monotonic) {
        self.receiving.begin(start);
        self.polling = self.receiving.polling(start);
        self.outputs.begin(start);
    }

    fn receive(&mut self, functions: &mut Functions, _feed: &mut Feed) -> Result<(), ProbeError> {
        self.receiving.poll(&mut self.polling, functions)
    }

    fn send(&mut self, functions: &Functions, decided: &Decided, _feed: &mut Feed) -> Result<(), ProbeError> {
        for told in functions.states(decided.changed) {
            self.outputs.follow(told);
        }
        let publish = |frame: &[u8]| self.receiving.publish(frame);
        self.outputs.send(decided.at, decided.changed, publish)
    }

    fn end(&mut self, _feed: &mut Feed) -> Result<(), ProbeError> {
        self.receiving.polled(&self.polling)
    }
}
