//! The sending loop.

use super::block::{Block, instant};
use super::config::GooseConfig;
use super::series::{LATENESS, Notice, Publish};
use crate::error::ProbeError;
use crate::hot::HotThread;
use crate::messages::utc_ns;
use crate::port::Port;
use model::Counter;
use run::{Feed, Recorder, Stop};
use sys::wait::{Wait, sleep_until};
use units::Monotonic;
use wire::ether::Mac;

/// Longest sleep of the thread before it checks for a stop.
const LOOK_UP_NS: i64 = 50_000_000;

/// Messages a second that the recorder's ring has room for.
const MESSAGES_PER_SECOND: u64 = 10_000;

/// The publishing thread, before its start.
pub(in crate::publish) fn thread(
    config: &GooseConfig,
    port: Port,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<HotThread, ProbeError> {
    if config.blocks.is_empty() {
        return Err(ProbeError::Usage(
            "publish: no GOOSE control block: give one in the file of --goose".into(),
        ));
    }
    let source = Mac(port.mac());
    let blocks: Vec<Block> = config
        .blocks
        .iter()
        .map(|block| Block::new(block, source))
        .collect::<Result<_, _>>()?;
    let describe = Box::new(Publish::of(config, &port));
    let mut feed = recorder.feed(crate::hot::capacity(MESSAGES_PER_SECOND), 1, describe);
    feed.announce(LATENESS, "goose-lateness");
    let mut publisher = Publisher {
        config: config.clone(),
        port,
        blocks,
        stop: stop.clone(),
        sent: 0,
        refused: 0,
    };
    Ok(HotThread::new(
        "publish-goose",
        config.policy,
        config.cpu,
        feed,
        Box::new(move |start, feed| publisher.run(start, feed)),
    ))
}

struct Publisher {
    config: GooseConfig,
    port: Port,
    blocks: Vec<Block>,
    stop: Stop,
    /// Number of messages so far.
    sent: u64,
    /// Number of messages that the kernel had no room for.
    refused: u64,
}

impl Publisher {
    /// Publishes from `start` until the duration is over or a stop is requested.
    fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let published = self.publish(start, feed);
        if self.refused > 0 {
            feed.notice(LATENESS, Notice::Refused, sys::clock::monotonic(), self.refused, 0);
        }
        published
    }

    fn publish(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let end_ns = self.config.duration_ns.and_then(|ns| i64::try_from(ns).ok());
        let wait = Wait::spinning_ahead(self.config.spin_ahead_ns);
        while let Some((due_ns, index)) = self.next() {
            if end_ns.is_some_and(|end| due_ns >= end) || !self.sleep_near(instant(start, due_ns)) {
                break;
            }
            let due = instant(start, due_ns);
            if !self.blocks[index].make(|| utc_ns(due)) || wait.until(due) < due {
                continue;
            }
            let refused = self.port.publish(self.blocks[index].frame())?;
            let sent = sys::clock::monotonic();
            if refused == 0 {
                feed.sample(LATENESS, sent, sent - due, self.sent);
            }
            feed.count(LATENESS, Counter::Lost, sent, refused);
            self.refused += refused;
            self.sent += 1;
            let skipped = self.blocks[index].sent(sent - start);
            feed.count(
                LATENESS,
                Counter::Late,
                sent,
                u64::from(skipped.is_late && refused == 0),
            );
            feed.count(LATENESS, Counter::Missed, sent, skipped.missed);
        }
        if let Some(end) = end_ns {
            self.sleep_near(instant(start, end));
        }
        Ok(())
    }

    /// The control block that is due next, and its due instant.
    fn next(&self) -> Option<(i64, usize)> {
        let due = |(index, block): (usize, &Block)| (block.due_ns(), index);
        self.blocks.iter().enumerate().map(due).min()
    }

    /// Sleeps until shortly before `due`, with checks for a stop; returns false if the run is to stop.
    fn sleep_near(&self, due: Monotonic) -> bool {
        loop {
            if self.stop.requested() {
                return false;
            }
            let now = sys::clock::monotonic();
            if due - now <= LOOK_UP_NS {
                return true;
            }
            sleep_until(now + LOOK_UP_NS);
        }
    }
}
