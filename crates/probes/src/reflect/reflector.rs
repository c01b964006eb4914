//! The end that returns every frame at once.

use super::{Receive, ReflectConfig, series};
use crate::error::ProbeError;
use crate::record::Feed;
use crate::stop::Stop;
use sys::packet::PacketPort;
use sys::wait::sleep_until;
use units::Monotonic;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{self, Kind, TestFrame};

/// Without a frame for this long, the thread stops spinning and sleeps until one comes: nobody is measuring.
const IDLE_NS: i64 = 20_000_000;

/// How long it sleeps before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// The clock is read once in so many empty looks at the ring, so that looking costs next to nothing.
const LOOKS_PER_CLOCK: u32 = 256;

pub(super) struct Reflector {
    config: ReflectConfig,
    port: PacketPort,
    stop: Stop,
    frame: Vec<u8>,
}

/// What came.
enum Came {
    /// Send it back: sequence number, octets in the buffer, seen at.
    Return(u64, usize, Monotonic),
    /// Sleep for so many nanoseconds.
    Rest(u64),
}

impl Reflector {
    pub(super) fn new(config: ReflectConfig, port: PacketPort, stop: Stop) -> Self {
        Self {
            config,
            port,
            stop,
            frame: vec![0; super::LONGEST_FRAME],
        }
    }

    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let begin = sys::clock::monotonic();
        let end = self
            .config
            .duration_ns
            .and_then(|ns| i64::try_from(ns).ok())
            .map(|ns| begin + ns);
        let mut last_frame = begin;
        let mut looks = 0_u32;
        while !self.stop.requested() {
            match self.take() {
                Some(Came::Return(sequence, length, seen)) => {
                    self.give_back(sequence, length, seen, feed)?;
                    last_frame = seen;
                    looks = 0;
                }
                Some(Came::Rest(length_ns)) => {
                    let now = sys::clock::monotonic();
                    sleep_until(now + i64::try_from(length_ns).unwrap_or(0));
                    last_frame = sys::clock::monotonic();
                }
                None => {
                    looks += 1;
                    if self.config.receive == Receive::Block || looks >= LOOKS_PER_CLOCK {
                        looks = 0;
                        let now = sys::clock::monotonic();
                        if end.is_some_and(|end| now >= end) {
                            break;
                        }
                        self.idle(now - last_frame)?;
                    }
                }
            }
        }
        let dropped = self.port.statistics().map(|statistics| statistics.dropped).unwrap_or(0);
        if dropped > 0 {
            feed.notice(0, series::SOCKET_DROP, sys::clock::monotonic(), dropped, 0);
        }
        Ok(())
    }

    fn idle(&self, idle_ns: i64) -> Result<(), ProbeError> {
        if self.config.receive == Receive::Block || idle_ns > IDLE_NS {
            self.port.wait(LOOK_UP_NS)?;
        }
        Ok(())
    }

    /// The next test frame, ready to be sent back.
    fn take(&mut self) -> Option<Came> {
        let own = Mac(self.port.mac());
        let frame = self.port.next()?;
        let seen = sys::clock::monotonic();
        let data = frame.data();
        let ethernet = EthernetView::parse(data).ok()?;
        let to = ethernet.dst();
        // A packet socket also gets frames that a bridge floods to stations they are not meant for.
        if to != own && !to.is_multicast() {
            return None;
        }
        let request = TestFrame::parse(&ethernet).ok()?;
        match request.kind {
            Kind::Rest => return Some(Came::Rest(request.sequence.min(LOOK_UP_NS))),
            // Another probe's: a talker does not wait for it.
            Kind::Stream => return None,
            Kind::Probe | Kind::Hello => {}
        }
        let length = data.len().min(self.frame.len());
        self.frame[..length].copy_from_slice(&data[..length]);
        drop(frame);
        test_frame::reflect(&mut self.frame, own);
        Some(Came::Return(request.sequence, length, seen))
    }

    fn give_back(&mut self, sequence: u64, length: usize, seen: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        match self.port.send(&self.frame[..length]) {
            // A full transmit queue loses the answer; the initiator counts it.
            Err(error) if error.is_transient() => return Ok(()),
            other => other?,
        }
        let sent = sys::clock::monotonic();
        feed.sample(series::TURNAROUND, sent, sent - seen, sequence);
        Ok(())
    }
}
