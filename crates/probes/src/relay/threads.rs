//! The threads of a relay: one, or three.

use super::RelayConfig;
use super::alone::Alone;
use super::apart::{Between, Output, Receive, Rings};
use super::functions::Functions;
use super::outputs::Outputs;
use super::receiving::Receiving;
use super::records::Tape;
use super::series::{Part, Words, announce};
use super::task::Task;
use crate::error::ProbeError;
use crate::hot::{Body, HotThread};
use crate::port::Port;
use crate::subscribe::{self, ForRelay, SubscribeConfig, SuperviseConfig};
use ::relay::config::Cpus;
use run::{Feed, Recorder, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wire::ether::Mac;

/// Parts from which the threads are made.
pub(super) struct Threads<'a> {
    pub(super) config: &'a RelayConfig,
    pub(super) recorder: &'a mut Recorder,
    pub(super) stop: &'a Stop,
}

impl Threads<'_> {
    /// Makes as many threads as the relay has. If there are records, their data go to `tape`.
    pub(super) fn of(self, port: Port, tape: Option<Tape>) -> Result<Vec<HotThread>, ProbeError> {
        let functions = Functions::new(self.config, tape)?;
        let outputs = Outputs::new(&self.config.relay.gooses, Mac(port.mac()))?;
        match self.config.relay.cpus {
            Cpus::One(_) => self.one(port, functions, outputs),
            Cpus::Apart { .. } => self.apart(port, functions, outputs),
        }
    }

    fn one(mut self, port: Port, functions: Functions, outputs: Outputs) -> Result<Vec<HotThread>, ProbeError> {
        let feed = self.feed(Part::Whole, &port);
        let ends = Alone::new(self.receiving(Part::Whole, port)?, outputs);
        let mut task = Task::new(self.config, functions, ends, self.stop);
        let body: Body = Box::new(move |start, feed| task.run(start, feed));
        Ok(vec![self.thread("relay", Part::Whole, feed, body)])
    }

    fn apart(mut self, port: Port, functions: Functions, outputs: Outputs) -> Result<Vec<HotThread>, ProbeError> {
        let (config, stop) = (self.config, self.stop);
        let Rings {
            receive,
            functions: between,
            output,
        } = Rings::of(&config.relay);
        let feeds = [Part::Receive, Part::Functions, Part::Output].map(|part| self.feed(part, &port));
        let task_ns = config.relay.task_ns;
        let mut sending = Output::new(outputs, port.publisher()?, output, task_ns, stop).lasting(config.duration_ns);
        let mut receiving = Receive::new(self.receiving(Part::Receive, port)?, receive, task_ns, stop);
        let measured = if config.clock.is_known() {
            config.relay.streams.len()
        } else {
            0
        };
        let mut task = Task::new(config, functions, Between::new(between, measured), stop);
        let bodies: [(&str, Part, Body); 3] = [
            (
                "relay-receive",
                Part::Receive,
                Box::new(move |start, feed| receiving.run(start, feed)),
            ),
            (
                "relay-functions",
                Part::Functions,
                Box::new(move |start, feed| task.run(start, feed)),
            ),
            (
                "relay-output",
                Part::Output,
                Box::new(move |start, feed| sending.run(start, feed)),
            ),
        ];
        let threads = bodies.into_iter().zip(feeds);
        let threads = threads.map(|((name, part, body), feed)| self.thread(name, part, feed, body));
        Ok(threads.collect())
    }

    fn thread(&self, name: &str, part: Part, feed: Feed, body: Body) -> HotThread {
        let cpu = part.cpu(self.config.relay.cpus);
        HotThread::new(name, self.config.policy, cpu, feed, body)
    }

    /// Feed for the samples of a thread.
    fn feed(&mut self, part: Part, port: &Port) -> Feed {
        let relay = &self.config.relay;
        let subscription = self.subscription(part);
        let slots = part.slots(relay.streams.len());
        let describe = Box::new(Words::of(self.config, part, port, &subscription));
        let cycles = 1_000_000_000 / relay.task_ns.max(1) + 1;
        let samples = match part {
            Part::Whole => 0,
            Part::Receive | Part::Output => u64::from(relay.rate),
            Part::Functions => u64::from(relay.rate) * relay.streams.len() as u64,
        };
        let room = crate::hot::capacity(cycles * u64::from(slots.min(part.slots(0))) + samples);
        let mut feed = self.recorder.feed(room, usize::from(slots), describe);
        announce(&mut feed, part, self.config, &subscription);
        feed
    }

    /// Makes the receiver that reads the socket, for the thread of this part of the relay.
    fn receiving(&mut self, part: Part, port: Port) -> Result<Receiving, ProbeError> {
        let subscription = self.subscription(part);
        // This count is not used.
        let frames = Arc::new(AtomicU64::new(0));
        let (receiver, received) = subscribe::receiver(&subscription, port, &frames, self.recorder, self.stop)?;
        Ok(Receiving::new(&self.config.relay, receiver, received))
    }

    /// Settings of the account of the streams in a thread with this part of the relay.
    fn subscription(&self, part: Part) -> SubscribeConfig {
        let relay = &self.config.relay;
        SubscribeConfig {
            rate: Some(relay.rate),
            expected: relay.streams.iter().map(|stream| stream.spec.clone()).collect(),
            max_streams: u16::try_from(relay.streams.len()).unwrap_or(u16::MAX),
            clock: self.config.clock,
            duration_ns: self.config.duration_ns,
            policy: self.config.policy,
            cpu: part.cpu(relay.cpus),
            relay: Some(ForRelay {
                name: relay.name.clone(),
                by_task: part != Part::Receive,
                gather_ns: part.gathers_ns(relay.cpus),
                inputs: relay.inputs.iter().map(|input| input.gocb_ref.clone()).collect(),
            }),
            labels: self.config.stream_labels.clone(),
            goose: SuperviseConfig {
                max_blocks: 0,
                ..SuperviseConfig::default()
            },
            ..SubscribeConfig::default()
        }
    }
}
