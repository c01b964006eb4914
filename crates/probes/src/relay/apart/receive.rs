//! The receiving thread, which runs whenever frames arrive.

use super::{Given, ReceiveEnd};
use crate::error::ProbeError;
use crate::relay::receiving::{Came, Receiving, Takes};
use crate::relay::ring::To;
use crate::relay::series::TASK;
use ::relay::Sample;
use ::relay::inputs::Input;
use model::Counter;
use run::{Feed, Stop};
use units::Monotonic;

pub(in crate::relay) struct Receive {
    receiving: Receiving,
    to: To<Given>,
    task_ns: u64,
    stop: Stop,
}

/// Passes samples on, and times each turn: from the first frame that is read until none waits.
struct Giving<'a> {
    to: &'a mut To<Given>,
    feed: &'a mut Feed,
    task_ns: u64,
    began: Option<Monotonic>,
    turns: u64,
}

impl Receive {
    pub(in crate::relay) fn new(receiving: Receiving, ReceiveEnd(to): ReceiveEnd, task_ns: u64, stop: &Stop) -> Self {
        Self {
            receiving,
            to,
            task_ns,
            stop: stop.clone(),
        }
    }

    /// Passes on received samples from `start` on, until the duration is over or a stop is requested.
    pub(in crate::relay) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.receiving.begin(start);
        let mut giving = Giving {
            to: &mut self.to,
            feed,
            task_ns: self.task_ns,
            began: None,
            turns: 0,
        };
        // Without this, the other threads would wait for samples that can no longer come.
        self.receiving.run(&mut giving).inspect_err(|_| self.stop.request())
    }
}

impl Takes for Giving<'_> {
    fn sample(&mut self, stream: usize, sample: &Sample, came: &Came) {
        self.began.get_or_insert(came.at);
        self.to.push(Given::Sample {
            stream,
            sample: *sample,
            came: *came,
        });
    }

    fn input(&mut self, number: usize, input: Input) {
        self.to.push(Given::Input { number, input });
    }

    fn has_all(&mut self) {
        let Some(began) = self.began.take() else { return };
        let now = sys::clock::monotonic();
        self.feed.sample(TASK, now, now - began, self.turns);
        let is_overrun = (now - began).unsigned_abs() > self.task_ns;
        self.feed.count(TASK, Counter::Late, now, u64::from(is_overrun));
        self.turns += 1;
    }
}
