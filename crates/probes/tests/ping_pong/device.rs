//! A small device: one boolean of its GOOSE follows a boolean of another publisher, with a delay set by the test.

// Every test program that includes this file uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use sys::packet::{PacketPort, PortOptions};
use units::Monotonic;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::goose::{Frame, Member, Message, Value};

/// Its control block.
pub(crate) const NAME: &str = "IED1LD0/LLN0$GO$gcbPong";

/// Behaviour of a device.
#[derive(Clone, Copy, Default)]
pub(crate) struct DeviceKind {
    /// Time in ns from a change to its answer.
    pub(crate) delay_ns: i64,
    /// It ignores one change out of this many; 0 ignores none.
    pub(crate) deaf_every: u32,
    /// After one answer out of this many it sends the opposite value, and then corrects it; 0 never does.
    pub(crate) stutters_every: u32,
    /// It hears no ping, and changes by itself with this period in ns; 0 never does.
    pub(crate) toggles_ns: i64,
}

/// A device that runs until it is dropped.
pub(crate) struct Device {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    /// Starts a device on a port that was opened with [`options`].
    pub(crate) fn start(kind: DeviceKind, port: PacketPort) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let mut state = State::new(kind, port);
        let thread = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                state.turn();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the device ends well");
        }
    }
}

/// Options of its port.
pub(crate) fn options() -> PortOptions {
    PortOptions {
        ethertypes: vec![ether::GOOSE],
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// Interval of its repeated messages.
const REPEAT_NS: i64 = 50_000_000;

/// A message of a control block with one boolean.
pub(crate) fn message(name: &str, source: Mac) -> Message {
    Message {
        src: source,
        gocb_ref: name.as_bytes().to_vec(),
        dat_set: b"IED1LD0/LLN0$ds".to_vec(),
        ..Message::default()
    }
}

struct State {
    kind: DeviceKind,
    port: PacketPort,
    message: Message,
    /// stNum of the last change, and the number of changes.
    heard: Option<u32>,
    changes: u32,
    answers: u32,
    /// Planned answer, and its time.
    due: Option<(Monotonic, bool)>,
    repeat: Monotonic,
    /// Time of the next change without a ping.
    toggle: Monotonic,
}

impl State {
    fn new(kind: DeviceKind, port: PacketPort) -> Self {
        Self {
            kind,
            message: message(NAME, Mac(port.mac())),
            port,
            heard: None,
            changes: 0,
            answers: 0,
            due: None,
            repeat: Monotonic::from_ns(0),
            toggle: Monotonic::from_ns(0),
        }
    }

    fn turn(&mut self) {
        let _ = self.port.wait(500_000);
        let now = sys::clock::monotonic();
        while let Some(frame) = self.port.next() {
            let tag = frame.vlan().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            let said = said(frame.data(), tag);
            if self.kind.toggles_ns > 0 {
                continue;
            }
            if let Some((st_num, value)) = said.filter(|(st_num, _)| self.heard != Some(*st_num)) {
                self.heard = Some(st_num);
                self.changes += 1;
                let is_deaf = self.kind.deaf_every > 0 && self.changes.is_multiple_of(self.kind.deaf_every);
                self.due = (!is_deaf).then_some((now + self.kind.delay_ns, value));
            }
        }
        if self.kind.toggles_ns > 0 && now >= self.toggle {
            self.toggle = now + self.kind.toggles_ns;
            self.say(self.message.all_data != [Value::Boolean(true)]);
        } else if let Some((_, value)) = self.due.take_if(|(due, _)| *due <= now) {
            self.answer(value);
        } else if now >= self.repeat {
            self.message.sq_num += 1;
            self.send();
        }
    }

    fn answer(&mut self, value: bool) {
        if self.message.all_data != [Value::Boolean(value)] {
            self.say(value);
            self.answers += 1;
            if self.kind.stutters_every > 0 && self.answers.is_multiple_of(self.kind.stutters_every) {
                self.say(!value);
                self.say(value);
            }
        }
    }

    fn say(&mut self, value: bool) {
        self.message.all_data = vec![Value::Boolean(value)];
        self.message.st_num += 1;
        self.message.sq_num = 0;
        self.send();
    }

    fn send(&mut self) {
        self.repeat = sys::clock::monotonic() + REPEAT_NS;
        let frame = self.message.encode().expect("a message");
        let _ = self.port.send(&frame);
    }
}

/// stNum and value of a ping.
fn said(data: &[u8], tag: Option<VlanTag>) -> Option<(u32, bool)> {
    let ethernet = EthernetView::with_tag(data, tag).ok()?;
    let frame = Frame::parse(&ethernet).ok()?;
    let is_ping = frame.gocb_ref() == b"TRIPTIMELD0/LLN0$GO$gcbPing";
    let value = Member::numbered(0).of(frame.all_data())?;
    is_ping.then_some((frame.st_num(), value))
}
