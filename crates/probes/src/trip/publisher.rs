//! The thread that publishes the stream: it copies the samples of its scripts and sends each when it is due.

use super::TripConfig;
use super::frames::{Frames, Sent};
use super::peer::Peer;
use super::script::{Prompter, Script, Trouble};
use crate::error::ProbeError;
use crate::port::Port;
use crate::publish::{Batch, Notice, Pace, Timetable};
use crate::redundant::LanFault;
use model::Counter;
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::wait::Wait;
use units::Monotonic;
use wire::ether::Mac;

/// Slot of the series of the publisher's lateness.
pub(super) const LATENESS: u16 = 0;

/// Largest lateness in ns at which frames are still sent, one after the other: a relay waits that long for a sample, since a
/// merging unit and a network may take 2 ms (IEC 61869-9). If a frame is later, the frames due meanwhile are left out.
const LATEST_NS: i64 = 1_000_000;

/// Error text if the publisher could not even report the samples that it did not send.
const HELD_UP: &str = "trip: the test set sent nothing, and decided nothing, for seconds: is the interface up, and does this machine have a \
                       CPU to spare?";

/// The publisher.
pub(super) struct Publisher {
    port: Port,
    wait: Wait,
    timetable: Timetable,
    frames: Frames,
    /// The other streams.
    others: Batch,
    peer: Option<Peer>,
    lan_fault: Option<LanFault>,
    script: Script,
    prompter: Prompter,
    /// True if the next frame is prepared.
    made: bool,
    refused: u64,
    /// True if not all troubles could be reported.
    is_untold: bool,
    /// Number of a sample; all samples before it were sent or reported as troubles.
    sent: Arc<AtomicU64>,
    stop: Stop,
}

impl Publisher {
    /// Makes a publisher that begins with `script`, and stores its progress in `sent`.
    pub(super) fn new(
        config: &TripConfig,
        mut port: Port,
        script: Script,
        mut others: Batch,
        (prompter, sent): (Prompter, Arc<AtomicU64>),
    ) -> Result<Self, ProbeError> {
        let source = Mac(port.mac());
        if let Some(fault) = config.lan_fault {
            port.prepare_fault(fault);
        }
        port.make_room(others.frames());
        let pace = Pace {
            rate: config.stream.rate,
            asdus: config.stream.asdus,
        };
        let mut publisher = Self {
            frames: Frames::of(&config.stream, config.far(), script.table.seq_data(0), source)?,
            others,
            peer: config.peer.as_ref().map(|peer| Peer::new(peer, source)).transpose()?,
            lan_fault: config.lan_fault,
            port,
            wait: Wait::spinning_ahead(config.spin_ahead_ns),
            timetable: Timetable::new(pace),
            script,
            stop: prompter.ended.clone(),
            prompter,
            made: false,
            refused: 0,
            is_untold: false,
            sent,
        };
        // Filled once before the measurement, so that no memory page is missing later.
        publisher.make();
        Ok(publisher)
    }

    /// Publishes from the second that begins at `start` until the test set ends.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.timetable.begin(start, None);
        self.made = false;
        if let Some(peer) = &mut self.peer {
            peer.begin(start);
        }
        let published = self.publish(feed);
        if self.refused > 0 {
            feed.notice(LATENESS, Notice::Refused, sys::clock::monotonic(), self.refused, 0);
        }
        self.prompter.ended.request();
        match self.is_untold {
            true => Err(ProbeError::NoTraffic(HELD_UP.into())),
            false => published,
        }
    }

    fn publish(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        while let Some(due) = self.timetable.due().filter(|_| !self.stop.requested()) {
            self.make();
            if self.wait.until(due) < due {
                continue;
            }
            let sent = self.send()?;
            let samples = [self.timetable.first_sample(), self.made_until()];
            self.note(due, sent, feed);
            self.send_of_peer(due, samples)?;
        }
        Ok(())
    }

    /// Sends the messages of the peer that are due with the frame of these samples.
    fn send_of_peer(&mut self, due: Monotonic, [first, end]: [u64; 2]) -> Result<(), ProbeError> {
        let Some(peer) = &mut self.peer else { return Ok(()) };
        let mut late = None;
        while self.prompter.orders.peek().is_ok_and(|order| order.begin < end) {
            let Ok(order) = self.prompter.orders.pop() else { break };
            late = late.or(Some(order.begin).filter(|begin| *begin < first));
            peer.take(order);
        }
        let refused = peer.send(due, &mut self.port)?;
        self.refused += refused;
        if let Some(begin) = late.or((refused > 0).then_some(first)) {
            self.trouble(begin, end);
        }
        Ok(())
    }

    /// The sample after the last one of the prepared frame.
    fn made_until(&self) -> u64 {
        self.timetable.first_sample() + u64::from(self.timetable.pace.asdus)
    }

    /// Sends the frames that are due at one instant, the stream with the faults first.
    fn send(&mut self) -> Result<Sent, ProbeError> {
        let mut sent = self.frames.send(self.script.manner, &mut self.port)?;
        let others = self.others.streams();
        if others > 0 {
            let refused = self.port.publish_all(self.others.frames())?;
            sent.refused += refused;
            sent.frames += others - u16::try_from(refused).unwrap_or(others);
        }
        Ok(sent)
    }

    /// Prepares the next frame, unless it is ready.
    fn make(&mut self) {
        if self.made {
            return;
        }
        self.made = true;
        let Pace { rate, asdus } = self.timetable.pace;
        self.take_over(self.made_until() - 1);
        for asdu in 0..usize::from(asdus) {
            let sample = self.timetable.first_sample() + asdu as u64;
            let smp_cnt = u16::try_from(sample % u64::from(rate)).unwrap_or(0);
            self.frames.set(&self.script, asdu, sample, smp_cnt);
        }
        self.others.fill(self.timetable.pace, self.timetable.first_sample());
    }

    /// Takes over the scripts that begin up to `sample`, the last one of a frame. A script begins with a frame; otherwise the
    /// whole frame in which it begins belongs to it.
    fn take_over(&mut self, sample: u64) {
        while self.prompter.scripts.peek().is_ok_and(|script| script.begin <= sample) {
            let Ok(script) = self.prompter.scripts.pop() else {
                return;
            };
            if script.begin < self.timetable.first_sample() {
                self.trouble(script.begin, self.timetable.first_sample());
            }
            // Returned to the conductor, which frees it; the ring has room for all scripts.
            if script.has_lan_fault != self.script.has_lan_fault {
                self.port.set_lan_fault(self.lan_fault.filter(|_| script.has_lan_fault));
            }
            let _ = self.prompter.used.push(std::mem::replace(&mut self.script, script));
        }
    }

    fn note(&mut self, due: Monotonic, Sent { frames, refused }: Sent, feed: &mut Feed) {
        let sent = sys::clock::monotonic();
        let late_ns = sent - due;
        feed.samples(LATENESS, sent, late_ns, self.timetable.frame, frames);
        feed.count(LATENESS, Counter::Lost, sent, refused);
        self.refused += refused;
        let interval_ns = self.timetable.pace.interval_ns();
        let is_late = late_ns as f64 > interval_ns;
        let is_too_late = is_late && late_ns > LATEST_NS;
        let first = self.timetable.first_sample();
        let missed = self.timetable.go_on(sent, is_too_late);
        self.made = false;
        feed.count(LATENESS, Counter::Late, sent, u64::from(is_late) * u64::from(frames));
        feed.count(
            LATENESS,
            Counter::Missed,
            sent,
            missed * u64::from(self.frames.streams() + self.others.streams()),
        );
        if is_too_late || refused > 0 {
            self.trouble(first, self.timetable.first_sample());
        }
        self.sent.store(self.timetable.first_sample(), Ordering::Release);
    }

    /// Reports a trouble. If it cannot be reported, the test set ends, since the shot must not count as a good one.
    fn trouble(&mut self, from: u64, until: u64) {
        if self.prompter.troubles.push(Trouble { from, until }).is_err() {
            self.is_untold = true;
            self.prompter.ended.request();
        }
    }
}
